"""Putting judges to the test with cases whose right answer is known."""
