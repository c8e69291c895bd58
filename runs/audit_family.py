"""Whether a judge favours its own family of models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from memory.records import Battle
from runs.audit_input import POINTS, AuditInput, Vote, family_of, finding, percent, unknown
from runs.console import safe
from runs.findings import Finding
from scoring.shares import Share, measure_excess, measure_share

_UNTOLD = "No contestant is of the family of a judge ({}), so there is nothing for one to prefer."


class _Own(NamedTuple):
    """One judging in which just one answer came from the judge's family."""

    battle: Battle
    points: float
    """Of the family's answer: 1, 0.5 or 0."""
    elsewhere: float
    """The same by judges of other families, in the mean; NaN where none judged the battle."""


def audit_family(given: AuditInput) -> list[Finding]:
    """Return what each judge gives its own family, beside what others give it on the same battles.

    Families are those of `family_of`.
    """
    told: list[Finding] = []
    families: list[str] = []
    for judge in given.judges:
        family = family_of(given.model_of(judge))
        families.append(safe(family))
        if own := list(_own(judge, family, given)):
            told += _of_judge(judge, family, own, given)
    if told or not families:
        return told
    return [unknown("family.own", _UNTOLD.format(", ".join(dict.fromkeys(families))))]


def _of_judge(judge: str, family: str, own: list[_Own], given: AuditInput) -> Iterator[Finding]:
    name = safe(judge)
    share = measure_share([o.points for o in own], given.number_videos([o.battle for o in own]))
    sentence = (
        f"{name} gives its own family ({safe(family)}) {percent(share)} of {share.n} judgings"
    )
    shared = [o for o in own if not np.isnan(o.elsewhere)]
    alone = (
        "; no judge of another family judged these, so preference cannot be separated from skill"
    )
    yield finding(f"family.own[{name}]", share, f"{sentence}{'' if shared else alone}.")
    if shared:
        yield _excess(name, shared, given)


def _excess(name: str, shared: list[_Own], given: AuditInput) -> Finding:
    excess = measure_excess(
        [o.points for o in shared],
        [o.elsewhere for o in shared],
        given.number_videos([o.battle for o in shared]),
    )
    verdict = "it surely favours its own" if excess.low > 0.0 else "no preference is sure"
    sentence = (
        f"That is {_points(excess)} points of a hundred more than judges of other families give "
        f"it in the same {excess.n} judgings: {verdict}."
    )
    return finding(f"family.excess[{name}]", excess, sentence, is_alarm=excess.low > 0.0)


def _own(judge: str, family: str, given: AuditInput) -> Iterator[_Own]:
    for battle, votes in given.votes:
        sides = [family_of(given.model_of(m or "")) == family for m in _players(battle)]
        if sum(sides) != 1:
            continue
        others = [v for v in votes if family_of(given.model_of(v.judge)) != family]
        for vote in votes:
            if vote.judge == judge:
                same = [_of_side(v, sides[0]) for v in others if v.seats == vote.seats]
                elsewhere = float(np.mean(same)) if same else np.nan
                yield _Own(battle, _of_side(vote, sides[0]), elsewhere)


def _players(battle: Battle) -> tuple[str | None, str | None]:
    return battle.model_a, battle.model_b


def _of_side(vote: Vote, is_a: bool) -> float:
    return POINTS[vote.camp] if is_a else 1.0 - POINTS[vote.camp]


def _points(share: Share) -> str:
    value, low, high = (f"{100 * figure:+.1f}" for figure in share[:3])
    return f"{value} ({low} to {high})"
