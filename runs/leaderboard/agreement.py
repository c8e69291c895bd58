"""How far two leaderboards agree about the models they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.leaderboard.given_board import GivenBoard, read_board, read_renames
from videoautoarena.runs.rating.finding import Finding, fields_json
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.battle_table import quoted
from videoautoarena.runs.text.words import core
from videoautoarena.scoring.agreement.rank_agreement import (
    LEAST_MODELS,
    Comparison,
    Correlation,
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
    models: Sequence[Shared]
    """In A's order."""
    only_a: Sequence[str]
    only_b: Sequence[str]
    figures: Sequence[Finding]
    turned: Sequence[Turned]
    warnings: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena agree --json` prints it."""
        return {"schema": SCHEMA, **fields_json(self)}


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


def _order(found: Comparison, models: int) -> list[Finding]:
    orders = found.orders
    pairs = f"{orders.alike} of {counted(orders.alike + orders.turned, 'pair')}"
    level = f" ({orders.level} more are tied on a board)" if orders.level else ""
    kendall = f"{pairs} are ordered the same way{level}"
    pearson = "1 means that the gaps agree, too"
    meanings: dict[str, tuple[str, Callable[[float], str]]] = {
        "spearman": ("Rank correlation (Spearman)", _grade),
        "kendall": ("Kendall's tau-b", lambda _: kendall),
        "pearson": ("Correlation of the ratings (Pearson)", lambda _: pearson),
    }
    return [
        _correlation(key, getattr(found, key), models, what, meaning)
        for key, (what, meaning) in meanings.items()
    ]


def _correlation(
    key: str, found: Correlation, models: int, what: str, meaning: Callable[[float], str]
) -> Finding:
    if models < LEAST_MODELS:
        sentence = f"{what}: {counted(models, 'shared model')} are too few."
    elif math.isnan(found.value):
        why = "a board rates all shared models the same, so there is no order to compare"
        sentence = f"{what}: {why}."
    else:
        span = f"{found.low:.3f} to {found.high:.3f}"
        if found.low <= -1 and found.high >= 1:
            span = "too few models for an interval"
        sentence = f"{what} {found.value:.3f} ({span}): {meaning(found.value)}."
    return Finding(f"agree.{key}", *found, models, sentence)


def _grade(value: float) -> str:
    if value < 0:
        return "mostly reversed"
    return next((words for least, words in _WORDS if value >= least), "hardly related")


def _intervals(found: Comparison) -> list[Finding]:
    apart, brier = found.apart, found.brier
    sides = (("A", apart.first), ("B", apart.second))
    return [
        _share(
            "confidence",
            apart.agree,
            apart.both,
            f"Confidence agreement: of {counted(apart.both, 'pair')} with disjoint "
            f"intervals on both boards, {_percent(apart.agree)} are ordered the same "
            "way",
            "Confidence agreement: no pair has disjoint intervals on both boards",
        ),
        _share(
            "arena_hard",
            apart.balance,
            apart.pairs,
            f"Confidence agreement as arena-hard defines it, {apart.balance:.3f}: the "
            f"mean over all {counted(apart.pairs, 'pair')} of +1 (disjoint on both, "
            "same order), -1 (disjoint on both, opposite order) and 0",
            "Confidence agreement as arena-hard defines it: needs intervals on both boards",
        ),
        *(
            _share(
                f"separability_{name.lower()}",
                share,
                apart.pairs,
                f"Separability of {name}: {_percent(share)} of "
                f"{counted(apart.pairs, 'pair')} have disjoint intervals",
                f"Separability of {name}: it has no intervals",
            )
            for name, share in sides
        ),
        _share(
            "brier",
            brier.value,
            brier.pairs,
            f"Brier score {brier.value:.3f} of A's probabilities against B's order, "
            f"over {counted(brier.pairs, 'pair')}: 0 is best, 0.25 is chance",
            "Brier score: needs intervals on A and an order on B",
        ),
    ]


def _share(key: str, value: float, n: int, known: str, unknown: str) -> Finding:
    sentence = unknown if math.isnan(value) else known
    return Finding(f"agree.{key}", value, math.nan, math.nan, n, f"{sentence}.")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


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
