"""Owns what frames have to say to a question, and how right an answer is; plays no role."""
