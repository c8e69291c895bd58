"""What the arena remembers: its vocabulary, its errors, one SQLite file per run, the journal of paid calls."""
