"""Owns statistics: arrays in, figures out; refuses names, files and records."""
