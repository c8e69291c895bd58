"""How far two leaderboards agree about the models they share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.formats.battle_table import as_number, is_gap, quoted, read_sheet
from videoautoarena.runs.formats.files import unquote_formula
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.words import composed, core
from videoautoarena.runs.rating.finding import Finding, Told
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.scoring.agreement.rank_agreement import (
    LEAST_MODELS,
    RankCorrelation,
    RankedBoard,
    compare_boards,
    find_turned,
)

RATINGS = ("rating", "score", "average")
"""Columns that may hold the rating; the first that is there does."""
# Every model is compared with every other: four million pairs.
MOST_MODELS = 2000
MOST_BYTES = 64_000_000
_COLUMNS = frozenset({"model", "low", "high", "group", *RATINGS})
Row = Mapping[str, Any]


class BoardEntry(NamedTuple):
    """A model on a board."""

    rating: float
    low: float
    """NaN, like `high`, where the board gives no interval; infinite where it has no end."""
    high: float


@dataclass(frozen=True)
class GivenBoard:
    """The models of a board that have a rating on one scale, the best first."""

    source: str
    entries: Mapping[str, BoardEntry]
    better: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """How likely a model is better than another, where the board knows."""
    notes: Sequence[str] = ()
    """What a reader must know of it."""

    def renamed(self, names: Mapping[str, str]) -> GivenBoard:
        """Return the board with other names; unknown names are ignored.

        Raises:
            BadInput: two models would have one name.
        """
        names = {composed(old): composed(new) for old, new in names.items()}
        moved = [names.get(name, name) for name in self.entries]
        for name in moved:
            if moved.count(name) > 1:
                raise BadInput(f"{self.source}: --rename gives two models the name {quoted(name)}")
        return replace(
            self,
            entries=dict(zip(moved, self.entries.values(), strict=True)),
            better={
                names.get(name, name): {names.get(other, other): x for other, x in row.items()}
                for name, row in self.better.items()
            },
        )

    def of(self, names: Sequence[str]) -> RankedBoard:
        """Return what the board says of these models, which are all on it."""
        figures = np.array([self.entries[name] for name in names], dtype=np.float64)
        rating, low, high = figures.reshape(-1, 3).T
        better = None
        if all(name in self.better for name in names):
            better = np.array([[self.better[a].get(b, math.nan) for b in names] for a in names])
        return RankedBoard(rating, low, high, better)


def read_board(place: Path) -> GivenBoard:
    """Return the board of a run folder or a file.

    Raises:
        BadInput: neither a run nor a file that holds a board; rows are named.
    """
    if place.is_dir():
        from videoautoarena.runs.analysis.leaderboard.board import board_of
        from videoautoarena.runs.rating.method import RatingMethod

        # With chances of pairs, by which A is scored against the order of B.
        return _of_table(str(place), board_of(place, RatingMethod(pairs=True)).to_json())
    if place.suffix.lower() != ".json":
        # In a file of others a missing bound is unknown; in our own it has no end.
        return _of_rows(str(place), _rows(place), unknown=math.nan)
    found = read_json(place)
    if isinstance(found, dict) and "slices" in found:
        raise BadInput(f"{place} holds a leaderboard for each slice; pass one of a whole run")
    if isinstance(found, dict) and isinstance(found.get("settings"), dict):
        return _of_table(str(place), found)
    rows = found.get("models") if isinstance(found, dict) else found
    return _of_rows(str(place), _objects(str(place), rows), unknown=math.nan)


def board_of_rows(source: str, rows: Sequence[Row]) -> GivenBoard:
    """Return the board of models with a score and its bounds, which may be None."""
    return _of_rows(source, rows, unknown=math.inf)


def read_renames(file: Path) -> dict[str, str]:
    """Return new names by old ones, from a JSON object or a table with columns from and to.

    Raises:
        BadInput: no such file, something else in it, or a row without a new name.
    """
    if file.suffix.lower() == ".json":
        found = read_json(file)
        if not isinstance(found, dict) or not all(isinstance(to, str) for to in found.values()):
            raise BadInput(f'{file} is no JSON object of names, like {{"old": "new"}}')
        for old, new in found.items():
            if not new.strip():
                raise BadInput(f"{file}: {quoted(old)} gets no name; write one, or leave it out")
        return found
    sheet = read_sheet(file, lambda name: name in ("from", "to"))
    if set(sheet.columns) != {"from", "to"}:
        raise BadInput(f"{file} needs the columns from and to")
    new_names = sheet.columns["to"].values
    gaps = [code for code, name in enumerate(new_names) if is_gap(name)]
    sheet.check("to", dict.fromkeys(gaps, "holds no name; write one, or leave out the row"))
    old, new = (
        [str(sheet.columns[name].values[code]).strip() for code in sheet.columns[name].codes]
        for name in ("from", "to")
    )
    return dict(zip(old, new, strict=True))


def read_json(file: Path) -> Any:
    """Return what a JSON file holds.

    Raises:
        BadInput: no such file, too large, no text, or no JSON.
    """
    if not file.is_file():
        raise BadInput(f"{file} is neither a run folder nor a file")
    if file.stat().st_size > MOST_BYTES:
        raise BadInput(
            f"{file} is larger than {MOST_BYTES // 1000000} MB, too large for a leaderboard"
        )
    try:
        # Windows editors begin a file with a byte order mark, which `json` refuses.
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise BadInput(f"{file} is not UTF-8 text; save it as UTF-8") from None
    # Brackets that are nested deep enough exhaust the recursion limit of `json`.
    except (ValueError, RecursionError):
        raise BadInput(f"{file} is no JSON; pass what --json printed, or a CSV") from None


def _rows(file: Path) -> list[Row]:
    if not file.is_file():
        raise BadInput(f"{file} is neither a run folder nor a file")
    sheet = read_sheet(file, lambda name: name in _COLUMNS)
    if "model" not in sheet.columns:
        there = ", ".join(quoted(name) for name in sheet.names[:8]) or "none"
        raise BadInput(f"{file} has no column model; it has {there}")
    columns = [[column.values[k] for k in column.codes] for column in sheet.columns.values()]
    rows = [dict(zip(sheet.columns, row, strict=True)) for row in zip(*columns, strict=True)]
    if file.suffix.lower() == ".csv":
        # Our own CSV puts a quote before a name that a spreadsheet would run as a formula.
        rows = [row | {"model": unquote_formula(str(row["model"]))} for row in rows]
    # Of our own CSV: models of other groups have scales of their own.
    return [row for row in rows if as_number(row.get("group", 1)) in (1, None)]


def _objects(source: str, rows: Any) -> list[Row]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"{source} holds no list of models with model and rating")
    return rows


def _of_table(source: str, table: Row) -> GivenBoard:
    """Return a board of our own, in which null means that an interval has no end."""
    rows = _objects(source, table.get("models"))
    groups = table.get("components")
    board = _of_rows(source, rows, unknown=math.inf)
    kept = dict(board.entries)
    notes = list(board.notes)
    if isinstance(groups, list) and len(groups) > 1:
        first = groups[0] if isinstance(groups[0], list) else []
        home = {composed(name) for name in first if isinstance(name, str)}
        kept = {name: entry for name, entry in kept.items() if name in home}
        others = len(board.entries) - len(kept)
        notes.append(f"left out, not connected to the others: {counted(others, 'model')}")
    if not kept:
        raise BadInput(f"{source} holds no model with a rating in its first component")
    return GivenBoard(source, kept, _better(table.get("pairs")), notes)


def _better(pairs: Any) -> dict[str, dict[str, float]]:
    """Return chances by names; none where they are not as `--pairs` writes them."""
    try:
        names = [composed(name) for name in pairs["models"]]
        matrix = pairs["better"]
        return {
            name: {
                other: float(chance)
                for other, chance in zip(names, row, strict=True)
                if chance is not None and 0.0 <= float(chance) <= 1.0
            }
            for name, row in zip(names, matrix, strict=True)
        }
    except (TypeError, KeyError, ValueError, OverflowError):
        return {}


def _of_rows(source: str, rows: Sequence[Row], *, unknown: float) -> GivenBoard:
    if len(rows) > MOST_MODELS:
        raise BadInput(f"{source} names {len(rows)} models; the limit is {MOST_MODELS}")
    column = next((name for name in RATINGS if any(name in row for row in rows)), None)
    if rows and column is None:
        raise BadInput(f"{source} has no column rating (score and average do as well)")
    entries = dict[str, BoardEntry]()
    unrated = 0
    for number, row in enumerate(rows, 1):
        where = f"{source}, model {number}"
        name = row.get("model")
        if is_gap(name):
            raise BadInput(f"{where}: the name is missing")
        if not isinstance(name, str):
            raise BadInput(f"{where}: is no name: {quoted(name)}")
        name = composed(name.strip())
        if name in entries:
            raise BadInput(f"{where}: {quoted(name)} appears twice")
        if is_gap(row.get(column or "")):
            unrated += 1
            continue
        entries[name] = _entry(f"{where} ({quoted(name)})", row, column or "", unknown=unknown)
    if not entries:
        raise BadInput(f"{source} holds no model with a rating")
    notes = [f"left out, without a rating: {counted(unrated, 'model')}"] if unrated else []
    bare = [name for name, entry in entries.items() if math.isnan(entry.low)]
    # Where some have an interval, that of the others has no end.
    if 0 < len(bare) < len(entries):
        entries |= {name: BoardEntry(entries[name].rating, -math.inf, math.inf) for name in bare}
        without = counted(len(bare), "model")
        notes.append(f"without an interval, so never counted as separated: {without}")
    order = sorted(entries, key=lambda name: -entries[name].rating)
    return GivenBoard(source, {name: entries[name] for name in order}, notes=notes)


def _entry(where: str, row: Row, column: str, *, unknown: float) -> BoardEntry:
    rating = as_number(row[column])
    if rating is None:
        raise BadInput(f"{where}: {column} is no number: {quoted(row[column])}")
    low, high = (_bound(where, row, name, unknown=unknown) for name in ("low", "high"))
    if math.isnan(low) != math.isnan(high):
        raise BadInput(f"{where}: low and high belong together; one is missing")
    if low > rating or high < rating:
        raise BadInput(
            f"{where}: {low:g} to {high:g} does not contain its {column} {rating:g}; "
            "low and high are ratings, not distances"
        )
    return BoardEntry(rating, low, high)


def _bound(where: str, row: Row, name: str, *, unknown: float) -> float:
    value = row.get(name)
    if is_gap(value):
        return -unknown if name == "low" else unknown
    # `as_number` takes finite numbers alone.
    endless = str(value).strip().casefold().lstrip("+-") in ("inf", "infinity")
    number = float(str(value)) if endless else as_number(value)
    if number is None:
        raise BadInput(f"{where}: {name} is no number: {quoted(value)}")
    return number


_WORDS = (
    (1.0, "the same order"),
    (0.95, "nearly the same order"),
    (0.8, "much the same order"),
    (0.5, "partly the same order"),
)


class BoardSource(NamedTuple):
    """Where a board comes from."""

    source: str
    models: int
    intervals: bool
    """Whether all of its models have one."""


class SharedModel(NamedTuple):
    """A model on both boards; places are counted among the shared ones."""

    model: str
    place_a: int
    place_b: int
    rating_a: float
    rating_b: float


class TurnedPair(NamedTuple):
    """A pair whose intervals are apart on both boards, the other way round."""

    above_on_a: str
    above_on_b: str


@dataclass(frozen=True)
class BoardAgreement:
    """How far two boards agree about the models they share."""

    boards: Sequence[BoardSource]
    """For A and B: `source`, how many `models`, whether all of them have `intervals`."""
    models: Sequence[SharedModel]
    """Models on both, in A's order: `model`, `place_a`, `place_b` among the shared ones,
    `rating_a`, `rating_b`."""
    only_a: Sequence[str]
    """Names on A alone."""
    only_b: Sequence[str]
    """Names on B alone."""
    figures: Sequence[Finding]
    """[Findings](#a-finding), with `n` models or pairs; keys are `agree.spearman`, `kendall`,
    `pearson`, `confidence`, `arena_hard`, `separability_a`, `separability_b` and `brier`."""
    turned: Sequence[TurnedPair]
    """Pairs both boards separate and order differently: `above_on_a`, `above_on_b`."""
    warnings: Sequence[str]
    """Sentences."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena leaderboard A --against B --json` prints it."""
        return record_json(self)


def agree(
    first: Path,
    second: Path,
    *,
    rename: Path | None = None,
    read: Callable[[Path], GivenBoard] = read_board,
) -> BoardAgreement:
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


def agree_boards(a: GivenBoard, b: GivenBoard) -> BoardAgreement:
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
    # Equal ratings share a place.
    places = [[1 + sum(other > own for other in column) for own in column] for column in ratings]
    found = compare_boards(*boards)
    notes = [f"{name}: {note}" for name, board in (("A", a), ("B", b)) for note in board.notes]
    models = len(shared)
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
    apart = found.apart
    brier = found.brier
    separable = (
        "Separability of {board}: {figure:share} of {n:pair} have disjoint intervals",
        "Separability of {board}: it has no intervals",
    )
    return BoardAgreement(
        boards=[_source(board) for board in (a, b)],
        models=[SharedModel(*row) for row in zip(shared, *places, *ratings, strict=True)],
        only_a=only_a,
        only_b=only_b,
        figures=[
            *[
                Finding(
                    f"agree.{key}",
                    *of[:3],
                    models,
                    _correlation(of, models, what, meaning),
                    told=told,
                )
                for key, of, what, meaning in each
            ],
            *[
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
                    "Confidence agreement as arena-hard defines it, {figure:coefficient}: the mean "
                    "over all {n:pair} of plus one (disjoint on both, same order), minus one "
                    "(disjoint on both, opposite order) and zero",
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
                    # What even chances for every pair would score.
                    chance=0.25,
                ),
            ],
        ],
        turned=[TurnedPair(shared[i], shared[j]) for i, j in find_turned(*boards)],
        warnings=[*notes, *_unmatched(only_a, only_b)],
    )


def _source(board: GivenBoard) -> BoardSource:
    entries = board.entries.values()
    has_intervals = not any(math.isnan(entry.low) for entry in entries)
    return BoardSource(board.source, len(entries), has_intervals)


def _correlation(found: RankCorrelation, models: int, what: str, meaning: str) -> str:
    if models < LEAST_MODELS:
        return f"{what}: {{n:shared model}} are too few."
    if math.isnan(found.value):
        return f"{what}: a board rates all shared models the same, so there is no order to compare."
    # An interval from -1 to 1 rules nothing out.
    if found.low <= -1 and found.high >= 1:
        figure = "{figure:coefficient} (too few models for an interval)"
    else:
        figure = "{figure:coefficient_with_interval}"
    return f"{what} {figure}: {meaning}."


def _grade(value: float) -> str:
    if value < 0:
        return "mostly reversed"
    return next((words for least, words in _WORDS if value >= least), "hardly related")


def _share(key: str, value: float, n: int, known: str, unknown: str, **told: Told) -> Finding:
    words = unknown if math.isnan(value) else known
    return Finding(f"agree.{key}", value, math.nan, math.nan, n, f"{words}.", told=told)


def _unmatched(only_a: Sequence[str], only_b: Sequence[str]) -> list[str]:
    """Return notes on names that are on one board alone, look-alikes first."""
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
