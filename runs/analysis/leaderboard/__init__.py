"""Owns leaderboards as people read them: text, slices, agreement; the fit is that of rating."""
