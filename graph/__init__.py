"""The LangGraph of a tournament: who acts when; calls and storage are handed in."""
