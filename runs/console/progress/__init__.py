"""Owns following work as it goes: events, live screen, lines, status; changes no run."""
