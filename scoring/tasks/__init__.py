"""Owns what results on tasks with a right answer come to, beside chance; decides no answer."""
