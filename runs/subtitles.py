"""The subtitles of a run: read once, kept with the run, and never looked at again."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from agents.fences import fence_code
from memory.bodies import read_body, write_body
from memory.records import Subtitles, Video
from memory.store import Store
from runs.console import safe
from video.find import Findings
from video.subtitles import Beside, Shelf, Track

SUBTITLES = "subtitles/"
"""Name in the run's file, before a video's id, of the cues that are sent with its frames."""


def keep_subtitles(
    store: Store, videos: Sequence[Video], *, found: Findings, folder: Path, seed: int
) -> Iterator[str]:
    """Copy the subtitles beside the videos into the run; yield what a person should know."""
    shelf, copies, count = Shelf(folder), _copies(found), 0
    for video in videos:
        beside = shelf.beside(video, copies.get(video.path, ()))
        store.add_skipped(beside.skipped)
        yield from _told(video, beside)
        if beside.track is not None:
            count += 1
            kept = _sealed(video.id, beside.track, seed)
            store.put_file(f"{SUBTITLES}{video.id}", write_body(kept))
    if count:
        yield (
            f"subtitles beside {count} of {len(videos)} video{'s' if len(videos) != 1 else ''} "
            "are sent with the frames (--no-subtitles leaves them out)"
        )


def stored_subtitles(store: Store, video: str) -> Subtitles | None:
    """Return the subtitles that were kept for a video; StoreError where they are damaged."""
    file = store.file(f"{SUBTITLES}{video}")
    return read_body(Subtitles, file.text) if file else None


def has_subtitles(store: Store) -> bool:
    """Return whether the run keeps subtitles of any of its videos."""
    return any(store.file(f"{SUBTITLES}{video.id}") for video in store.videos())


def changed_subtitles(
    store: Store, videos: Container[str], *, found: Findings, folder: Path
) -> Iterator[str]:
    """Yield one line if files beside the run's videos are no longer those that it has kept.

    Args:
        store: the run.
        videos: ids of the videos it had when it was last at work.
        found: what the folder holds now.
        folder: where it is.
    """
    shelf, copies = Shelf(folder), _copies(found)
    changed = [
        video
        for video in found.videos
        if video.id in videos and _is_changed(store, shelf, video, copies.get(video.path, []))
    ]
    if changed:
        of = safe(changed[0].path) if len(changed) == 1 else f"{len(changed)} videos"
        yield f"the subtitles of {of} are not those this run began with; it goes on with its own"


def _is_changed(store: Store, shelf: Shelf, video: Video, copies: Sequence[str]) -> bool:
    kept = stored_subtitles(store, video.id)
    if kept is None:
        return shelf.beside(video, copies).track is not None
    names = (name for path in (video.path, *copies) for name in shelf.names(path))
    return not any(shelf.has(name, kept.sha256) for name in names)


def _copies(found: Findings) -> dict[str, list[str]]:
    """Return the paths that have the same bytes as a video, by the video's path."""
    copies: dict[str, list[str]] = {}
    for path, same in found.duplicates:
        copies.setdefault(same, []).append(path)
    return copies


def _sealed(video: str, track: Track, seed: int) -> Subtitles:
    texts = {f"{place}": cue.text for place, cue in enumerate(track.cues)}
    code = fence_code(seed, video, "subtitles", texts)
    return Subtitles(path=track.path, sha256=track.sha256, code=code, cues=track.cues)


def _told(video: Video, beside: Beside) -> Iterator[str]:
    for skipped in beside.skipped:
        yield f"skipped {safe(skipped.path)}: {safe(skipped.reason)}"
    track = beside.track
    if track is None:
        return
    guessed = "" if track.encoding.startswith("utf") else f", read as {track.encoding}"
    others = ", ".join(safe(name) for name in beside.unused)
    if guessed or others:
        left = f"; not used: {others}" if others else ""
        yield f"subtitles of {safe(video.path)}: {safe(track.path)}{guessed}{left}"
