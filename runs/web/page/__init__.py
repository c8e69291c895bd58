"""Owns a run as one page: its data from `open_run`, thumbnails, HTML; opens no socket."""
