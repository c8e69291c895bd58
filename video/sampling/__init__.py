"""Which frames stand for a video, and the cache that keeps them."""
