"""The program: playing, rating, auditing, benches and the command line, room by room."""
