"""Owns pictures and clips made here: samples, splices, contact sheets; looks for no video."""
