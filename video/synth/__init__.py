"""Owns pictures and clips made here: samples, splices, films, sheets; looks for no video."""
