"""Owns which frames stand for a video, and their cache; how they are decoded is settled below."""
