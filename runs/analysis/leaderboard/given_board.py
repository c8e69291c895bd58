"""A leaderboard from wherever somebody has one: a run, what `--json` printed, or a table."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.formats.battle_table import as_number, is_gap, quoted, read_sheet
from videoautoarena.runs.formats.files import unquote_formula
from videoautoarena.runs.formats.words import composed
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.scoring.agreement.rank_agreement import RankedBoard

RATINGS = ("rating", "score", "average")
"""Columns that may hold the rating; the first that is there does."""
MOST_MODELS = 2000
MOST_BYTES = 64_000_000
_COLUMNS = frozenset({"model", "low", "high", "group", *RATINGS})
Row = Mapping[str, Any]


class Entry(NamedTuple):
    """A model on a board."""

    rating: float
    low: float
    """NaN, as `high`, where the board gives no interval; infinite where it has no end."""
    high: float


@dataclass(frozen=True)
class GivenBoard:
    """The models of a board that have a rating on one scale, the best first."""

    source: str
    entries: Mapping[str, Entry]
    better: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """How likely a model is better than another, where the board knows."""
    notes: Sequence[str] = ()
    """What a reader must know of it."""

    def renamed(self, names: Mapping[str, str]) -> GivenBoard:
        """Return it with other names; a name that is not there changes nothing.

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
        """Return what it says of these models, all of them on it."""
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

        return _of_table(str(place), board_of(place, RatingMethod(pairs=True)).to_json())
    if place.suffix.lower() != ".json":
        return _of_rows(str(place), _rows(place), unknown=math.nan)
    found = read_json(place)
    if isinstance(found, dict) and "slices" in found:
        raise BadInput(f"{place} holds a leaderboard for each slice; pass one of a whole run")
    if isinstance(found, dict) and isinstance(found.get("settings"), dict):
        return _of_table(str(place), found)
    rows = found.get("models") if isinstance(found, dict) else found
    return _of_rows(str(place), _objects(str(place), rows), unknown=math.nan)


def board_of_rows(source: str, rows: Sequence[Row]) -> GivenBoard:
    """Return the board of models with a score and its bounds, None where there is none."""
    return _of_rows(source, rows, unknown=math.inf)


def read_renames(file: Path) -> dict[str, str]:
    """Return which name stands for which: a JSON object, or a table with columns from and to.

    Raises:
        BadInput: no such file, or something else in it.
    """
    if file.suffix.lower() == ".json":
        found = read_json(file)
        if not isinstance(found, dict) or not all(isinstance(to, str) for to in found.values()):
            raise BadInput(f'{file} is no JSON object of names, like {{"old": "new"}}')
        return found
    sheet = read_sheet(file, lambda name: name in ("from", "to"))
    if set(sheet.columns) != {"from", "to"}:
        raise BadInput(f"{file} needs the columns from and to")
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
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise BadInput(f"{file} is not UTF-8 text; save it as UTF-8") from None
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
        rows = [row | {"model": unquote_formula(str(row["model"]))} for row in rows]
    # Of our own CSV: models of other groups have scales of their own.
    return [row for row in rows if as_number(row.get("group", 1)) in (1, None)]


def _objects(source: str, rows: Any) -> list[Row]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"{source} holds no list of models with model and rating")
    return rows


def _of_table(source: str, table: Row) -> GivenBoard:
    """A board of our own: null means that an interval has no end."""
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
    """Chances by names; nothing where they are not as `--pairs` writes them."""
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
    entries = dict[str, Entry]()
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
        entries |= {name: Entry(entries[name].rating, -math.inf, math.inf) for name in bare}
        without = counted(len(bare), "model")
        notes.append(f"without an interval, so never counted as separated: {without}")
    order = sorted(entries, key=lambda name: -entries[name].rating)
    return GivenBoard(source, {name: entries[name] for name in order}, notes=notes)


def _entry(where: str, row: Row, column: str, *, unknown: float) -> Entry:
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
    return Entry(rating, low, high)


def _bound(where: str, row: Row, name: str, *, unknown: float) -> float:
    value = row.get(name)
    if is_gap(value):
        return -unknown if name == "low" else unknown
    endless = str(value).strip().casefold().lstrip("+-") in ("inf", "infinity")
    number = float(str(value)) if endless else as_number(value)
    if number is None:
        raise BadInput(f"{where}: {name} is no number: {quoted(value)}")
    return number
