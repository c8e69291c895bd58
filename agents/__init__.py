"""One file per role, their prompts, and the one way out to a model (`ask`)."""
