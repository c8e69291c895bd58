"""Owns bytes to and from servers: bodies, bounds, named errors, redaction; knows no role."""
