"""Owns one run on disk, to read or to continue: slots, waves, budget; plays nothing."""
