"""Owns scores on tasks with a right answer, beside chance; decides no answer."""
