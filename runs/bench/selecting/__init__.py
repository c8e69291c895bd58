"""Owns what models are asked to choose a bench's questions; decides no battle, writes no bench."""
