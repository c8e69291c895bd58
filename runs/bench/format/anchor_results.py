"""What models came to against one model's answers: a file each below `results`, as other results.

A file is JSON lines. Its first says whose it is, by which judge and against which anchor; each
other is a comparison, read from one seating, in five degrees and in terms of the candidate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, JsonValue

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Seats
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    ANCHORED,
    UNKNOWN,
    Head,
    check_qids,
    read_head,
    read_lines,
    result_files,
    write_lines,
)
from videoautoarena.runs.bench.format.schema import Digest, Shape
from videoautoarena.runs.text.battle_table import quoted

Degree = Literal["much_better", "better", "same", "worse", "much_worse"]
DEGREES: dict[int, Degree] = {
    2: "much_better",
    1: "better",
    0: "same",
    -1: "worse",
    -2: "much_worse",
}
"""By how far the candidate is ahead."""
LEADS: dict[str, int] = {degree: lead for lead, degree in DEGREES.items()}
LABELS: dict[int, str] = {-2: "A>>B", -1: "A>B", 0: "A=B", 1: "B>A", 2: "B>>A"}
"""As a judge says it who read the anchor as A."""
WEIGHT = 3.0
"""Games that a verdict of much better counts as, by arena-hard's rule."""


class Comparison(Shape):
    """One comparison of a model's answer with the anchor's."""

    qid: str
    against: Literal["anchor"] = "anchor"
    verdict: Literal["much_better", "better", "same", "worse", "much_worse", "void"]
    """Of the candidate; void where the judge's words or its call came to nothing."""
    seats: Seats | None = None
    """`ab`: the anchor was read first; `ba`: the candidate; null where nothing was read."""
    response: str | None = None
    """What the candidate answered."""
    anchor_response: str | None = None
    """What the anchor answered."""
    words: str | None = None
    """What the judge said, as it said it."""
    reason: str | None = None
    """Why it is void, or how it came to be."""


class Anchored(Shape):
    """A model's comparisons on one bench by one judge, against one anchor."""

    bench: Digest
    model: str
    judge: str
    anchor: str
    how: Literal["run", "import"]
    comparisons: list[Comparison]
    facts: dict[str, JsonValue] = Field(default_factory=dict)


class Game(NamedTuple):
    """One comparison as it counts."""

    points: float
    """Of the candidate: 1, 0.5 or 0."""
    weight: float


def read_anchored(bench: OpenBench) -> list[Anchored]:
    """Return all that was held against anchors on a bench, by judge, anchor and model.

    Raises:
        BadInput: a file that is no result, belongs to another bench or asks what that does not.
    """
    read = [
        read_one_anchored(file, bench)
        for file in result_files(bench)
        if read_head(file, bench).kind == ANCHORED
    ]
    return sorted(read, key=lambda one: (one.judge, one.anchor, one.model))


def read_one_anchored(file: Path, bench: OpenBench) -> Anchored:
    """Return what a file holds; BadInput as `read_anchored`."""
    head = read_head(file, bench)
    if head.anchor is None:
        raise BadInput(f"{file}, line 1: names no anchor; move the file away")
    comparisons = list(read_lines(file, Comparison))
    check_qids(file, bench, (one.qid for one in comparisons))
    seen = defaultdict[str, set[Seats | None]](set)
    for one in comparisons:
        there = seen[one.qid]
        if one.seats in there or (there and None in (one.seats, *there)):
            raise BadInput(f"{file} compares twice on {quoted(one.qid)}")
        there.add(one.seats)
    return Anchored(
        bench=head.bench,
        model=head.model,
        judge=head.judge or UNKNOWN,
        anchor=head.anchor,
        how=head.how,
        comparisons=comparisons,
        facts=head.facts,
    )


def write_anchored(bench: OpenBench, result: Anchored, *, force: bool = False) -> Path:
    """Write a result whole, and return its file.

    Raises:
        BadInput: there is one of this model by this judge against this anchor and not `force`, or
            it cannot be written.
    """
    head = Head(
        kind=ANCHORED,
        bench=result.bench,
        model=result.model,
        judge=result.judge,
        anchor=result.anchor,
        how=result.how,
        facts=result.facts,
    )
    return write_lines(bench, head, result.comparisons, force=force)


def compared(result: Anchored) -> frozenset[str]:
    """Return the questions that count in a result."""
    return frozenset(qid for qid, said in by_question(result).items() if is_read(said))


def by_question(result: Anchored) -> dict[str, list[Comparison]]:
    """Return the comparisons of each question."""
    found = defaultdict[str, list[Comparison]](list)
    for one in result.comparisons:
        found[one.qid].append(one)
    return dict(found)


def is_read(comparisons: Sequence[Comparison]) -> bool:
    """Return whether a question counts: no comparison of it void, and none lacking.

    With one seating alone, what a judge likes of a seat would go into the score.
    """
    seats = {one.seats for one in comparisons}
    whole = seats == {None} or seats == {"ab", "ba"}
    return whole and all(one.verdict != "void" for one in comparisons)


def games_of(comparisons: Sequence[Comparison], *, weight: float = WEIGHT) -> list[Game]:
    """Return the games of a question that counts, two of them; unread ones stand for both."""
    games = []
    for one in comparisons:
        lead = LEADS[one.verdict]
        points = 0.5 if lead == 0 else float(lead > 0)
        game = Game(points, weight if abs(lead) == 2 else 1.0)
        games += [game] * (2 if one.seats is None else 1)
    return games


def shares_of(result: Anchored, *, weight: float = WEIGHT) -> dict[str, float]:
    """Return what share of its games a model won of each question that counts, by qid."""
    found = {}
    for qid, comparisons in by_question(result).items():
        if is_read(comparisons):
            games = games_of(comparisons, weight=weight)
            total = sum(game.weight for game in games)
            found[qid] = sum(game.points * game.weight for game in games) / total
    return found


def pick_anchored(
    results: Sequence[Anchored], *, judge: str | None = None, anchor: str | None = None
) -> list[Anchored]:
    """Return those by one judge and against one anchor, where they are named."""
    return [one for one in results if judge in (None, one.judge) and anchor in (None, one.anchor)]


def groups_of(results: Sequence[Anchored]) -> Iterator[tuple[tuple[str, str], list[Anchored]]]:
    """Yield the results of each judge and anchor, which alone can be compared."""
    groups: Mapping[tuple[str, str], list[Anchored]] = defaultdict(list)
    for one in results:
        groups[one.judge, one.anchor].append(one)
    yield from groups.items()
