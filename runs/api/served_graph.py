"""The graph of a whole run as a LangGraph server loads it, by `langgraph.json`."""

from videoautoarena.runs.api.simulate import arena as arena_of_this_process

arena = arena_of_this_process()
