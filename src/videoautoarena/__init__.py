"""VideoAutoArena: an arena that finds out which multimodal model understands video best."""
