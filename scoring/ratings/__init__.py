"""Battles to ratings with intervals: plain, with covariates, or corrected by labels."""
