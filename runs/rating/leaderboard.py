"""A leaderboard as records: its rows, how the ratings were made, and what was asked for beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from videoautoarena.runs.rating.finding import UNKNOWN, Figure, Finding
from videoautoarena.runs.rating.method import Anchored, Totals
from videoautoarena.runs.text.record_json import (
    LEFT_OUT,
    SPREAD,
    fields_json,
    keyed,
    record_json,
)

if TYPE_CHECKING:
    from videoautoarena.runs.rundir.call_facts import CallFact

SHARES = ("refusal_share", "forfeit_share", "void_share", "both_bad_share")


@dataclass(frozen=True)
class AnswerLength:
    """The mean length of a model's answers, without reasoning."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    counted_by: str = field(metadata=keyed("from"))
    """Who counted its tokens: `provider`, or `words and signs`."""


@dataclass(frozen=True)
class Behaviour:
    """How a model behaved, beside how it fared."""

    refusal_share: Figure
    forfeit_share: Figure
    void_share: Figure
    both_bad_share: Figure
    mean_tokens: AnswerLength


@dataclass(frozen=True)
class Row:
    """A model of a leaderboard; figures are None where there is nothing to say them from."""

    model: str
    rating: float | None
    low: float | None
    """Of its 95 % interval, as `high`; None too where one video bounds nothing."""
    high: float | None
    rank: int | None
    """None, as the places it may have, where its group has too little evidence to rank."""
    rank_best: int | None
    rank_worst: int | None
    battles: int
    wins: int
    losses: int
    ties: int
    win_rate: float | None
    elo: float | None = field(default=None, metadata=LEFT_OUT)
    """None where nobody asked; NaN of a model without a battle."""
    forfeits: int = 0
    behaviour: Behaviour | None = field(default=None, metadata=SPREAD)
    labels: int | None = field(default=None, metadata=LEFT_OUT)
    """How many people gave of its battles, on a leaderboard that rates by them."""
    frames: Mapping[str, Any] | None = field(default=None, metadata=LEFT_OUT)
    """How many fewer it saw than it was to, and empty if none; None where no run says it."""
    flags: tuple[str, ...] = ()
    """What a reader must know of it."""

    def figure(self, name: str) -> Figure | AnswerLength:
        """Return a figure of its behaviour, one without a value where that is not known."""
        found: Figure | AnswerLength = getattr(self.behaviour, name, UNKNOWN)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values, without what nobody asked for."""
        found = fields_json(self)
        return found if self.frames is None else found | {"frames": found["frames"] or None}


class Bootstrap(NamedTuple):
    """What intervals were drawn with."""

    rounds: int
    seed: int


class Elo(NamedTuple):
    """How online Elo was played."""

    k: float
    seed: int


class Term(NamedTuple):
    """What one unit of a covariate is worth, in rating points, with its interval."""

    points: float | None
    low: float | None
    high: float | None


class Identified(NamedTuple):
    """Whether the battles of a group tell position and style from how strong its models are."""

    identified: bool
    """Without it the ratings are those without these terms."""
    inflation: float | None
    """How many times as large the terms make the variance of a difference of two models, at most;
    None where the battles alone do not bound the terms."""
    half_width: float | None
    """Of the widest interval of a term, in rating points; None where there is no interval."""
    most_inflation: float
    """Up to which terms are identified, as up to `most_half_width`."""
    most_half_width: float


@dataclass(frozen=True)
class Terms:
    """What was fitted beside the strengths of a group of models; None where nobody asked."""

    seat: Term | None = field(metadata=LEFT_OUT)
    style: Mapping[str, Term | None] | None = field(metadata=LEFT_OUT)
    """By feature; None of one that never differs."""
    tie_share: float | None = field(metadata=LEFT_OUT)
    """Of battles between equals; NaN where no battle ties or every one does."""
    control: Identified | None = field(default=None, metadata=LEFT_OUT)
    """Of `seat` and `style` together."""

    @property
    def effects(self) -> dict[str, Term | None]:
        """Those of style by feature, and that of the `seat`, where asked for."""
        seat = {} if self.seat is None else {"seat": self.seat}
        return {**(self.style or {}), **seat}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Terms:
        """Return what `to_json` made of them."""
        worth = {
            name: None if of is None else Term(**of)
            for name, of in {**(found.get("style") or {}), "seat": found.get("seat")}.items()
        }
        seat, control = worth.pop("seat"), found.get("control")
        style = None if found.get("style") is None else worth
        known = None if control is None else Identified(**control)
        return cls(seat, style, found.get("tie_share"), known)


@dataclass(frozen=True)
class LabelGroup:
    """How the labels of a group of models were used."""

    labels: int
    battles: int = field(metadata=keyed("of"))
    weight: float | None = field(metadata=keyed("lambda"))
    """Of the judge's verdicts on all battles, 0 to 1."""
    gain: float | None
    """As how many times as many labels the verdicts make them count."""


@dataclass(frozen=True)
class Labelling:
    """The labels that a leaderboard rates by."""

    battles: int
    labellers: int
    random: str
    """`drawn`, or `assumed`."""
    groups: tuple[LabelGroup, ...]


EVEN_PAIRS = "every pair equally likely"
"""What weights of inverse pairing probability aim at."""


class Reweighted(NamedTuple):
    """What the weights of battles aim at, and as how many that weigh alike they count (Kish)."""

    target: str
    effective_battles: float


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the ratings were made, what was counted, and what a reader must know of them all."""

    until: Mapping[str, Any] | None = field(default=None, metadata=LEFT_OUT)
    """Which rule ended the run early, if one did."""
    model: str = "bradley-terry"
    fit: str
    ties: str
    scale: int
    mean: float
    level: float
    interval: str
    videos: tuple[int, ...] | None
    """Of each group of models; None where nobody knows the videos."""
    pieces: tuple[int, ...] | None = field(metadata=LEFT_OUT)
    """Battles of each group, where nobody knows the videos."""
    totals: Totals
    shift: tuple[float, ...] = ()
    """Of each group: points by which ratings stand above those against the plain mean of its models
    that are not one-sided, which was the zero of earlier versions."""
    anchor: Anchored | None = field(default=None, metadata=LEFT_OUT)
    simultaneous: bool | None = field(default=None, metadata=LEFT_OUT)
    bootstrap: Bootstrap | None = field(default=None, metadata=LEFT_OUT)
    elo: Elo | None = field(default=None, metadata=LEFT_OUT)
    reweighted: Reweighted | None = field(default=None, metadata=LEFT_OUT)
    terms: tuple[Terms, ...] | None = field(default=None, metadata=LEFT_OUT)
    """Of each group of models."""
    without: Mapping[str, int] | None = field(default=None, metadata=LEFT_OUT)
    """How many battles were left out for what."""
    stand_ins: bool | None = field(default=None, metadata=LEFT_OUT)
    """Whether the models are offline ones; None where no run says it."""
    labels: Labelling | None = field(default=None, metadata=LEFT_OUT)
    warnings: tuple[str, ...] = ()

    @property
    def evidence(self) -> tuple[tuple[int, ...], str]:
        """The independent pieces of evidence of each group, and what one is called."""
        if self.videos is None:
            return self.pieces or (), "battle"
        return self.videos, "video"


@dataclass(frozen=True)
class Fragility:
    """How few battles make another model lead the first group."""

    leader: str | None
    """None where nobody is rated."""
    rival: str | None = None
    """None, as `removed`, where no way was found."""
    removed: int | None = None
    battles: int = 0

    def to_json(self) -> dict[str, Any] | None:
        """Return it as JSON-ready values; None where nobody is rated."""
        return None if self.leader is None else asdict(self)


@dataclass(frozen=True)
class Matrices:
    """What is known of every two rated models, row against column, group by group."""

    models: Sequence[str]
    battles: Sequence[Sequence[int]]
    thin: Sequence[Sequence[bool]]
    """Whether they met in too few battles."""
    wins: Sequence[Sequence[float | None]]
    """Share of battles won."""
    better: Sequence[Sequence[float | None]]
    """How likely one is better than the other, of this pair alone."""
    apart: Sequence[Sequence[bool]]
    """Whether the two differ by the bound that holds for all pairs of the row's model."""


@dataclass(frozen=True)
class Lead:
    """Who may be best of the models that battles join."""

    first: tuple[str, ...]
    """The model that is rated highest, or several that share the place."""
    is_ranked: bool
    """Whether there is enough to rank them by."""
    rivals: tuple[str, ...]
    """Others that may be best, best first."""
    above: tuple[str, ...]
    """Models that the first, or all who share the place, is apart from."""
    more: int | None
    """About how many more videos would separate the first and the nearest; None if that is out of
    reach."""
    basis: str
    """What this is said from."""
    is_simultaneous: bool = False
    nearest: str | None = None
    """The best of the rivals whose difference to the first has an error."""


@dataclass(frozen=True)
class Leaderboard:
    """Models rated, best first, those without a rating last."""

    models: tuple[Row, ...]
    components: tuple[tuple[str, ...], ...]
    """The models that battles join, the largest group first."""
    settings: Settings
    fragility: Fragility | None = field(default=None, metadata=LEFT_OUT)
    """None, as `pairs`, where nobody asked."""
    pairs: Matrices | None = field(default=None, metadata=LEFT_OUT)
    audit: tuple[Finding, ...] | None = field(default=None, metadata=LEFT_OUT)
    """What stands under it of a run's audit; None where there is no run."""
    facts: tuple[CallFact, ...] | None = field(default=None, metadata=LEFT_OUT)
    """What is so of the calls of its models, likewise."""
    leads: tuple[Lead, ...] = ()
    """Who may be best, one of each component."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena leaderboard --json` prints it."""
        return record_json(self)
