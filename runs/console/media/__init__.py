"""Owns looking at what goes in: videos, frames, cache, the machine; plays nothing."""
