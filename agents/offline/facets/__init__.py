"""Owns facts that can be measured, asked, claimed and checked; knows no wording."""
