"""Owns a call from attempt to journal row: retries, reading the reply; knows no role."""
