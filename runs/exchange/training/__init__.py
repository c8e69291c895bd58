"""Owns battles as data that others train on: pairs, chats, JSON lines, Parquet; rates nothing."""
