"""Owns what lies in a folder: usable videos and subtitle files; opens none in this process."""
