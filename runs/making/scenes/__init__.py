"""Owns what is remembered of a video's scenes and objects, and showing it; refuses dialogues."""
