"""Owns whether two sets of questions differ, and weights from one mix to another; reads no text."""
