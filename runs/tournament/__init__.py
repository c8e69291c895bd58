"""Playing a run: starting, adding, replaying, pairing, planning."""
