"""Owns dialogues as they are played and scored: rounds, histories, checklists; makes none."""
