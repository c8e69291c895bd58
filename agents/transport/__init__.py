"""Bytes to and from servers: frames in bodies, bounded answers, named errors, no secrets."""
