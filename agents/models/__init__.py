"""Owns model names, where they lead and their parameters; makes no call."""
