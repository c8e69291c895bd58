"""Which of two models is better on a bench, and how sure that is: question by question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.bench.format.points import points_of, shares_of
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import Anchored, Result, read_anchored, read_results
from videoautoarena.runs.bench.score.score import lead_of
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.words import in_full
from videoautoarena.runs.run.rundir.reader import counted

FEW_VIDEOS = 50
TOO_FEW = 10
SURE = 0.975
"""A chance beyond which the interval of the difference holds no 0."""


@dataclass(frozen=True)
class ModelAverage:
    """The score of one of the two on the questions of both."""

    model: str
    average: float
    """In percent."""
    judged: int
    """Questions that count for it, of those that the bench asks."""
    of: int


@dataclass(frozen=True)
class PointsDifference:
    """How far one model lies above the other, in points of 100; None if nothing tells it."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class BenchComparison:
    """How two models fared on the questions of a bench that count for both."""

    bench: str
    """Its digest."""
    judge: str
    """Name of the judge."""
    anchor: str | None
    """Name of the anchor; left out if they were held against the references."""
    questions: int
    """Questions decided for both."""
    videos: int
    """Videos that they are about."""
    models: list[ModelAverage]
    """The first, then the second: `model`, `average` over those questions in percent, `judged`
    questions `of` all."""
    difference: dict[str, PointsDifference]
    """How far the first lies above the second against `selected`, against `rejected`, and by the
    `average`, in points of 100: `value`, `low`, `high`. Against an anchor by the `average` alone,
    the mean share of a question's games."""
    better: float | None
    """Probability that the first is the better one; null with one video."""
    items: dict[str, int]
    """Questions with `a_higher`, `level`, `b_higher`."""
    warnings: list[str]
    """What to know before believing it."""

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena bench compare --json`."""
        fields = asdict(self)
        if self.anchor is None:
            del fields["anchor"]
        return {"schema": SCHEMA, **fields}


def compare(
    bench: OpenBench, a: str, b: str, *, judge: str | None = None, anchor: str | None = None
) -> BenchComparison:
    """Return how two models fared on the questions of a bench that count for both, or BadInput.

    Against an anchor where one is named, or where nothing else is there of both; each question
    counts once, with the share of its games that a model won. The judge is named where several
    judged both.
    """
    there = read_results(bench), read_anchored(bench)
    judged = [{one.model for one in results} for results in there]
    a, b = (in_full(name, (one.model for results in there for one in results)) for name in (a, b))
    if a == b:
        raise WrongArgument(f"{quoted(a)} is compared with itself; name two models")
    # Against the references if both were, since those are the same for everybody.
    is_anchored = anchor is not None or ({a, b} <= judged[1] and not {a, b} <= judged[0])
    found = _pick(bench, there[is_anchored], (a, b), judge=judge, anchor=anchor)
    marks = [_marks(result) for result in found]
    qids = [item.qid for item in bench.items if all(item.qid in one for one in marks)]
    if not qids:
        raise BadInput(f"{quoted(a)} and {quoted(b)} share no judged question on {bench.folder}")
    videos = len({bench.by_qid[qid].video_id for qid in qids})
    leads = {
        key: lead_of(bench.by_qid, *({qid: one[qid][key] for qid in qids} for one in marks))
        for key in marks[0][qids[0]]
    }
    gaps = [marks[0][qid]["average"] - marks[1][qid]["average"] for qid in qids]
    signs = [(gap > 0) - (gap < 0) for gap in gaps]
    models = []
    for name, one in zip((a, b), marks, strict=True):
        total = sum(one[qid]["average"] for qid in qids)
        average = round(100.0 * (total / len(qids)), 4)
        models.append(ModelAverage(name, average, judged=len(one), of=len(bench.items)))
    return BenchComparison(
        bench=bench.bench,
        judge=found[0].judge,
        anchor=_key(found[0])[1],
        questions=len(qids),
        videos=videos,
        models=models,
        difference={
            key: PointsDifference(*(_known(100.0 * x, 4) for x in lead[:3]))
            for key, lead in leads.items()
        },
        better=_known(leads["average"].better, 6),
        items={"a_higher": signs.count(1), "level": signs.count(0), "b_higher": signs.count(-1)},
        warnings=_warnings(bench, [one.facts for one in found], qids, videos),
    )


def _key(result: Result | Anchored) -> tuple[str, str | None]:
    """Return by whom and against whom a result was judged: only equal ones can be compared."""
    return result.judge, result.anchor if isinstance(result, Anchored) else None


def _pick(
    bench: OpenBench,
    results: Sequence[Result] | Sequence[Anchored],
    names: tuple[str, str],
    *,
    judge: str | None,
    anchor: str | None,
) -> list[Result | Anchored]:
    """Return the results of two models by one judge, and against one anchor if against any."""
    is_anchored = any(isinstance(one, Anchored) for one in results) or anchor is not None
    for name in names:
        if name not in {one.model for one in results}:
            there = ", ".join(map(quoted, dict.fromkeys(one.model for one in results)))
            raise BadInput(
                f"{quoted(name)} has no result{' against an anchor' if is_anchored else ''} on "
                f"{bench.folder}; there is {there or 'none'}"
            )
    of = [{_key(one): one for one in results if one.model == name} for name in names]
    both = [key for key in of[0] if key in of[1]]
    judge = judge and in_full(judge, (key[0] for key in map(_key, results)))
    anchor = anchor and in_full(anchor, (key[1] for key in map(_key, results) if key[1]))
    fit = [key for key in both if judge in (None, key[0]) and anchor in (None, key[1])]
    if len(fit) == 1:
        return [mine[fit[0]] for mine in of]
    listed = ", ".join(
        quoted(by) if against is None else f"{quoted(against)} by {quoted(by)}"
        for by, against in fit or both
    )
    if fit and is_anchored:
        raise BadInput(
            f"both were compared with several anchors: {listed}; pick one with "
            f"{option('anchor')} and {option('judge')}"
        )
    if fit:
        raise BadInput(f"several judges ruled on both: {listed}; pick one with {option('judge')}")
    by = "against one anchor by one judge" if is_anchored else "by one judge"
    named = " as named" if judge or anchor else ""
    raise BadInput(
        f"{quoted(names[0])} and {quoted(names[1])} were not judged {by}{named}; "
        f"there is {listed or 'none of both models'}"
    )


def _marks(result: Result | Anchored) -> dict[str, dict[str, float]]:
    """Return the points of each question that counts, from 0 to 1, by qid."""
    if isinstance(result, Anchored):
        return {qid: {"average": share} for qid, share in shares_of(result).items()}
    return {
        qid: {**won._asdict(), "average": won.average} for qid, won in points_of(result).items()
    }


def _known(value: float, digits: int) -> float | None:
    """Return a figure rounded; None if it is not finite."""
    return round(value, digits) if math.isfinite(value) else None


def _warnings(
    bench: OpenBench, facts: Sequence[Mapping[str, Any]], qids: Sequence[str], videos: int
) -> list[str]:
    """Return what to know before believing a comparison of two results with these facts."""
    found = []
    if videos < TOO_FEW:
        found.append(f"only {counted(videos, 'video')}: too few to generalise")
    elif videos < FEW_VIDEOS:
        found.append(f"only {counted(videos, 'video')}: intervals are rough below {FEW_VIDEOS}")
    if len(qids) < len(bench.items):
        found.append(
            f"{len(bench.items) - len(qids)} of {counted(len(bench.items), 'question')} left out, "
            "since not both models have rulings on them"
        )
    seats = [{key: one.get(key) for key in ("seed", "swap")} for one in facts]
    # With one seed both models had the same seats, and what a judge likes of those mostly cancels.
    if seats[0] != seats[1]:
        found.append("the two were judged with different settings (seed, swap), which adds noise")
    return found
