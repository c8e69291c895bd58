"""Turning a run into a bench: selection, items, topics, card."""
