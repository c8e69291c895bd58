"""Owns playing on the machines of a Ray cluster; refuses to do anything that one process does."""
