"""The subtitles that a run keeps of its videos, and sends with their frames."""

from __future__ import annotations

from videoautoarena.memory.records.digests import read_body
from videoautoarena.memory.records.records import Subtitles
from videoautoarena.memory.store.store import Store

SUBTITLES = "subtitles/"
"""Name in the run's file, before a video's id, of the cues that are sent with its frames."""


def stored_subtitles(store: Store, video: str) -> Subtitles | None:
    """Return the subtitles that were kept for a video; StoreError where they are damaged."""
    file = store.file(f"{SUBTITLES}{video}")
    return read_body(Subtitles, file.text) if file else None


def has_subtitles(store: Store) -> bool:
    """Return whether the run keeps subtitles of any of its videos."""
    return any(store.file(f"{SUBTITLES}{video.id}") for video in store.videos())
