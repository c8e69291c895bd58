"""How often the judge agrees, by how far apart the models are: with itself, and with people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from videoautoarena.memory.records.records import DECIDED, TIES, Battle
from videoautoarena.memory.store.evidence import Label, Trial
from videoautoarena.runs.figures.canvas import (
    BLUE,
    COLUMN,
    GREEN,
    ORANGE,
    PAD,
    PALE,
    SMALL,
    Picture,
    Sheet,
    banner_of,
    notes_of,
)
from videoautoarena.runs.rating.fit import number_names
from videoautoarena.runs.rating.leaderboard import Leaderboard
from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.scoring.intervals.proportions import Share, measure_share

LEAST = 20
"""Pairs of words on which a line stands at least."""
_A_POINT, _MOST_POINTS = 15, 5
_BODY, _LEFT, _RIGHT, _AXIS, _KEY = 1.6, 0.42, 0.22, 0.36, 0.14
SWAPPED, REPEATED, LABELLED = "seats swapped", "asked again", "people’s labels"
_LEGEND = (
    "Share of battles with the same verdict (a, b or tie), with 95 % intervals; equally many "
    "battles per point."
)
_LOOKS = {SWAPPED: (BLUE, "o"), REPEATED: (ORANGE, "s"), LABELLED: (GREEN, "^")}


class Echo(NamedTuple):
    """Two words on one battle."""

    kind: str
    battle: Battle
    is_same: bool
    """Both for a, both for b, or both a tie of any kind."""


class Course(NamedTuple):
    """A line: shares of equal words, by the gap between the two models' ratings."""

    kind: str
    gaps: Floats
    """Mean gap of each point."""
    shares: Sequence[Share]
    n: int


def judge(board: Leaderboard, courses: Sequence[Course]) -> Picture:
    """Return the picture of `measure_courses`; there is at least one."""
    return Picture(
        "judge", "how often the judge agrees", lambda bare: _draw(board, courses, bare=bare)
    )


def find_echoes(
    battles: Sequence[Battle], *, trials: Iterable[Trial] = (), labels: Iterable[Label] = ()
) -> Iterator[Echo]:
    """Yield every pair of words on a battle: from both seats, asked again, and a person's."""
    known = {battle.id: battle for battle in battles}
    for battle in battles:
        for one, two in combinations(battle.verdicts, 2):
            if one.judge == two.judge and one.seats != two.seats:
                yield from _echo(SWAPPED, battle, one.verdict, two.verdict)
    for trial in trials:
        again, first = trial.judging, known.get(trial.battle or "")
        if trial.kind == "repeat" and first is not None:
            for one in first.verdicts:
                if one.judge == again.judge and one.seats == again.seats:
                    yield from _echo(REPEATED, first, one.verdict, again.verdict)
    for label in labels:
        if (of := known.get(label.battle)) is not None and of.verdict in DECIDED:
            yield from _echo(LABELLED, of, of.verdict, label.verdict)


def measure_courses(board: Leaderboard, echoes: Iterable[Echo]) -> list[Course]:
    """Return a line for each kind that stands on enough words about models of the largest group."""
    group = board.components[0] if board.components else ()
    ratings = {row.model: row.rating or 0.0 for row in board.models if row.model in group}
    kinds: dict[str, list[Echo]] = {kind: [] for kind in _LOOKS}
    for echo in echoes:
        if {echo.battle.model_a, echo.battle.model_b} <= set(ratings):
            kinds[echo.kind].append(echo)
    return [_course(kind, found, ratings) for kind, found in kinds.items() if len(found) >= LEAST]


def _echo(kind: str, battle: Battle, one: str, two: str) -> Iterator[Echo]:
    if one in DECIDED and two in DECIDED:
        is_same = one == two or (one in TIES and two in TIES)
        yield Echo(kind, battle, is_same)


def _course(kind: str, echoes: Sequence[Echo], ratings: Mapping[str, float]) -> Course:
    gaps = np.array([
        abs(ratings[echo.battle.model_a or ""] - ratings[echo.battle.model_b or ""])
        for echo in echoes
    ])  # fmt: skip
    order = np.argsort(gaps, kind="stable")
    hits = np.array([echo.is_same for echo in echoes], dtype=np.float64)
    videos = number_names([echo.battle.video for echo in echoes])
    points = min(max(len(echoes) // _A_POINT, 1), _MOST_POINTS)
    parts = np.array_split(order, points)
    return Course(
        kind,
        np.array([gaps[part].mean() for part in parts]),
        [measure_share(hits[part], videos[part]) for part in parts],
        len(echoes),
    )


def _draw(board: Leaderboard, courses: Sequence[Course], *, bare: bool) -> Figure:
    settings = board.settings
    sheet = Sheet(
        COLUMN,
        _BODY + _AXIS + 0.05,
        bare=bare,
        head=("How often the judge agrees", banner_of(settings)),
        notes=notes_of([_LEGEND], settings.warnings, audit=board.audit),
    )
    high = _BODY - _KEY * len(courses)
    axes = sheet.axes(PAD + _LEFT, _KEY * len(courses), COLUMN - _LEFT - PAD - _RIGHT, high)
    for k, course in enumerate(courses):
        colour, marker = _LOOKS[course.kind]
        shares = 100 * np.array([share[:3] for share in course.shares])
        axes.plot(course.gaps, shares[:, 0], color=colour, marker=marker, markersize=3.4)
        axes.vlines(course.gaps, shares[:, 1], shares[:, 2], color=colour, linewidth=0.8)
        top = 1 + (_KEY * (len(courses) - k) - 0.06) / high
        axes.plot([0.02], [top], color=colour, marker=marker, markersize=3.4, clip_on=False,
                  transform=axes.transAxes)  # fmt: skip
        axes.text(0.05, top, f"{course.kind} (n = {course.n})", transform=axes.transAxes,
                  va="center", fontsize=SMALL + 0.5)  # fmt: skip
    axes.set_ylim(0, 103)
    axes.set_xlim(left=0)
    axes.grid(axis="y", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_xlabel("gap between the two models, rating points")
    axes.set_ylabel("agreement, %")
    return sheet.figure
