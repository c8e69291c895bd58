"""Whether a bench is still what was frozen: everything is computed again, nothing believed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from memory.errors import BadInput
from memory.records import SCHEMA
from runs.reading import counted, one_line
from runs.sealing import (
    FILES,
    MANIFEST,
    QUESTIONS,
    BenchManifest,
    BenchQuestion,
    BenchVideo,
    SealedFile,
    digest_of,
    manifest_bytes,
)

LARGEST_MANIFEST = 16 * 2**20
LONGEST_LINE = 16 * 2**20
"""Bytes; 10,000 videos make a manifest of 4 MB, so more than this is no bench of ours."""
MANY = 1000
"""Errors of shape beyond which none is named: a forged file can have a million of them."""
TOLD = 50
"""Problems that are printed; the rest is counted."""


@dataclass
class Checked:
    """What a check of one bench found."""

    bench: str | None = None
    """The bench's digest of itself; None when its manifest cannot be used."""
    questions: int = 0
    videos: int = 0
    videos_checked: bool = False
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena bench verify --json`."""
        return {
            "schema": SCHEMA,
            "bench": self.bench,
            "ok": not self.problems,
            "questions": self.questions,
            "videos": self.videos,
            "videos_checked": self.videos_checked,
            "problems": [one_line(problem, 300) for problem in self.problems],
        }

    def as_lines(self) -> list[str]:
        """Return it as lines for a person: one a problem, then one of summary."""
        lines = [one_line(problem, 300) for problem in self.problems[:TOLD]]
        if len(self.problems) > TOLD:
            lines.append(f"... and {len(self.problems) - TOLD} more")
        return [*lines, self._summary()]

    def _summary(self) -> str:
        if self.problems:
            return f"not intact: {counted(len(self.problems), 'problem')}"
        videos = "checked" if self.videos_checked else "unchecked; pass --videos DIR"
        return (
            f"intact: bench {(self.bench or '')[:12]}, {counted(self.questions, 'question')}; "
            f"{counted(self.videos, 'video')} {videos}"
        )


class _Unusable(Exception):
    """The manifest cannot be used; nothing behind it can be checked."""


def verify(folder: Path, videos: Path | None) -> Checked:
    """Return what is wrong with the bench in `folder`, and with its videos if they are given.

    Raises:
        BadInput: `folder` or `videos` is no folder.
    """
    for given in (folder, videos):
        if given is not None and not given.is_dir():
            raise BadInput(f"{given} is no folder")
    checked = Checked(problems=list(_strangers(folder)))
    try:
        content = _read_manifest(folder / MANIFEST)
        raw = _parsed(content)
        manifest = _shaped(raw)
    except _Unusable as why:
        checked.problems.append(f"{MANIFEST} {why}")
        return checked
    checked.bench, checked.videos = str(raw.get("bench")), len(manifest.videos)
    checked.problems += _manifest_problems(content, raw, manifest)
    checked.problems += _file_problems(folder, manifest)
    _check_questions(folder / QUESTIONS, manifest, checked)
    if videos is not None:
        checked.videos_checked = True
        checked.problems += _video_problems(videos, manifest)
    return checked


def _strangers(folder: Path) -> Iterator[str]:
    for name in sorted(os.listdir(folder)):
        if name not in (MANIFEST, *FILES):
            yield f"{name} does not belong to the bench"


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _read_manifest(path: Path) -> bytes:
    if not _is_plain(path):
        raise _Unusable("is missing or no regular file")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_MANIFEST + 1)
    except OSError as wrong:
        raise _Unusable(f"cannot be read: {wrong.strerror}") from wrong
    if len(content) > LARGEST_MANIFEST:
        raise _Unusable(f"is larger than {LARGEST_MANIFEST >> 20} MB")
    return content


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        raw = json.loads(content.decode("ascii"))
    except (ValueError, RecursionError) as wrong:
        raise _Unusable("is not ASCII JSON, or nested too deep") from wrong
    if not isinstance(raw, dict):
        raise _Unusable("holds no JSON object")
    return raw


def _shaped(raw: dict[str, Any]) -> BenchManifest:
    schema = raw.get("schema")
    if type(schema) is int and schema > SCHEMA:
        raise _Unusable(
            f"has schema {one_line(str(schema), 12)}, newer than {SCHEMA}; update videoautoarena"
        )
    try:
        manifest_bytes(raw)
        return BenchManifest.model_validate({k: v for k, v in raw.items() if k != "bench"})
    except ValidationError as wrong:
        raise _Unusable(f"has another shape: {_first(wrong)}") from wrong
    except (ValueError, RecursionError) as wrong:
        raise _Unusable("holds values that no bench holds") from wrong


def _first(wrong: ValidationError) -> str:
    if (count := wrong.error_count()) > MANY:
        return f"{count} values are of a wrong kind"
    errors = wrong.errors(include_url=False, include_context=False, include_input=False)
    place = ".".join(one_line(str(part), 60) for part in errors[0]["loc"])
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{place}: {errors[0]['msg']}{more}"


def _manifest_problems(
    content: bytes, raw: dict[str, Any], manifest: BenchManifest
) -> Iterator[str]:
    if digest_of({k: v for k, v in raw.items() if k != "bench"}) != raw.get("bench"):
        yield f"{MANIFEST} has changed: its own digest does not match"
    # The digest is of what the manifest says; spaces and escapes are bytes, too.
    elif manifest_bytes(raw) != content:
        yield f"{MANIFEST} has changed: it is not written as it was frozen"
    for name in sorted(set(manifest.files) ^ set(FILES)):
        wrong = "lists a file that is no part of a bench:" if name not in FILES else "lacks"
        yield f"{MANIFEST} {wrong} {name}"
    for id_, video in manifest.videos.items():
        if not id_ or not video.sha256.startswith(id_):
            yield f"{MANIFEST} lists video {id_} under a digest that is not its own"


def _file_problems(folder: Path, manifest: BenchManifest) -> Iterator[str]:
    for name in FILES:
        entry = manifest.files.get(name)
        if not _is_plain(folder / name):
            yield f"{name} is missing or no regular file"
        elif entry is not None and (wrong := _difference(folder / name, entry)):
            yield f"{name} {wrong}"


def _difference(path: Path, entry: SealedFile) -> str | None:
    try:
        if (size := path.stat().st_size) != entry.bytes:
            return f"has changed: {size} bytes, frozen with {entry.bytes}"
        return None if _sha256(path) == entry.sha256 else "has changed: its digest does not match"
    except OSError as wrong:
        return f"cannot be read: {wrong.strerror}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_questions(path: Path, manifest: BenchManifest, checked: Checked) -> None:
    seen: set[str] = set()
    for place, line in enumerate(_lines(path, manifest), start=1):
        where = f"{QUESTIONS} line {place}"
        question = _question(line)
        checked.questions += 1
        if isinstance(question, str):
            checked.problems.append(f"{where} {question}")
            continue
        checked.problems += (f"{where} {wrong}" for wrong in _wrong(question, manifest, seen))
        seen.add(question.qid)
    if checked.questions != manifest.count:
        found = counted(checked.questions, "question")
        checked.problems.append(f"{QUESTIONS} holds {found}, not {manifest.count}")


def _lines(path: Path, manifest: BenchManifest) -> Iterator[bytes]:
    """Yield the lines, but none of a file whose size alone shows that it is another."""
    entry = manifest.files.get(QUESTIONS)
    if not _is_plain(path) or entry is None or path.stat().st_size != entry.bytes:
        return
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            yield line


def _question(line: bytes) -> BenchQuestion | str:
    try:
        return BenchQuestion.model_validate(json.loads(line.decode("ascii")))
    except ValidationError as wrong:
        return f"has another shape: {_first(wrong)}"
    except (ValueError, RecursionError):
        return "is not ASCII JSON, or nested too deep"


def _wrong(question: BenchQuestion, manifest: BenchManifest, seen: set[str]) -> Iterator[str]:
    if question.qid in seen:
        yield f"repeats the qid {question.qid}"
    if question.qid != question.own_qid():
        yield f"has the qid {question.qid}, which does not belong to its content"
    if question.video_id not in manifest.videos:
        yield f"asks of video {question.video_id}, which {MANIFEST} does not list"


def _video_problems(folder: Path, manifest: BenchManifest) -> Iterator[str]:
    for id_, video in manifest.videos.items():
        if wrong := _video_problem(folder, video):
            yield f"video {id_} ({video.path}) {wrong}"


def _video_problem(folder: Path, video: BenchVideo) -> str | None:
    path = _inside(folder, video.path)
    if path is None:
        return "lies outside the folder of videos, or has an impossible name"
    if not path.is_file():
        return "is missing"
    return _difference(path, SealedFile(sha256=video.sha256, bytes=video.size_bytes))


def _inside(folder: Path, relative: str) -> Path | None:
    """Return the real place of `relative` below `folder`; None where it would lead out."""
    pure = PurePosixPath(relative)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        return None
    # Not Path.resolve: it raises on a link that leads to itself.
    try:
        root, real = os.path.realpath(folder), os.path.realpath(folder / pure)
    except ValueError:  # a NUL, or a surrogate that stands for no byte
        return None
    return Path(real) if Path(real).is_relative_to(root) else None
