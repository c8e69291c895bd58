"""Owns people labelling battles without knowing whose they are: queue, votes, ranking."""
