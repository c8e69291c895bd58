"""How many frames a model is sent where its server says nothing of it."""

from __future__ import annotations

from videoautoarena.memory.records.records import Role

CONTESTANT_FRAMES = 64
"""Most frames of a contestant that names no limit (VideoAutoArena, experimental settings)."""
MOST_FRAMES = 1024


def usual_frames(max_frames: int | None, role: Role) -> int:
    """Return the most frames a model is sent in `role`, whatever its server takes."""
    if max_frames is not None:
        return max_frames
    return CONTESTANT_FRAMES if role == "contestant" else MOST_FRAMES
