"""Owns people labelling battles blind: queue, votes, ranking; hands out no name of a model."""
