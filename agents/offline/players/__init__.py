"""Owns the offline models in their roles; keeps no state between two calls."""
