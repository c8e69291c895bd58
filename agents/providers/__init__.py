"""Owns the table of providers, and those declared or installed; imports none before use."""
