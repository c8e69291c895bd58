"""Which of two models is better in dialogues, and how sure that is: dialogue by dialogue."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import Published, Record
from videoautoarena.runs.bench.dialogues.points import ALL, dialogue_points, round_points
from videoautoarena.runs.bench.dialogues.score import wanted_results
from videoautoarena.runs.bench.format.entries import TWIN, Ability
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.runs.bench.score.task_points import Figure, lead_figure, weights_of
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.words import in_full
from videoautoarena.scoring.ratings.differences import measure_lead


class DialogueGap(Record):
    """How far the first model lies above the second on dialogues that count for both."""

    ability: Ability | None
    """Null of the six together, each as much."""
    a: float
    """Accuracy of the first in percent, over the same dialogues."""
    b: float
    """Of the second."""
    difference: Figure
    """How far A lies above B, in points, paired by dialogue: `value`, `low`, `high` on `n`
    dialogues."""
    better: float | None
    """Probability that A is better; null with one video."""
    videos: int
    """Videos that they are about."""


class DialogueComparison(Published):
    """How two models fared in dialogues that count for both."""

    bench: str
    """Its digest."""
    models: tuple[str, str]
    """The first, then the second."""
    overall: DialogueGap | None
    """A gap of the six together; None where only the refusal twin counts for both."""
    abilities: tuple[DialogueGap, ...]
    """A gap of each ability, and of the refusal twin."""
    left_out: int
    """Dialogues that do not count for both."""


def compare_dialogues(
    bench: OpenBench[DialogueItem], a: str, b: str, *, judge: str | None = None
) -> DialogueComparison:
    """Return how two models fared on a set of dialogues by one judge, or BadInput."""
    results = wanted_results(bench, judge)
    names = [one.model for one in results]
    a = in_full(a, names)
    b = in_full(b, names)
    if a == b:
        raise WrongArgument(f"{quoted(a)} is compared with itself; name two models")
    one = _pick(bench, results, a)
    other = _pick(bench, results, b)
    if one.judge != other.judge:
        raise BadInput(
            f"{quoted(a)} was marked by {quoted(one.judge)} and {quoted(b)} by "
            f"{quoted(other.judge)}; have one judge mark both"
        )
    points = [dialogue_points(round_points(bench.items, each.lines)) for each in (one, other)]
    both = [item for item in bench.items if all(item.qid in each for each in points)]
    if not both:
        raise BadInput(f"{quoted(a)} and {quoted(b)} share no scored dialogue on {bench.folder}")
    six = [item for item in both if item.ability != TWIN]
    abilities = ((ability, [item for item in both if item.ability == ability]) for ability in ALL)
    return DialogueComparison(
        bench=bench.bench,
        models=(a, b),
        overall=_gap(six, points, None) if six else None,
        abilities=tuple(_gap(mine, points, ability) for ability, mine in abilities if mine),
        left_out=len(bench.items) - len(both),
    )


def _pick(
    bench: OpenBench[DialogueItem], results: Sequence[DialogueResult], name: str
) -> DialogueResult:
    mine = [one for one in results if one.model == name]
    if not mine:
        there = ", ".join(map(quoted, dict.fromkeys(one.model for one in results)))
        raise BadInput(f"{quoted(name)} has no result on {bench.folder}; there is {there}")
    if len(mine) > 1:
        judges = ", ".join(quoted(one.judge) for one in mine)
        raise BadInput(f"{quoted(name)} was marked by {judges}; pick one with --judge")
    return mine[0]


def _gap(
    items: Sequence[DialogueItem], points: Sequence[Mapping[str, float]], ability: Ability | None
) -> DialogueGap:
    weights = weights_of([item.ability for item in items])
    one, other = (
        [w * mine[item.qid] for item, w in zip(items, weights.each, strict=True)] for mine in points
    )
    asked = {item.qid: item for item in items}
    scale = 100.0 * weights.scale
    lead = measure_lead(one, other, videos_of(asked, asked))
    return DialogueGap(
        ability=ability,
        a=round(scale * sum(one) / len(one), 4),
        b=round(scale * sum(other) / len(other), 4),
        difference=lead_figure(lead, scale, most=100.0),
        better=None if math.isnan(lead.better) else round(lead.better, 6),
        videos=len({item.cluster for item in items}),
    )
