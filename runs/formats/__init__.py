"""Owns how words, numbers, tables and files are written for people; knows no run."""
