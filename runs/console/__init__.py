"""Owns work seen from a terminal, and looking at what goes in: videos, machine; plays nothing."""
