"""Reading a folder of videos, and telling how far that is where there are many."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from runs.events import Say
from runs.tallying import Tell, telling
from video.find import Findings, find_videos

MANY = 100
"""Fewer files than this are read before anybody wonders: small ones by the hundred a second."""


def gather(folder: Path, say: Say) -> Findings:
    """Return what the folder holds, as `find_videos` does; many files are counted on the way."""
    with ExitStack() as shown:
        tell: Tell | None = None

        def count(done: int, total: int) -> None:
            nonlocal tell
            if total >= MANY:
                tell = tell or shown.enter_context(telling(say))
                tell(done, total, "files read")

        return find_videos(folder, count)
