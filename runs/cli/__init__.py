"""Owns the command line; refuses to compute: a command builds a value and calls one function."""
