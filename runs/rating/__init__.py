"""Owns battles rated as data: methods, tables, findings; refuses to print or draw."""
