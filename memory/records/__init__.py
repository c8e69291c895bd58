"""Owns frozen records, digests, keys and errors; opens no file."""
