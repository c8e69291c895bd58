"""Contestants whose place is known beforehand: where they stand tells what the judge is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memory.records import TIES
from runs.audit_input import AuditInput, unknown
from runs.console import safe
from runs.findings import ENOUGH, Finding
from scoring.bradley_terry import SCALE
from scoring.cells import Floats, count_cells
from scoring.intervals import gap_errors, half_widths
from scoring.ratings import chances_better, rate

SURE = 0.95
"""A canary holds with at least this probability of standing below another."""
FAILED = 0.975
"""It fails where it stands above one with as much: there the printed interval leaves out zero."""
_PARROT, _TERSE = "offline:parrot", "offline:terse"
_NOT_ABOVE = {
    "windbag": ("offline:windbag", "pads the same answer"),
    "trickster": ("offline:trickster", "adds words to the judge"),
}
_STAND_INS = frozenset({_PARROT, *(model for model, _ in _NOT_ABOVE.values())})
"""Those that see the video and are no measure of seeing it."""
_UNTOLD = (
    "No canary plays: stand-ins have parrot, windbag beside terse, and trickster; any run may "
    "enter a contestant with max_frames = 0."
)


@dataclass(frozen=True, eq=False)
class _Gaps:
    """How far each contestant stands above each other."""

    names: Sequence[str]
    points: Floats
    """Shape (n, n), in rating points; NaN between those that no battles join."""
    halves: Floats
    """Of the 95 % intervals; infinite on one video."""
    better: Floats
    """Probability that the row's is the better one."""
    battles: int


class _Canary(NamedTuple):
    key: str
    name: str
    upper: list[str]
    """Those that it ought to stand below, or not above."""
    what: str
    is_below: bool = True
    """Whether it has to be worse; else it is enough that nothing shows it better."""


def audit_canaries(given: AuditInput) -> list[Finding]:
    """Return whether those stand below whose place is below, where they play."""
    models = {m: given.model_of(m) for b in given.decided for m in (b.model_a, b.model_b) if m}
    canaries = list(_expected(models, given))
    if not canaries:
        return [unknown("canary.any", _UNTOLD)]
    gaps = _rate(sorted(models), given)
    return [_finding(canary, gaps) for canary in canaries]


def _expected(models: dict[str, str], given: AuditInput) -> Iterator[_Canary]:
    called = {model: name for name, model in models.items()}
    parrot = called.get(_PARROT)
    if parrot is not None:
        others = [name for name in models if name != parrot]
        yield _Canary("canary.parrot", parrot, others, "says the same to every question")
    sighted = [m for m in models if not given.is_blind(m) and models[m] not in _STAND_INS]
    for name in sorted(models):
        if given.is_blind(name) and sighted:
            yield _Canary(f"canary.blind.{safe(name)}", name, sighted, "sees no frame")
    for key, (model, what) in _NOT_ABOVE.items():
        if model in called and _TERSE in called:
            yield _Canary(f"canary.{key}", called[model], [called[_TERSE]], what, is_below=False)


def _rate(names: list[str], given: AuditInput) -> _Gaps:
    place = {name: k for k, name in enumerate(names)}
    decided = given.decided
    ratings = rate(
        count_cells(
            np.array([place[b.model_a or ""] for b in decided]),
            np.array([place[b.model_b or ""] for b in decided]),
            outcome=[0.5 if b.verdict in TIES else float(b.verdict == "a") for b in decided],
            models=len(names),
            cluster=given.number_videos(decided),
        )
    )
    points, halves = np.full((2, len(names), len(names)), np.nan)
    for members, fit in zip(ratings.components, ratings.fits, strict=True):
        theta, grid = ratings.theta[members], np.ix_(members, members)
        points[grid] = SCALE * (theta[:, None] - theta[None, :])
        halves[grid] = SCALE * half_widths(gap_errors(fit.spread), fit.spread.effective)
    return _Gaps(names, points, halves, chances_better(ratings), len(decided))


def _finding(canary: _Canary, gaps: _Gaps) -> Finding:
    """The gap to the one of `upper` that it is least surely below."""
    row = gaps.names.index(canary.name)
    columns = [k for k in (gaps.names.index(name) for name in canary.upper) if k != row]
    columns = [k for k in columns if np.isfinite(gaps.points[row, k])]
    shown = safe(canary.name)
    if not columns:
        return unknown(canary.key, f"{shown} met none of those it ought to stand below.")
    nearest = max(columns, key=lambda k: float(gaps.better[row, k]))
    rival, better = safe(gaps.names[nearest]), float(gaps.better[row, nearest])
    gap, half = 0.0 - float(gaps.points[row, nearest]), float(gaps.halves[row, nearest])
    low, high = (gap - half, gap + half) if np.isfinite(half) else (np.nan, np.nan)
    said = (_says if canary.is_below else _says_equal)(better, rival)
    reach = f"{gap:+.0f} points ({low:+.0f} to {high:+.0f})"
    if not np.isfinite(half):
        reach = f"{gap:+.0f} points, on one video, which tells nothing of others"
    sentence = f"{shown}, which {canary.what}, {said}; from it up to {rival} it is {reach}."
    return Finding(
        *(canary.key, gap, low, high, gaps.battles, sentence),
        crosses=lambda level: better >= (1.0 + level) / 2.0,
        is_enough=gaps.battles >= ENOUGH and bool(np.isfinite(half)),
        is_even=not canary.is_below,
    )


def _says(better: float, rival: str) -> str:
    """Of one that ought to be below all, of whom `rival` is the nearest."""
    if better >= FAILED:
        return f"FAILS: it is better than {rival} with a probability of {_chance(better)}"
    if better <= 1.0 - SURE:
        return f"passes: it is below each with a probability of {_chance(1.0 - better)} or more"
    return f"is not clear: it is below {rival} with a probability of {_chance(1.0 - better)}"


def _says_equal(better: float, rival: str) -> str:
    """Of one that ought to gain nothing over `rival`."""
    verdict = "FAILS" if better >= FAILED else "passes"
    return f"{verdict}: it is better than {rival} with a probability of {_chance(better)}"


def _chance(chance: float) -> str:
    # Never 100 %: that much no battle tells.
    return f"{min(max(100 * chance, 0.1), 99.9):.1f} %"
