"""Files shaped as MT-Video-Bench publishes its own; the text is made here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.published_tasks import write
from videoautoarena.runs.exchange.interop.mt_video_bench import TAGS

Json = dict[str, Any]
TAG = {"summary" if name == "content_summary" else name: tag for name, tag in TAGS.items()}
"""By the name of a file, what marks its scored rounds."""


def dialogue(event: object, stem: str = "object_reference", rounds: int = 3) -> Json:
    """Return a dialogue whose last round has the tag of its ability, where that has one."""
    said = {
        f"Round {k}": {
            "User": f"What is at place {k} of {event}?",
            "Assistant": f"A thing {k}.",
            "Ability": TAG.get(stem, "None") if k == rounds else "None",
        }
        for k in range(1, rounds + 1)
    }
    return {"event_index": event, "mtqa": said}


def checks(number: int, *expected: str) -> Json:
    """Return the checklist of a round, an item an expected answer."""
    found: Json = {"round index": number}
    for k, answer in enumerate(expected, start=1):
        found |= {f"Q{k}": f"Does it name thing {k}?", f"A{k}": answer}
    return found


def published(stem: str = "object_reference", videos: Iterable[str] = ("v1", "v2")) -> list[Json]:
    """Return the two files of an ability: two dialogues a video, checks for what is scored."""
    dialogues = {video: [dialogue(1, stem), dialogue("2", stem)] for video in videos}
    numbers = (3,) if stem in TAG else (1, 2, 3)
    lists = {
        video: {event: [checks(k, "Yes", "No", "Yes") for k in numbers] for event in ("1", "2")}
        for video in videos
    }
    return [dialogues, lists]


def lay(folder: Path, stem: str, files: list[Json]) -> Path:
    """Write the two files of an ability into their folders; return the first."""
    write(folder / "checklist" / f"{stem}_CheckList.json", files[1])
    return write(folder / "mtqa" / f"{stem}.json", files[0])
