"""Owns counts of battles and strengths fitted to them; gives no interval."""
