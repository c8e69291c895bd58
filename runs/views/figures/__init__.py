"""Owns pictures for papers, and matplotlib alone; computes no number of its own."""
