"""Owns everything said to a model: roles, prompts, calls, limits; refuses SQL and LangGraph."""
