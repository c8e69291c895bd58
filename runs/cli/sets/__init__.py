"""Owns the commands that make, play and score frozen sets; plays no run."""
