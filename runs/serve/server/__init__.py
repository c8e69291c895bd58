"""Owns pages served on this machine alone: who may ask, headers, start and end; knows no run."""
