"""What rounds, dialogues and abilities come to: shares of items answered as expected.

A round is the share of its items, a dialogue the mean of its rounds, an ability the mean of its
dialogues, and the score the plain mean of the six abilities; the refusal twin is none of them. A
round without a reply has no item right. One that could not be marked, or whose video is lost, is
left out.

Source: MT-Video-Bench, evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Literal

from videoautoarena.agents.prompting.task_contracts import YesNo
from videoautoarena.runs.bench.format.entries import ABILITIES, TWIN, Ability, Round
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.runs.bench.score.task_points import Figure, figure_of, percent
from videoautoarena.scoring.tasks.averages import Tasks, measure_accuracy, measure_tasks

ALL: tuple[Ability, ...] = (*ABILITIES, TWIN)
PUBLISHED_ITEMS = 5
"""Keys that the released scorer's judge is shown, and so fills, whatever the checklist holds."""
Of = tuple[str, int]
"""A round: the qid of its dialogue and its number."""


def share_right(asked: Round, answers: Sequence[YesNo], *, as_published: bool = False) -> float:
    """Return what share of a checklist is answered as expected.

    As published it is a share of five, or of the items where there are more, to two digits.
    """
    pairs = zip(answers, asked.checklist, strict=True)
    right = sum(said == check.expected for said, check in pairs)
    if as_published:
        return round(right / max(PUBLISHED_ITEMS, len(asked.checklist)), 2)
    return right / len(asked.checklist)


def round_points(
    items: Sequence[DialogueItem], lines: Sequence[RoundLine], *, as_published: bool = False
) -> dict[Of, float]:
    """Return what each round brought that counts, 0 to 1."""
    asked = {(item.qid, n): one for item in items for n, one in enumerate(item.rounds, 1)}
    points = dict[Of, float]()
    for line in lines:
        of = line.qid, line.round
        if of not in asked or line.end in ("unscored", "void"):
            continue
        points[of] = (
            share_right(asked[of], line.answers, as_published=as_published)
            if line.end == "answered"
            else 0.0
        )
    return points


def dialogue_points(points: Mapping[Of, float]) -> dict[str, float]:
    """Return the mean of each dialogue's rounds that count, by its qid."""
    rounds: dict[str, list[float]] = {}
    for (qid, _), value in points.items():
        rounds.setdefault(qid, []).append(value)
    return {qid: fmean(values) for qid, values in rounds.items()}


def measured(items: Sequence[DialogueItem], points: Mapping[str, float]) -> Tasks | None:
    """Return what dialogues come to by ability, in the order of ABILITIES, and the mean of those.

    None where none of them counts.
    """
    asked = {item.qid: item for item in items if item.qid in points}
    if not asked:
        return None
    places = [ALL.index(item.ability) for item in asked.values()]
    return measure_tasks([points[qid] for qid in asked], places, videos_of(asked, asked))


def mean_of(items: Sequence[DialogueItem], points: Mapping[str, float]) -> Figure | None:
    """Return the mean of dialogues in percent, whatever their ability; None of none."""
    asked = {item.qid: item for item in items if item.qid in points}
    if not asked:
        return None
    return figure_of(
        measure_accuracy([points[qid] for qid in asked], videos_of(asked, asked)), 100.0
    )


def over_refusal(items: Sequence[DialogueItem], result: DialogueResult) -> Figure | None:
    """Return the share of twin rounds that were refused though the thing is there, in percent.

    A round is refused where the reply does what its No items ask about: those that `made` lists by
    number as `denials`, else all of them. Of rounds that were answered; None of none.
    """
    twins = {item.qid: item for item in items if item.ability == TWIN}
    refused = list[float]()
    qids = list[str]()
    for line in result.lines:
        if line.qid in twins and line.end == "answered":
            asked = twins[line.qid].rounds[line.round - 1]
            denied = [line.answers[k] == "yes" for k in _denials(asked)]
            refused.append(float(bool(denied) and all(denied)))
            qids.append(line.qid)
    if not refused:
        return None
    return figure_of(measure_accuracy(refused, videos_of(twins, qids)), 100.0)


def _denials(asked: Round) -> list[int]:
    """Return the places of the items that are answered yes by who says that it is not there."""
    places = [k for k, check in enumerate(asked.checklist) if check.expected == "no"]
    listed = asked.made.get("denials")
    if not isinstance(listed, list):
        return places
    return [place for place in places if place + 1 in listed]


Constant = Literal["all_yes", "all_no", "silence", "refusal"]


def _refused(item: DialogueItem, asked: Round) -> list[YesNo]:
    """Return what is said of a reply that the thing is not there, and of no word beside it."""
    if item.ability == "answer_refusal":
        return [check.expected for check in asked.checklist]
    is_known = item.ability == TWIN or "denials" in asked.made
    denied = _denials(asked) if is_known else []
    return ["yes" if place in denied else "no" for place in range(len(asked.checklist))]


CONSTANTS: Mapping[Constant, Callable[[DialogueItem, Round], list[YesNo]]] = {
    "all_yes": lambda _, asked: ["yes"] * len(asked.checklist),
    "all_no": lambda _, asked: ["no"] * len(asked.checklist),
    # Nothing that is asked for stands in no words.
    "silence": lambda _, asked: ["no"] * len(asked.checklist),
    "refusal": _refused,
}
"""What whoever knows nothing comes to, from the checklists alone: every item answered yes, or no;
no words, to which every item is no; and refusing whatever is asked: right where that is asked for,
else yes to what over-refusal goes by, and no to any other item."""


def constant_points(
    items: Sequence[DialogueItem], name: Constant, *, as_published: bool = False
) -> dict[str, float]:
    """Return what a constant brings in each dialogue that is scored, by its qid."""
    say = CONSTANTS[name]
    return dialogue_points(
        {
            (item.qid, n): share_right(one, say(item, one), as_published=as_published)
            for item in items
            for n, one in enumerate(item.rounds, 1)
            if one.is_scored
        }
    )


def plain_means(
    items: Sequence[DialogueItem], points: Mapping[str, float]
) -> dict[Ability, float | None]:
    """Return the mean of each ability's dialogues in percent, where there are any."""
    found: dict[Ability, float | None] = {}
    for ability in ALL:
        mine = [
            points[item.qid] for item in items if item.ability == ability and item.qid in points
        ]
        if mine:
            found[ability] = percent(fmean(mine))
    return found
