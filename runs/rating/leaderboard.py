"""A leaderboard as records: its rows, how the ratings were made, and what was asked for beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from videoautoarena.runs.formats.record_json import (
    LEFT_OUT,
    SPREAD,
    fields_json,
    keyed,
    record_json,
)
from videoautoarena.runs.rating.finding import UNKNOWN, Figure, Finding
from videoautoarena.runs.rating.method import AnchorRating, BattleTotals

if TYPE_CHECKING:
    from videoautoarena.runs.run.rundir.call_facts import CallFact

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
    """Share of questions refused, as marked by the provider or recognised in plain English
    (`--without refusals`)."""
    forfeit_share: Figure
    """Share of slots in which it was asked and gave no answer."""
    void_share: Figure
    """Share of its slots that ended void."""
    both_bad_share: Figure
    """Share of its decided battles in which both answers were called bad."""
    mean_tokens: AnswerLength
    """Mean answer length without reasoning; `from` is `provider` if that counted every one, else
    `words and signs`."""


@dataclass(frozen=True)
class LeaderboardRow:
    """A model of a leaderboard; figures are None where no battle says anything about them."""

    model: str
    """Name in the roster."""
    rating: float | None
    """1000 is the zero of its group, see `mean`; None, as `low` and `high`, without a decided
    battle."""
    low: float | None
    """Lower end of its 95 % interval; None too where one video bounds nothing."""
    high: float | None
    """Upper end."""
    rank: int | None
    """By rating, within its group; None, as the places it may have, under ten videos."""
    rank_best: int | None
    """Best rank it may have, from its differences to all others."""
    rank_worst: int | None
    """Worst."""
    battles: int
    """Decided battles."""
    wins: int
    """Decided battles it won."""
    losses: int
    """Decided battles it lost."""
    ties: int
    """Decided battles that tied, splits included."""
    win_rate: float | None
    """0 to 1, mean over the opponents met."""
    elo: float | None = field(default=None, metadata=LEFT_OUT)
    """With `--elo`: its online Elo; None without a battle."""
    forfeits: int = 0
    """Battles in which it gave no answer."""
    behaviour: Behaviour | None = field(default=None, metadata=SPREAD)
    labels: int | None = field(default=None, metadata=LEFT_OUT)
    """With `--labels`: how many people gave of its battles."""
    frames: Mapping[str, Any] | None = field(default=None, metadata=LEFT_OUT)
    """For a model that saw fewer frames than wanted, or than others by its `max_frames`: `least`,
    `most`, `wanted`, `calls` and `of`, as in `frames_short` of [a status](#how-a-run-stands); else
    None."""
    flags: tuple[str, ...] = ()
    """What a reader must know about it: `one-sided`, `not comparable`, `too few videos to rank`,
    `not controlled` (see [`terms`](#further-figures)), `saw 4 of 64 frames`, `saw no frames`
    (`max_frames = 0`)."""

    def figure(self, name: str) -> Figure | AnswerLength:
        """Return a figure of its behaviour, one without a value where that is not known."""
        found: Figure | AnswerLength = getattr(self.behaviour, name, UNKNOWN)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values, without figures that were not asked for."""
        found = fields_json(self)
        # A run knows that a model saw all it should: null. A file of battles knows nothing: no key.
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


class TermControl(NamedTuple):
    """Whether the battles of a group tell position and style from how strong its models are."""

    identified: bool
    """Whether battles tell the terms from how strong models are; if not, the group's ratings,
    intervals and ranks are those without them, and its rows carry the flag `not controlled`."""
    inflation: float | None
    """How many times as large the terms make the variance of a difference of two models, at most;
    None where the battles alone set no bounds."""
    half_width: float | None
    """Half width of the widest interval of a term, in points; None without intervals."""
    most_inflation: float
    """Largest `inflation` at which terms are identified."""
    most_half_width: float
    """Largest `half_width` at which terms are identified."""


@dataclass(frozen=True)
class FittedTerms:
    """What was fitted beside the strengths of a group of models; None where not asked for."""

    seat: Term | None = field(metadata=LEFT_OUT)
    """What being read first is worth: `points`, `low`, `high`."""
    style: Mapping[str, Term | None] | None = field(metadata=LEFT_OUT)
    """What each feature of style is worth, likewise; None for one that never differs."""
    tie_share: float | None = field(metadata=LEFT_OUT)
    """Share of ties among equals (Davidson); None if nothing or everything ties."""
    control: TermControl | None = field(default=None, metadata=LEFT_OUT)
    """Whether the ratings have `seat` and `style` taken out, see below."""

    @property
    def effects(self) -> dict[str, Term | None]:
        """The worth of each feature of style and of the `seat`, as far as asked for."""
        seat = {} if self.seat is None else {"seat": self.seat}
        return {**(self.style or {}), **seat}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> FittedTerms:
        """Return what `to_json` made of them."""
        worth = {
            name: None if of is None else Term(**of)
            for name, of in {**(found.get("style") or {}), "seat": found.get("seat")}.items()
        }
        seat = worth.pop("seat")
        control = found.get("control")
        style = None if found.get("style") is None else worth
        known = None if control is None else TermControl(**control)
        return cls(seat, style, found.get("tie_share"), known)


@dataclass(frozen=True)
class LabelGroup:
    """How the labels of a group of models were used."""

    labels: int
    battles: int = field(metadata=keyed("of"))
    weight: float | None = field(metadata=keyed("lambda"))
    """Weight of the judge's verdicts on all battles, 0 to 1."""
    gain: float | None
    """How many times as many labels these count as, thanks to the verdicts."""


@dataclass(frozen=True)
class LabelUse:
    """The labels that a leaderboard rates by."""

    battles: int
    """With a label."""
    labellers: int
    """Who gave them, counted."""
    random: str
    """`drawn`, or `assumed` with `--assume-random`."""
    groups: tuple[LabelGroup, ...]
    """For each component the `labels` of its battles, `of` how many, `lambda` (weight of the
    judge's verdicts on all battles, 0 to 1), and `gain`: how many times as many labels these count
    as, thanks to the verdicts."""


EVEN_PAIRS = "every pair equally likely"
"""Target of weights by inverse pairing probability."""


class BattleWeights(NamedTuple):
    """The target of the weights of battles, and how many equal weights are worth as much (Kish)."""

    target: str
    effective_battles: float


@dataclass(frozen=True, kw_only=True)
class RatingSettings:
    """How the ratings were made, what was counted, and what a reader must know of them all."""

    until: Mapping[str, Any] | None = field(default=None, metadata=LEFT_OUT)
    """Where [a stopping rule](#a-stopping-rule) ended the run early: what met it."""
    model: str = "bradley-terry"
    """The model that is fitted: `bradley-terry`."""
    fit: str
    """`firth` (bias-reduced) or `mle`."""
    ties: str
    """`half` or `davidson`."""
    scale: int
    """Rating points for odds of ten to one."""
    mean: float
    """Rating of the zero: the mean of a group's models weighted by how much is known of each."""
    level: float
    """Level of the intervals."""
    interval: str
    """How they were made."""
    videos: tuple[int, ...] | None
    """Videos with a decided battle in each group; None if a rated file names none."""
    pieces: tuple[int, ...] | None = field(metadata=LEFT_OUT)
    """Where that is None: the battles of each group, which flags count then."""
    totals: BattleTotals
    """`battles`, `decided`, `ties`, `splits`, `forfeits` and `voids`."""
    shift: tuple[float, ...] = ()
    """For each group, by how many points ratings stand above those whose zero is the plain mean of
    its models that are not one-sided, as in earlier versions."""
    anchor: AnchorRating | None = field(default=None, metadata=LEFT_OUT)
    """With `--anchor`: `model` and the `rating` it was given."""
    simultaneous: bool | None = field(default=None, metadata=LEFT_OUT)
    """With `--simultaneous`: true."""
    bootstrap: Bootstrap | None = field(default=None, metadata=LEFT_OUT)
    """With `--intervals bootstrap`: `rounds` and `seed`."""
    elo: Elo | None = field(default=None, metadata=LEFT_OUT)
    """With `--elo`: `k`, the most points a battle moves, and the `seed` of the order."""
    reweighted: BattleWeights | None = field(default=None, metadata=LEFT_OUT)
    """Where battles are weighted: the `target` of the weights, and `effective_battles`, how many
    battles of equal weight are worth as much (Kish)."""
    terms: tuple[FittedTerms, ...] | None = field(default=None, metadata=LEFT_OUT)
    """With `--seats`, `--style` or `--ties davidson`: [what was fitted beside](#further-figures)
    the strengths of each group."""
    without: Mapping[str, int] | None = field(default=None, metadata=LEFT_OUT)
    """Battles left out before the fit, as `ties` and as `refusals`."""
    stand_ins: bool | None = field(default=None, metadata=LEFT_OUT)
    """For a run, whether every contestant is an offline one."""
    labels: LabelUse | None = field(default=None, metadata=LEFT_OUT)
    """With `--labels`: [the labels it rates by](#on-the-scale-of-people)."""
    warnings: tuple[str, ...] = ()
    """Notes to show with the table."""

    @property
    def evidence(self) -> tuple[tuple[int, ...], str]:
        """The independent pieces of evidence of each group, and what one is called."""
        if self.videos is None:
            return self.pieces or (), "battle"
        return self.videos, "video"


@dataclass(frozen=True)
class PairMatrices:
    """Head-to-head figures of every two rated models, row against column, group by group."""

    models: Sequence[str]
    """Best first, group by group; all matrices are in this order, row against column."""
    battles: Sequence[Sequence[int]]
    """Decided battles of the two."""
    thin: Sequence[Sequence[bool]]
    """Whether they met in under 100 of them."""
    wins: Sequence[Sequence[float | None]]
    """Share won by the row's model."""
    better: Sequence[Sequence[float | None]]
    """Probability that it is the better one, of this pair alone."""
    apart: Sequence[Sequence[bool]]
    """Whether they differ by the bound that holds for all pairs of the row's model."""


@dataclass(frozen=True)
class BoardLead:
    """Who may be best of the models that battles join."""

    first: tuple[str, ...]
    """The model rated highest, or several that share the place."""
    is_ranked: bool
    """False under ten videos (or battles, where no videos are known): nobody leads."""
    rivals: tuple[str, ...]
    """Others that may be best, with 95 % certainty that a true best is among them and the first;
    best first."""
    above: tuple[str, ...]
    """Models that the first, or all who share the place, is apart from."""
    more: int | None
    """About how many more videos would separate the first and the nearest; None if out of reach."""
    basis: str
    """The figures it is said from."""
    is_simultaneous: bool = False
    """With `--simultaneous`: read off ranges that hold all at once."""
    nearest: str | None = None
    """The best of the rivals whose difference to the first has an error, or None."""


@dataclass(frozen=True)
class RatedLeaderboard:
    """Models rated, best first, those without a rating last."""

    models: tuple[LeaderboardRow, ...]
    """One [row](#a-row) a model, best first, those without a rating last."""
    components: tuple[tuple[str, ...], ...]
    """The models that battles join, group by group, the largest first."""
    settings: RatingSettings
    """[How it was computed](#settings), and the notes."""
    pairs: PairMatrices | None = field(default=None, metadata=LEFT_OUT)
    """With `--pairs`: [what is known of every two models](#further-figures)."""
    audit: tuple[Finding, ...] | None = field(default=None, metadata=LEFT_OUT)
    """For a run, the [findings](#a-finding) with an alarm, then those always shown."""
    facts: tuple[CallFact, ...] | None = field(default=None, metadata=LEFT_OUT)
    """For a run, [what is so of the calls](#facts-of-calls) of its models; empty if nothing is."""
    leads: tuple[BoardLead, ...] = ()
    """For each group, [who may be best](#leads)."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena leaderboard --json` prints it."""
        return record_json(self)
