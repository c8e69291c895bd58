"""Owns videos as files: found, sampled, decoded in confined processes; knows no model."""
