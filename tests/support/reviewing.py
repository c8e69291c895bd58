"""Sheets of dialogues filled as a reviewer fills them, and a set that holds its videos."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from tests.support.dialogue_sets import dialogue
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine, write_result
from videoautoarena.runs.bench.format.schema import (
    CARD,
    MADE,
    QUESTIONS,
    VIDEOS,
    BenchSubtitles,
    BenchVideo,
    DialogueItem,
    Generator,
    Manifest,
    Source,
    counts_of,
    question_bytes,
)
from videoautoarena.runs.bench.format.writer import Copy, put, seal
from videoautoarena.runs.formats.files import quote_formula
from videoautoarena.runs.making.dialogues.review import Reviewed, ReviewOptions, review
from videoautoarena.runs.making.dialogues.review_sheet import write_sheet

Row = dict[str, str]
At = tuple[int, str]
"""A cell: the row from 0, and the column."""


def read_rows(file: Path) -> list[Row]:
    """Return the rows of a sheet, as any program reads CSV."""
    return list(csv.DictReader(io.StringIO(file.read_bytes().decode("utf-8-sig"), newline="")))


def fill(file: Path, cells: Mapping[At, str], *, rows: Sequence[Row] | None = None) -> Path:
    """Write cells into a sheet as somebody types them; `rows` instead of those that are there."""
    found = read_rows(file) if rows is None else list(rows)
    for (place, column), text in cells.items():
        found[place] = {**found[place], column: quote_formula(text)}
    text = io.StringIO()
    writer = csv.DictWriter(text, list(found[0]))
    writer.writeheader()
    writer.writerows(found)
    file.write_bytes(("\ufeff" + text.getvalue()).encode())
    return file


def with_videos(folder: Path, films: Sequence[bytes], each: int = 1) -> OpenBench[DialogueItem]:
    """Write a set that was made, with copies of `films` and their subtitles; return it."""
    beside = folder.with_name(f"{folder.name}-films")
    beside.mkdir()
    videos = dict[str, BenchVideo]()
    copies = dict[str, Copy]()
    items = list[DialogueItem]()
    for place, film in enumerate(films):
        whole = sha256(film).hexdigest()
        id_ = whole[:16]
        for suffix in ("mp4", "srt"):
            (beside / f"{id_}.{suffix}").write_bytes(film)
            copies[f"{VIDEOS}/{id_}.{suffix}"] = Copy(beside / f"{id_}.{suffix}", whole)
        spoken = BenchSubtitles(path=f"{id_}.srt", sha256=whole)
        videos[id_] = BenchVideo(
            sha256=whole, path=f"{id_}.mp4", size_bytes=len(film), subtitles=spoken
        )
        items += [dialogue(id_, 10 * place + k) for k in range(each)]
    draft = Manifest(
        kind="dialogue",
        generator=Generator(name="videoautoarena", version="0"),
        source=Source(kind=MADE, format="videoautoarena"),
        selection={"examiner": "openai:examiner"},
        licence="CC0",
        counts=counts_of(items),
        files={},
        videos=videos,
        with_videos=True,
        count=len(items),
    )
    files = {QUESTIONS: question_bytes(items), CARD: b"# Dialogues\n\nMade by a model.\n"}
    put(seal(draft, files, copies).files, folder)
    return open_bench(folder)


def reviewed(
    made: OpenBench[DialogueItem], cells: Mapping[At, str], **more: float
) -> tuple[Reviewed, OpenBench[DialogueItem]]:
    """Return what a sheet with these cells makes of a set."""
    sheet = fill(write_sheet(made.folder, force=True).file, cells)
    to = made.folder.with_name("new")
    done = review(ReviewOptions(made.folder, to, sheet, "first", **more))
    return done, open_bench(to)


def play(
    made: OpenBench[DialogueItem], model: str, right: Sequence[int], **changed: object
) -> None:
    """Hand in a result that has so many of five items right, by scored round."""
    rounds = [(item.qid, number) for item in made.items for number in (2, 3)]
    lines = [
        RoundLine(qid=qid, round=number, end="answered",
                  answers=(["yes"] * 3 + ["no"] * 2)[:n] + (["no"] * 3 + ["yes"] * 2)[n:])
        for (qid, number), n in zip(rounds, right, strict=False)
    ]  # fmt: skip
    result = {"bench": made.bench, "model": model, "judge": "j", "how": "run", "lines": lines}
    write_result(made, DialogueResult.model_validate({**result, **changed}))
