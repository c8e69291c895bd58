"""Frozen sets: their format, freezing, playing and scoring."""
