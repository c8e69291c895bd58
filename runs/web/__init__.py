"""Owns pages that people look at: the report, the live view, labelling; plays and rates nothing."""
