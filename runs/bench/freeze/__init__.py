"""Owns turning a run into a bench: selection, items, topics, card; calls no chat model."""
