"""The videos that gave no frames: why, in which generations, and how they get another chance.

One is tried once. What came of it is written down, so that a replay and a resumed run come to the
same end; `--retry-failed` lifts it for what is played from then on.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Literal, NamedTuple

from memory.digests import canonical_json
from memory.store import Store

UNUSABLE = "unusable/"
"""Name in the run's file, before a video's id, of why it gives no frames; empty once lifted."""
BEFORE = "/before"
"""Behind that name: the reasons that were lifted, by the first generation they do not bind."""


class Quarantined(NamedTuple):
    """A file that is not used."""

    path: str
    video: str | None
    """Id of the run's video; None where the file was refused when it was found."""
    when: Literal["found", "decoded"]
    reason: str


def verdict_on(store: Store, video: str, generation: int | None = None) -> str | None:
    """Return why a video gives no frames, or None where it may.

    Args:
        store: the run.
        video: its id.
        generation: as it stood in this one; None for now.
    """
    if generation is not None:
        lifted = sorted((int(since), why) for since, why in _lifted(store, video).items())
        if bound := [why for since, why in lifted if generation < since]:
            return bound[0]
    standing = store.file(f"{UNUSABLE}{video}")
    return standing.text or None if standing else None


def condemn(store: Store, video: str, reason: str) -> None:
    """Write down that a video gives no frames."""
    store.put_file(f"{UNUSABLE}{video}", reason, replace=True)


def pardon(store: Store, videos: Collection[str], generation: int) -> list[str]:
    """Let those of the videos that gave no frames be tried again; return their ids.

    What was played before `generation` stands as it was, for a replay.
    """
    lifted = []
    for video in sorted(videos):
        if (why := verdict_on(store, video)) is not None:
            before = {**_lifted(store, video), str(generation): why}
            store.put_file(f"{UNUSABLE}{video}{BEFORE}", canonical_json(before), replace=True)
            store.put_file(f"{UNUSABLE}{video}", "", replace=True)
            lifted.append(video)
    return lifted


def quarantine(store: Store) -> list[Quarantined]:
    """Return the files that are not used: those refused when found, then those without frames."""
    videos = store.videos()
    used = {video.path for video in videos}
    refused = [
        Quarantined(one.path, None, "found", one.reason)
        for one in store.skipped()
        if one.path not in used
    ]
    verdicts = ((video, verdict_on(store, video.id)) for video in videos)
    return refused + [
        Quarantined(video.path, video.id, "decoded", why) for video, why in verdicts if why
    ]


def _lifted(store: Store, video: str) -> dict[str, str]:
    file = store.file(f"{UNUSABLE}{video}{BEFORE}")
    lifted: dict[str, str] = json.loads(file.text) if file else {}
    return lifted
