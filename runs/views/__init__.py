"""Owns results shown to people: tables, sentences, figures, pages; computes nothing of them."""
