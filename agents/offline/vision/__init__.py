"""Owns what is measured in the frames of a message; knows no fact and no language."""
