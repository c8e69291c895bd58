"""What rulings bring, question by question: points of references, shares of games with an anchor.

Against the references it is the rule of VideoAutoBench, against an anchor that of arena-hard.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    Against,
    Anchored,
    AnyResult,
    Comparison,
    DialogueResult,
    Result,
    TaskResult,
)
from videoautoarena.runs.bench.format.schema import Entry, Item
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.words import in_full
from videoautoarena.scoring.fitting.counts import Ints

WORTH: dict[Against, dict[str, float]] = {
    "selected": {"win": 1.0, "tie": 0.5, "loss": 0.0},
    "rejected": {"win": 1.0, "tie": 0.0, "loss": 0.0},
}
"""Points of a verdict: to tie with the answer that lost is no better than to lose to it."""
Degree = Literal["much_better", "better", "same", "worse", "much_worse"]
# The words of `Degree` stand from the best for the candidate to the worst, as the numbers fall.
DEGREES: dict[int, Degree] = dict(zip(range(2, -3, -1), get_args(Degree), strict=True))
"""How far the candidate is ahead to its word."""
LEADS: dict[str, int] = {degree: lead for lead, degree in DEGREES.items()}
LABELS: dict[int, str] = {-2: "A>>B", -1: "A>B", 0: "A=B", 1: "B>A", 2: "B>>A"}
"""How far the candidate is ahead to the label of a judge that read the anchor as A."""
WEIGHT = 3.0
"""Games that a verdict of much better counts as, by arena-hard's rule."""


class QuestionPoints(NamedTuple):
    """What one question brings, 0 to 1."""

    selected: float
    rejected: float

    @property
    def average(self) -> float:
        """What counts."""
        return (self.selected + self.rejected) / 2.0


def points_of(result: Result) -> dict[str, QuestionPoints]:
    """Return the points of each question that has rulings on both references, by qid."""
    found = defaultdict[str, dict[Against, list[float]]](lambda: {"selected": [], "rejected": []})
    for ruling in result.rulings:
        worth = WORTH[ruling.against].get(ruling.verdict)
        if worth is not None:
            found[ruling.qid][ruling.against].append(worth)
    return {
        # Two seatings of one reference count half each.
        qid: QuestionPoints(*(sum(given[k]) / len(given[k]) for k in ("selected", "rejected")))
        for qid, given in found.items()
        if all(given.values())
    }


class SeatingGame(NamedTuple):
    """One comparison with an anchor as it counts."""

    points: float
    """What the candidate gets: 1, 0.5 or 0."""
    weight: float


def by_question(result: Anchored) -> dict[str, list[Comparison]]:
    """Return the comparisons of each question."""
    found = defaultdict[str, list[Comparison]](list)
    for one in result.rulings:
        found[one.qid].append(one)
    return dict(found)


def is_read(comparisons: Sequence[Comparison]) -> bool:
    """Return whether a question counts: no comparison of it void, and none lacking.

    With one seating alone, what a judge likes of a seat would go into the score.
    """
    seats = {one.seats for one in comparisons}
    # None stands for a line of both seatings: nothing was read, since there was no answer.
    whole = seats == {None} or seats == {"ab", "ba"}
    return whole and all(one.verdict != "void" for one in comparisons)


def games_of(comparisons: Sequence[Comparison], *, weight: float = WEIGHT) -> list[SeatingGame]:
    """Return the games of a question that counts, two of them; unread ones stand for both."""
    games = []
    for one in comparisons:
        lead = LEADS[one.verdict]
        points = 0.5 if lead == 0 else float(lead > 0)
        game = SeatingGame(points, weight if abs(lead) == 2 else 1.0)
        # Who gave no answer has lost both games.
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


class JudgedAnswer(NamedTuple):
    """What a judge said of an answer and the one that it was held against."""

    pair: Hashable
    """The two answers, the same from both seatings."""
    qid: str
    seats: str | None
    lead: int
    """Above 0 where the candidate won, below where it lost; 0 for a tie."""
    longer: int
    """Characters of the candidate's answer beyond the other's; 0 where one is not known."""


def heard_of(items: Mapping[str, Item], result: Result | Anchored) -> Iterator[JudgedAnswer]:
    """Yield what the judge said, judging by judging, but for those that are void."""
    about = (result.model, result.judge, getattr(result, "anchor", None))
    for one in result.rulings:
        if one.verdict == "void":
            continue
        if isinstance(one, Comparison):
            lead = LEADS[one.verdict]
            other = one.anchor_response
        else:
            item = items[one.qid]
            other = item.reference(one.against)
            lead = {"win": 1, "tie": 0, "loss": -1}[one.verdict]
        is_known = one.response is not None and other is not None
        longer = len(one.response or "") - len(other or "") if is_known else 0
        yield JudgedAnswer((*about, one.qid, one.against), one.qid, one.seats, lead, longer)


def decided(result: AnyResult) -> frozenset[str]:
    """Return the keys of what a result decides, voids left out.

    A key is a qid, with the reference or the round where one question has several.
    """
    if isinstance(result, TaskResult):
        return frozenset(one.qid for one in result.lines if one.end in ("answered", "forfeit"))
    if isinstance(result, DialogueResult):
        ended = (one for one in result.lines if one.end in ("answered", "forfeit"))
        # The round first: it holds no blank, as a qid may, so that no two keys are equal.
        return frozenset(f"{one.round} {one.qid}" for one in ended)
    if isinstance(result, Anchored):
        return frozenset(qid for qid, said in by_question(result).items() if is_read(said))
    # One void seating leaves a question undecided, though the other one has a verdict.
    void = {(one.qid, one.against) for one in result.rulings if one.verdict == "void"}
    ruled = {(one.qid, one.against) for one in result.rulings}
    return frozenset(f"{against} {qid}" for qid, against in ruled - void)


def groups_of(results: Sequence[Anchored]) -> Iterator[tuple[tuple[str, str], list[Anchored]]]:
    """Yield the results of each judge and anchor, which alone can be compared."""
    groups: Mapping[tuple[str, str], list[Anchored]] = defaultdict(list)
    for one in results:
        groups[one.judge, one.anchor].append(one)
    yield from groups.items()


def videos_of(items: Mapping[str, Entry], qids: Iterable[str]) -> Ints:
    """Return for each question a number that stands for its cluster, usually its video."""
    places: dict[str, int] = {}
    each = [places.setdefault(items[qid].cluster, len(places)) for qid in qids]
    return np.array(each, dtype=np.int64)


def judge_of(bench: OpenBench, results: Sequence[Result], judge: str | None) -> str:
    """Return the judge that was named, else the only one of these results; or BadInput."""
    judges = list(dict.fromkeys(result.judge for result in results))
    if not judges:
        raise BadInput(f"{bench.folder} has no results; make some with {step('bench run')}")
    if judge is None and len(judges) == 1:
        return judges[0]
    there = ", ".join(map(quoted, judges))
    if judge is None:
        raise BadInput(
            f"several judges ruled on {bench.folder}: {there}; pick one with {option('judge')}"
        )
    if (named := in_full(judge, judges)) not in judges:
        raise BadInput(f"{quoted(judge)} has no rulings on {bench.folder}; there is {there}")
    return named
