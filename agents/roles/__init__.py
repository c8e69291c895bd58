"""Owns what each role is asked and what its reply becomes; never how a call is made."""
