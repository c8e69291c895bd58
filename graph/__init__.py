"""Owns who acts when, as a LangGraph; refuses SQL, decoding and providers."""
