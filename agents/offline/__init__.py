"""Owns the chat models that run in this process; sees only the messages of one call.

They know nothing but the messages of one call: no path, no store, no name of a video or of a rival.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from videoautoarena.agents.offline.players.model import OfflineModel

__all__ = ["EMBEDDER", "KINDS", "OfflineModel"]

EMBEDDER = "colours"
"""Kind that embeds frames and words, and plays no other role."""

# VideoAutoArena sends 128 frames to who judges and 64 to who answers; the others see less.
KINDS: dict[str, int] = {
    "hawk": 64,
    "owl": 16,
    "mole": 4,
    "blind": 0,
    "parrot": 8,
    "terse": 8,
    "windbag": 8,
    "trickster": 8,
    "goldfish": 64,
    "eager": 64,
    "examiner": 128,
    "judge": 128,
}
"""Kind to the most frames it is sent. A kind uses every frame it receives."""


def __getattr__(name: str) -> type[OfflineModel]:
    # langchain is slow to import, and most who come here only want the names of the kinds
    if name == "OfflineModel":
        from videoautoarena.agents.offline.players.model import OfflineModel

        return OfflineModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
