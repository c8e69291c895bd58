"""Owns pages that people look at: report, live view, labelling; rates and plays nothing."""
