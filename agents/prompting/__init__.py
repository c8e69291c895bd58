"""Laying out a prompt: role texts, fences around data, frames in order, reply contracts."""
