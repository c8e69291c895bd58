"""Owns results as tables and sentences, and the forms they take; computes nothing of them."""
