"""Whether a judge minds who is read first: over all judgings, and where it judged both ways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from memory.records import Battle
from runs.audit_input import POINTS, AuditInput, Vote, finding, percent, unknown
from runs.console import safe
from runs.findings import Finding
from scoring.shares import Share, measure_share

MOST_FLIPS = 0.2
"""More verdicts that change with the seats are an alarm, if the whole interval says so."""
LEAST_LEANING = 0.05
"""How far from half the first seat's share must lie, beside its interval, for an alarm."""
_UNTOLD = (
    "No battle was judged from both seatings, so nobody knows how often the judge changes its mind "
    "with them; run with --swap 0.1 to learn it."
)


class _Twice(NamedTuple):
    """One judge's votes on one battle from both seatings."""

    battle: Battle
    judge: str
    ab: int
    ba: int


def audit_seats(given: AuditInput) -> list[Finding]:
    """Return what the seats are worth to the judges of a run."""
    twice = list(_judged_twice(given))
    if not twice:
        return [_first_read(given), unknown("swap.flips", _UNTOLD)]
    told = [_first_read(given), _flips("swap.flips", "", given, twice), _gain(given, twice)]
    if len({row.judge for row in twice}) > 1:
        for judge in given.judges:
            if own := [row for row in twice if row.judge == judge]:
                name = safe(judge)
                told.append(_flips(f"swap.flips[{name}]", f" of {name}", given, own))
    return told


def _first_read(given: AuditInput) -> Finding:
    """How often the answer that was read first won, of judgings that chose one."""
    chosen = [(b, vote) for b, votes in given.votes for vote in votes if vote.camp < 2]
    if not chosen:
        return unknown("seats.first", "No judging chose an answer, so seats cannot be compared.")
    won = [_first_points(vote) for _, vote in chosen]
    share = measure_share(won, given.number_videos([battle for battle, _ in chosen]))
    sentence = (
        f"The answer that was read first won {percent(share)} of {share.n} judgings that chose "
        "one; seats are drawn, so a fair judge gives it half."
    )
    return finding("seats.first", share, sentence, is_alarm=_leans(share))


def _flips(key: str, whose: str, given: AuditInput, twice: Sequence[_Twice]) -> Finding:
    share = _share(given, twice, (float(row.ab != row.ba) for row in twice))
    sentence = (
        f"Read the other way round, {percent(share)} of {share.n} verdicts{whose} changed; there "
        "the seats decide, or chance."
    )
    return finding(key, share, sentence, is_alarm=share.low > MOST_FLIPS)


def _gain(given: AuditInput, twice: Sequence[_Twice]) -> Finding:
    """What the first seat got of the same two answers, whoever sat in it."""
    won = ((POINTS[row.ab] + 1.0 - POINTS[row.ba]) / 2.0 for row in twice)
    share = _share(given, twice, won)
    seat = "neither seat surely gains"
    if share.low > 0.5 or share.high < 0.5:
        seat = "the first seat gains" if share.value > 0.5 else "the second seat gains"
    sentence = (
        f"Of {share.n} pairs of answers judged from both seatings, the one read first took "
        f"{percent(share)}, ties half to each: {seat}."
    )
    return finding("swap.first", share, sentence, is_alarm=_leans(share))


def _leans(share: Share) -> bool:
    sure = share.low > 0.5 or share.high < 0.5
    return sure and abs(share.value - 0.5) >= LEAST_LEANING


def _share(given: AuditInput, twice: Sequence[_Twice], hits: Iterable[float]) -> Share:
    return measure_share(np.fromiter(hits, float), given.number_videos([r.battle for r in twice]))


def _judged_twice(given: AuditInput) -> Iterable[_Twice]:
    for battle, votes in given.votes:
        # Later words of one judge from one seating are none: a run asks once.
        back = {vote.judge: vote.camp for vote in votes if vote.seats == "ba"}
        for vote in votes:
            if vote.seats == "ab" and vote.judge in back:
                yield _Twice(battle, vote.judge, vote.camp, back[vote.judge])


def _first_points(vote: Vote) -> float:
    return float((vote.camp == 0) == (vote.seats == "ab"))
