"""Looking at what goes in: videos, frames, the frame cache, and the machine itself."""
