"""Owns the way from a file to chosen frames as JPEG; chooses no instant."""
