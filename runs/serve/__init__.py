"""Owns pages served on this machine: live view, labelling; rates and plays nothing."""
