"""Biases of a judge: towards the answer read first, the longer one, and its own family.

Long answers may be good ones, so none of this proves a bias; it shows how much of the ranking a
judge that cannot read would have found. Lengths are in characters, which every script has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from videoautoarena.memory.records.outlines import LENGTHS
from videoautoarena.runs.analysis.audit.evidence import (
    POINTS,
    AuditInput,
    Ballots,
    Mask,
    above,
    family_of,
    finding,
    unknown,
)
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.finding import Crosses, Finding, Told
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.intervals.proportions import Share, measure_excess, measure_share

MOST_FLIPS = 0.2
"""More verdicts that change with the seats are an alarm."""
LEAST_LEANING = 0.05
"""How far from half the first seat's share must lie, beside its interval, for an alarm."""
_LARGER_SWAP = 0.5
"""Share to suggest where a smaller one gave no battle that was judged in both orders."""


@dataclass(frozen=True, eq=False)
class SeatedTwice:
    """What one judge said of one battle from both seatings, row by row."""

    ab: Ints
    ba: Ints
    judge: Ints
    video: Ints
    battle: Ints
    """Place in the battles of the input."""

    def share(self, hits: Floats | Mask, kept: Mask | None = None) -> Share:
        here = slice(None) if kept is None else kept
        return measure_share(hits[here], self.video[here])


def audit_seats(given: AuditInput) -> list[Finding]:
    """Return what the seats are worth to the judges of a run."""
    twice = judged_twice(given)
    if not len(twice.ab):
        return [_first_read(given), _one_seating(given)]
    share = twice.share(twice.ab != twice.ba)
    words = (
        "With the answers in swapped order, {figure} of {n:verdict} on {videos:video} changed: "
        "those were decided by order or by chance."
    )
    flips = finding("swap.flips", share, words, crosses=above(share, MOST_FLIPS))
    every = [_first_read(given), flips, _gain(twice)]
    if len(np.unique(twice.judge)) > 1:
        every += [_flips_of(k, judge, twice) for k, judge in enumerate(given.judges)]
    return [found for found in every if found.n or found.key == "seats.first"]


def _one_seating(given: AuditInput) -> Finding:
    """Return that no battle was judged twice: none was to be, or the share in force gave none."""
    share = given.manifest.get("swap", 0)
    words = "No battle was judged in both orders, so position bias is unknown; run with {swap}."
    told: dict[str, Told] = {"swap": "--swap 0.1"}
    if share and len(given.battles):
        words = (
            "No battle was judged in both orders, so position bias is unknown: {in_force} gave "
            "none of {battles:battle} a verdict in both; run with more, such as {swap}."
        )
        larger = (
            f"--swap {_LARGER_SWAP}" if share != "all" and share < _LARGER_SWAP else "--swap all"
        )
        in_force = share if share == "all" else f"{share:g}"
        told = {"in_force": f"--swap {in_force}", "battles": len(given.battles), "swap": larger}
    return unknown("swap.flips", words, **told)


def _first_read(given: AuditInput) -> Finding:
    """Return how often the answer read first won, of the judgings that chose one."""
    ballots = given.ballots
    # Ties and abstentions say nothing about seats.
    chosen = ballots.camp < 2
    if not chosen.any():
        return unknown(
            "seats.first", "No judging chose an answer, so position bias cannot be measured."
        )
    # Camp 0 is a, who is read first unless the seating is back to front.
    won = (ballots.camp == 0) != ballots.is_back
    share = measure_share(won[chosen], given.videos[ballots.battle[chosen]])
    words = (
        "The answer read first won {figure} of {n:judging} with a winner on {videos:video}; the "
        "order is random, so a fair judge gives it half."
    )
    return finding("seats.first", share, words, crosses=_leans(share), is_even=True)


def _flips_of(k: int, name: str, twice: SeatedTwice) -> Finding:
    share = twice.share(twice.ab != twice.ba, twice.judge == k)
    words = "Of {n:verdict} of {judge} on {videos:video}, {figure} changed with the order."
    crosses = above(share, MOST_FLIPS)
    return finding(f"swap.flips.{safe(name)}", share, words, crosses=crosses, judge=name)


def _gain(twice: SeatedTwice) -> Finding:
    """Return the share of points of the first seat, over the same two answers in both orders."""
    # Points of the seat read first: those of a in one seating, those of b in the other.
    share = twice.share((POINTS[twice.ab] + 1.0 - POINTS[twice.ba]) / 2.0)
    seat = "no significant position bias"
    # The words go by 95 %; alarms are raised for all figures together, at a stricter level.
    if share.low > 0.5 or share.high < 0.5:
        seat = (
            "the answer read first gains" if share.value > 0.5 else "the answer read second gains"
        )
    words = (
        "Over {n:case} on {videos:video} judged in both orders, the answer read first scored "
        f"{{figure}} (a tie is half): {seat}."
    )
    return finding("swap.first", share, words, crosses=_leans(share), is_even=True)


def _leans(share: Share) -> Crosses:
    # On thousands of judgings a leaning too small to matter is significant, too.
    is_far = abs(share.value - 0.5) >= LEAST_LEANING
    return lambda level: is_far and not share.at(level).low <= 0.5 <= share.at(level).high


def judged_twice(given: AuditInput) -> SeatedTwice:
    """Return what each judge said of the battles that it judged from both seatings."""
    ballots = given.ballots
    key = ballots.battle * max(len(given.judges), 1) + ballots.judge
    front, back = (
        np.flatnonzero(ballots.has_voted & (ballots.is_back == way)) for way in (False, True)
    )
    # A judge is asked once from a seating; of more words the first would count.
    _, one, two = np.intersect1d(key[front], key[back], return_indices=True)
    ab = front[one]
    ba = back[two]
    battle = ballots.battle[ab]
    video = given.videos[battle]
    return SeatedTwice(ballots.camp[ab], ballots.camp[ba], ballots.judge[ab], video, battle)


_CAMPS = {"a": 0, "b": 1}
MATCHED = 0.1
"""Answers are equally long where the longer has at most this share more."""
MOST_LONGER = 0.75
"""More wins of the longer answer are an alarm."""
MOST_MATCHED = 0.55
"""More wins of the longer of two equally long answers, where length cannot matter, are an alarm."""


def audit_length(given: AuditInput) -> list[Finding]:
    """Return how often the longer answer won, and what a judge of lengths would have said."""
    a, b = (given.decided.numbers[name] for name in LENGTHS)
    decided = given.decided.where((a > 0) & (b > 0))
    if not decided:
        return [
            unknown("length.longer", "No battle was decided, so length bias cannot be measured.")
        ]
    lengths = np.array([decided.numbers[name] for name in LENGTHS]).T
    verdict = decided.texts["verdict"]
    camps = np.array([_CAMPS.get(one, 2) for one in verdict.values])[verdict.codes]
    video = decided.videos
    # In the codes of camps: 0 where a is longer, 1 where b is, 2 where neither.
    longer = np.where(lengths[:, 0] == lengths[:, 1], 2, lengths[:, 1] > lengths[:, 0])
    chosen = (camps < 2) & (longer < 2)
    matched = chosen & (lengths.max(axis=1) <= (1.0 + MATCHED) * lengths.min(axis=1))
    same = measure_share((camps == longer) & (longer < 2), video)
    words = (
        "A judge that only compares lengths would agree in {figure} of {n:decided battle} on "
        "{videos:video} (a tie counts as a miss)."
    )
    return [
        _longer(measure_share((camps == longer)[chosen], video[chosen])),
        finding("length.only", same, words),
        _matched(measure_share((camps == longer)[matched], video[matched])),
    ]


def _longer(share: Share) -> Finding:
    if share.n == 0:
        return unknown("length.longer", "No battle with a winner had answers of different length.")
    words = (
        "The longer answer won {figure} of {n:battle} with a winner on {videos:video}; half is no "
        "preference, more may be merit or length bias."
    )
    return finding("length.longer", share, words, crosses=above(share, MOST_LONGER))


def _matched(share: Share) -> Finding:
    if share.n == 0:
        return unknown(
            "length.matched",
            "No battle with a winner had answers of about equal length (within {within:share}), "
            "so length bias cannot be separated from merit.",
            within=MATCHED,
        )
    words = (
        "Between answers of about equal length (within {within:share}), the longer won {figure} of "
        "{n:battle} on {videos:video}; here length should not matter."
    )
    crosses = above(share, MOST_MATCHED)
    return finding("length.matched", share, words, crosses=crosses, within=MATCHED)


_NO_FAMILY = "No contestant is of a judge's family ({families}), so self-preference cannot occur."
_ALONE = (
    "; no judge of another family judged these, so self-preference cannot be separated from skill"
)


@dataclass(frozen=True, eq=False)
class _OwnFamilyPoints:
    """Judgings of one judge in which just one answer came from its family."""

    points: Floats
    """Points of the family's answer: 1, 0.5 or 0."""
    elsewhere: Floats
    """Mean points by judges of other families; NaN where none of them judged the battle."""
    video: Ints


def audit_family(given: AuditInput) -> list[Finding]:
    """Return what each judge gives its own family, beside what others give it on the same battles.

    Families are those of `family_of`.
    """
    found: list[Finding] = []
    families: list[str] = []
    for k, judge in enumerate(given.judges):
        family = family_of(given.model_of(judge))
        families.append(family)
        ballots = given.ballots
        sides = [given.outlines.texts[seat] for seat in ("model_a", "model_b")]
        is_ours = np.stack(
            [
                side.among(x for x in side.values if family_of(given.model_of(x or "")) == family)
                for side in sides
            ],
            axis=1,
        )
        # Between two answers of the family, or none of it, there is nothing to prefer.
        one_of_two = is_ours[:, 0] != is_ours[:, 1]
        mine = ballots.has_voted & (ballots.judge == k) & one_of_two[ballots.battle]
        battle = ballots.battle[mine]
        of_a = POINTS[ballots.camp[mine]], _said_elsewhere(family, given)[_seating(ballots)[mine]]
        # From points of a to points of the family's answer, whichever side it is on.
        points, elsewhere = (np.where(is_ours[battle, 0], x, 1.0 - x) for x in of_a)
        own = _OwnFamilyPoints(points, elsewhere, given.videos[battle])
        if len(own.points):
            found += _of_judge(judge, family, own, is_brief=given.is_brief)
    if found or not families or given.is_brief:
        return found
    named = ", ".join(dict.fromkeys(families))
    return [unknown("family.own", _NO_FAMILY, families=named)]


def _of_judge(
    judge: str, family: str, own: _OwnFamilyPoints, *, is_brief: bool
) -> Iterator[Finding]:
    name = safe(judge)
    shared = ~np.isnan(own.elsewhere)
    if not is_brief:
        share = measure_share(own.points, own.video)
        words = (
            "{judge} prefers its own family ({family}) in {figure} of {n:judging} on {videos:video}"
            f"{'' if shared.any() else _ALONE}."
        )
        yield finding(f"family.own.{name}", share, words, judge=judge, family=family)
    if shared.any():
        excess = measure_excess(own.points[shared], own.elsewhere[shared], own.video[shared])
        verdict = "it favours its own family" if excess.low > 0.0 else "no significant preference"
        words = (
            "{judge} gives its own family {figure:share_gap_with_interval} percentage points more "
            "than judges of other families in the same {n:judging} on {videos:video}: "
            f"{verdict}."
        )
        yield finding(
            f"family.excess.{name}",
            excess,
            words,
            crosses=above(excess, 0.0),
            is_even=True,
            judge=judge,
        )


def _said_elsewhere(family: str, given: AuditInput) -> Floats:
    """Return the mean points for model_a by judges of other families in each seating; NaN of none.

    Shape (2 * battles,), by `_seating`.
    """
    ballots = given.ballots
    size = 2 * len(given.outlines)
    # The judge is its own kin, and so is never held against itself.
    kin = np.array([family_of(given.model_of(name)) == family for name in given.judges])
    apart = ballots.has_voted & ~kin[ballots.judge]
    # Of the same seating, so that position bias is in both and falls out of the difference.
    seating = _seating(ballots)[apart]
    said = np.bincount(seating, minlength=size)
    got = np.bincount(seating, weights=POINTS[ballots.camp[apart]], minlength=size)
    mean = np.full(size, np.nan)
    np.divide(got, said, out=mean, where=said > 0)
    return mean


def _seating(ballots: Ballots) -> Ints:
    return np.asarray(2 * ballots.battle + ballots.is_back)
