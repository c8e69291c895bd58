"""Owns planning: who meets whom, how many battles, when to stop; its seeds come from the caller."""
