"""Owns a run looked at while it goes on: its data, events, videos and frames; writes nothing."""
