"""Writing a set: files sealed and put in one step, videos referred to or copied, parts of cards."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic import ValidationError

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import sha256_of
from videoautoarena.runs.bench.format.schema import (
    MANIFEST,
    RESULTS,
    SLICES,
    VIDEOS,
    BenchSubtitles,
    BenchVideo,
    Manifest,
    manifest_bytes,
    sealed,
    sealed_file,
)
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.opener import videos_folder
from videoautoarena.runs.run.rundir.reader import stored_subtitles

BEFORE_PASSING_ON = """**Before this is passed on**: see that the licence of each video allows it,
and that whoever can be seen, heard or named in videos, frames, questions and answers may be shown.
Nothing here was checked for faces or personal data."""
"""On every card, behind the licence."""
# Bytes: a copy of a video never stands in memory whole.
CHUNK = 1 << 20


class Copy(NamedTuple):
    """A file that is copied into the folder, with what it must be."""

    source: Path
    sha256: str


Files = Mapping[str, bytes | Copy]
"""Path below the folder, with `/`, to what is to be there."""


class SealedBench(NamedTuple):
    """A bench in memory: its manifest, and the bytes of each of its files."""

    manifest: dict[str, Any]
    files: Files


def seal(draft: Manifest, files: Mapping[str, bytes], copies: Files | None = None) -> SealedBench:
    """Return a bench of these files; `draft` says all but their digests."""
    seals = {name: sealed_file(content) for name, content in files.items()}
    manifest = sealed(draft.model_copy(update={"files": seals}))
    return SealedBench(manifest, {**files, **(copies or {}), MANIFEST: manifest_bytes(manifest)})


def refuse_taken(to: Path) -> None:
    """Raise BadInput if a new folder `to` cannot be written, before anything is paid for it."""
    to = Path(os.path.realpath(to))
    try:
        if to.is_dir() and any(to.iterdir()):
            raise BadInput(f"{to} holds something else; pass a new folder")
        there = next(place for place in (to, *to.parents) if place.exists())
    except OSError as wrong:
        raise BadInput(f"{to} cannot be written: {wrong.strerror}") from wrong
    if not there.is_dir():
        raise BadInput(f"{to} cannot be written: {there} is no folder")
    # The draft is written beside `to`, even if that is an empty folder.
    if not os.access(to.parent if there == to else there, os.W_OK | os.X_OK):
        raise BadInput(f"{to} cannot be written: Permission denied")


def refuse_no_place(to: Path, *, out: Path) -> None:
    """Raise BadInput if a run in `out` cannot be frozen into `to`, before the run is paid for.

    A set that lies there may be the one that will be frozen.
    """
    if os.path.realpath(to) == os.path.realpath(out):
        raise BadInput(f"{to} is the folder of the run; pass another one for the set")
    if not (to / MANIFEST).is_file():
        refuse_taken(to)


def put(files: Files, to: Path) -> bool:
    """Write the folder `to` in one step, or raise BadInput; True when it was just this."""
    # A folder cannot be renamed onto a link, even one that leads to an empty folder.
    to = Path(os.path.realpath(to))
    try:
        if to.is_dir() and any(to.iterdir()):
            # Freezing again is no error, and keeps the results that lie there by now.
            if _holds(to, files):
                return True
            raise BadInput(f"{to} holds something else; pass a new folder")
        to.parent.mkdir(parents=True, exist_ok=True)
        _write_beside(files, to)
    except OSError as wrong:
        raise BadInput(f"{to} cannot be written: {wrong.strerror}") from wrong
    return False


def refuse_within(bench: Path, place: Path) -> None:
    """Refuse to write inside a bench, which would be broken by it; its results are free."""
    root = Path(os.path.realpath(bench))
    real = Path(os.path.realpath(place))
    if real.is_relative_to(root) and not real.is_relative_to(root / RESULTS):
        raise BadInput(
            f"{place} lies in the set, which holds nothing but what was sealed; pass a "
            f"{option('to')} "
            f"outside of it, or in {bench / RESULTS}"
        )


def _holds(folder: Path, files: Files) -> bool:
    """Return whether the folder holds these files and, beside them, at most results."""
    inside = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()
    }
    mine = {name for name in inside if not name.startswith(f"{RESULTS}/")}
    return mine == set(files) and all(
        (folder / name).is_file()
        and sha256_of(folder / name) == (digest(what) if isinstance(what, bytes) else what.sha256)
        for name, what in files.items()
    )


def _write_beside(files: Files, to: Path) -> None:
    """Fill a folder next to `to`, then give it the name: a reader sees all of it or nothing."""
    # Beside `to`, since a rename is one step within a file system alone.
    draft = Path(tempfile.mkdtemp(dir=to.parent, prefix=".bench-"))
    try:
        for name, what in files.items():
            (draft / name).parent.mkdir(exist_ok=True)
            with (draft / name).open("wb") as file:
                if isinstance(what, bytes):
                    file.write(what)
                else:
                    _copy(what, file)
                file.flush()
                # Before the rename: a power cut may keep the new name and lose bytes that were not
                # synced.
                os.fsync(file.fileno())
        draft.chmod(0o755)  # mkdtemp keeps it to its owner; a bench is made to be shared
        # A folder may replace an empty one, and no other.
        draft.rename(to)
    # An interrupt must leave no draft behind, either.
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _copy(what: Copy, to: BinaryIO) -> None:
    # The bytes are hashed as they are copied, so what is checked is what was written.
    seen = hashlib.sha256()
    with what.source.open("rb") as source:
        while chunk := source.read(CHUNK):
            seen.update(chunk)
            to.write(chunk)
    if seen.hexdigest() != what.sha256:
        raise BadInput(
            f"{safe(str(what.source))} is not the file that the run saw; pass the folder that has "
            f"it with {option('videos')}"
        )


# A path of a run may hold anything; only so plain an ending goes into the name of a file here.
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}")


def entries_of(store: Store, asked: Collection[str]) -> dict[str, BenchVideo]:
    """Return what the run knows of the videos that are asked about, in its order."""
    entries = {}
    for video in store.videos():
        if video.id in asked:
            kept = stored_subtitles(store, video.id)
            try:
                entries[video.id] = BenchVideo(
                    **video.model_dump(exclude={"id", "rotation", "problems"}),
                    subtitles=BenchSubtitles(path=kept.path, sha256=kept.sha256) if kept else None,
                )
            except ValidationError as error:
                field = error.errors()[0]["loc"][0]
                said = f"{video.path[:80]!a} has an impossible {field}"
                raise BadInput(f"the run's video {said}; use another copy of the run") from error
    return entries


def copied(entries: Mapping[str, BenchVideo]) -> dict[str, BenchVideo]:
    """Return the entries of a bench that holds copies: files named by id, side by side."""
    found = {}
    for id_, video in entries.items():
        spoken = video.subtitles and video.subtitles.model_copy(
            update={"path": id_ + _suffix(video.subtitles.path)}
        )
        # By id: copies lie side by side, and files of two folders may share a name.
        path = id_ + _suffix(video.path or "")
        found[id_] = video.model_copy(update={"path": path, "subtitles": spoken})
    return found


def _suffix(path: str) -> str:
    """Return the ending of a file's name, in lower case; empty unless it is a short plain one."""
    suffix = os.path.splitext(path)[1]
    return suffix.lower() if _SUFFIX.fullmatch(suffix) else ""


def copies_of(
    store: Store, entries: Mapping[str, BenchVideo], given: Path | None
) -> dict[str, Copy]:
    """Return the files to be copied, by their place in the bench; BadInput if one is missing.

    `given` is the folder of videos; None for where they lay when the run was last at work here.
    """
    folder = videos_folder(store, given)
    if folder is None or not folder.is_dir():
        raise BadInput(
            "it is not known here where the run's videos are; pass their folder with "
            f"{option('videos')}"
        )
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
                    f"with {option('videos')}"
                )
            files[f"{VIDEOS}/{now.path}"] = Copy(folder / was.path, was.sha256)
    return files


UNSTATED = "Not stated. Whoever passes this on should state one."
UNSTATED_BY_PUBLISHER = "not stated; ask whoever published it before passing it on"
CHECKSUMS = """## Checksums

`manifest.json` holds the size and sha256 of every other file and of every video that is known, and
a digest of itself. `arena bench verify` computes all of them again. They show that nothing was
changed by accident; they are no signature."""


def plain(value: Any) -> str:
    """Return `value` as text that Markdown takes literally."""
    text = safe(str(value))
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#" else char for char in text)


def count_table(title: str, counts: Mapping[str, Any], *, of: str = "questions") -> str:
    """Return a Markdown table of how many there are of each kind."""
    rows = "\n".join(f"| {plain(name)} | {count} |" for name, count in counts.items())
    return f"| {title} | {of} |\n| --- | ---: |\n{rows or '| none | 0 |'}\n"


def count_tables(counts: Mapping[str, Mapping[str, int]], *, of: str = "items") -> Iterator[str]:
    """Yield a table for each way of counting the items of a set."""
    for name, parts in counts.items():
        yield count_table(SLICES[name], parts, of=of)


def licence_section(licence: str | None, *further: str, unstated: str = UNSTATED) -> str:
    """Return under which licence a set is given, and what to look at before it is passed on."""
    paragraphs = (plain(licence) if licence else unstated, *further, BEFORE_PASSING_ON)
    return "\n\n".join(["## Licence", *paragraphs]) + "\n"
