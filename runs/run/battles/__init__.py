"""Owns single battles as lists, pages and JSON lines; rates nothing."""
