"""Owns making items with a right answer out of a folder of videos; plays and scores nothing."""
