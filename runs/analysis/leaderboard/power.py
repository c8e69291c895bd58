"""Finds how many battles separate models, by simulating tournaments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.rating.finding import figure_json
from videoautoarena.scoring.design.power import PlayPlan, battles_needed, look, make_ladder, play
from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.scoring.intervals.proportions import measure_share

PAIRINGS = ("mix", "uniform")
USERS = 3
"""Users that each video has in a run."""
GOALS = {
    "neighbours": "a model is separated from the next",
    "order": "the whole order is right and separated",
    "separated": "--until separated has stopped",
}
_GROWTH = 1.25
"""Factor of battles from one look to the next; weights are kept for a third of that growth."""
# A battle of each user of 21 videos, as many as a run starts together.
WAVE = 21 * USERS
"""Battles that are played side by side."""


@dataclass(frozen=True)
class PowerQuestion:
    """What is to be told apart, by whom, and how."""

    models: int = 11
    gap: float = 30.0
    """Rating points between neighbours."""
    power: float = 0.8
    """Probability with which they are to be told apart."""
    pairing: str = "mix"
    rounds: int = 3
    videos: int | None = None
    """Number of videos; None for as many as needed."""
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


class NeededBattles(NamedTuple):
    """Battles after which a goal is reached, with the interval; None where it is not."""

    battles: int | None
    low: int | None
    high: int | None
    videos: int | None


class GoalShare(NamedTuple):
    """The probability that a goal is reached."""

    value: float
    low: float
    high: float


class PowerPoint(NamedTuple):
    """The goals reached after a number of battles."""

    battles: int
    neighbours: GoalShare
    order: GoalShare
    separated: GoalShare
    width: float | None
    """Mean width of the intervals, in points; None if one has no end."""


@dataclass(frozen=True)
class PowerEstimate:
    """How many battles it takes to reach each goal."""

    question: PowerQuestion
    needed: Mapping[str, NeededBattles]
    curve: Sequence[PowerPoint]

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena power --json` prints it, but for its sentence."""
        found = record_json(self)
        return found | {"question": found["question"] | {"users": USERS}}


class TournamentLooks(NamedTuple):
    """What tournaments showed at the looks taken."""

    at: list[int]
    hits: dict[str, Floats]
    """By goal: shape (looks, tournaments, pairs or 1), 0 or 1."""
    widths: Floats
    """Mean width of the intervals at each look, in points; infinite where one is."""


def answer(question: PowerQuestion, advance: Callable[[int], object] = abs) -> PowerEstimate:
    """Return after how many battles each goal is reached.

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
    return PowerEstimate(question, needed, [_point(seen, k) for k in range(len(seen.at))])


def check_question(question: PowerQuestion) -> None:
    """Refuse what no tournament can be made of.

    Raises:
        WrongArgument: a figure that is out of range.
    """
    if question.pairing not in PAIRINGS:
        raise WrongArgument(f"{option('pairing')} is one of {', '.join(PAIRINGS)}")
    for name, (least, most) in _LIMITS.items():
        value = getattr(question, name)
        if value is not None and not least <= value <= most:
            raise WrongArgument(f"--{name} {value:g} is out of range; give {least:g} to {most:g}")


def _schedule(end: int) -> list[int]:
    """When to look: after whole waves, each time a quarter later, and at the end."""
    waves = 2.0
    at = {end}
    while round(waves) * WAVE < end:
        at.add(round(waves) * WAVE)
        waves *= _GROWTH
    return sorted(at)


def _play(question: PowerQuestion, advance: Callable[[int], object]) -> TournamentLooks:
    """Play all tournaments side by side until every goal is reached at two looks running."""
    ladder = make_ladder(question.models, question.gap, ties=question.ties, quirk=question.quirk)
    course = PlayPlan(
        is_mixed=question.pairing == "mix",
        users=USERS,
        rounds=question.rounds,
        videos=question.videos,
        patience=_GROWTH / 3.0 - 1.0 / 3.0,
    )
    at = _schedule(question.end)
    # A seed of its own for each, so that more tournaments hold the earlier ones.
    running = [
        play(ladder, course, seed=[question.seed, k], at=at) for k in range(question.tournaments)
    ]
    hits: dict[str, list[Floats]] = {goal: [] for goal in GOALS}
    widths = list[float]()
    met = list[int]()
    stopped = np.zeros(question.tournaments)
    for k, n in enumerate(at):
        looks = []
        for tournament in running:
            looks.append(look(next(tournament)))
            advance(n - (at[k - 1] if k else 0))
        # A run that stopped stays so, whatever later battles would have shown.
        stopped = np.maximum(stopped, [seen.separation.is_separated for seen in looks])
        hits["neighbours"].append(np.array([seen.apart for seen in looks], dtype=np.float64))
        hits["order"].append(np.array([[seen.is_right and seen.apart.all()] for seen in looks]))
        hits["separated"].append(stopped[:, None])
        met.append(looks[0].battles)
        widths.append(float(np.mean([seen.separation.width for seen in looks])))
        # At two looks running, since a single one may be reached by luck.
        if all(np.mean(shares) >= question.power for h in hits.values() for shares in h[-2:]):
            break
    made = {goal: np.array(found, dtype=np.float64) for goal, found in hits.items()}
    return TournamentLooks(met, made, np.array(widths))


def _needed(seen: TournamentLooks, goal: str, question: PowerQuestion) -> NeededBattles:
    shares = seen.hits[goal].mean(axis=2).T
    found = battles_needed(shares, seen.at, power=question.power, seed=question.seed)
    battles, low, high = (None if math.isinf(n) else round(n) for n in found)
    videos = None
    if battles is not None:
        videos = question.videos or math.ceil(battles / (USERS * question.rounds))
    return NeededBattles(battles, low, high, videos)


def _point(seen: TournamentLooks, k: int) -> PowerPoint:
    reached = {}
    for goal, hits in seen.hits.items():
        # Pairs of one tournament are one piece of evidence.
        tournament = np.repeat(np.arange(len(hits[k])), hits[k].shape[1])
        share = measure_share(hits[k].ravel(), tournament)
        reached[goal] = GoalShare(*(round(figure, 4) for figure in share[:3]))
    return PowerPoint(seen.at[k], **reached, width=figure_json(seen.widths[k], 1))
