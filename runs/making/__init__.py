"""Owns making test sets from a folder of videos: items, dialogues, scenes; plays none."""
