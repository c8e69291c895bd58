"""The videos of a bench: entries that refer to them, or copies with names of their own."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from memory.errors import BadInput
from memory.store import Store
from runs.console import safe
from runs.freeze_folder import Copy
from runs.opening import videos_folder
from runs.sealing import VIDEOS, BenchSubtitles, BenchVideo
from runs.subtitles import stored_subtitles

_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}")


def entries_of(store: Store, asked: Collection[str]) -> dict[str, BenchVideo]:
    """Return what the run knows of the videos that are asked about, in its order."""
    return {
        video.id: BenchVideo(
            **video.model_dump(exclude={"id", "rotation", "problems"}),
            subtitles=_subtitles(store, video.id),
        )
        for video in store.videos()
        if video.id in asked
    }


def _subtitles(store: Store, video: str) -> BenchSubtitles | None:
    kept = stored_subtitles(store, video)
    return BenchSubtitles(path=kept.path, sha256=kept.sha256) if kept else None


def copied(entries: Mapping[str, BenchVideo]) -> dict[str, BenchVideo]:
    """Return the entries as they are where the bench holds copies: named by id, side by side."""
    return {id_: _copied(id_, video) for id_, video in entries.items()}


def _copied(id_: str, video: BenchVideo) -> BenchVideo:
    spoken = video.subtitles
    if spoken is not None:
        spoken = spoken.model_copy(update={"path": id_ + _suffix(spoken.path)})
    return video.model_copy(update={"path": id_ + _suffix(video.path or ""), "subtitles": spoken})


def _suffix(path: str) -> str:
    """Return what says of which kind a file is; nothing that could be more than that."""
    suffix = os.path.splitext(path)[1]
    return suffix.lower() if _SUFFIX.fullmatch(suffix) else ""


def copies_of(
    store: Store, entries: Mapping[str, BenchVideo], given: Path | None
) -> dict[str, Copy]:
    """Return where the files lie that are to be copied, by their place in the bench.

    Args:
        store: of the run.
        entries: as the run has them.
        given: the folder of videos; None for where they lay when the run was last at work.

    Raises:
        BadInput: one is not there.
    """
    folder = given or videos_folder(store)
    if folder is None or not folder.is_dir():
        raise BadInput("the run does not know where its videos are; pass --videos DIR")
    files = {}
    for id_, new in copied(entries).items():
        old = entries[id_]
        pairs = [(old, new), (old.subtitles, new.subtitles)]
        for was, now in pairs:
            if was is None or now is None or was.path is None or was.sha256 is None:
                continue
            if not (folder / was.path).is_file():
                raise BadInput(
                    f"{safe(was.path)} is not in {safe(str(folder))}; pass the folder that has it "
                    "with --videos"
                )
            files[f"{VIDEOS}/{now.path}"] = Copy(folder / was.path, was.sha256)
    return files
