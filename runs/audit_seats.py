"""Whether a judge minds who is read first: over all judgings, and where it judged both ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runs.audit_input import POINTS, AuditInput, Mask, above, finding, percent, unknown
from runs.console import safe
from runs.findings import Crosses, Finding
from scoring.cells import Floats, Ints
from scoring.shares import Share, measure_share

MOST_FLIPS = 0.2
"""More verdicts that change with the seats are an alarm."""
LEAST_LEANING = 0.05
"""How far from half the first seat's share must lie, beside its interval, for an alarm."""
_UNTOLD = (
    "No battle was judged from both seatings, so nobody knows how often the judge changes its mind "
    "with them; run with --swap 0.1 to learn it."
)


@dataclass(frozen=True, eq=False)
class _Twice:
    """What one judge said of one battle from both seatings, row by row."""

    ab: Ints
    ba: Ints
    judge: Ints
    video: Ints

    def share(self, hits: Floats | Mask, kept: Mask | None = None) -> Share:
        here = slice(None) if kept is None else kept
        return measure_share(hits[here].astype(float), self.video[here])


def audit_seats(given: AuditInput) -> list[Finding]:
    """Return what the seats are worth to the judges of a run."""
    twice = _judged_twice(given)
    if not len(twice.ab):
        return [_first_read(given), unknown("swap.flips", _UNTOLD)]
    told = [_first_read(given), _flips(twice), _gain(twice)]
    if len(np.unique(twice.judge)) > 1:
        told += [_flips_of(k, safe(judge), twice) for k, judge in enumerate(given.judges)]
    return [found for found in told if found.n or found.key == "seats.first"]


def _first_read(given: AuditInput) -> Finding:
    """How often the answer that was read first won, of judgings that chose one."""
    ballots = given.ballots
    chosen = ballots.camp < 2
    if not chosen.any():
        return unknown("seats.first", "No judging chose an answer, so seats cannot be compared.")
    won = (ballots.camp == 0) != ballots.is_back
    share = measure_share(won[chosen].astype(float), given.videos[ballots.battle[chosen]])
    sentence = (
        f"The answer that was read first won {percent(share)} of {share.n} judgings that chose "
        "one; seats are drawn, so a fair judge gives it half."
    )
    return finding("seats.first", share, sentence, crosses=_leans(share), is_even=True)


def _flips(twice: _Twice) -> Finding:
    share = twice.share(twice.ab != twice.ba)
    sentence = (
        f"Read the other way round, {percent(share)} of {share.n} verdicts changed; there the "
        "seats decide, or chance."
    )
    return finding("swap.flips", share, sentence, crosses=above(share, MOST_FLIPS))


def _flips_of(k: int, name: str, twice: _Twice) -> Finding:
    share = twice.share(twice.ab != twice.ba, twice.judge == k)
    sentence = f"Of {share.n} verdicts of {name} {percent(share)} changed with the seats."
    return finding(f"swap.flips.{name}", share, sentence, crosses=above(share, MOST_FLIPS))


def _gain(twice: _Twice) -> Finding:
    """What the first seat got of the same two answers, whoever sat in it."""
    share = twice.share((POINTS[twice.ab] + 1.0 - POINTS[twice.ba]) / 2.0)
    seat = "neither seat surely gains"
    if share.low > 0.5 or share.high < 0.5:
        seat = "the first seat gains" if share.value > 0.5 else "the second seat gains"
    sentence = (
        f"Of {share.n} pairs of answers judged from both seatings, the one read first took "
        f"{percent(share)}, ties half to each: {seat}."
    )
    return finding("swap.first", share, sentence, crosses=_leans(share), is_even=True)


def _leans(share: Share) -> Crosses:
    is_far = abs(share.value - 0.5) >= LEAST_LEANING
    return lambda level: is_far and not share.at(level).low <= 0.5 <= share.at(level).high


def _judged_twice(given: AuditInput) -> _Twice:
    ballots = given.ballots
    key = ballots.battle * max(len(given.judges), 1) + ballots.judge
    front, back = (
        np.flatnonzero(ballots.has_voted & (ballots.is_back == way)) for way in (False, True)
    )
    # A judge is asked once from a seating; of more words the first would count.
    _, one, two = np.intersect1d(key[front], key[back], return_indices=True)
    ab, ba = front[one], back[two]
    video = given.videos[ballots.battle[ab]]
    return _Twice(ballots.camp[ab], ballots.camp[ba], ballots.judge[ab], video)
