"""Owns playing a run: starting, pairing, planning, adding, replaying; shows no leaderboard."""
