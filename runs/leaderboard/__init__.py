"""Leaderboards as people read them: text, markup, slices, agreement, power."""
