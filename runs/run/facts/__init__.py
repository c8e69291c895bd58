"""Owns what people's tables say of videos: read, checked, kept with a run; believes none of it."""
