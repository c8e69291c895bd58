"""Whether a judge favours its own family of models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from runs.audit_input import (
    POINTS,
    AuditInput,
    Ballots,
    Mask,
    above,
    family_of,
    finding,
    percent,
    unknown,
)
from runs.console import safe
from runs.findings import Finding
from scoring.cells import Floats, Ints
from scoring.shares import Share, measure_excess, measure_share

_UNTOLD = "No contestant is of the family of a judge ({}), so there is nothing for one to prefer."


@dataclass(frozen=True, eq=False)
class _Own:
    """Judgings of one judge in which just one answer came from its family."""

    points: Floats
    """Of the family's answer: 1, 0.5 or 0."""
    elsewhere: Floats
    """The same by judges of other families, in the mean; NaN where none judged the battle."""
    video: Ints


def audit_family(given: AuditInput) -> list[Finding]:
    """Return what each judge gives its own family, beside what others give it on the same battles.

    Families are those of `family_of`.
    """
    told: list[Finding] = []
    families: list[str] = []
    for k, judge in enumerate(given.judges):
        family = family_of(given.model_of(judge))
        families.append(safe(family))
        own = _own(k, family, given)
        if len(own.points):
            told += _of_judge(judge, family, own)
    if told or not families:
        return told
    return [unknown("family.own", _UNTOLD.format(", ".join(dict.fromkeys(families))))]


def _of_judge(judge: str, family: str, own: _Own) -> Iterator[Finding]:
    name = safe(judge)
    share, shared = measure_share(own.points, own.video), ~np.isnan(own.elsewhere)
    sentence = (
        f"{name} gives its own family ({safe(family)}) {percent(share)} of {share.n} judgings"
    )
    alone = (
        "; no judge of another family judged these, so preference cannot be separated from skill"
    )
    yield finding(f"family.own.{name}", share, f"{sentence}{'' if shared.any() else alone}.")
    if shared.any():
        excess = measure_excess(own.points[shared], own.elsewhere[shared], own.video[shared])
        yield _excess(name, excess)


def _excess(name: str, excess: Share) -> Finding:
    verdict = "it surely favours its own" if excess.low > 0.0 else "no preference is sure"
    sentence = (
        f"That is {_points(excess)} points of a hundred more than judges of other families give "
        f"it in the same {excess.n} judgings: {verdict}."
    )
    return finding(
        f"family.excess.{name}", excess, sentence, crosses=above(excess, 0.0), is_even=True
    )


def _own(judge: int, family: str, given: AuditInput) -> _Own:
    ballots, is_ours = given.ballots, _ours(family, given)
    one_of_two = is_ours[:, 0] != is_ours[:, 1]
    mine = ballots.has_voted & (ballots.judge == judge) & one_of_two[ballots.battle]
    battle = ballots.battle[mine]
    of_a = POINTS[ballots.camp[mine]], _said_elsewhere(family, given)[_seating(ballots)[mine]]
    points, elsewhere = (np.where(is_ours[battle, 0], x, 1.0 - x) for x in of_a)
    return _Own(points, elsewhere, given.videos[battle])


def _ours(family: str, given: AuditInput) -> Mask:
    """Shape (battles, 2), whether model_a and model_b are of a family."""
    sides = [b.model_a or "" for b in given.battles], [b.model_b or "" for b in given.battles]
    ours = {name: family_of(given.model_of(name)) == family for name in set().union(*sides)}
    return np.array([[ours[name] for name in side] for side in sides], dtype=np.bool_).T


def _said_elsewhere(family: str, given: AuditInput) -> Floats:
    """What judges of other families gave model_a in each seating, in the mean; NaN of none."""
    ballots, size = given.ballots, 2 * len(given.battles)
    kin = np.array([family_of(given.model_of(name)) == family for name in given.judges])
    apart = ballots.has_voted & ~kin[ballots.judge]
    seating = _seating(ballots)[apart]
    said = np.bincount(seating, minlength=size)
    got = np.bincount(seating, weights=POINTS[ballots.camp[apart]], minlength=size)
    mean = np.full(size, np.nan)
    np.divide(got, said, out=mean, where=said > 0)
    return mean


def _seating(ballots: Ballots) -> Ints:
    return np.asarray(2 * ballots.battle + ballots.is_back)


def _points(share: Share) -> str:
    value, low, high = (f"{100 * figure:+.1f}" for figure in share[:3])
    return f"{value} ({low} to {high})"
