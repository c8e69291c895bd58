"""The agreement of two leaderboards on a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.leaderboard.given_board import GivenBoard, read_board, read_renames
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.battle_table import quoted
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.text.words import core
from videoautoarena.scoring.agreement.rank_agreement import (
    LEAST_MODELS,
    Comparison,
    Correlation,
    compare_boards,
    find_turned,
)

Report = dict[str, Any]
_WORDS = (
    (1.0, "the same order"),
    (0.95, "nearly the same order"),
    (0.8, "much the same order"),
    (0.5, "alike in parts"),
)


def agree(first: Path, second: Path, *, rename: Path | None = None) -> Report:
    """Return how far the boards A and B agree about the models they share, as JSON-ready values.

    Args:
        first: A: the folder of a run, a leaderboard as JSON, or a table of models and ratings.
        second: B, likewise.
        rename: a file that says which name is to be read as which.

    Raises:
        BadInput: a file that is no board, or boards that share no model.
    """
    names = {} if rename is None else read_renames(rename)
    given = [read_board(place) for place in (first, second)]
    report = agree_boards(*(board.renamed(names) for board in given))
    return {**report, "warnings": [*report["warnings"], *_never_used(names, given)]}


def agree_boards(a: GivenBoard, b: GivenBoard) -> Report:
    """Return how far two boards agree about the models they share, as JSON-ready values.

    Raises:
        BadInput: they share no model.
    """
    shared = [name for name in a.entries if name in b.entries]
    if not shared:
        raise BadInput(
            f"{a.source} and {b.source} share no model: {_few(a)} here, {_few(b)} there; "
            "--rename FILE says which names are the same"
        )
    boards = a.of(shared), b.of(shared)
    only = [[name for name in one.entries if name not in two.entries] for one, two in _ways(a, b)]
    return {
        "schema": SCHEMA,
        "boards": [_about(board) for board in (a, b)],
        "models": _models(shared, a, b),
        "only_a": only[0],
        "only_b": only[1],
        "figures": [found.to_json() for found in _findings(compare_boards(*boards), len(shared))],
        "turned": [
            {"above_on_a": shared[i], "above_on_b": shared[j]} for i, j in find_turned(*boards)
        ],
        "warnings": [*_notes(a, b), *_unmatched(only)],
    }


def _ways(a: GivenBoard, b: GivenBoard) -> tuple[tuple[GivenBoard, GivenBoard], ...]:
    return (a, b), (b, a)


def _about(board: GivenBoard) -> dict[str, Any]:
    entries = board.entries.values()
    has_intervals = not any(math.isnan(entry.low) for entry in entries)
    return {"source": board.source, "models": len(entries), "intervals": has_intervals}


def _models(shared: Sequence[str], a: GivenBoard, b: GivenBoard) -> list[dict[str, Any]]:
    """The shared models in A's order, places counted among them."""
    places = [_places([board.entries[name].rating for name in shared]) for board in (a, b)]
    return [
        {
            "model": name,
            "place_a": places[0][k],
            "place_b": places[1][k],
            "rating_a": a.entries[name].rating,
            "rating_b": b.entries[name].rating,
        }
        for k, name in enumerate(shared)
    ]


def _places(ratings: Sequence[float]) -> list[int]:
    return [1 + sum(other > own for other in ratings) for own in ratings]


def _findings(found: Comparison, models: int) -> list[Finding]:
    return [*_order(found, models), *_intervals(found)]


def _order(found: Comparison, models: int) -> list[Finding]:
    orders = found.orders
    pairs = f"{orders.alike} of {counted(orders.alike + orders.turned, 'pair')}"
    level = f" ({orders.level} more are level on a board)" if orders.level else ""
    return [
        _correlation("spearman", found.spearman, models, "Rank correlation (Spearman)", _grade),
        _correlation(
            "kendall",
            found.kendall,
            models,
            "Kendall's tau-b",
            lambda _: f"{pairs} are ordered alike{level}",
        ),
        _correlation(
            "pearson",
            found.pearson,
            models,
            "Correlation of the ratings (Pearson)",
            lambda _: "1 means that gaps agree too, not only the order",
        ),
    ]


def _correlation(key: str, found: Correlation, models: int, what: str, meaning: Any) -> Finding:
    if models < LEAST_MODELS:
        told = f"{what}: {counted(models, 'shared model')} are too few to tell"
    elif math.isnan(found.value):
        told = f"{what}: a board rates all shared models the same, so there is no order to compare"
    else:
        told = f"{what} {found.value:.3f}{_between(found)}: {meaning(found.value)}"
    return Finding(f"agree.{key}", found.value, found.low, found.high, models, f"{told}.")


def _between(found: Correlation) -> str:
    if found.low <= -1 and found.high >= 1:
        return " (too few models for an interval)"
    return f" ({found.low:.3f} to {found.high:.3f})"


def _grade(value: float) -> str:
    if value < 0:
        return "rather the other way round"
    return next((words for least, words in _WORDS if value >= least), "hardly related")


def _intervals(found: Comparison) -> list[Finding]:
    apart, brier = found.apart, found.brier
    return [
        _share(
            "confidence",
            apart.agree,
            apart.both,
            f"Confidence agreement: of {counted(apart.both, 'pair')} whose intervals are apart on "
            f"both boards, {_percent(apart.agree)} are ordered alike",
            "Confidence agreement: no pair has intervals that are apart on both boards",
        ),
        _share(
            "arena_hard",
            apart.balance,
            apart.pairs,
            f"The same as arena-hard counts it, {apart.balance:.3f}: the mean over all "
            f"{counted(apart.pairs, 'pair')} of +1 (apart on both, alike), -1 (apart on both, "
            "turned) and 0",
            "As arena-hard counts it: nothing without intervals on both boards",
        ),
        *(_separability(name, share, apart.pairs) for name, share in _sides(found)),
        _share(
            "brier",
            brier.value,
            brier.pairs,
            f"Brier score {brier.value:.3f} of A's chances against B's order, over "
            f"{counted(brier.pairs, 'pair')}: 0 is best, 0.25 a coin",
            "Brier score: nothing without intervals on A and an order on B",
        ),
    ]


def _sides(found: Comparison) -> tuple[tuple[str, float], ...]:
    return ("A", found.apart.first), ("B", found.apart.second)


def _separability(name: str, share: float, pairs: int) -> Finding:
    return _share(
        f"separability_{name.lower()}",
        share,
        pairs,
        f"Separability of {name}: intervals part {_percent(share)} of {counted(pairs, 'pair')}",
        f"Separability of {name}: it gives no intervals",
    )


def _share(key: str, value: float, n: int, told: str, untold: str) -> Finding:
    sentence = untold if math.isnan(value) else told
    return Finding(f"agree.{key}", value, math.nan, math.nan, n, f"{sentence}.")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _notes(a: GivenBoard, b: GivenBoard) -> list[str]:
    return [f"{name}: {note}" for name, board in zip("AB", (a, b), strict=True)
            for note in board.notes]  # fmt: skip


def _unmatched(only: Sequence[Sequence[str]]) -> list[str]:
    """What names there are on one board alone, look-alikes first."""
    told, twins = [], {core(name): name for name in only[1]}
    for name in only[0]:
        if other := twins.get(core(name)):
            told.append(
                f"{quoted(name)} on A and {quoted(other)} on B look alike and are not taken for "
                "one; if they are, say so with --rename FILE"
            )
    for board, names in zip("AB", only, strict=True):
        if names:
            shown = ", ".join(quoted(name) for name in names[:5]) + ", ..." * (len(names) > 5)
            told.append(f"only on {board}, and left out: {shown}")
    return told


def _never_used(names: dict[str, str], boards: Sequence[GivenBoard]) -> list[str]:
    there = {name for board in boards for name in board.entries}
    return [f"--rename: no board has {quoted(name)}" for name in names if name not in there]


def _few(board: GivenBoard) -> str:
    names = list(board.entries)
    return ", ".join(quoted(name) for name in names[:3]) + ", ..." * (len(names) > 3)


MOST_TURNED = 5


def render(report: Report) -> RenderableType:
    """Return the shared models side by side, then what each figure says."""
    return Group(_heading(report), _grid(report), *map(Text, _sentences(report)))


def _heading(report: Report) -> Text:
    lines = [
        f"{name}: {safe(board['source'])}, {counted(board['models'], 'model')}"
        f"{'' if board['intervals'] else ', no intervals'}"
        for name, board in zip("AB", report["boards"], strict=True)
    ]
    return Text("\n".join([*lines, f"{counted(len(report['models']), 'model')} on both"]))


def _grid(report: Report) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for title in ("A", "B", "model", "rating A", "rating B"):
        grid.add_column(
            title,
            justify="left" if title == "model" else "right",
            no_wrap=title != "model",
            overflow="fold",
        )
    for row in report["models"]:
        grid.add_row(
            str(row["place_a"]),
            str(row["place_b"]),
            Text(safe(row["model"])),
            f"{row['rating_a']:.6g}",
            f"{row['rating_b']:.6g}",
        )
    return grid


def _sentences(report: Report) -> list[str]:
    told = ["", *(found["sentence"] for found in report["figures"])]
    if turned := report["turned"]:
        pairs = [
            f"{safe(pair['above_on_a'])} above {safe(pair['above_on_b'])}"
            for pair in turned[:MOST_TURNED]
        ]
        more = f", and {len(turned) - MOST_TURNED} more" if len(turned) > MOST_TURNED else ""
        told.append(f"A is sure, and B is sure of the opposite: {'; '.join(pairs)}{more}.")
    if any(found["low"] is not None for found in report["figures"]):
        told.append(
            "Intervals of correlations are for other models like these, at 95 %; how unsure the "
            "ratings themselves are is what confidence agreement looks at."
        )
    return [*told, *(f"note: {warning}" for warning in report["warnings"])]
