"""Reading a bench: every byte of its own files is held against its manifest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, get_args

from pydantic import ValidationError
from typing_extensions import TypeVar

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import step
from videoautoarena.runs.bench.format.schema import (
    BENCH_SCHEMA,
    DERIVED,
    FILES,
    IMPORT,
    ITEMS,
    MANIFEST,
    PREFERENCE,
    QUESTIONS,
    RESULTS,
    VIDEOS,
    DialogueItem,
    Entry,
    Item,
    Kind,
    Manifest,
    SealedFile,
    counts_of,
    digest_of,
    manifest_bytes,
)
from videoautoarena.runs.run.rundir.reader import counted, one_line

LARGEST_MANIFEST = 16 * 2**20
LONGEST_LINE = 16 * 2**20
"""Bytes; 10,000 videos make a manifest of 4 MB, so more than this is no bench of ours."""
SPARE = 2**16
"""Bytes beyond twice those that were frozen, up to which questions that have changed are read."""
MANY = 1000
"""Errors of shape beyond which none is named: a forged file can have a million of them."""


E = TypeVar("E", bound=Entry, default=Item)


@dataclass(frozen=True)
class OpenBench(Generic[E]):
    """A bench as everybody reads it; all its text is data that somebody else may have written."""

    folder: Path
    bench: str
    """Its digest of itself: two benches with one digest are the same, byte for byte."""
    manifest: Manifest
    items: list[E]

    @cached_property
    def by_qid(self) -> dict[str, E]:
        """The items by their qid, in the order of the file."""
        return {item.qid: item for item in self.items}

    @property
    def results(self) -> Path:
        """Where scores of models lie; it need not be there."""
        return self.folder / RESULTS

    @property
    def videos(self) -> Path | None:
        """The folder with copies of the videos; None if they are only referred to."""
        return self.folder / VIDEOS if self.manifest.with_videos else None


@dataclass
class BenchReading:
    """What lies in the folder of a bench, and what is wrong with it."""

    bench: str | None = None
    """The bench's digest of itself; None when its manifest cannot be used."""
    manifest: Manifest | None = None
    items: list[Any] = field(default_factory=list)
    """Items, in the shape that belongs to the kind of the bench."""
    lines: int = 0
    problems: list[str] = field(default_factory=list)
    """Not yet safe to print: they quote names out of the files."""


def open_bench(folder: Path) -> OpenBench[Any]:
    """Return the bench in `folder`, or BadInput if it is not as sealed; reads no video."""
    read = read_bench(folder)
    if read.problems or read.manifest is None or read.bench is None:
        wrong = one_line(read.problems[0], 200)
        raise BadInput(f"{folder} is not an intact bench: {wrong}; see arena bench verify")
    return OpenBench(folder, read.bench, read.manifest, read.items)


def read_bench(folder: Path) -> BenchReading:
    """Return all that a bench holds but its videos, with every problem; or BadInput."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder; pass one that {step('freeze')} made")
    read = BenchReading()
    try:
        path = folder / MANIFEST
        if not _is_plain(path):
            raise _UnusableManifest("is missing or no regular file")
        try:
            with path.open("rb") as file:
                # One byte beyond the bound tells that the file is larger, whatever its size; it is
                # not read whole.
                content = file.read(LARGEST_MANIFEST + 1)
        except OSError as wrong:
            raise _UnusableManifest(f"cannot be read: {wrong.strerror}") from wrong
        if len(content) > LARGEST_MANIFEST:
            raise _UnusableManifest(f"is larger than {LARGEST_MANIFEST >> 20} MB")
        try:
            raw = json.loads(content.decode("ascii"))
        except (ValueError, RecursionError) as wrong:
            raise _UnusableManifest("is not ASCII JSON, or nested too deep") from wrong
        if not isinstance(raw, dict):
            raise _UnusableManifest("holds no JSON object")
        found = _FoundManifest(content, raw, _shaped(path.parent, raw))
    except _UnusableManifest as why:
        # The fault of the manifest first: without one, every other file is a stranger, too.
        read.problems = [f"{MANIFEST} {why}", *_strangers(folder, None)]
        return read
    read.bench = str(found.raw.get("bench"))
    read.manifest = found.manifest
    read.problems += _strangers(folder, found.manifest)
    read.problems += _manifest_problems(found)
    read.problems += _file_problems(folder, found.manifest)
    _read_items(folder / QUESTIONS, found.manifest, read)
    return read


class _UnusableManifest(Exception):
    """The manifest cannot be used; nothing behind it can be checked."""


class _FoundManifest(NamedTuple):
    content: bytes
    raw: dict[str, Any]
    manifest: Manifest


def _strangers(folder: Path, manifest: Manifest | None) -> Iterator[str]:
    # Without a manifest nothing tells whether a derived file belongs here, so it is no stranger.
    known = {MANIFEST, *FILES, *(manifest.files if manifest else DERIVED)}
    copies = manifest is not None and manifest.with_videos
    for name in sorted(os.listdir(folder)):
        is_ours = name == RESULTS or (name == VIDEOS and copies)
        if name not in known and not (is_ours and is_folder(folder / name)):
            yield f"{name} does not belong to the bench"


def is_folder(path: Path) -> bool:
    """Return whether a folder is there, and no link to one."""
    return path.is_dir() and not path.is_symlink()


def _is_plain(path: Path) -> bool:
    # A link may lead anywhere, and a pipe in place of a file would be waited for.
    return path.is_file() and not path.is_symlink()


def _shaped(folder: Path, raw: dict[str, Any]) -> Manifest:
    schema = raw.get("schema")
    # Not isinstance: `true` is an int in Python, and is left to the shape to refuse.
    if type(schema) is int and schema != BENCH_SCHEMA:
        remedy = "newer than {}; update videoautoarena", "older than {}; freeze or import it again"
        raise _UnusableManifest(
            f"has schema {one_line(str(schema), 12)}, "
            + remedy[schema < BENCH_SCHEMA].format(BENCH_SCHEMA)
        )
    kind = raw.get("kind", PREFERENCE)
    # No problem of the set, which may well be intact, so that reading it ends here.
    if kind in get_args(Kind) and kind not in ITEMS:
        raise BadInput(
            f"{folder} is a set of kind {kind}, which this version does not play; "
            "update videoautoarena"
        )
    # The digest is of all the rest, so the class, which takes no unknown key, lacks it.
    rest = {key: value for key, value in raw.items() if key != "bench"}
    try:
        # Only for what it raises: json.loads takes NaN, of which no digest can be made.
        manifest_bytes(raw)
        return Manifest.model_validate(rest)
    except ValidationError as wrong:
        raise _UnusableManifest(f"is invalid: {_first(wrong)}") from wrong
    except (ValueError, RecursionError) as wrong:
        raise _UnusableManifest("holds invalid values") from wrong


def _first(wrong: ValidationError) -> str:
    if (count := wrong.error_count()) > MANY:
        return f"{count} values are of a wrong kind"
    errors = wrong.errors(include_url=False, include_context=False, include_input=False)
    place = ".".join(one_line(str(part), 60) for part in errors[0]["loc"])
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{place}: {errors[0]['msg']}{more}"


def _manifest_problems(found: _FoundManifest) -> Iterator[str]:
    raw = found.raw
    manifest = found.manifest
    # Of what stands there: the class would fill in what an older set does not say.
    if digest_of({k: v for k, v in raw.items() if k != "bench"}) != raw.get("bench"):
        yield f"{MANIFEST} has changed: its own digest does not match"
    # The digest is of what the manifest says; changed spaces and escapes show in its bytes alone.
    elif manifest_bytes(raw) != found.content:
        yield f"{MANIFEST} has changed: it is not written as it was frozen"
    for name in sorted(set(FILES) - set(manifest.files)):
        yield f"{MANIFEST} lacks {name}"
    for name in sorted(set(manifest.files) - {*FILES, *DERIVED}):
        yield f"{MANIFEST} lists a file that is no part of a bench: {name}"
    is_ours = manifest.source.kind != IMPORT
    # An import may know its videos by name alone, unless it holds copies of them.
    must_be_known = is_ours or manifest.with_videos
    for id_, video in manifest.videos.items():
        if must_be_known and None in (video.sha256, video.path, video.size_bytes):
            yield f"{MANIFEST} lists video {id_} without its digest, path or size"
        # The id of a video of a run is the start of its digest; an import keeps the ids of its
        # source.
        elif is_ours and (not id_ or not str(video.sha256).startswith(id_)):
            yield f"{MANIFEST} lists video {id_} under a digest that is not its own"


def _file_problems(folder: Path, manifest: Manifest) -> Iterator[str]:
    for name in dict.fromkeys((*FILES, *(name for name in DERIVED if name in manifest.files))):
        entry = manifest.files.get(name)
        if not _is_plain(folder / name):
            yield f"{name} is missing or no regular file"
        elif entry is not None and (wrong := difference(folder / name, entry)):
            yield f"{name} {wrong}"


def difference(path: Path, entry: SealedFile) -> str | None:
    """Return how a file that is there differs from what was sealed; None if it does not."""
    try:
        # The size first: a file that grew beyond reason is refused without being read.
        if (size := path.stat().st_size) != entry.bytes:
            return f"has changed: {size} bytes, frozen with {entry.bytes}"
        is_same = sha256_of(path) == entry.sha256
        return None if is_same else "has changed: its digest does not match"
    except OSError as wrong:
        return f"cannot be read: {wrong.strerror}"


def sha256_of(path: Path) -> str:
    """Return the digest of a file, which need not fit into memory; raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_items(path: Path, manifest: Manifest, read: BenchReading) -> None:
    entry = manifest.files.get(QUESTIONS)
    # What is missing or far too large is a problem already; it is not read to say more about it.
    if not _is_plain(path) or entry is None or path.stat().st_size > 2 * entry.bytes + SPARE:
        return
    seen: set[str] = set()
    # What cannot be opened is a problem already, too.
    with suppress(OSError), path.open("rb") as file:
        # A line beyond the bound comes in pieces, none of which is an item, so memory stays
        # bounded.
        for line in iter(partial(file.readline, LONGEST_LINE), b""):
            read.lines += 1
            where = f"{QUESTIONS} line {read.lines}"
            item = _item(line, ITEMS[manifest.kind])
            if isinstance(item, str):
                read.problems.append(f"{where} {item}")
                continue
            read.problems += (f"{where} {wrong}" for wrong in _wrong(item, manifest, seen))
            # In spite of a problem: parts are counted to name what changed, and need all lines.
            read.items.append(item)
            seen.add(item.qid)
    if read.lines != manifest.count:
        found = counted(read.lines, "question")
        read.problems.append(f"{QUESTIONS} holds {found}, not {manifest.count}")
    # Counts name the part that grew or shrank; where lines are missing or unreadable they only
    # would repeat it.
    if read.problems and read.lines == len(read.items) == manifest.count:
        read.problems += _count_problems(read.items, manifest)


def _count_problems(items: list[Any], manifest: Manifest) -> Iterator[str]:
    """Yield in which parts a changed bench has more or fewer questions than were frozen."""
    now = counts_of(items)
    for name, frozen in manifest.counts.items():
        there = now.get(name, {})
        for part in dict.fromkeys((*frozen, *there)):
            if (n := there.get(part, 0)) != (m := frozen.get(part, 0)):
                yield f"{QUESTIONS} holds {n} of {name} {part}, not {m}"


def _item(line: bytes, shape: type[Entry]) -> Entry | str:
    try:
        return shape.model_validate(json.loads(line.decode("ascii")))
    except ValidationError as wrong:
        return f"is invalid: {_first(wrong)}"
    except (ValueError, RecursionError):
        return "is not ASCII JSON, or nested too deep"


def _wrong(item: Entry, manifest: Manifest, seen: set[str]) -> Iterator[str]:
    if item.qid in seen:
        yield f"repeats the qid {item.qid}"
    # An import keeps the qids of its source, so its items are held by the digest of their file
    # alone.
    if manifest.source.kind != IMPORT and item.qid != item.own_qid():
        parts = "its video, task, question, an option, point or answer"
        if isinstance(item, Item):
            parts = "its battle, video, user, question or an answer"
        elif isinstance(item, DialogueItem):
            parts = "its video, ability, a stretch, round or item"
        yield f"has the qid {item.qid}, which does not belong to its content: {parts} changed"
    if not item.qid:
        yield "has an empty qid"
    if item.video_id not in manifest.videos:
        yield f"asks about video {item.video_id}, which {MANIFEST} does not list"
