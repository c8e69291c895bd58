"""The files of a bench: schema, reading, writing, verifying, results."""
