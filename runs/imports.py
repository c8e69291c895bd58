"""Taking in benches that others publish, and writing them out again as they were.

The one format so far is VideoAutoBench's file: a JSON object whose keys are question ids and whose
values hold `video_id`, `persona`, `question`, `selected answer` and `rejected answer`. All of it is
text that somebody else wrote: none of it is ever a path, and nothing is corrected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from memory.digests import digest
from memory.errors import BadInput
from memory.records import SCHEMA
from runs.bench_counts import counts_of
from runs.benches import LARGEST_MANIFEST, LONGEST_LINE
from runs.console import safe
from runs.exports import KEYS, VIDEOAUTOBENCH, layout_of
from runs.freeze import Bench
from runs.freeze_folder import put
from runs.imports_card import import_card
from runs.json_files import Twice, decode, kind_of, oddity, parse_json, read_bytes
from runs.rate_columns import quoted
from runs.reading import counted
from runs.sealing import (
    CARD,
    IMPORT,
    MANIFEST,
    QUESTIONS,
    BenchVideo,
    Generator,
    Item,
    Manifest,
    Source,
    manifest_bytes,
    question_bytes,
    sealed,
    sealed_file,
)

LONGEST_ID = 1000
_NAMED = 8


@dataclass(frozen=True)
class Taken:
    """A bench that was imported, or was already there."""

    folder: Path
    bench: str
    questions: int
    videos: int
    extra: int
    """Questions with keys that mean nothing here; they are kept."""
    was_there: bool

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena import videoautobench --json`."""
        return {"schema": SCHEMA, **asdict(self), "folder": str(self.folder)}

    def as_line(self) -> str:
        """Return it as a line for a person."""
        made = "is this bench already" if self.was_there else "imported"
        return (
            f"{safe(str(self.folder))} {made}: {counted(self.questions, 'question')} about "
            f"{counted(self.videos, 'video')}, bench {self.bench[:12]}"
        )


class _Wrong(Exception):
    """Why one item cannot be used."""


def import_videoautobench(file: Path, to: Path, *, licence: str | None = None) -> Taken:
    """Make a bench folder of a published file, whole or not at all.

    Raises:
        BadInput: the file cannot be read, an item in it cannot be used (it is named by its qid), or
            `to` holds something else.
    """
    content = read_bytes(file)
    raw = parse_json(decode(content, str(file)), str(file))
    items = _items(file, raw)
    source = Source(
        kind=IMPORT, format=VIDEOAUTOBENCH, digest=digest(content), layout=layout_of(raw, content)
    )
    bench = _bench(items, source, licence=licence)
    if len(bench.files[MANIFEST]) > LARGEST_MANIFEST:
        raise BadInput(f"{file} asks of too many videos for one bench; split it")
    was_there = put(bench.files, to)
    return Taken(
        folder=to,
        bench=bench.manifest["bench"],
        questions=len(items),
        videos=len(bench.manifest["videos"]),
        extra=sum(bool(item.extra) for item in items),
        was_there=was_there,
    )


def _items(file: Path, raw: Any) -> list[Item]:
    if not isinstance(raw, dict):
        raise BadInput(
            f"{file} holds {kind_of(raw)}; it must be an object of questions by their qid"
        )
    if not raw:
        raise BadInput(f"{file} holds no question")
    if isinstance(raw, Twice):
        raise BadInput(f"{file} has the qid {quoted(raw.key)} twice")
    made, refused = [], {}
    for qid, entry in raw.items():
        try:
            made.append(_item(qid, entry))
        except _Wrong as why:
            refused[qid] = str(why)
    if refused:
        raise BadInput(_refusal(file, refused))
    return made


def _item(qid: str, entry: Any) -> Item:
    if not qid.strip() or len(qid) > LONGEST_ID:
        raise _Wrong(f"a qid must have 1 to {LONGEST_ID} characters")
    if not isinstance(entry, dict):
        raise _Wrong(f"is {kind_of(entry)}, no object")
    if wrong := oddity(entry):
        raise _Wrong(wrong)
    for key in KEYS:
        if key not in entry:
            raise _Wrong(f"has no {quoted(key)}")
        if not isinstance(entry[key], str):
            raise _Wrong(f"has {kind_of(entry[key])} under {quoted(key)}; it must be a text")
    if not entry["video_id"] or len(entry["video_id"]) > LONGEST_ID:
        raise _Wrong(f'needs a "video_id" of 1 to {LONGEST_ID} characters')
    extra = {key: value for key, value in entry.items() if key not in KEYS}
    known = {ours: entry[theirs] for theirs, ours in KEYS.items()}
    made = Item(qid=qid, chosen_by="source", extra=extra, **known)
    if len(question_bytes([made])) >= LONGEST_LINE:
        raise _Wrong(f"is longer than {LONGEST_LINE >> 20} MB")
    return made


def _refusal(file: Path, refused: Mapping[str, str]) -> str:
    first, *others = refused
    told = f"{file}, {quoted(first)}: {refused[first]}"
    if others:
        named = ", ".join(quoted(qid) for qid in others[:_NAMED])
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        told += f"; nor can {named}{more} be used"
    return f"{told}; nothing was imported"


def _bench(items: list[Item], source: Source, *, licence: str | None) -> Bench:
    ours = version("videoautoarena")
    card = import_card(items, source, licence=licence, version=ours)
    files = {QUESTIONS: question_bytes(items), CARD: card.encode("utf-8", "backslashreplace")}
    manifest = sealed(
        Manifest(
            generator=Generator(name="videoautoarena", version=ours),
            source=source,
            selection={"how": "every question of the file"},
            licence=licence,
            counts=counts_of(items),
            files={name: sealed_file(content) for name, content in files.items()},
            videos={item.video_id: BenchVideo() for item in items},
            count=len(items),
        )
    )
    return Bench(manifest, {**files, MANIFEST: manifest_bytes(manifest)})
