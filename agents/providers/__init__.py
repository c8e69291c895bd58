"""Owns providers, a file each, and those declared or installed; imports none before use."""
