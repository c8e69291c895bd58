"""Owns results as figures: scores, comparisons, validity; calls no model."""
