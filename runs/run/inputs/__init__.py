"""Owns what people bring in files: users, and facts about videos; believes none of it."""
