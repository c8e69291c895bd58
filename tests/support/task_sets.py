"""Small sets of tasks made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.schema import (
    CARD,
    IMPORT,
    MADE,
    QUESTIONS,
    BenchVideo,
    Entry,
    Generator,
    Kind,
    Manifest,
    Source,
    TaskItem,
    counts_of,
    question_bytes,
)
from videoautoarena.runs.bench.format.writer import put, seal
from videoautoarena.video.folder.find import find_videos


def choice(video: str, place: int = 0, /, **changed: Any) -> TaskItem:
    """Return an item of choice about a video; another `place` makes another question."""
    found = {
        "video_id": video,
        "task": "needle",
        "question": f"What stands at place {place}?",
        "options": ["a cat", "a dog", "a boat", "a lamp"],
        "answer": "a dog",
        **changed,
    }
    item = TaskItem(**{"qid": "", **found})
    return item if item.qid else item.model_copy(update={"qid": item.own_qid()})


def free(video: str, place: int = 0, /, **changed: Any) -> TaskItem:
    """Return an item of free text about a video, with scoring points."""
    found = {
        "task": "scene",
        "question": f"Describe scene {place}.",
        "options": [],
        "answer": "A dog runs over the bridge and barks.",
        "points": ["A dog runs over the bridge.", "It barks."],
    }
    return choice(video, place, **{**found, **changed})


def write_set(
    folder: Path, items: Sequence[TaskItem], *, videos: Path | None = None
) -> OpenBench[TaskItem]:
    """Write a set and return it; with a folder of videos, ids are those of its files."""
    kinds = {item.is_choice for item in items}
    kind: Kind = "tasks" if len(kinds) > 1 else "choice" if kinds == {True} else "generation"
    write_items(folder, items, kind, videos=videos)
    return open_bench(folder)


def write_items(
    folder: Path, items: Sequence[Entry], kind: Kind, *, videos: Path | None = None
) -> None:
    """Write a set of any kind."""
    known = {video.id: video for video in find_videos(videos).videos} if videos else {}
    files = {QUESTIONS: question_bytes(items), CARD: b"# Tasks\n"}
    draft = Manifest(
        kind=kind,
        generator=Generator(name="videoautoarena", version="0"),
        source=Source(kind=MADE if known else IMPORT, format="videoautoarena"),
        counts=counts_of(items),
        files={},
        videos={
            id_: BenchVideo(**known[id_].model_dump(exclude={"id", "rotation", "problems"}))
            if id_ in known
            else BenchVideo()
            for id_ in dict.fromkeys(item.video_id for item in items)
        },
        count=len(items),
    )
    put(seal(draft, files).files, folder)


def needle(video: str, place: int, /, *, at: float, background: int = 60) -> TaskItem:
    """Return an item as `arena tasks make` has it, whose needle of 4 s begins at `at` seconds."""
    probes = [{"video": "b" * 64, "at_s": at, "lasts_s": 4.0}]
    ground = [{"video": video, "seconds": background, "start_s": 0.0}]
    made = {"kind": "needle", "background_s": background, "ground": ground, "probes": probes}
    return choice(video, place, duration_s=background + 4.0, made=made)
