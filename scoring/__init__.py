"""Arrays in, arrays out: Bradley-Terry, intervals, pairing. No names, no files."""
