"""Owns words, tables and files for people, and the traits of a text; knows no run."""
