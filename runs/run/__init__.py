"""Owns one run: what it is asked to be, on disk, its users, facts, battles; plays nothing."""
