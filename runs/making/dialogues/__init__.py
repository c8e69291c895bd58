"""Owns making sets of dialogues and their review by people; plays and scores nothing."""
