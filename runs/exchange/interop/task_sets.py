"""Task sets that others publish: lists of records, read strictly, and one set made of them.

All of it is text that somebody else wrote: none of it is ever a path, nothing is corrected, and
where one record cannot be used nothing is imported.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.bench.format.reader import LARGEST_MANIFEST, LONGEST_LINE
from videoautoarena.runs.bench.format.schema import (
    CARD,
    IMPORT,
    MANIFEST,
    QUESTIONS,
    BenchVideo,
    Generator,
    Kind,
    Manifest,
    Source,
    TaskItem,
    counts_of,
    digest_of,
    question_bytes,
)
from videoautoarena.runs.bench.format.writer import (
    CHECKSUMS,
    UNSTATED_BY_PUBLISHER,
    count_tables,
    licence_section,
    plain,
    put,
    seal,
)
from videoautoarena.runs.bench.score.shortcuts import Shortcuts, probe_set
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import (
    OddNumber,
    decode,
    kind_of,
    oddity,
    parse_json,
    read_bytes,
)
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import unusable_too
from videoautoarena.runs.run.rundir.reader import counted

LONGEST_ID = 1000
LONGEST_FILE_NAME = 255
"""Bytes that a file system takes for one name."""
MOST_FILES = 100
OPTIONS = "candidates"
MOST_OPTIONS = 26
"""The most options: there are no more letters to choose by."""
MOST_TASKS = 1000


class UnusableRecord(Exception):
    """Why one record cannot be used."""


class StrictRecord(dict[str, Any]):
    """One record, read strictly: UnusableRecord says why it cannot be used."""

    @classmethod
    def of(cls, raw: Any) -> StrictRecord:
        """Return a record if it is an object without anything odd inside."""
        if not isinstance(raw, dict):
            raise UnusableRecord(f"is {kind_of(raw)}, no object")
        if wrong := oddity(raw):
            raise UnusableRecord(wrong)
        return cls(raw)

    def text(self, key: str, *, longest: int | None = None) -> str:
        """Return a text that must be there; with `longest`, of 1 to so many characters."""
        if key not in self:
            raise UnusableRecord(f"has no {quoted(key)}")
        value = self[key]
        if not isinstance(value, str):
            raise UnusableRecord(f"has {kind_of(value)} under {quoted(key)}; it must be a text")
        if longest is not None and not (value.strip() and len(value) <= longest):
            raise UnusableRecord(f"needs a {quoted(key)} of 1 to {longest} characters")
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a text; None if it is missing."""
        return None if self.get(key) is None else self.text(key)

    def texts(self, key: str) -> list[str]:
        """Return a list of texts; empty if it is missing."""
        value = self.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise UnusableRecord(
                f"has {kind_of(value)} under {quoted(key)}; it must be a list of texts"
            )
        for text in value:
            if not isinstance(text, str):
                raise UnusableRecord(
                    f"has {kind_of(text)} in the list {quoted(key)}; it must be a text"
                )
        return value

    def options(self) -> list[str]:
        """Return the options of a record, which can be fewer or more than can be asked."""
        options = self.texts(OPTIONS)
        if len(options) > MOST_OPTIONS:
            raise UnusableRecord(
                f"has {len(options):,} options under {quoted(OPTIONS)}; at most {MOST_OPTIONS}"
            )
        return options

    def number(self, key: str) -> float | None:
        """Return a number from 0 on; None if it is missing."""
        value = self.get(key)
        if value is None:
            return None
        # `true` is an int in Python.
        if isinstance(value, bool | OddNumber) or not isinstance(value, int | float):
            raise UnusableRecord(
                f"has {kind_of(value)} under {quoted(key)}; it must be a number of seconds"
            )
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        # A whole number beyond 2**53 may not survive as a float; it is refused, not rounded.
        if not 0 <= number < math.inf or number != value:
            raise UnusableRecord(
                f"has {quoted(value)} under {quoted(key)}; it must be a number of seconds"
            )
        return number

    def rest(self, known: Collection[str]) -> dict[str, JsonValue]:
        """Return the keys that an item has no field for, and known ones that are null or empty."""
        return {key: self[key] for key in self if key not in known or self[key] in (None, [])}


class PublishedRecords(NamedTuple):
    """The records of one published file, not looked at yet."""

    file: Path
    digest: str
    rows: list[Any]

    def any_has(self, key: str) -> bool:
        """Return whether a record has this key."""
        return any(isinstance(row, dict) and key in row for row in self.rows)


class PublishedItems(NamedTuple):
    """The items of one published file, in its order."""

    file: Path
    digest: str
    items: list[TaskItem]


def files_of(place: Path, pattern: str) -> list[Path]:
    """Return the published files: `place`, or those of a folder by name; BadInput if none."""
    if not place.is_dir():
        return [place]
    found = sorted(file for file in place.glob(pattern) if not file.name.startswith("."))
    if not found:
        raise BadInput(f"{place} holds no file {pattern}")
    if len(found) > MOST_FILES:
        raise BadInput(f"{place} holds {len(found):,} files {pattern}; more than {MOST_FILES}")
    return found


def read_records(file: Path) -> PublishedRecords:
    """Return the records of a file; BadInput unless it is a list with any."""
    content = read_bytes(file)
    raw = parse_json(decode(content, str(file)), str(file))
    if not isinstance(raw, list):
        raise BadInput(f"{file} holds {kind_of(raw)}; it must be a list of items")
    if not raw:
        raise BadInput(f"{file} holds no item")
    return PublishedRecords(file, digest(content), raw)


def make_items(
    records: PublishedRecords, make: Callable[[StrictRecord], TaskItem]
) -> PublishedItems:
    """Return an item of each record; BadInput naming all that cannot be used."""
    made = list[TaskItem]()
    # All are collected: nobody mends a file of thousands of records one run at a time.
    refused = dict[int, str]()
    for number, row in enumerate(records.rows, start=1):
        try:
            item = make(StrictRecord.of(row))
            # No reader takes a longer line, so that the set could never be opened.
            if len(question_bytes([item])) >= LONGEST_LINE:
                raise UnusableRecord(f"is longer than {LONGEST_LINE >> 20} MB")
            made.append(item)
        except UnusableRecord as why:
            refused[number] = str(why)
    if refused:
        first, *others = refused
        nor = unusable_too(list(map(str, others)))
        raise BadInput(f"{records.file}, item {first}: {refused[first]}{nor}; nothing was imported")
    return PublishedItems(records.file, records.digest, made)


def named_video(name: str) -> BenchVideo:
    """Return the entry of a video that is found by the name of its file, if it can be one."""
    # JSON can spell lone surrogates, on which a strict encoder raises.
    can_be = len(name.encode("utf-8", "surrogatepass")) <= LONGEST_FILE_NAME
    return BenchVideo(path=name if can_be else None)


@dataclass(frozen=True)
class TaskSetImport:
    """A task set that was imported, or was already there."""

    folder: Path
    """Where it lies."""
    bench: str
    """Its digest."""
    kind: Kind
    """Kind of the set, as in the manifest."""
    questions: int
    """Items in it."""
    videos: int
    """Videos that they are about."""
    tasks: dict[str, int]
    """Task to number of items."""
    splits: dict[str, int]
    """Part of the set to number of items."""
    without_key: int
    """Items without an answer."""
    shortcuts: Shortcuts
    """[What it gives away](#what-a-set-gives-away)."""
    was_there: bool
    """The folder held this set already."""
    one_video: str
    """The path, or else the id, of one of its videos: how the others are named, too."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena import mlvu --json`."""
        rest = {key: value for key, value in asdict(self).items() if key != "shortcuts"}
        found = {"shortcuts": self.shortcuts.to_json()}
        return {"schema": SCHEMA, **rest, "folder": str(self.folder), **found}

    def as_line(self) -> str:
        """Return it as a line for a person."""
        made = "already holds this set" if self.was_there else "imported"
        tasks = ", ".join(f"{safe(task)} {number}" for task, number in self.tasks.items())
        keyless = f", {self.without_key:,} without a key" if self.without_key else ""
        return (
            f"{safe(str(self.folder))} {made}: {counted(self.questions, 'item')} "
            f"({', '.join(map(safe, self.splits))}: {tasks}) about "
            f"{counted(self.videos, 'video')}{keyless}, bench {self.bench[:12]}"
        )

    def next_lines(self) -> list[str]:
        """Return what it takes to play the set, as lines for a person."""
        films = f"its {counted(self.videos, 'video')}"
        return [
            f"to play it, put {films} into a folder, named as in the set ({safe(self.one_video)}):",
            f"arena bench run {safe(shlex.quote(str(self.folder)))} --videos FOLDER --model MODEL",
            "with a part of them: add --allow-missing; without any: a model with max_frames = 0",
        ]


def put_tasks(
    parts: Sequence[PublishedItems],
    to: Path,
    *,
    form: str,
    licence: str | None,
    videos: Mapping[str, BenchVideo],
) -> TaskSetImport:
    """Make one set of the items of published files, whole or not at all.

    Raises:
        BadInput: two items have one id, or `to` holds something else.
    """
    seen: set[str] = set()
    for part in parts:
        for number, item in enumerate(part.items, start=1):
            if item.qid in seen:
                where = f"{part.file}, item {number}"
                raise BadInput(f"{where}: the id {quoted(item.qid)} is taken; nothing was imported")
            seen.add(item.qid)
    items = [item for part in parts for item in part.items]
    if len({item.task for item in items}) > MOST_TASKS:
        raise BadInput(f"{parts[0].file} has more than {MOST_TASKS:,} tasks; nothing was imported")
    choice = {item.is_choice for item in items}
    digests = {part.file.name: part.digest for part in parts}
    files: list[JsonValue] = [
        {"name": part.file.name, "sha256": part.digest, "items": len(part.items)} for part in parts
    ]
    whole = parts[0].digest if len(parts) == 1 else digest_of(digests)
    draft = Manifest(
        kind="tasks" if len(choice) > 1 else "choice" if True in choice else "generation",
        generator=Generator(name="videoautoarena", version=version("videoautoarena")),
        source=Source(kind=IMPORT, format=form, digest=whole, layout={"files": files}),
        selection={"how": "every item of the files"},
        licence=licence,
        counts=counts_of(items),
        files={},
        videos=dict(videos),
        count=len(items),
    )
    shortcuts = probe_set(items)
    # Names in published files may hold lone surrogates, which UTF-8 cannot write.
    card = task_card(draft, items, shortcuts).encode("utf-8", "backslashreplace")
    bench = seal(draft, {QUESTIONS: question_bytes(items), CARD: card})
    # No reader takes a longer one, so a set that could never be opened is not written.
    if len(bench.files[MANIFEST]) > LARGEST_MANIFEST:
        raise BadInput(f"{parts[0].file} has too many videos for one set; split it")
    return TaskSetImport(
        was_there=put(bench.files, to),
        folder=to,
        bench=bench.manifest["bench"],
        kind=draft.kind,
        questions=len(items),
        videos=len(videos),
        tasks=dict(Counter(item.task for item in items)),
        splits=dict(Counter(item.split or "no split" for item in items)),
        without_key=sum(item.answer is None for item in items),
        shortcuts=shortcuts,
        one_video=next((entry.path or id_ for id_, entry in videos.items()), ""),
    )


def task_card(manifest: Manifest, items: Sequence[TaskItem], found: Shortcuts) -> str:
    """Return card.md of an imported task set; equal input gives equal text."""
    source = manifest.source
    ours = manifest.generator
    choice = sum(item.is_choice for item in items)
    keyless = sum(item.answer is None for item in items)
    without = f"\nIt is not said of {counted(keyless, 'item')}, which are not scored."
    unknown = without if keyless else ""
    return f"""# Task set of {counted(len(items), "item")}

## What it is

Imported from {source.format} files, sha256 `{source.digest}`, by {ours.name} {ours.version}.
Each line of `questions.jsonl` asks about a video: for one of its options ({choice:,}), or for free
text that is scored by a reference ({len(items) - choice:,}). What is right was said by whoever
published the files.{unknown} Nothing was
corrected, and nothing left out.

{licence_section(manifest.licence, unstated=UNSTATED_BY_PUBLISHER)}
## Counts

{chr(10).join(count_tables(manifest.counts, of="items"))}
Videos are known by the names in the files alone: there are no
digests to check them by.

## What it gives away

{"".join(f"- {plain(line)}{chr(10)}" for line in found.as_lines())}
`arena bench probe` shows every probe and names every item.

{CHECKSUMS}
"""
