"""Owns the commands that read, rate and check a run; plays nothing."""
