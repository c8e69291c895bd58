"""Owns the text of a prompt: role files, fences, order, reply forms; calls nobody."""
