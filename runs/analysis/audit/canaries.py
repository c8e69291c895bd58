"""Finds what wins without seeing: language priors, missing frames, contestants that must lose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.outlines import Outline, seen_in
from videoautoarena.memory.records.records import TIES, Battle
from videoautoarena.runs.analysis.audit.evidence import AuditInput, above, finding, unknown
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.finding import ENOUGH, Finding
from videoautoarena.runs.rating.fit import share_of
from videoautoarena.runs.run.rundir.call_facts import Shortfall
from videoautoarena.runs.run.rundir.reader import SAW_NONE, about_video
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import Floats, count_cells
from videoautoarena.scoring.intervals.sandwich import gap_errors, half_widths
from videoautoarena.scoring.ratings.ratings import chances_better, rate

MOST_LEAKED = 1 / 3
"""More wins without a frame are an alarm."""
_NAMED = 5
"""Questions that are named at most."""
_NOBODY_BLIND = (
    "No contestant played without frames, so it is unknown which questions "
    "need the video; add one with {setting}, such as offline:blind."
)
NO_FRAMES = "max_frames = 0"
_CONSTANT = "offline:parrot"
"""Beating it takes no video, so that battles with it say nothing about leaks."""


def audit_leak(given: AuditInput) -> list[Finding]:
    """Return how often a contestant without frames beat one that had some."""
    return [_leak(name, given) for name in blind_of(given)] or [
        unknown("leak.blind", _NOBODY_BLIND, setting=NO_FRAMES)
    ]


def blind_of(given: AuditInput) -> list[str]:
    """Return the names of those who played without a frame."""
    return sorted(name for name in _models(given) if given.is_blind(name))


def _models(given: AuditInput) -> list[str]:
    texts = given.decided.texts
    return seen_in(texts["model_a"], texts["model_b"])


def _leak(name: str, given: AuditInput) -> Finding:
    every = given.decided
    mine = every.texts["model_a"].among([name]) | every.texts["model_b"].among([name])
    fought = [b for b in every.where(mine) if is_leak_test(b, name, given)]
    key = f"leak.blind.{safe(name)}"
    if not fought:
        return unknown(key, "{model} met no model that saw the video.", model=name)
    share = share_of([_points(b, name) for b in fought], [b.video for b in fought])
    which, told = _worst(fought, name, given)
    met = {model for battle in every.where(mine) for model in (battle.model_a, battle.model_b)}
    has_met_constant = any(given.model_of(model or "") == _CONSTANT for model in met)
    aside = ", the constant answer aside" * has_met_constant
    words = (
        "Without frames, {model} took {figure} of the points (a tie is half) in {n:question} on "
        f"{{videos:video}} against models that saw the video{aside}: what it won can be answered "
        f"without it{which}."
    )
    return finding(key, share, words, crosses=above(share, MOST_LEAKED), model=name, **told)


def is_leak_test(battle: Battle | Outline, name: str, given: AuditInput) -> bool:
    """Return whether a battle shows if its question can be answered without the video.

    Args:
        battle: which was decided.
        name: of a contestant without frames, who need not be in it.
        given: knows who else saw none.
    """
    if name not in (battle.model_a, battle.model_b):
        return False
    other = (battle.model_b if battle.model_a == name else battle.model_a) or ""
    return not given.is_blind(other) and given.model_of(other) != _CONSTANT


def _points(battle: Outline, name: str) -> float:
    if battle.verdict in TIES:
        return 0.5
    return float((battle.verdict == "a") == (battle.model_a == name))


def _worst(fought: Sequence[Outline], name: str, given: AuditInput) -> tuple[str, dict[str, Any]]:
    """Name questions it won, the latest rounds first: those were meant to be the hardest."""
    won = [battle for battle in fought if _points(battle, name) == 1.0]
    won.sort(key=lambda battle: -battle.round)
    named = ", ".join(_about(battle, given) for battle in won[:_NAMED])
    more = len(won) - _NAMED
    words = ", such as {won}" + " and {more} more" * (more > 0)
    return words * bool(won), {"won": named, "more": more}


def _about(battle: Outline, given: AuditInput) -> str:
    film = given.films.get(battle.video)
    return f"{battle.id} ({about_video(film)})" if film else battle.id


_MEANING = {
    "contestant": ("answers", "battles with a model that saw more also compare their servers"),
    "judge": ("judgings", "it could not check statements about the others"),
    "examiner": ("calls", "it asked and graded without the others"),
}
"""By role, the noun for its calls, and what missing frames mean there."""


def audit_frames(given: AuditInput) -> list[Finding]:
    """Return which models saw fewer frames than wanted or than others, and which are sent none."""
    found = list(_sent_none(given))
    for one in given.unequal_frames:
        meaning = "battles with a model that saw more also compare what they were sent"
        words = f"because its max_frames says so: {meaning}."
        found.append(_saw_fewer(f"frames.fewer.{safe(one.model)}", one, words, "answers"))
    for one in given.shortfalls:
        what, meaning = _MEANING[one.role]
        key = f"frames.short.{safe(one.model)}"
        key = key if one.role == "contestant" else f"{key}.{one.role}"
        words = f"because its server takes no more: {meaning}."
        found.append(replace(_saw_fewer(key, one, words, what), is_alarm=True))
    return found


def _saw_fewer(key: str, one: Shortfall, why: str, what: str) -> Finding:
    words = f"{{model}} {{saw}} in {{calls}} of {{n}} {what}, {why}"
    told: dict[str, Any] = {"model": one.model, "saw": one.saw, "calls": one.calls}
    return Finding(key, one.calls / one.of, np.nan, np.nan, one.of, words, told=told)


def _sent_none(given: AuditInput) -> Iterator[Finding]:
    # Of a referee that sees none the run's own mark tells, at the head of every report.
    for name in blind_of(given):
        words = f"{{model}} {SAW_NONE}: it shows what can be answered without the video."
        yield unknown(f"frames.none.{safe(name)}", words, model=name)


SURE = 0.95
"""A canary holds with at least this probability of standing below another."""
FAILED = 0.975
"""It fails where it stands above one with as much: there the printed interval leaves out zero."""
_PARROT = "offline:parrot"
_TERSE = "offline:terse"
_NOT_ABOVE = {
    "windbag": ("offline:windbag", "pads the same answer"),
    "trickster": ("offline:trickster", "adds words to the judge"),
}
_STAND_INS = frozenset({_PARROT, *(model for model, _ in _NOT_ABOVE.values())})
"""Stand-ins that see the video but are no measure of seeing it."""
_NO_CANARY = (
    "No canary plays: the offline ones are parrot, windbag (beside terse) "
    "and trickster; any run may add a contestant with {setting}."
)


@dataclass(frozen=True, eq=False)
class _CanaryGaps:
    """How far each contestant stands above each other."""

    names: Sequence[str]
    points: Floats
    """Shape (n, n), in rating points; NaN between those that no battles join."""
    halves: Floats
    """Ends of the 95 % intervals; infinite on one video."""
    better: Floats
    """Probability that the row's is the better one."""
    battles: int


class _Canary(NamedTuple):
    key: str
    name: str
    upper: list[str]
    """Models that it ought to stand below, or at least not above."""
    what: str
    is_below: bool = True
    """Whether it has to be worse; else it is enough that nothing shows it better."""


def audit_canaries(given: AuditInput) -> list[Finding]:
    """Return whether the canaries that play stand where they must: below, or not above, others."""
    models = {name: given.model_of(name) for name in _models(given)}
    canaries = list(_expected(models, given))
    if not canaries:
        return [unknown("canary.any", _NO_CANARY, setting=NO_FRAMES)]
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


def _rate(names: list[str], given: AuditInput) -> _CanaryGaps:
    place = {name: k for k, name in enumerate(names)}
    decided = given.decided
    seats = (decided.texts[seat] for seat in ("model_a", "model_b"))
    a, b = (np.array([place.get(n, -1) for n in seat.values])[seat.codes] for seat in seats)
    verdict = decided.texts["verdict"]
    points = np.array([0.5 if one in TIES else float(one == "a") for one in verdict.values])
    ratings = rate(
        count_cells(
            *(a, b),
            outcome=points[verdict.codes],
            models=len(names),
            cluster=decided.videos,
        )
    )
    points, halves = np.full((2, len(names), len(names)), np.nan)
    for members, fit in zip(ratings.components, ratings.fits, strict=True):
        theta = ratings.theta[members]
        grid = np.ix_(members, members)
        points[grid] = SCALE * (theta[:, None] - theta[None, :])
        halves[grid] = SCALE * half_widths(gap_errors(fit.spread), fit.spread.effective)
    return _CanaryGaps(names, points, halves, chances_better(ratings), len(decided))


def _finding(canary: _Canary, gaps: _CanaryGaps) -> Finding:
    """Return the gap to the one of `upper` that the canary is least surely below."""
    row = gaps.names.index(canary.name)
    columns = [k for k in (gaps.names.index(name) for name in canary.upper) if k != row]
    # To a model that no battles join it with there is no gap.
    columns = [k for k in columns if np.isfinite(gaps.points[row, k])]
    if not columns:
        words = "{model} met none of the models it should rank below."
        return unknown(canary.key, words, model=canary.name)
    nearest = max(columns, key=lambda k: float(gaps.better[row, k]))
    rival = gaps.names[nearest]
    better = float(gaps.better[row, nearest])
    # Subtracted, since the negative of nothing would be printed as -0.
    gap = 0.0 - float(gaps.points[row, nearest])
    half = float(gaps.halves[row, nearest])
    low, high = (gap - half, gap + half) if np.isfinite(half) else (np.nan, np.nan)
    said = (_says if canary.is_below else _says_equal)(better)
    reach = "{figure:points_with_interval} points"
    if not np.isfinite(half):
        reach = "{gap:points} points, on one video only, so without an interval"
    return Finding(
        *(canary.key, gap, low, high, gaps.battles),
        f"{{model}}, which {canary.what}, {said}; {{rival}} is ahead of it by {reach}.",
        # Two-sided: at 95 % that is FAILED, where the printed interval leaves out zero.
        crosses=lambda level: better >= (1.0 + level) / 2.0,
        is_enough=gaps.battles >= ENOUGH and bool(np.isfinite(half)),
        # An equal comes out ahead half the time by chance, a worse one hardly ever.
        is_even=not canary.is_below,
        told={
            **{"model": canary.name, "rival": rival, "gap": gap},
            **{"better": better, "worse": 1.0 - better},
        },
    )


def _says(better: float) -> str:
    """Return words for a canary that ought to be below all; the rival is the nearest of them."""
    if better >= FAILED:
        return f"FAILS: {_BETTER}"
    if better <= 1.0 - SURE:
        return "passes: it is below each with a probability of {worse:probability} or more"
    return "is undecided: it is below {rival} with a probability of {worse:probability}"


def _says_equal(better: float) -> str:
    """Return the words for a canary that ought to gain nothing over the rival."""
    return f"{'FAILS' if better >= FAILED else 'passes'}: {_BETTER}"


_BETTER = "it is better than {rival} with a probability of {better:probability}"
