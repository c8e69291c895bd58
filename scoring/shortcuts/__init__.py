"""Owns what choice items give away without their video, from texts alone; asks no model."""
