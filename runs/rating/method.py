"""How battles are rated, and how much each counts.

Commands make their options from `RatingMethod`, so nothing heavy is imported with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol, get_type_hints

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.formats.words import in_full

if TYPE_CHECKING:
    from videoautoarena.memory.records.records import Battle, Slot

Ties = Literal["half", "davidson"]
Intervals = Literal["clustered", "bootstrap", "battle"]
Fit = Literal["firth", "mle"]
Unwanted = Literal["ties", "refusals"]
ROUNDS = 1000
"""Draws of a bootstrap."""
SOLID_BATTLES = 100
"""A figure on fewer battles is flagged."""
THIN = f"under {SOLID_BATTLES} battles"
RANKABLE_VIDEOS = 10
"""With fewer videos in a group its models are flagged."""
_MEAN = 1000.0


class RateableBattle(Protocol):
    """The fields of a battle that a leaderboard reads.

    Style, and leaving out refusals, also read `answer_a` and `answer_b`; weights read `id`.
    """

    @property
    def video(self) -> str:
        """Id of the video it is about."""

    @property
    def model_a(self) -> str | None:
        """The model in the first seat; None if none was drawn."""

    @property
    def model_b(self) -> str | None:
        """The model in the second seat."""

    @property
    def verdict(self) -> str:
        """How it ended."""


@dataclass(frozen=True, kw_only=True)
class RatingMethod:
    """How battles are rated; each field is an option of commands and of the package.

    What stands beside its type is what `--help` says of it, and what it takes.

    Raises:
        WrongArgument: a seed below 0.
    """

    ties: Annotated[
        Ties, "Count a tie as half a win for both models, or fit Davidson's tie parameter."
    ] = "half"
    fit: Annotated[
        Fit | None,
        "Bias-reduced (Firth) or plain maximum likelihood.  [default: firth; mle for a run that "
        "began with --preset paper]",
    ] = None
    style: Annotated[bool, "Control for answer style (length, markup, named details)."] = False
    seats: Annotated[bool, "Control for position bias."] = False
    anchor: Annotated[
        str | None, "Fix one model's rating at 1000, or at RATING.", "MODEL[=RATING]"
    ] = None
    intervals: Annotated[
        Intervals,
        "Confidence intervals: clustered by video, bootstrapped over videos, or for "
        "independent battles.",
    ] = "clustered"
    simultaneous: Annotated[bool, "Simultaneous confidence ranges for ranks."] = False
    elo: Annotated[bool, "Show online Elo beside the ratings."] = False
    pairs: Annotated[
        bool,
        "Show head-to-head counts, and the probability that one model is better than another.",
    ] = False
    seed: Annotated[int, "Seed of the bootstrap and of the battle order in online Elo."] = 0
    without: Annotated[
        tuple[Unwanted, ...], "Leave ties or refusals out of the fit; may be given twice."
    ] = ()
    reweight: Annotated[bool, "Weight battles by inverse pairing probability."] = False

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise WrongArgument(f"seed cannot be {self.seed}: it is a whole number from 0")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> RatingMethod:
        """Return the method that options ask for, by their names.

        Raises:
            WrongArgument: an unknown option, or a value that it cannot have.
        """
        # Imported here, since every command imports this module to make its options.
        from pydantic import TypeAdapter, ValidationError

        kinds = get_type_hints(cls)
        if unknown := sorted(set(given) - set(kinds)):
            raise WrongArgument(
                f"{unknown[0]} is no option of rating; there are {', '.join(kinds)}"
            )
        for name, value in given.items():
            try:
                # Strict, so that no text passes for a number and no number for a flag.
                TypeAdapter(kinds[name]).validate_python(value, strict=True)
            except ValidationError as wrong:
                why = wrong.errors(include_url=False)[0]["msg"]
                raise WrongArgument(f"{name} cannot be {value!r}: {why}") from None
        return cls(**given)

    @property
    def needs_rows(self) -> bool:
        """Whether battles of a pair differ in more than outcome, so that cells will not do."""
        return self.ties == "davidson" or self.style or self.seats


USUAL = RatingMethod()


@dataclass(frozen=True)
class BattleTotals:
    """How many battles ended in which way."""

    battles: int
    decided: int
    ties: int
    """Decided battles that tied, `splits` among them."""
    splits: int
    forfeits: int
    voids: int


def too_few(unit: str) -> str:
    """Return the flag of a model with hardly any evidence; a unit is a video, or a battle."""
    return f"too few {unit}s to rank"


TOO_FEW = too_few("video")


class AnchorRating(NamedTuple):
    """A model and the rating it is given."""

    model: str
    rating: float


def read_anchor(text: str, names: Sequence[str]) -> AnchorRating:
    """Return the anchor that `MODEL` or `MODEL=RATING` means; a name may be short, and hold `=`.

    Raises:
        BadInput: no such model, or a rating that is no number.
    """
    if (whole := in_full(text, names)) in names:
        return AnchorRating(whole, _MEAN)
    typed, given, rating = text.rpartition("=")
    if (name := in_full(typed, names)) not in names:
        known = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise BadInput(f"{option('anchor')} {text}: no such model; there are {known or 'none'}")
    try:
        value = float(rating)
    except ValueError:
        value = math.nan
    if not given or not math.isfinite(value):
        raise WrongArgument(
            f"{option('anchor')} {text}: {rating} is no rating; pass a number, like 1000"
        )
    return AnchorRating(name, value)


def weigh_battles(battles: Iterable[Battle], slots: Iterable[Slot]) -> dict[str, float]:
    """Return how much each decided battle counts: one over the propensity of its pair.

    In each generation of slots, whose pairs were drawn from one roster, weights are 1 on average:
    pairs that were drawn uniformly weigh 1 throughout.

    Raises:
        BadInput: a battle whose pair was dealt, so that nothing was left to chance.
    """
    from videoautoarena.graph.slot_ids import base_of
    from videoautoarena.memory.records.records import DECIDED
    from videoautoarena.memory.records.slots import Slots

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
                    f"random; leave out {option('reweight', True)}"
                )
            group[battle.id] = 1.0 / battle.propensity
    # By generation: pairs of a larger roster are rarer, and newcomers would outweigh all earlier
    # battles by that alone.
    means = {k: sum(group.values()) / len(group) for k, group in groups.items()}
    return {id_: weight / means[k] for k, group in groups.items() for id_, weight in group.items()}
