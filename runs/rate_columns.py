"""Columns of a file of battles, coded: each value once, and which row holds which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memory.errors import BadInput
from runs.console import safe
from scoring.cells import Floats, Ints


class Shaped(str):
    """What stood in a cell as a list, an object, true or false: text to tell it by, and no name."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A column."""

    values: Sequence[Any]
    """Distinct ones, in order of appearance; None stands for a gap."""
    codes: Ints
    """Shape (rows,), places in `values`."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """The columns of a file that matter, all equally long."""

    file: str
    row: str
    """What a row is called where people look for it, such as `line`."""
    first: int
    """Number of the first row."""
    columns: Mapping[str, Coded]
    names: Sequence[str]
    """Of all columns, also those that do not matter."""

    def refuse(self, row: int, why: str) -> BadInput:
        """Return the error that a row, counted from 0, is."""
        return BadInput(f"{self.file}, {self.row} {self.first + row}: {why}")

    def check(self, name: str, wrong: Mapping[int, str]) -> None:
        """Refuse the first row of a column whose value is wrong.

        Args:
            name: of the column.
            wrong: places in its values, and what is wrong with each.

        Raises:
            BadInput: there is one.
        """
        column = self.columns[name]
        found = np.isin(column.codes, list(wrong))
        if found.any():
            row = int(np.argmax(found))
            raise self.refuse(row, f"{name} {wrong[int(column.codes[row])]}")


class Coder:
    """Codes a column that comes in portions."""

    def __init__(self) -> None:
        self._place: dict[Any, int] = {}
        self._codes: list[Ints] = []

    def add(self, values: Sequence[Any]) -> None:
        """Take the next rows."""
        place = self._place
        for value in dict.fromkeys(values):
            place.setdefault(value, len(place))
        self._codes.append(np.fromiter(map(place.__getitem__, values), np.int64, len(values)))

    def done(self) -> Coded:
        """Return the whole column."""
        codes = np.concatenate(self._codes) if self._codes else np.empty(0, dtype=np.int64)
        return Coded(list(self._place), codes)


def quoted(value: Any) -> str:
    """Return a value for a message: short, on one line, and harmless to a terminal."""
    flat = safe(" ".join(str(value).split()))
    return f'"{flat if len(flat) <= _SHOWN else flat[: _SHOWN - 3] + "..."}"'


_SHOWN = 40


def read_numbers(sheet: Sheet, name: str) -> Floats:
    """Return a column as numbers.

    Raises:
        BadInput: a value that is no finite number.
    """
    column, wrong, numbers = sheet.columns[name], {}, []
    for k, value in enumerate(column.values):
        number = as_number(value)
        numbers.append(0.0 if number is None else number)
        if number is None:
            wrong[k] = "is missing" if is_gap(value) else f"is no number: {quoted(value)}"
    sheet.check(name, wrong)
    return np.array(numbers)[column.codes] if numbers else np.empty(0)


def as_number(value: Any) -> float | None:
    """Return what a cell says as a finite number; None if it says none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def is_gap(value: Any) -> bool:
    """Return whether a cell holds nothing, or what programs write for nothing."""
    if isinstance(value, float):
        return bool(np.isnan(value))
    return value is None or (isinstance(value, str) and value.strip().casefold() in _GAPS)


_GAPS = frozenset({"", "nan", "none", "null", "na", "n/a", "<na>"})


def merge(first: Coded, second: Coded) -> tuple[list[Any], Ints, Ints]:
    """Return the distinct values of two columns, and both coded by those."""
    values = list(dict.fromkeys([*first.values, *second.values]))
    place = {value: k for k, value in enumerate(values)}
    coded: Iterable[Ints] = (
        np.array([place[value] for value in column.values], dtype=np.int64)[column.codes]
        for column in (first, second)
    )
    one, two = coded
    return values, one, two
