"""Formats of others, read and written; what they mean here is decided below."""
