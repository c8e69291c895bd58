"""Frozen records, their digests and errors; touches no file."""
