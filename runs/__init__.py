"""Owns the program: playing, rating, auditing, benches, commands; nothing below imports it."""
