"""What a run is asked to be: arena.toml, flags and presets as one frozen value."""
