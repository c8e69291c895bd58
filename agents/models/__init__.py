"""Model names, where they lead, and what a model is asked with."""
