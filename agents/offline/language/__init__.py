"""Prose of the offline models: phrased, and read again; measures no picture."""
