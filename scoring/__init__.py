"""Owns statistics: arrays and texts in, figures out; refuses names, files and records."""
