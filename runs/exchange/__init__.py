"""Owns files that others read or wrote: their formats, training data; corrects nothing."""
