"""The answer of `arena power` for a person."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.scoring.design.power import (
    Course,
    Look,
    battles_needed,
    look,
    make_ladder,
    play,
)
from videoautoarena.scoring.fitting.counts import Cells, Floats
from videoautoarena.scoring.intervals.proportions import measure_share

PAIRINGS = ("mix", "uniform")
USERS = 3
"""Users that each video has in a run."""
GOALS = {
    "neighbours": "a model is told apart from the next one",
    "order": "the whole order is right and told apart",
    "separated": "--until separated has stopped",
}
_GROWTH = 1.25
"""From one look to the next; weights are kept for a third of that."""
WAVE = 21 * USERS
"""Battles that are played side by side."""


@dataclass(frozen=True)
class Question:
    """What is to be told apart, by whom, and how."""

    models: int = 11
    gap: float = 30.0
    """Rating points between neighbours."""
    power: float = 0.8
    """With which probability."""
    pairing: str = "mix"
    rounds: int = 3
    videos: int | None = None
    """How many there are; None if as many as needed."""
    ties: float = 0.07
    quirk: float = 0.5
    """How much better or worse a video suits a model: standard deviation in nats."""
    tournaments: int = 40
    battles: int = 100_000
    """Battles of the longest tournament."""
    seed: int = 0

    @property
    def end(self) -> int:
        """Battles of a tournament: all there are, or the most that are tried."""
        if self.videos is None:
            return self.battles
        return min(self.battles, self.videos * USERS * self.rounds)


_LIMITS: dict[str, tuple[float, float]] = {
    "models": (2, 200),
    "gap": (0.5, 2000.0),
    "power": (0.05, 0.99),
    "rounds": (1, 1000),
    "videos": (2, 1_000_000),
    "ties": (0.0, 0.9),
    "quirk": (0.0, 3.0),
    "tournaments": (10, 10_000),
    "battles": (WAVE, 500_000),
}


class Seen(NamedTuple):
    """What tournaments showed at the looks taken."""

    at: list[int]
    hits: dict[str, Floats]
    """Of each goal, shape (looks, tournaments, pairs or 1), 0 or 1."""
    widths: Floats
    """Mean width of the intervals at each look, in points; infinite where one is."""


def answer(question: Question, advance: Callable[[int], object] = abs) -> dict[str, Any]:
    """Return after how many battles each goal is reached, as JSON-ready values.

    No model is called. Takes seconds with a dozen models, minutes with a hundred.

    Args:
        question: what is asked.
        advance: hears how many battles were played since it last heard, of
            `question.tournaments * question.end` at most.

    Raises:
        WrongArgument: a figure that is out of range.
    """
    check_question(question)
    seen = _play(question, advance)
    needed = {goal: _needed(seen, goal, question) for goal in GOALS}
    curve = [_point(seen, k) for k in range(len(seen.at))]
    table = {
        "schema": 1,
        "question": asdict(question) | {"users": USERS},
        "needed": needed,
        "curve": curve,
    }
    return table | {"sentence": _sentence(question, table)}


def check_question(question: Question) -> None:
    """Refuse what no tournament can be made of.

    Raises:
        WrongArgument: a figure that is out of range.
    """
    if question.pairing not in PAIRINGS:
        raise WrongArgument(f"--pairing is one of {', '.join(PAIRINGS)}")
    for name, (least, most) in _LIMITS.items():
        value = getattr(question, name)
        if value is not None and not least <= value <= most:
            raise WrongArgument(f"--{name} {value:g} is out of range; give {least:g} to {most:g}")


def _schedule(end: int) -> list[int]:
    """When to look: after whole waves, each time a quarter later, and at the end."""
    waves, at = 2.0, {end}
    while round(waves) * WAVE < end:
        at.add(round(waves) * WAVE)
        waves *= _GROWTH
    return sorted(at)


def _play(question: Question, advance: Callable[[int], object]) -> Seen:
    """Play all tournaments side by side until every goal is reached at two looks running."""
    ladder = make_ladder(question.models, question.gap, ties=question.ties, quirk=question.quirk)
    course = Course(
        is_mixed=question.pairing == "mix",
        users=USERS,
        rounds=question.rounds,
        videos=question.videos,
        patience=_GROWTH / 3.0 - 1.0 / 3.0,
    )
    at = _schedule(question.end)
    running = [
        play(ladder, course, seed=[question.seed, k], at=at) for k in range(question.tournaments)
    ]
    hits: dict[str, list[Floats]] = {goal: [] for goal in GOALS}
    widths, met = list[float](), list[int]()
    stopped = np.zeros(question.tournaments)
    for k, n in enumerate(at):
        looks = list(_look_at_each(running, n - (at[k - 1] if k else 0), advance))
        # A run that stopped stays so, whatever later battles would have shown.
        stopped = np.maximum(stopped, [seen.separation.is_separated for seen in looks])
        hits["neighbours"].append(np.array([seen.apart for seen in looks], dtype=np.float64))
        hits["order"].append(np.array([[seen.is_right and seen.apart.all()] for seen in looks]))
        hits["separated"].append(stopped[:, None])
        met.append(looks[0].battles)
        widths.append(float(np.mean([seen.separation.width for seen in looks])))
        if all(np.mean(shares) >= question.power for h in hits.values() for shares in h[-2:]):
            break
    made = {goal: np.array(found, dtype=np.float64) for goal, found in hits.items()}
    return Seen(met, made, np.array(widths))


def _look_at_each(
    running: Sequence[Iterator[Cells]], fresh: int, advance: Callable[[int], object]
) -> Iterator[Look]:
    for tournament in running:
        yield look(next(tournament))
        advance(fresh)


def _needed(seen: Seen, goal: str, question: Question) -> dict[str, Any]:
    """Battles with their interval, and the videos they are about; null where not reached."""
    shares = seen.hits[goal].mean(axis=2).T
    found = battles_needed(shares, seen.at, power=question.power, seed=question.seed)
    battles, low, high = (None if math.isinf(n) else round(n) for n in found)
    videos = None
    if battles is not None:
        videos = question.videos or math.ceil(battles / (USERS * question.rounds))
    return {"battles": battles, "low": low, "high": high, "videos": videos}


def _point(seen: Seen, k: int) -> dict[str, Any]:
    """What is reached after so many battles."""
    width = float(seen.widths[k])
    told: dict[str, Any] = {"battles": seen.at[k]}
    for goal, hits in seen.hits.items():
        tournament = np.repeat(np.arange(len(hits[k])), hits[k].shape[1])
        share = measure_share(hits[k].ravel(), tournament)
        told[goal] = {name: round(getattr(share, name), 4) for name in ("value", "low", "high")}
    return told | {"width": round(width, 1) if math.isfinite(width) else None}


def _sentence(question: Question, table: dict[str, Any]) -> str:
    found = table["needed"]["neighbours"]
    gap = f"a gap of {question.gap:g} points between neighbours"
    if found["battles"] is None:
        last = table["curve"][-1]
        share = last["neighbours"]
        made = f"{last['battles']:,} battles"
        if question.videos is not None and question.end < question.battles:
            made = f"{question.videos:,} videos of {question.rounds} rounds make {made}, which"
        told = (
            f"{made} do not do: {gap} is told apart with probability "
            f"{share['value']:.2f} by then ({share['low']:.2f} to {share['high']:.2f})"
        )
    else:
        told = (
            f"{gap} is told apart with probability {question.power:g} after about "
            f"{found['battles']:,} battles ({_range(found)})"
        )
    return (
        f"{told[0].upper()}{told[1:]}, as {question.tournaments} made-up tournaments have it; "
        "that is their own error and no more: a judge who errs the same way every time, or videos "
        "that differ more than assumed, need more battles or let no number do."
    )


def _range(found: dict[str, Any]) -> str:
    high = "no end" if found["high"] is None else f"{found['high']:,}"
    return f"{found['low']:,} to {high}"


_COLUMNS = ("battles", "next apart", "order right", "separated", "interval")


def as_lines(table: dict[str, Any]) -> list[str]:
    """Return lines of at most 80 columns: what is needed, how it grows, and what it is worth."""
    question = table["question"]
    head = (
        f"{question['models']} models, {question['gap']:g} points from each to the next; pairs by "
        f"{question['pairing']}, {question['rounds']} rounds a video"
    )
    return [
        head,
        "",
        f"{'with probability ' + format(question['power'], 'g'):41}{'battles':>9}"
        f"{'simulated between':>20}{'videos':>9}",
        *(_goal(GOALS[goal], found) for goal, found in table["needed"].items()),
        "",
        "  ".join(f"{name:>11}" for name in _COLUMNS),
        *(_point_line(point) for point in _spread(table["curve"])),
        "",
        table["sentence"],
    ]


def _goal(told: str, found: dict[str, Any]) -> str:
    if found["battles"] is None:
        return f"{told:41}{'never':>9}"
    high = "no end" if found["high"] is None else f"{found['high']:,}"
    between = f"{found['low']:,} to {high}"
    return f"{told:41}{found['battles']:>9,}{between:>20}{found['videos']:>9,}"


def _point_line(point: dict[str, Any]) -> str:
    shares = [f"{100 * point[goal]['value']:.0f} %" for goal in GOALS]
    width = "-" if point["width"] is None else f"{point['width']:.0f} points"
    return "  ".join(f"{cell:>11}" for cell in (f"{point['battles']:,}", *shares, width))


def _spread(curve: list[dict[str, Any]], rows: int = 12) -> list[dict[str, Any]]:
    """At most so many points, evenly taken, the last among them."""
    step = -(-len(curve) // rows)
    return curve[::-1][::step][::-1]
