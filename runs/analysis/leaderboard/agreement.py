"""How far two leaderboards agree about the models they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.analysis.leaderboard.given_board import (
    GivenBoard,
    read_board,
    read_renames,
)
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.words import core
from videoautoarena.runs.rating.finding import Finding, Told
from videoautoarena.scoring.agreement.rank_agreement import (
    LEAST_MODELS,
    BoardComparison,
    RankCorrelation,
    compare_boards,
    find_turned,
)

_WORDS = (
    (1.0, "the same order"),
    (0.95, "nearly the same order"),
    (0.8, "much the same order"),
    (0.5, "partly the same order"),
)


class Source(NamedTuple):
    """Where a board comes from."""

    source: str
    models: int
    intervals: bool
    """All of its models have one."""


class Shared(NamedTuple):
    """A model on both boards; places are counted among the shared ones."""

    model: str
    place_a: int
    place_b: int
    rating_a: float
    rating_b: float


class Turned(NamedTuple):
    """A pair whose intervals are apart on both boards, the other way round."""

    above_on_a: str
    above_on_b: str


@dataclass(frozen=True)
class Agreed:
    """How far two boards agree about the models they share."""

    boards: Sequence[Source]
    """Of A and B: `source`, how many `models`, whether all of them have `intervals`."""
    models: Sequence[Shared]
    """Those on both, in A's order: `model`, `place_a`, `place_b` among the shared ones, `rating_a`,
    `rating_b`."""
    only_a: Sequence[str]
    """Names on A alone."""
    only_b: Sequence[str]
    """Names on B alone."""
    figures: Sequence[Finding]
    """[Findings](#a-finding) on so many models or pairs; keys are `agree.spearman`, `kendall`,
    `pearson`, `confidence`, `arena_hard`, `separability_a`, `separability_b` and `brier`."""
    turned: Sequence[Turned]
    """Pairs both boards separate and order differently: `above_on_a`, `above_on_b`."""
    warnings: Sequence[str]
    """Sentences."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena agree --json` prints it."""
        return record_json(self)


def agree(
    first: Path,
    second: Path,
    *,
    rename: Path | None = None,
    read: Callable[[Path], GivenBoard] = read_board,
) -> Agreed:
    """Return how far the boards A and B agree about the models they share.

    Args:
        first: A: the folder of a run, a leaderboard as JSON, or a table of models and ratings.
        second: B, likewise.
        read: returns the board of either; another one may know more kinds.
        rename: a file that says which name is to be read as which.

    Raises:
        BadInput: a file that is no board, or boards that share no model.
    """
    names = {} if rename is None else read_renames(rename)
    given = [read(place) for place in (first, second)]
    report = agree_boards(*(board.renamed(names) for board in given))
    there = {name for board in given for name in board.entries}
    unused = [f"--rename: no board has {quoted(name)}" for name in names if name not in there]
    return replace(report, warnings=[*report.warnings, *unused])


def agree_boards(a: GivenBoard, b: GivenBoard) -> Agreed:
    """Return how far two boards agree about the models they share.

    Raises:
        BadInput: they share no model.
    """
    shared = [name for name in a.entries if name in b.entries]
    if not shared:
        raise BadInput(
            f"{a.source} and {b.source} share no model: {_named(list(a.entries), 3)} "
            f"here, {_named(list(b.entries), 3)} there; map names with --rename FILE"
        )
    boards = a.of(shared), b.of(shared)
    only_a = [name for name in a.entries if name not in b.entries]
    only_b = [name for name in b.entries if name not in a.entries]
    ratings = [[board.entries[name].rating for name in shared] for board in (a, b)]
    places = [[1 + sum(other > own for other in column) for own in column] for column in ratings]
    found = compare_boards(*boards)
    notes = [f"{name}: {note}" for name, board in (("A", a), ("B", b)) for note in board.notes]
    return Agreed(
        boards=[_source(board) for board in (a, b)],
        models=[Shared(*row) for row in zip(shared, *places, *ratings, strict=True)],
        only_a=only_a,
        only_b=only_b,
        figures=[*_order(found, len(shared)), *_intervals(found)],
        turned=[Turned(shared[i], shared[j]) for i, j in find_turned(*boards)],
        warnings=[*notes, *_unmatched(only_a, only_b)],
    )


def _source(board: GivenBoard) -> Source:
    entries = board.entries.values()
    has_intervals = not any(math.isnan(entry.low) for entry in entries)
    return Source(board.source, len(entries), has_intervals)


def _order(found: BoardComparison, models: int) -> list[Finding]:
    orders = found.orders
    level = " ({level} more are tied on a board)" if orders.level else ""
    meanings = {
        "spearman": ("Rank correlation (Spearman)", _grade(found.spearman.value)),
        "kendall": (
            "Kendall's tau-b",
            f"{{alike}} of {{pairs:pair}} are ordered the same way{level}",
        ),
        "pearson": ("Correlation of the ratings (Pearson)", "one means that the gaps agree, too"),
    }
    told = {"alike": orders.alike, "pairs": orders.alike + orders.turned, "level": orders.level}
    each: list[tuple[str, RankCorrelation, str, str]]
    each = [(key, getattr(found, key), *words) for key, words in meanings.items()]
    return [
        Finding(f"agree.{key}", *of[:3], models, _correlation(of, models, what, meaning), told=told)
        for key, of, what, meaning in each
    ]


def _correlation(found: RankCorrelation, models: int, what: str, meaning: str) -> str:
    if models < LEAST_MODELS:
        return f"{what}: {{n:shared model}} are too few."
    if math.isnan(found.value):
        return f"{what}: a board rates all shared models the same, so there is no order to compare."
    if found.low <= -1 and found.high >= 1:
        figure = "{figure:coefficient} (too few models for an interval)"
    else:
        figure = "{figure:coefficient_with_interval}"
    return f"{what} {figure}: {meaning}."


def _grade(value: float) -> str:
    if value < 0:
        return "mostly reversed"
    return next((words for least, words in _WORDS if value >= least), "hardly related")


def _intervals(found: BoardComparison) -> list[Finding]:
    apart = found.apart
    brier = found.brier
    separable = (
        "Separability of {board}: {figure:share} of {n:pair} have disjoint intervals",
        "Separability of {board}: it has no intervals",
    )
    return [
        _share(
            "confidence",
            *(apart.agree, apart.both),
            "Confidence agreement: of {n:pair} with disjoint intervals on both boards, "
            "{figure:share} are ordered the same way",
            "Confidence agreement: no pair has disjoint intervals on both boards",
        ),
        _share(
            "arena_hard",
            *(apart.balance, apart.pairs),
            "Confidence agreement as arena-hard defines it, {figure:coefficient}: the mean over "
            "all {n:pair} of plus one (disjoint on both, same order), minus one (disjoint on "
            "both, opposite order) and zero",
            "Confidence agreement as arena-hard defines it: needs intervals on both boards",
        ),
        _share("separability_a", apart.first, apart.pairs, *separable, board="A"),
        _share("separability_b", apart.second, apart.pairs, *separable, board="B"),
        _share(
            "brier",
            *(brier.value, brier.pairs),
            "Brier score {figure:coefficient} of A's probabilities against B's order, over "
            "{n:pair}: zero is best, {chance:coefficient} is chance",
            "Brier score: needs intervals on A and an order on B",
            chance=0.25,
        ),
    ]


def _share(key: str, value: float, n: int, known: str, unknown: str, **told: Told) -> Finding:
    words = unknown if math.isnan(value) else known
    return Finding(f"agree.{key}", value, math.nan, math.nan, n, f"{words}.", told=told)


def _unmatched(only_a: Sequence[str], only_b: Sequence[str]) -> list[str]:
    """Return what names there are on one board alone, look-alikes first."""
    twins = {core(name): name for name in only_b}
    found = [
        f"{quoted(name)} on A and {quoted(other)} on B look alike but are treated "
        "as different; if they are the same, map them with --rename FILE"
        for name in only_a
        if (other := twins.get(core(name)))
    ]
    for board, names in (("A", only_a), ("B", only_b)):
        if names:
            found.append(f"only on {board}, left out: {_named(names, 5)}")
    return found


def _named(names: Sequence[str], most: int) -> str:
    return ", ".join(quoted(name) for name in names[:most]) + ", ..." * (len(names) > most)
