"""Owns frozen sets: format, freezing, playing, scoring; files of other programs are of interop."""
