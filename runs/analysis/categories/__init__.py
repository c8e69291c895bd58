"""Owns what kinds of question a run asked: tags, their figures, checks; changes no battle."""
