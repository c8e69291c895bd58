"""Owns the one table of what a set of each kind is played and scored with; knows no item."""
