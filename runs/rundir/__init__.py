"""One run on disk, opened to read or to continue: slots, waves, frames, budget."""
