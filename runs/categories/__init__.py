"""Owns what kinds of question a run asked: tags, what they come to, checks; changes no battle."""
