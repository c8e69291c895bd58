"""The run's SQLite file: layout, lock, writing, journal; the only room that speaks SQL."""
