"""A leaderboard as records: its rows, how the ratings were made, and what was asked for beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.rating.finding import UNKNOWN, Figure, Finding, figure_json
from videoautoarena.runs.rating.method import Anchored, Totals

SHARES = ("refusal_share", "forfeit_share", "void_share", "both_bad_share")


@dataclass(frozen=True)
class Behaviour:
    """How a model behaved, beside how it fared."""

    refusal_share: Figure
    forfeit_share: Figure
    void_share: Figure
    both_bad_share: Figure
    mean_tokens: Figure
    counted_by: str
    """Who counted its tokens: `provider`, or `words and signs`."""

    def to_json(self) -> dict[str, Any]:
        """Return its figures as JSON-ready values."""
        tokens = self.mean_tokens._asdict() | {"from": self.counted_by}
        return {**{name: getattr(self, name)._asdict() for name in SHARES}, "mean_tokens": tokens}


@dataclass(frozen=True)
class Row:
    """A model of a leaderboard; figures are None where there is nothing to say them from."""

    model: str
    rating: float | None
    low: float | None
    """Of its 95 % interval, as `high`; None too where one video bounds nothing."""
    high: float | None
    rank: int | None
    rank_best: int | None
    rank_worst: int | None
    battles: int
    wins: int
    losses: int
    ties: int
    win_rate: float | None
    elo: float | None = None
    """None where nobody asked; NaN of a model without a battle."""
    forfeits: int = 0
    behaviour: Behaviour | None = None
    labels: int | None = None
    """How many people gave of its battles, on a leaderboard that rates by them."""
    frames: Mapping[str, Any] | None = None
    """How many fewer it saw than it was to, and empty if none; None where no run says it."""
    flags: tuple[str, ...] = ()
    """What a reader must know of it."""

    def figure(self, name: str) -> Figure:
        """Return a figure of its behaviour, one without a value where that is not known."""
        found: Figure = getattr(self.behaviour, name, UNKNOWN)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values, without what nobody asked for."""
        known = (
            *("model", "rating", "low", "high", "rank", "rank_best", "rank_worst"),
            *("battles", "wins", "losses", "ties", "win_rate"),
        )
        row = {name: getattr(self, name) for name in known}
        if self.elo is not None:
            row["elo"] = figure_json(self.elo, 4)
        row["forfeits"] = self.forfeits
        if self.behaviour is not None:
            row |= self.behaviour.to_json()
        if self.labels is not None:
            row["labels"] = self.labels
        if self.frames is not None:
            row["frames"] = dict(self.frames) or None
        return row | {"flags": list(self.flags)}


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


@dataclass(frozen=True)
class Terms:
    """What was fitted beside the strengths of a group of models; None where nobody asked."""

    seat: Term | None
    style: Mapping[str, Term | None] | None
    """By feature; None of one that never differs."""
    tie_share: float | None
    """Of battles between equals; NaN where no battle ties or every one does."""

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON-ready values."""
        found: dict[str, Any] = {}
        if self.seat is not None:
            found["seat"] = self.seat._asdict()
        if self.style is not None:
            found["style"] = {
                name: None if term is None else term._asdict() for name, term in self.style.items()
            }
        if self.tie_share is not None:
            found["tie_share"] = figure_json(self.tie_share, 6)
        return found


class LabelGroup(NamedTuple):
    """How the labels of a group of models were used."""

    labels: int
    battles: int
    weight: float | None
    """Of the judge's verdicts on all battles, 0 to 1; `lambda` in JSON."""
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

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        groups = [
            {"labels": of.labels, "of": of.battles, "lambda": of.weight, "gain": of.gain}
            for of in self.groups
        ]
        about = {"battles": self.battles, "labellers": self.labellers, "random": self.random}
        return {**about, "groups": groups}


@dataclass(frozen=True)
class Settings:
    """How the ratings were made, what was counted, and what a reader must know of them all."""

    fit: str
    ties: str
    scale: int
    mean: float
    level: float
    interval: str
    videos: tuple[int, ...] | None
    """Of each group of models; None where nobody knows the videos."""
    pieces: tuple[int, ...] | None
    """Battles of each group, where nobody knows the videos."""
    totals: Totals
    anchor: Anchored | None = None
    simultaneous: bool = False
    bootstrap: Bootstrap | None = None
    elo: Elo | None = None
    effective_battles: float | None = None
    """As how many that weigh alike reweighted battles count (Kish)."""
    terms: tuple[Terms, ...] | None = None
    """Of each group of models."""
    without: Mapping[str, int] | None = None
    """How many battles were left out for what."""
    stand_ins: bool | None = None
    """Whether the models are offline ones; None where no run says it."""
    labels: Labelling | None = None
    warnings: tuple[str, ...] = ()
    until: Mapping[str, Any] | None = None
    """Which rule ended the run early, if one did."""

    @property
    def evidence(self) -> tuple[tuple[int, ...], str]:
        """The independent pieces of evidence of each group, and what one is called."""
        if self.videos is None:
            return self.pieces or (), "battle"
        return self.videos, "video"

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON-ready values, without what nobody asked for."""
        made = ("fit", "ties", "scale", "mean", "level", "interval")
        found = {
            "until": self.until,
            "model": "bradley-terry",
            **{name: getattr(self, name) for name in made},
            "videos": _listed(self.videos),
            "pieces": _listed(self.pieces),
            "totals": self.totals.to_json(),
            "anchor": self.anchor and self.anchor._asdict(),
            "simultaneous": self.simultaneous or None,
            "bootstrap": self.bootstrap and self.bootstrap._asdict(),
            "elo": self.elo and self.elo._asdict(),
            "reweighted": _reweighted(self.effective_battles),
            "terms": None if self.terms is None else [terms.to_json() for terms in self.terms],
            "without": None if self.without is None else dict(self.without),
            "stand_ins": self.stand_ins,
            "labels": self.labels and self.labels.to_json(),
            "warnings": list(self.warnings),
        }
        return {name: of for name, of in found.items() if of is not None or name == "videos"}


def _listed(numbers: Sequence[int] | None) -> list[int] | None:
    return None if numbers is None else list(numbers)


def _reweighted(effective: float | None) -> dict[str, Any] | None:
    if effective is None:
        return None
    return {"target": "every pair equally likely", "effective_battles": effective}


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
    """How likely one is better than the other."""

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON-ready values."""
        grids = ("battles", "thin", "wins", "better")
        found = {name: [list(row) for row in getattr(self, name)] for name in grids}
        return {"models": list(self.models), **found}


@dataclass(frozen=True)
class Leaderboard:
    """Models rated, best first, those without a rating last."""

    models: tuple[Row, ...]
    components: tuple[tuple[str, ...], ...]
    """The models that battles join, the largest group first."""
    settings: Settings
    fragility: Fragility | None = None
    """None, as `pairs`, where nobody asked."""
    pairs: Matrices | None = None
    audit: tuple[Finding, ...] | None = None
    """What stands under it of a run's audit; None where there is no run."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena leaderboard --json` prints it."""
        found: dict[str, Any] = {
            "schema": SCHEMA,
            "models": [row.to_json() for row in self.models],
            "components": [list(group) for group in self.components],
            "settings": self.settings.to_json(),
        }
        if self.fragility is not None:
            found["fragility"] = self.fragility.to_json()
        if self.pairs is not None:
            found["pairs"] = self.pairs.to_json()
        if self.audit is not None:
            found["audit"] = [one.to_json() for one in self.audit]
        return found
