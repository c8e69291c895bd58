"""Owns users brought in a file: read, seated at videos, told apart; invents none."""
