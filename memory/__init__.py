"""Owns what is kept: records, and the file they are stored in; refuses models and decoders."""
