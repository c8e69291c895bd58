"""Owns battles to ratings with intervals: plain, with covariates, by labels; prints nothing."""
