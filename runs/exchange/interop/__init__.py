"""Owns the formats of others, read and written; corrects nothing."""
