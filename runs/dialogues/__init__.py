"""Owns making sets of dialogues out of a folder of videos, and their review; plays none."""
