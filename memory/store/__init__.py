"""Owns the run's SQLite file: layout, lock, writing, journal; the only room with SQL."""
