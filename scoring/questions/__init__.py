"""Owns figures about questions: mixes, scores, what betrays an answer; asks no model."""
