"""Running models on a bench, with a journal of its own."""
