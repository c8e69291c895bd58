"""Owns the files of a bench: schema, reading, writing, verifying; plays and scores nothing."""
