"""Owns simulated questions beside real ones, and boards by the real mix; refuses to judge."""
