"""What rulings are worth, question by question: the rule of VideoAutoBench.

A file is JSON lines. Its first says whose result it is and on which bench; each other is a ruling,
one judging of one answer against one of a question's two references, in terms of the candidate. A
file of answers, which were handed in and not judged, has the same first line but for its kind.
File names are made of digests: what a model is called is never a path.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn, TypeVar

import numpy as np
from pydantic import Field, JsonValue

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Seats
from videoautoarena.runs.bench.format.reader import OpenBench, is_folder
from videoautoarena.runs.bench.format.schema import Digest, Shape, digest_of
from videoautoarena.runs.text.battle_table import quoted
from videoautoarena.runs.text.files import refuse_existing, write_whole
from videoautoarena.runs.text.words import in_full
from videoautoarena.scoring.fitting.counts import Ints

RESULT_SCHEMA = 1
RESULT, ANSWERS, ANCHORED = "result", "answers", "anchored"
UNKNOWN = "unknown"
"""The judge of a result that names none."""
Against = Literal["selected", "rejected"]
REFERENCES: tuple[Against, Against] = ("selected", "rejected")
LARGEST_FILE = 2**30
"""Bytes; 10,000 questions with long answers, judged four times, make a tenth of it."""
Line = TypeVar("Line", bound=Shape)


class Vote(Shape):
    """What one judge of a panel said, of the candidate."""

    judge: str
    verdict: Literal["win", "tie", "loss", "abstain", "failed"]
    """Who abstained or failed did not vote."""


class Ruling(Shape):
    """One judging of a model's answer against a reference."""

    qid: str
    against: Against
    verdict: Literal["win", "tie", "loss", "void"]
    """Of the candidate; void where the judge's words or its call came to nothing."""
    seats: Seats | None = None
    """`ab`: the reference was read first; `ba`: the candidate."""
    response: str | None = None
    """What the candidate answered."""
    words: str | None = None
    """What the judge said, as it said it."""
    reason: str | None = None
    """Why it is void, or how it came to be."""
    votes: list[Vote] | None = None
    """Of a panel, in its order; None where one judge ruled."""


class Head(Shape):
    """The first line of a file of results."""

    schema_version: int = Field(default=RESULT_SCHEMA, alias="schema", serialization_alias="schema")
    kind: str
    bench: Digest
    """The digest of the bench it is a result on."""
    model: str = Field(min_length=1, max_length=200)
    judge: str | None = None
    """Who ruled; several names joined by a comma for a panel, null for answers."""
    anchor: str | None = None
    """Whose answers all were held against; only of what was compared with an anchor."""
    how: Literal["run", "import"]
    facts: dict[str, JsonValue] = Field(default_factory=dict)
    """How it came to be, for a reader; no figure is made from it."""


class Result(Shape):
    """A model's rulings on one bench by one judge."""

    bench: Digest
    model: str
    judge: str
    how: Literal["run", "import"]
    rulings: list[Ruling]
    facts: dict[str, JsonValue] = Field(default_factory=dict)


class Answers(Shape):
    """A model's answers on one bench, not judged."""

    bench: Digest
    model: str
    how: Literal["run", "import"]
    responses: dict[str, str]
    """By qid; those of some questions may be missing."""
    facts: dict[str, JsonValue] = Field(default_factory=dict)


class _Response(Shape):
    qid: str
    response: str


def read_results(bench: OpenBench) -> list[Result]:
    """Return every result on a bench, by name of the model, then of the judge.

    Raises:
        BadInput: a file that is no result, belongs to another bench or asks what that does not.
    """
    read = [
        read_result(file, bench)
        for file in result_files(bench)
        if read_head(file, bench).kind == RESULT
    ]
    return sorted(read, key=lambda result: (result.model, result.judge))


def read_answers(bench: OpenBench, model: str) -> Answers | None:
    """Return the answers of `model` that were handed in; None where there are none.

    Raises:
        BadInput: as `read_results`.
    """
    file = file_of(bench, ANSWERS, model)
    if not file.is_file():
        return None
    head, lines = read_head(file, bench), read_lines(file, _Response)
    responses = {line.qid: line.response for line in lines}
    check_qids(file, bench, responses)
    return Answers(
        bench=head.bench, model=head.model, how=head.how, responses=responses, facts=head.facts
    )


def decided(result: Result) -> frozenset[str]:
    """Return what a result decides: each question and reference without a void ruling."""
    told = {(one.qid, one.against) for one in result.rulings}
    void = {(one.qid, one.against) for one in result.rulings if one.verdict == "void"}
    return frozenset(f"{against} {qid}" for qid, against in told - void)


def write_result(bench: OpenBench, result: Result, *, force: bool = False) -> Path:
    """Write a result whole, and return its file.

    Raises:
        BadInput: there is one of this model by this judge and not `force`, or it cannot be written.
    """
    head = Head(
        kind=RESULT,
        bench=result.bench,
        model=result.model,
        judge=result.judge,
        how=result.how,
        facts=result.facts,
    )
    return write_lines(bench, head, result.rulings, force=force)


def write_answers(bench: OpenBench, answers: Answers, *, force: bool = False) -> Path:
    """Write answers whole, and return their file.

    Raises:
        BadInput: there are some of this model and not `force`, or they cannot be written.
    """
    head = Head(
        kind=ANSWERS,
        bench=answers.bench,
        model=answers.model,
        how=answers.how,
        facts=answers.facts,
    )
    lines = [_Response(qid=qid, response=text) for qid, text in answers.responses.items()]
    return write_lines(bench, head, lines, force=force)


def write_lines(bench: OpenBench, head: Head, lines: Iterable[Shape], *, force: bool) -> Path:
    """Write a file whole, and return it.

    Raises:
        BadInput: it is there and not `force`, or it cannot be written.
    """
    file = file_of(bench, head.kind, head.model, head.judge, head.anchor)
    if bench.results.exists() and not is_folder(bench.results):
        raise BadInput(f"{bench.results} is no folder; move it away")
    if file.exists() and not force:
        judged = f" by {quoted(head.judge)}" if head.judge else ""
        judged += f" against {quoted(head.anchor)}" if head.anchor else ""
        raise BadInput(
            f"{bench.folder} has {'a result' if head.judge else 'answers'} of "
            f"{quoted(head.model)}{judged} already; pass --force to replace it"
        )
    refuse_existing(file, force=force)
    content = "".join(json.dumps(_written(line), allow_nan=False) + "\n" for line in (head, *lines))
    try:
        bench.results.mkdir(exist_ok=True)
    except OSError as wrong:
        raise BadInput(f"{bench.results} cannot be made: {wrong.strerror}") from wrong
    write_whole(file, content.encode("ascii"))
    return file


def _written(line: Shape) -> dict[str, JsonValue]:
    """Return a line as it is written: where there is no anchor or panel, it says nothing of one."""
    told = line.model_dump(by_alias=True)
    return {k: v for k, v in told.items() if v is not None or k not in ("anchor", "votes")}


def file_of(
    bench: OpenBench, kind: str, model: str, judge: str | None = None, anchor: str | None = None
) -> Path:
    """Return a file; its name is something to recognise, and a digest that tells all apart."""
    shown = re.sub(r"[^a-z0-9]+", "-", model.casefold())[:40].strip("-")
    key = [kind, model, judge] if anchor is None else [kind, model, judge, anchor]
    return bench.results / f"{shown or 'model'}-{digest_of(key)[:12]}.jsonl"


def result_files(bench: OpenBench) -> list[Path]:
    """Return all files of results and answers, by name."""
    if not is_folder(bench.results):
        return []
    found = sorted(bench.results.glob("*.jsonl"))
    return [file for file in found if file.is_file() and not file.name.startswith(".")]


def read_head(file: Path, bench: OpenBench) -> Head:
    """Return the first line of a file.

    Raises:
        BadInput: it is none of a result, of a newer schema or of another bench.
    """
    try:
        with file.open("rb") as stream:
            raw = json.loads(stream.readline(2**20).decode("ascii"), parse_constant=_refuse)
        head = Head.model_validate(raw)
    except (ValueError, RecursionError):
        raise BadInput(f"{file}, line 1: no head of a result; move the file away") from None
    if head.schema_version > RESULT_SCHEMA:
        raise BadInput(f"{file} has a newer schema than {RESULT_SCHEMA}; update videoautoarena")
    if head.bench != bench.bench:
        raise BadInput(
            f"{file} is a result on another bench, {head.bench[:12]}; this is {bench.bench[:12]}"
        )
    return head


def read_result(file: Path, bench: OpenBench) -> Result:
    """Return the result that a file holds; BadInput as `read_results`."""
    head, rulings = read_head(file, bench), list(read_lines(file, Ruling))
    check_qids(file, bench, (ruling.qid for ruling in rulings))
    once: set[tuple[str, Against, Seats | None]] = set()
    for ruling in rulings:
        if (key := (ruling.qid, ruling.against, ruling.seats)) in once:
            raise BadInput(f"{file} rules twice on {quoted(ruling.qid)}, {ruling.against}")
        once.add(key)
    return Result(
        bench=head.bench,
        model=head.model,
        judge=head.judge or UNKNOWN,
        how=head.how,
        rulings=rulings,
        facts=head.facts,
    )


def check_qids(file: Path, bench: OpenBench, qids: Iterable[str]) -> None:
    """Refuse a question that the bench does not ask."""
    known = {item.qid for item in bench.items}
    for qid in qids:
        if qid not in known:
            raise BadInput(f"{file} tells of {quoted(qid)}, which the bench does not ask")


def read_lines(file: Path, shape: type[Line]) -> Iterator[Line]:
    """Yield all lines of a file but the first.

    Raises:
        BadInput: one is of another shape, or the file is far too large.
    """
    if file.stat().st_size > LARGEST_FILE:
        raise BadInput(f"{file} is larger than {LARGEST_FILE >> 20} MB")
    with file.open("rb") as stream:
        for place, line in enumerate(stream, start=1):
            if place == 1:
                continue
            try:
                raw = json.loads(line.decode("ascii"), parse_constant=_refuse)
                yield shape.model_validate(raw)
            except (ValueError, RecursionError):
                raise BadInput(f"{file}, line {place}: not as a result is written") from None


def _refuse(_: str) -> NoReturn:
    raise ValueError


WORTH: dict[Against, dict[str, float]] = {
    "selected": {"win": 1.0, "tie": 0.5, "loss": 0.0},
    "rejected": {"win": 1.0, "tie": 0.0, "loss": 0.0},
}
"""To tie with the answer that lost is no better than to lose to it."""


class Points(NamedTuple):
    """Of one question, 0 to 1."""

    selected: float
    rejected: float

    @property
    def average(self) -> float:
        """What counts."""
        return (self.selected + self.rejected) / 2.0


def points_of(result: Result) -> dict[str, Points]:
    """Return the points of a model by qid, where both references have a ruling.

    Where a reference was judged from both seats its points are the mean of both.
    """
    found = defaultdict[str, dict[Against, list[float]]](lambda: {"selected": [], "rejected": []})
    for ruling in result.rulings:
        worth = WORTH[ruling.against].get(ruling.verdict)
        if worth is not None:
            found[ruling.qid][ruling.against].append(worth)
    return {
        qid: Points(*(sum(given[k]) / len(given[k]) for k in ("selected", "rejected")))
        for qid, given in found.items()
        if all(given.values())
    }


def videos_of(bench: OpenBench, qids: Sequence[str]) -> Ints:
    """Return for each question a number that stands for its video."""
    video = {item.qid: item.video_id for item in bench.items}
    places = {name: k for k, name in enumerate(dict.fromkeys(video[qid] for qid in qids))}
    return np.array([places[video[qid]] for qid in qids], dtype=np.int64)


def judge_of(bench: OpenBench, results: Sequence[Result], judge: str | None) -> str:
    """Return by whom results are looked at: the one who was named, else the only one.

    Raises:
        BadInput: no result, none by that judge, or several judges and none named.
    """
    judges = list(dict.fromkeys(result.judge for result in results))
    if not judges:
        raise BadInput(f"{bench.folder} has no results; make some with arena bench run")
    if judge is None and len(judges) == 1:
        return judges[0]
    there = ", ".join(map(quoted, judges))
    if judge is None:
        raise BadInput(f"several judges ruled on {bench.folder}: {there}; pick one with --judge")
    if (named := in_full(judge, judges)) not in judges:
        raise BadInput(f"{quoted(judge)} ruled nothing on {bench.folder}; there is {there}")
    return named
