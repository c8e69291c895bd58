"""Owns the commands that play a run or look at what goes into one; shows no results."""
