"""Owns the prose of offline models, written and read again; measures no picture."""
