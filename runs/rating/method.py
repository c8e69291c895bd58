"""Weights by which battles count as if every pair had been equally likely to meet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from videoautoarena.graph.state import base_of
from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import DECIDED, Battle, Slot
from videoautoarena.memory.records.slots import Slots
from videoautoarena.runs.text.words import in_full

Ties = Literal["half", "davidson"]
Intervals = Literal["clustered", "bootstrap", "battle"]
Fit = Literal["firth", "mle"]
Unwanted = Literal["ties", "refusals"]
ROUNDS = 1000
"""Of a bootstrap."""
SOLID_BATTLES = 100
"""A figure on fewer battles is flagged."""
THIN = f"under {SOLID_BATTLES} battles"
RANKABLE_VIDEOS = 10
"""With fewer videos in a group its models are flagged."""
_MEAN = 1000.0


class Rated(Protocol):
    """What a leaderboard asks of a battle.

    With style and without refusals also for `answer_a` and `answer_b`, with weights for `id`.
    """

    @property
    def video(self) -> str:
        """Id of the video it is about."""

    @property
    def model_a(self) -> str | None:
        """The model in the first seat; None where nobody was drawn."""

    @property
    def model_b(self) -> str | None:
        """The model in the second seat."""

    @property
    def verdict(self) -> str:
        """How it ended."""


@dataclass(frozen=True)
class Method:
    """What a person may choose."""

    ties: Ties = "half"
    intervals: Intervals = "clustered"
    style: bool = False
    """Take the style of the answers out of the ratings."""
    seats: bool = False
    """Take what being read first is worth out of the ratings."""
    anchor: str | None = None
    """`MODEL`, which then stands at 1000, or `MODEL=RATING`."""
    simultaneous: bool = False
    """Ranges of places hold all at once."""
    elo: bool = False
    """Show online Elo beside the ratings."""
    pairs: bool = False
    """Show who met whom how often, and who is better with which probability."""
    fragility: bool = False
    """Say how few battles hold the first place."""
    seed: int = 0
    """Of the bootstrap and of Elo's order."""
    without: tuple[Unwanted, ...] = ()
    """Decided battles that are left out before the fit."""
    reweight: bool = False
    """Every battle weighs one over the probability of its pair."""
    fit: Fit = "firth"
    """Bias-reduced; or plain maximum likelihood, which refuses what it has no finite rating of."""

    @property
    def needs_rows(self) -> bool:
        """Whether battles of a pair are not all alike."""
        return self.ties == "davidson" or self.style or self.seats


USUAL = Method()


@dataclass(frozen=True)
class Totals:
    """How many battles ended in which way."""

    battles: int
    decided: int
    ties: int
    """Of the decided ones, as `splits`, which are ties, too."""
    splits: int
    forfeits: int
    voids: int


def too_few(unit: str) -> str:
    """Return the flag of a model with hardly any evidence; a unit is a video, or a battle."""
    return f"too few {unit}s to rank"


TOO_FEW = too_few("video")


class Anchored(NamedTuple):
    """A model and the rating it is given."""

    model: str
    rating: float


def read_anchor(text: str, names: Sequence[str]) -> Anchored:
    """Return the anchor that `MODEL` or `MODEL=RATING` means; a name may be short, and hold `=`.

    Raises:
        BadInput: no such model, or a rating that is no number.
    """
    if (whole := in_full(text, names)) in names:
        return Anchored(whole, _MEAN)
    typed, given, rating = text.rpartition("=")
    if (name := in_full(typed, names)) not in names:
        known = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise BadInput(f"--anchor {text}: no such model; there are {known or 'none'}")
    try:
        value = float(rating)
    except ValueError:
        value = math.nan
    if not given or not math.isfinite(value):
        raise WrongArgument(f"--anchor {text}: {rating} is no rating; pass a number, like 1000")
    return Anchored(name, value)


def weigh_battles(battles: Iterable[Battle], slots: Iterable[Slot]) -> dict[str, float]:
    """Return how much each decided battle counts: one over the propensity of its pair.

    In each generation of slots, whose pairs were drawn from one roster, weights are 1 on average:
    pairs that were drawn uniformly weigh 1 throughout.

    Raises:
        BadInput: a battle whose pair was dealt, so that nothing was left to chance.
    """
    slots = Slots.of(slots)
    generations = slots.generations
    groups: dict[int, dict[str, float]] = {}
    for battle in battles:
        if battle.verdict in DECIDED:
            row = slots.find(base_of(battle.id))
            group = groups.setdefault(0 if row is None else int(generations[row]), {})
            if battle.propensity is None:
                raise BadInput(
                    f"battle {battle.id} has no propensity, since its pair was not drawn at "
                    "random; leave out --reweight"
                )
            group[battle.id] = 1.0 / battle.propensity
    means = {k: sum(group.values()) / len(group) for k, group in groups.items()}
    return {id_: weight / means[k] for k, group in groups.items() for id_, weight in group.items()}
