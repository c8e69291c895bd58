"""Battles of a run rated as data; how it is printed is decided above."""
