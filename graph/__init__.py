"""What follows what: the LangGraph of one video and its lineages."""
