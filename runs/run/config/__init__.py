"""Owns what a run is asked to be: arena.toml, flags, presets, one frozen value; plays nothing."""
