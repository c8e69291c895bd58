"""Owns a run or task set as one page: its data as commands print them, HTML; opens no socket."""
