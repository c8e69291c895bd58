"""Counting battles and fitting strengths by maximum likelihood."""
