"""Who speaks to models: roles, prompts, calls, limits, providers, and the offline models."""
