"""Owns what a text is like, from its words alone: traits, style, themes; reads no file."""
