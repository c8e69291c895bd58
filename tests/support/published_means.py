"""Published tables of results by task, read, and their means computed again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

GENERATED = "*"
"""Stands behind the name of a column whose figures are scores of answers in words."""
CHOICE_MEAN = "M-Avg"
GENERATED_MEAN = "G-Avg"
_SLACK = 1e-9


class Row(NamedTuple):
    """A line of a table: its figures by column, and the means it prints."""

    name: str
    choice: tuple[float, ...]
    generated: tuple[float, ...]
    printed: dict[str, str]
    """By `CHOICE_MEAN` and `GENERATED_MEAN`, as they stand there."""


class Recomputed(NamedTuple):
    """A printed mean beside that of the figures it is said to be of."""

    name: str
    mean: str
    printed: float
    computed: float
    agrees: bool
    """Whether the computed one, rounded either way where it lies between, is the printed one."""


def read_table(text: str) -> tuple[Row, ...]:
    """Return the rows of a table of columns parted by tabs.

    Its first line has the names of columns, the first that of the rows. Columns other than those of
    figures by task are not named and passed over; so are lines of one cell, which are headings.

    Raises:
        ValueError: no column of a mean, or a row that lacks a figure or has one that is none.
    """
    lines = [line.split("\t") for line in text.splitlines() if line.strip()]
    head = [name.strip() for name in lines[0]] if lines else []
    if not {CHOICE_MEAN, GENERATED_MEAN} & set(head):
        raise ValueError(f"a table must have a column {CHOICE_MEAN} or {GENERATED_MEAN}")
    return tuple(_read_row(head, cells) for cells in lines[1:] if any(map(str.strip, cells[1:])))


def recompute(row: Row) -> tuple[Recomputed, ...]:
    """Return the means that a row prints, computed again from its figures."""
    parts = {CHOICE_MEAN: row.choice, GENERATED_MEAN: row.generated}
    return tuple(
        _hold(row.name, mean, row.printed[mean], figures)
        for mean, figures in parts.items()
        if mean in row.printed and figures
    )


def _read_row(head: list[str], cells: list[str]) -> Row:
    name = cells[0].strip()
    printed = dict[str, str]()
    if len(cells) != len(head):
        raise ValueError(f"{name}: {len(cells)} cells where there are {len(head)} columns")
    choice = list[float]()
    generated = list[float]()
    for column, cell in zip(head[1:], cells[1:], strict=True):
        if column in (CHOICE_MEAN, GENERATED_MEAN):
            printed[column] = cell.strip()
        elif column:
            (generated if column.endswith(GENERATED) else choice).append(_figure(name, cell))
    for cell in printed.values():
        _figure(name, cell)
    return Row(name, tuple(choice), tuple(generated), printed)


def _figure(name: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"{name}: {cell.strip()!r} is no figure") from None


def _hold(name: str, mean: str, printed: str, figures: tuple[float, ...]) -> Recomputed:
    computed = float(np.mean(figures))
    digits = len(printed.partition(".")[2])
    close = abs(computed - float(printed)) <= 0.5 * 10.0**-digits + _SLACK
    return Recomputed(name, mean, float(printed), computed, close)
