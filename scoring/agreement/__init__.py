"""Owns how far leaderboards agree, and raters; fits no strength."""
