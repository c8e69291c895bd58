"""Owns the confined processes that open files from outside; chooses nothing."""
