"""Owns running models on a bench, with its journal; computes no score."""
