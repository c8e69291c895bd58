"""What wins without seeing: language prior, missing frames, and contestants that must lose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from videoautoarena.memory.records.outlines import Outline, seen_in
from videoautoarena.memory.records.records import TIES, Battle
from videoautoarena.runs.audit.evidence import AuditInput, above, finding, unknown
from videoautoarena.runs.rating.finding import ENOUGH, Finding, percent, sure_percent
from videoautoarena.runs.rating.fit import share_of
from videoautoarena.runs.rundir.reader import SAW_NONE, about_video
from videoautoarena.runs.text.terminal import safe
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import Floats, count_cells
from videoautoarena.scoring.intervals.sandwich import gap_errors, half_widths
from videoautoarena.scoring.ratings.ratings import chances_better, rate

MOST_LEAKED = 1 / 3
"""More wins without a frame are an alarm."""
_NAMED = 5
"""So many of the questions are named."""
_NOBODY_BLIND = (
    "No contestant played without frames, so it is unknown which questions "
    "need the video; add one with max_frames = 0, such as offline:blind."
)
_CONSTANT = "offline:parrot"
"""To win against it takes no video."""


def audit_leak(given: AuditInput) -> list[Finding]:
    """Return how often a contestant without frames beat one that had some."""
    return [_leak(name, given) for name in blind_of(given)] or [
        unknown("leak.blind", _NOBODY_BLIND)
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
    key, shown = f"leak.blind.{safe(name)}", safe(name)
    if not fought:
        return unknown(key, f"{shown} met no model that saw the video.")
    share = share_of([_points(b, name) for b in fought], [b.video for b in fought])
    sentence = (
        f"Without frames, {shown} won {percent(share)} of {share.n} questions "
        "against models that saw the video: these can be answered without it"
        f"{_worst(fought, name, given)}."
    )
    return finding(key, share, sentence, crosses=above(share, MOST_LEAKED))


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


def _worst(fought: Sequence[Outline], name: str, given: AuditInput) -> str:
    """Name questions it won, the latest rounds first: those were meant to be the hardest."""
    won = [battle for battle in fought if _points(battle, name) == 1.0]
    won.sort(key=lambda battle: -battle.round)
    named = ", ".join(_about(battle, given) for battle in won[:_NAMED])
    more = f" and {len(won) - _NAMED} more" if len(won) > _NAMED else ""
    return f", such as {named}{more}" if won else ""


def _about(battle: Outline, given: AuditInput) -> str:
    film = given.films.get(battle.video)
    return f"{safe(battle.id)} ({about_video(film)})" if film else safe(battle.id)


_MEANING = {
    "contestant": ("answers", "battles with a model that saw more also compare their servers"),
    "judge": ("judgings", "it could not check statements about the others"),
    "examiner": ("calls", "it asked and graded without the others"),
}
"""What the calls of a role are called here, and what it means that frames were missing."""


def audit_frames(given: AuditInput) -> list[Finding]:
    """Return who saw fewer frames than it was to, how often, and who is never sent any."""
    found = list(_sent_none(given))
    for one in given.shortfalls:
        what, meaning = _MEANING[one.role]
        sentence = (
            f"{safe(one.model)} {one.saw} in {one.calls} of {one.of} {what}, because "
            f"its server takes no more: {meaning}."
        )
        key = f"frames.short.{safe(one.model)}"
        key = key if one.role == "contestant" else f"{key}.{one.role}"
        figures = (one.calls / one.of, np.nan, np.nan)
        found.append(Finding(key, *figures, one.of, sentence, is_alarm=True))
    return found


def _sent_none(given: AuditInput) -> Iterator[Finding]:
    # Of a referee that sees none the run's own mark tells, at the head of every report.
    for name in blind_of(given):
        sentence = f"{safe(name)} {SAW_NONE}: it shows what can be answered without the video."
        yield unknown(f"frames.none.{safe(name)}", sentence)


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
_NO_CANARY = (
    "No canary plays: the offline ones are parrot, windbag (beside terse) "
    "and trickster; any run may add a contestant with max_frames = 0."
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
    models = {name: given.model_of(name) for name in _models(given)}
    canaries = list(_expected(models, given))
    if not canaries:
        return [unknown("canary.any", _NO_CANARY)]
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
        return unknown(canary.key, f"{shown} met none of the models it should rank below.")
    nearest = max(columns, key=lambda k: float(gaps.better[row, k]))
    rival, better = safe(gaps.names[nearest]), float(gaps.better[row, nearest])
    gap, half = 0.0 - float(gaps.points[row, nearest]), float(gaps.halves[row, nearest])
    low, high = (gap - half, gap + half) if np.isfinite(half) else (np.nan, np.nan)
    said = (_says if canary.is_below else _says_equal)(better, rival)
    reach = f"{gap:+.0f} points ({low:+.0f} to {high:+.0f})"
    if not np.isfinite(half):
        reach = f"{gap:+.0f} points, on one video only, so without an interval"
    sentence = f"{shown}, which {canary.what}, {said}; {rival} is ahead of it by {reach}."
    return Finding(
        *(canary.key, gap, low, high, gaps.battles, sentence),
        crosses=lambda level: better >= (1.0 + level) / 2.0,
        is_enough=gaps.battles >= ENOUGH and bool(np.isfinite(half)),
        is_even=not canary.is_below,
    )


def _says(better: float, rival: str) -> str:
    """Of one that ought to be below all, of whom `rival` is the nearest."""
    if better >= FAILED:
        return f"FAILS: it is better than {rival} with a probability of {sure_percent(better)}"
    if better <= 1.0 - SURE:
        return (
            f"passes: it is below each with a probability of {sure_percent(1.0 - better)} or more"
        )
    return f"is undecided: it is below {rival} with a probability of {sure_percent(1.0 - better)}"


def _says_equal(better: float, rival: str) -> str:
    """Of one that ought to gain nothing over `rival`."""
    verdict = "FAILS" if better >= FAILED else "passes"
    return f"{verdict}: it is better than {rival} with a probability of {sure_percent(better)}"
