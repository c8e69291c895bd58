"""One file per command; each builds its values and calls one function."""
