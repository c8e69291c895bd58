"""The boards of a run's slices: battles parted by a trait, each part rated apart."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from videoautoarena.agents.prompting.languages import asked_language
from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import (
    CATEGORIES,
    DECIDED,
    SCHEMA,
    TIES,
    Battle,
)
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.runs.analysis.categories.tags import NONE, SHOWN, UNTAGGED
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.record_json import LEFT_OUT, SPREAD, fields_json, keyed, value_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.finding import UNKNOWN as NO_FIGURE
from videoautoarena.runs.rating.finding import Figure, Finding, figure_json, figure_of
from videoautoarena.runs.rating.leaderboard import LeaderboardRow, RatedLeaderboard, Term
from videoautoarena.runs.rating.method import (
    RANKABLE_VIDEOS,
    SOLID_BATTLES,
    THIN,
    TOO_FEW,
    USUAL,
    RatingMethod,
)
from videoautoarena.runs.rating.table import (
    BattleColumns,
    answered,
    build,
    fought_of,
    points_of,
    wanted,
)
from videoautoarena.runs.run.inputs.users import BROUGHT, PLAIN
from videoautoarena.runs.run.rundir.reader import BattlesOf
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.intervals.proportions import Share, measure_share
from videoautoarena.scoring.ratings.covariates import MOST_HALF_WIDTH
from videoautoarena.scoring.texts.traits import BUCKET_NAMES, FORMS, asked_form, bucket

if TYPE_CHECKING:
    from videoautoarena.runs.run.rundir.reader import RunReader


@dataclass(frozen=True)
class PairRecord:
    """The head-to-head results of two models, of decided battles."""

    model: str
    """The better-rated of the two."""
    rival: str
    """The other."""
    battles: int
    """Decided battles between them."""
    videos: int
    """Videos that these are about."""
    wins: int
    """Battles that the model won."""
    losses: int
    """Battles that the model lost."""
    ties: int
    """Splits included."""
    share: Figure
    """Points of the model, a tie half a point, as a share of a row."""
    expected: float | None
    """By the ratings of the whole run; None beside terms or Davidson's ties."""
    both_bad_share: Figure
    """Share of them in which both answers were bad, as in a slice."""
    flags: tuple[str, ...]
    """`under 100 battles`; `unlike its ratings` if `expected` lies outside the interval."""


@dataclass(frozen=True)
class PairRecords:
    """Every pair that met, and the leaderboard that says what was to be expected."""

    pairs: tuple[PairRecord, ...]
    board: RatedLeaderboard

    def to_json(self) -> dict[str, Any]:
        """Return them as `arena leaderboard --by pair --json` prints them."""
        board = self.board.to_json()
        return {
            "schema": SCHEMA,
            "by": "pair",
            "pairs": [fields_json(pair) for pair in self.pairs],
            **{name: board[name] for name in ("components", "settings")},
        }


def build_pairs(battles: Collection[Battle], roster: Sequence[str], **given: Any) -> PairRecords:
    """Return the record of every pair that met in a decided battle, the better-rated one first.

    Args:
        battles: those that count, in slot order.
        roster: every model of the run.
        given: as for `runs.rating.table.build`; its fit says what was to be expected.
    """
    board = build(battles, roster, **given)
    method: RatingMethod = given["method"]
    every = _met(answered(battles, method))
    met = _met(wanted(battles, method))
    rated = [row for row in board.models if row.rating is not None]
    # Ratings of equal style, or with ties apart: no share follows from those.
    is_expected = board.settings.ties != "davidson" and board.settings.terms is None
    pairs = (
        _pair(
            (first.model, second.model),
            met[key],
            expected=_expected(first, second) if is_expected else np.nan,
            bad=_both_bad(every[key]),
        )
        for first, second in combinations(rated, 2)
        if (key := frozenset((first.model, second.model))) in met
    )
    return PairRecords(tuple(pairs), board)


def _met(battles: Collection[Battle]) -> Mapping[frozenset[str], BattleColumns]:
    """Return the decided battles of each pair."""
    fought = fought_of(battles)
    fought = fought.where(fought.verdict.among(DECIDED))
    names = fought.models
    if not names:
        return {}
    places = {name: k for k, name in enumerate(names)}
    seats = [
        np.array([places.get(name, -1) for name in seat.values], dtype=np.int64)[seat.codes]
        for seat in (fought.model_a, fought.model_b)
    ]
    pair = np.minimum(*seats) * len(names) + np.maximum(*seats)
    # Sorted once, in place of a look at all battles for each pair.
    order = np.argsort(pair, kind="stable")
    keys, first = np.unique(pair[order], return_index=True)
    return {
        frozenset(names[k] for k in divmod(key, len(names))): fought.where(rows)
        for key, rows in zip(keys.tolist(), np.split(order, first[1:]), strict=True)
    }


def _expected(first: LeaderboardRow, second: LeaderboardRow) -> float:
    """Return the share of points that the first should win by the ratings."""
    gap = (second.rating or 0.0) - (first.rating or 0.0)
    return float(1.0 / (1.0 + np.exp(gap / SCALE)))


def _pair(
    names: tuple[str, str], fought: BattleColumns, *, expected: float, bad: Share
) -> PairRecord:
    of_a = zip(fought.model_a.each(), map(points_of, fought.verdict.each()), strict=True)
    points = [of if model == names[0] else 1.0 - of for model, of in of_a]
    videos = fought.video.numbered()
    share = measure_share(points, videos)
    is_odd = not (np.isnan(expected) or share.low <= expected <= share.high)
    return PairRecord(
        model=names[0],
        rival=names[1],
        battles=len(points),
        videos=len(np.unique(videos)),
        wins=points.count(1.0),
        losses=points.count(0.0),
        ties=int(fought.verdict.among(TIES).sum()),
        share=figure_of(share),
        expected=figure_json(expected),
        both_bad_share=figure_of(bad),
        flags=(*[THIN] * (len(points) < SOLID_BATTLES), *[UNLIKE] * is_odd),
    )


UNLIKE = "unlike its ratings"


def both_bad(battles: Collection[Battle]) -> Share:
    """Return the share of decided battles in which the judge called both answers bad."""
    fought = fought_of(battles)
    return _both_bad(fought.where(fought.verdict.among(DECIDED)))


def _both_bad(decided: BattleColumns) -> Share:
    return measure_share(decided.verdict.among(["tie_bad"]), decided.video.numbered())


By = Literal["duration", "category", "round", "origin", "persona", "format", "judge", "standard"]
UNKNOWN = "unknown"
"""Slice of battles without a category or a question, which are void."""
AIMED = ("aimed at neither", "aimed at one", "aimed at both")
QUESTION_SLICES = (*SHOWN.values(), NONE, UNTAGGED)
ORIGINS = ("first", "evolved", *reversed(AIMED), "fresh")


@dataclass(frozen=True)
class Slice:
    """A part of the battles, and the leaderboard of those alone."""

    name: str = field(metadata=keyed("slice"))
    """Its name, such as `8-15 s`, `q2`, `P1 close`, or a cell of `videos.csv`; `unknown` of battles
    without category or question."""
    battles: int
    """Decided battles."""
    both_bad_share: Figure
    """As in a row, but with `--without refusals` over battles in which no answer refuses; null by
    standard."""
    flags: tuple[str, ...]
    """`under 100 battles`, and every flag of its rows."""
    board: RatedLeaderboard = field(metadata=SPREAD)
    agreement: Figure | None = field(default=None, metadata=LEFT_OUT)
    """By standard: of the battles decided both by it and overall, the share decided alike; ties of
    any kind are one."""


@dataclass(frozen=True)
class SliceEffects:
    """What position and style are worth in one slice, in the largest group of its models."""

    slice: str
    """Its name."""
    battles: int
    """Decided battles."""
    videos: int | None
    """Videos of its largest group."""
    effects: Mapping[str, Term | None]
    """`points`, `low` and `high` of each feature and of `seat`; None for one that never differs, on
    fewer than ten videos, or if its interval reaches beyond 75 points to either side."""


@dataclass(frozen=True)
class LeaderboardSlices:
    """A leaderboard for each part of the battles."""

    by: str
    """A trait of battles, or one that their run knows of."""
    parts: tuple[Slice, ...] = field(metadata=keyed("slices"))
    """The [slices](#slices)."""
    audit: tuple[Finding, ...] | None = field(default=None, metadata=LEFT_OUT)
    """Findings as under the leaderboard of the whole run; by language they come before the
    slices."""

    @property
    def effects(self) -> tuple[SliceEffects, ...]:
        """What position and style are worth in each slice; empty if not asked for."""
        return tuple(effects for part in self.parts for effects in _effects(part))

    def to_json(self) -> dict[str, Any]:
        """Return them as `arena leaderboard --by` prints them with `--json`."""
        parts = fields_json(self)
        effects = value_json(self.effects)
        if self.by == "language":
            # No board by language is read before what the judge is like in each.
            parts = {key: parts[key] for key in ("by", "audit") if key in parts} | parts
        return {"schema": SCHEMA, **parts, **({"effects": effects} if effects else {})}


def _effects(part: Slice) -> Iterator[SliceEffects]:
    """Yield what is known of position and style in a slice, if asked for."""
    settings = part.board.settings
    # The first are those of the largest group.
    for terms in (settings.terms or ())[:1]:
        if terms.control is None:
            return
        group = part.board.components[0]
        seats = sum(row.battles for row in part.board.models if row.model in group)
        videos = None if settings.videos is None else settings.videos[0]
        is_bounded = terms.control.inflation is not None
        is_enough = is_bounded and settings.evidence[0][0] >= RANKABLE_VIDEOS
        effects = {
            name: of if is_enough and _is_known(of) else None for name, of in terms.effects.items()
        }
        # Each battle is counted in the rows of both its models.
        yield SliceEffects(part.name, seats // 2, videos, effects)


def _is_known(term: Term | None) -> bool:
    """Return whether the interval of a term is as narrow as it has to be to be identified."""
    if term is None or term.low is None or term.high is None:
        return False
    return term.high - term.low <= 2 * MOST_HALF_WIDTH


@dataclass
class SliceBattles:
    """Which battles stand in one slice."""

    # An array: of a million battles each stands in a slice of every trait.
    rows: array[int] = field(default_factory=lambda: array("i"))
    """Their places among all, ascending."""
    verdicts: list[str] = field(default_factory=list)
    """Their verdicts in it, where a slice is a way to decide battles."""

    def of(self, battles: Collection[Battle]) -> Collection[Battle]:
        """Return its battles."""
        rows = np.array(self.rows, dtype=np.int64)
        if isinstance(battles, BattlesOf):
            found = battles.where(rows)
            return found.ended(self.verdicts) if self.verdicts else found
        listed = list(battles)
        some = [listed[row] for row in rows]
        if not self.verdicts:
            return some
        pairs = zip(some, self.verdicts, strict=True)
        return [battle.model_copy(update={"verdict": verdict}) for battle, verdict in pairs]


Known = Callable[[Battle], Iterable[str]]
"""The slices that a battle stands in; it may stand in several."""


def parts_of(
    battles: Iterable[Battle], traits: Mapping[str, Known | None], *, seats_count: bool = False
) -> dict[str, dict[str, SliceBattles]]:
    """Return the slices by each trait, from one look at every battle.

    Args:
        battles: those that count, in slot order.
        traits: each with the slices of a battle, where it is none of the battles' own.
        seats_count: both seatings of a judge decide.
    """
    found: dict[str, dict[str, SliceBattles]] = {by: {} for by in traits}
    slices = {by: known or _TRAITS.get(by, lambda _: [UNKNOWN]) for by, known in traits.items()}
    for row, battle in enumerate(battles):
        for by, parts in found.items():
            if by in _RULINGS:
                for name, verdict in _RULINGS[by](battle, seats_count):
                    part = parts.setdefault(name, SliceBattles())
                    part.rows.append(row)
                    part.verdicts.append(verdict)
                continue
            for name in slices[by](battle):
                parts.setdefault(name, SliceBattles()).rows.append(row)
    return found


def slices_of_parts(
    battles: Collection[Battle],
    roster: Sequence[str],
    *,
    by: str,
    parts: Mapping[str, SliceBattles],
    **given: Any,
) -> LeaderboardSlices:
    """Return a board for every slice of battles that were parted by a trait.

    Each has a scale of its own: mean 1000 over the models of one component in that slice. A battle
    stands in one slice; by origin, an evolved one stands also with those whose question was made
    from the faults of as many of its two players. By judge, a battle stands with every judge of the
    panel, and ends as that one alone would have it. By standard it stands with each of the four,
    and ends as the panel decided by that one alone; these slices say how often that is how the
    battle ended.

    Args:
        battles: those that count, in slot order.
        roster: every model of the run.
        by: the trait that parted them.
        parts: its slices, of `parts_of`.
        given: how each part is rated, as for `runs.rating.table.build`.
    """
    if by == "standard" and battles and not parts:
        raise BadInput(
            "the judges of this run gave no verdict by standard, as those of new "
            f"runs do; leave out {option('by', 'standard')}"
        )
    order = _by_size(parts) if by == TOPIC else _order(by, parts)
    order = [name for name in order if name in parts]
    method: RatingMethod = given.get("method", USUAL)
    found = []
    for name in order:
        mine = parts[name].of(battles)
        board = build(mine, roster, **given)
        decided = board.settings.totals.decided
        flags = [THIN] if decided < SOLID_BATTLES else []
        flags += sorted(
            {flag for row in board.models for flag in row.flags},
            key=lambda flag: (flag == TOO_FEW, flag),
        )
        bad = both_bad(answered(mine, method))
        rows = (
            replace(row, flags=(*row.flags, *[THIN] * (row.battles < SOLID_BATTLES)))
            for row in board.models
        )
        one = Slice(name, decided, figure_of(bad), tuple(flags), replace(board, models=tuple(rows)))
        found.append(_by_itself(one, battles, parts[name]) if by == "standard" else one)
    return LeaderboardSlices(by, tuple(found))


def _by_judge(battle: Battle, seats_count: bool) -> Iterable[tuple[str, str]]:
    """Yield each judge of a battle with its verdict alone; nothing where none was asked."""
    from videoautoarena.agents.roles.judge import settle_verdict

    for judge in dict.fromkeys(one.judge for one in battle.verdicts):
        own = [one for one in battle.verdicts if one.judge == judge]
        yield judge, settle_verdict(own, audit_only=not seats_count)[0]


def _by_standard(battle: Battle, seats_count: bool) -> Iterable[tuple[str, str]]:
    """Yield each standard with the panel's verdict by it; nothing where it was not asked."""
    from videoautoarena.runs.run.battles.standards import by_standard

    for standard, verdict in by_standard(battle, seats_count=seats_count).items():
        if verdict is not None:
            yield STANDARDS[standard].words, verdict


def _by_itself(found: Slice, battles: Collection[Battle], part: SliceBattles) -> Slice:
    """Return the slice of a standard, with how often it decides as the verdict does.

    A tie of any kind is one, and none by a standard is called good or bad.
    """
    mine = fought_of(battles).where(np.array(part.rows, dtype=np.int64))
    ended = list(mine.verdict.each())
    ends = part.verdicts
    both = np.array([{one, other} <= DECIDED for one, other in zip(ended, ends, strict=True)])
    same = [points_of(one) == points_of(other)
            for one, other, counts in zip(ended, ends, both, strict=True) if counts]  # fmt: skip
    agreement = measure_share(same, mine.video.where(both).numbered())
    rows = (
        replace(row, behaviour=row.behaviour and replace(row.behaviour, both_bad_share=NO_FIGURE))
        for row in found.board.models
    )
    board = replace(found.board, models=tuple(rows))
    return replace(found, board=board, both_bad_share=NO_FIGURE, agreement=figure_of(agreement))


def _origin(battle: Battle) -> Iterable[str]:
    yield battle.origin or UNKNOWN
    if battle.origin == "evolved" and battle.aimed_at is not None:
        yield AIMED[len({battle.model_a, battle.model_b} & set(battle.aimed_at))]


_TRAITS: dict[str, Callable[[Battle], Iterable[str]]] = {
    "duration": lambda battle: [bucket(battle.duration_s)],
    "category": lambda battle: [battle.category or UNKNOWN],
    "round": lambda battle: [f"q{battle.round}"],
    "origin": _origin,
    "persona": lambda battle: [PLAIN.get(battle.persona, UNKNOWN)],
    "format": lambda b: [UNKNOWN if b.question is None else asked_form(b.question)],
}
_RULINGS: dict[str, Callable[[Battle, bool], Iterable[tuple[str, str]]]] = {
    "judge": _by_judge,
    "standard": _by_standard,
}
"""Traits that are a way to decide a battle rather than its own."""
_ORDERS: dict[str, tuple[str, ...]] = {
    "standard": tuple(standard.words for standard in STANDARDS.values()),
    "duration": BUCKET_NAMES,
    "category": CATEGORIES,
    "origin": ORIGINS,
    "persona": (*PLAIN.values(), BROUGHT),
    "format": FORMS,
    "question-category": QUESTION_SLICES,
}


def _order(by: str, found: Iterable[str]) -> list[str]:
    """Return the slices in the order in which they are shown; unlisted ones come last."""
    known = _ORDERS.get(by, ())
    # Short names first, so that q10 stands behind q9.
    others = sorted(set(found) - {*known, UNKNOWN}, key=lambda name: (len(name), name))
    return [*known, *others, UNKNOWN]


def _by_size(parts: Mapping[str, SliceBattles]) -> list[str]:
    """Return topics, whose names say nothing of an order, the one with most battles first."""
    from videoautoarena.runs.analysis.categories.topics import OTHER

    ends = (OTHER, UNKNOWN)
    own = sorted(set(parts) - {*ends}, key=lambda name: (-len(parts[name].rows), name))
    return [*own, *ends]


def _languages(_run: RunReader) -> Known:
    return lambda battle: [asked_language(battle.language, battle.question)]


QUESTION_CATEGORY = "question-category"


def _by_question_category(run: RunReader) -> Known:
    """Return the slices of a battle: several categories, none of them, or not tagged."""
    from videoautoarena.runs.analysis.categories.tags import NONE, SHOWN, UNTAGGED, categories_of

    found = categories_of(run)
    if not found:
        raise BadInput(
            f"no question of {run.folder} is tagged; "
            f"first: {step('categories tag', str(run.folder))}"
        )

    def slices(battle: Battle) -> Iterable[str]:
        named = found.get(battle.id)
        return [UNTAGGED] if named is None else [SHOWN[name] for name in named] or [NONE]

    return slices


TOPIC = "topic"


def _by_topic(run: RunReader) -> Known:
    """Return the topic of a battle's question; calls no model."""
    from videoautoarena.runs.analysis.categories.tags import asked_of
    from videoautoarena.runs.analysis.categories.topics import topics_in

    found = topics_in(run)

    def slices(battle: Battle) -> Iterable[str]:
        if battle.question is None:
            return [UNKNOWN]
        return [found.get(asked_of(battle.video, battle.question).id, UNKNOWN)]

    return slices


_TRAITS_OF_RUNS: dict[str, Callable[[RunReader], Known]] = {
    "language": _languages,
    QUESTION_CATEGORY: _by_question_category,
    TOPIC: _by_topic,
}
"""The name of a trait to what reads it from a run; which raises BadInput where it is not there."""

NAMES = (*get_args(By), *_TRAITS_OF_RUNS)
"""All that any run can be sliced by."""
COLUMN = "column:"
"""Prefix of a column of the file of facts whose name is that of another trait."""
MOST_PARTS = 100
"""Values that a column may have to be sliced by; one with more describes single videos."""


def names_of(run: RunReader) -> tuple[str, ...]:
    """Return all that a run can be sliced by; its own columns last."""
    # A title is of one video alone, and parts nothing.
    columns = (name for name in run.known_facts.columns if name != "title")
    taken = (*NAMES, "pair")
    return (*NAMES, *(f"{COLUMN}{name}" if name in taken else name for name in columns))


def known_of(run: RunReader, by: str) -> Known | None:
    """Return what gives the slices of a battle by a trait; None for a trait of battles themselves.

    Raises WrongArgument for a trait that neither battles nor this run know.
    """
    if by == "persona":
        # Who brought no users need not read what reads a file of them.
        from videoautoarena.runs.run.inputs.users import slices_of

        return slices_of(run.store)
    if by in get_args(By):
        return None
    if by in _TRAITS_OF_RUNS:
        return _TRAITS_OF_RUNS[by](run)
    column = by.removeprefix(COLUMN)
    facts = run.known_facts
    if column not in facts.columns:
        there = safe(", ".join((*names_of(run), "pair")))
        raise WrongArgument(f"by cannot be {quoted(by)}; this run has {there}")
    cells = {video: facts.cell(video, column) for video in facts.videos}
    if len(set(cells.values())) > MOST_PARTS:
        raise WrongArgument(
            f"{quoted(column)} has {len(set(cells.values()))} different values; a column to slice "
            f"by has at most {MOST_PARTS}"
        )
    return lambda battle: [cells.get(battle.video) or UNKNOWN]
