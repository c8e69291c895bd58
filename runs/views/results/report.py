"""A report as data: tables, and sentences that repeat figures of them.

A sentence holds no figure of its own. It quotes a cell, or the difference or sum of two, and what
it prints is what the table prints: the two cannot come apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.terminal_text import Axis
from videoautoarena.runs.formats.words import FORMATS, NOTHING, FigureFormat, Kind, is_nothing

Row = Mapping[str, Any]
"""The fields of a row by their keys, as JSON has them."""
Look = Literal["rows", "ladder", "heat", "curves", "facts", "folded"]
"""How a page draws a table.

- rows: as a table; an interval stands below its figure
- ladder: a bar of the first figure a row on one axis; a field `mark` is marked on it
- heat: cells the darker the higher; the last rows are over all others
- curves: a line a model, over the second column; fields `mark` and `is_ringed` are drawn too
- facts: a name and a text a row
- folded: as rows that open when they are asked for
"""


@dataclass(frozen=True)
class Column:
    """One figure of every row."""

    key: str
    title: str
    kind: Kind = "text"
    of: tuple[str, ...] = ()
    """The fields that make the figure; empty: the one that is called like the column."""
    spare: int = 0
    """On a narrow terminal columns are dropped by this number, 1 first; those with 0 stay."""
    is_detail: bool = False
    """Shown only where details are asked for; on a terminal in a table of its own."""
    about: str = ""
    """Text that a page shows below the head, such as the number of items behind the column."""
    is_aside: bool = False
    """A page sets it apart from the others: it covers them all, or is no part of their mean."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that make the figure."""
        return self.of or (self.key,)

    @property
    def format(self) -> FigureFormat:
        """How the figure is written."""
        return FORMATS[self.kind]

    @property
    def head(self) -> str:
        """The title with the unit."""
        return f"{self.title} {self.format.unit}".rstrip()


MODEL = Column("model", "model", "name")
"""The column with the names of models, which a page makes links."""


@dataclass(frozen=True)
class Table:
    """Rows of figures, as many ways as there are of showing them."""

    name: str
    """Name by which sentences and LaTeX refer to it."""
    caption: str
    """What it shows, in a few words."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    fields: tuple[str, ...] = ()
    """Fields that CSV and DataFrames hold, in their order; empty: those of the columns."""
    starts: frozenset[int] = frozenset()
    """Rows with a line above them."""
    feet: Mapping[int, Kind] = field(default_factory=dict)
    """Kinds of the figures in rows at the foot, by row; each figure stands in the first field."""
    axis: Axis | None = None
    """Scale of its bars."""
    wraps: bool = False
    """Columns without room on a terminal go into a further table below; none is dropped."""
    is_detail: bool = False
    """Shown only where details are asked for."""
    is_spoken: bool = False
    """Its figures stand in sentences, so it is not shown as a table."""
    is_list: bool = False
    """It has one column without a title, below the caption."""
    look: Look = "rows"
    """How a page draws it."""

    def column(self, key: str) -> Column:
        """Return the column of a key."""
        return next(column for column in self.columns if column.key == key)

    def format(self, row: int, column: Column) -> FigureFormat:
        """Return how a cell is written."""
        return FORMATS[self.feet[row]] if self._is_at_foot(row, column) else column.format

    def values(self, row: int, column: Column) -> list[Any]:
        """Return the fields that make the figure of a cell."""
        fields = column.fields[:1] if self._is_at_foot(row, column) else column.fields
        values: list[Any] = [self.rows[row].get(of) for of in fields]
        return [one for value in values for one in (value[:3] if is_whole(value) else [value])]

    def cell(self, row: int, column: Column) -> str:
        """Return the text of a cell; names in it are not made safe."""
        return self.format(row, column).cell(self.values(row, column))

    def _is_at_foot(self, row: int, column: Column) -> bool:
        return row in self.feet and column is not self.columns[0]

    def quote(self, row: int | str, key: str) -> Quote:
        """Return a cell to stand in a sentence; a row by its place, or by its first column."""
        if isinstance(row, str):
            (first, *_) = self.columns
            row = next(k for k, one in enumerate(self.rows) if one[first.key] == row)
        return Quote(self, row, self.column(key))

    def quotes(self, row: int | str = 0) -> dict[str, Quote]:
        """Return the cells of a row by the keys of their columns."""
        return {column.key: self.quote(row, column.key) for column in self.columns}

    @property
    def data_fields(self) -> tuple[str, ...]:
        """The fields of a row that data forms hold."""
        own = (of for column in self.columns for of in column.fields)
        return self.fields or tuple(dict.fromkeys(own))


def spoken_table(
    name: str, rows: Iterable[Row], **kinds: Kind | tuple[Kind, tuple[str, ...]]
) -> Table:
    """Return a table whose figures stand in sentences alone.

    `kinds` are its columns by their keys: the kind of each and, if several fields of a row make a
    figure, these fields.
    """
    columns = tuple(
        Column(key, key, kind) if isinstance(kind, str) else Column(key, key, *kind)
        for key, kind in kinds.items()
    )
    return Table(name, name, columns, tuple(rows), is_spoken=True)


def tally_table(
    fields: Row, name: str = "counted", **kinds: Kind | tuple[Kind, tuple[str, ...]]
) -> Table:
    """Return counts for sentences as a table of one row; `kinds` are those of other columns."""
    counts: dict[str, Kind] = dict.fromkeys(fields, "count")
    return spoken_table(name, [fields], **{**counts, **kinds})


@dataclass(frozen=True)
class Quote:
    """A figure of a table, repeated in a sentence."""

    table: Table
    row: int
    column: Column

    @property
    def value(self) -> Any:
        """The figure itself, or the first of several that make it."""
        return self.table.values(self.row, self.column)[0]

    @property
    def text(self) -> str:
        """The figure as the table writes it, with its unit."""
        fields = self.table.values(self.row, self.column)
        return self.table.format(self.row, self.column).said(fields)

    @property
    def seen(self) -> Decimal:
        """The number that a reader of the table sees."""
        digits = self.table.format(self.row, self.column).digits
        if digits is None:
            raise ValueError(f"{self.column.key} is made of several figures; quote one number")
        return digits.rounded(self.value)

    @property
    def is_nothing(self) -> bool:
        """Whether the figure is missing or zero."""
        return is_nothing(self.value) or self.value == 0 or self.text == NOTHING

    @property
    def is_one(self) -> bool:
        """Whether it counts a single thing."""
        # Videos are counted group by group, as a list even where there is one group.
        return self.value in (1, [1])

    @property
    def cells(self) -> tuple[Quote, ...]:
        """The cells that it repeats."""
        return (self,)


@dataclass(frozen=True)
class QuoteDifference:
    """The difference of two figures of one kind, as a reader would subtract them."""

    of: Quote
    less: Quote

    @property
    def text(self) -> str:
        """The difference as their columns write it; between percentages it has no percent sign."""
        seen = self.of.seen - self.less.seen
        form = self.of.table.format(self.of.row, self.of.column)
        assert form.digits is not None, "what is seen as one number has digits"
        written = form.digits.written(seen)
        return f"{written} {form.unit}".rstrip().removesuffix(" %")

    @property
    def cells(self) -> tuple[Quote, ...]:
        """The cells that it follows from."""
        return (self.of, self.less)


def is_whole(value: Any) -> bool:
    """Return whether a field holds a figure with its interval: value, low, high, n."""
    return isinstance(value, tuple) and hasattr(value, "low")


@dataclass(frozen=True)
class ModelName:
    """The name of a model, which a page makes a link."""

    name: str

    @property
    def text(self) -> str:
        """The name, safe for a terminal."""
        return safe(self.name)


@dataclass(frozen=True)
class Verbatim:
    """Text that is no result: a threshold, a level, a name, somebody else's sentence."""

    words: str

    @property
    def text(self) -> str:
        """The words, safe for a terminal."""
        return safe(self.words)


Part = str | ModelName | Verbatim | Quote | QuoteDifference
Role = Literal["said", "counted", "alarm", "note", "more", "detail", "page"]
"""When a sentence is said.

- said: always
- counted: always, but an alarm takes its place where only a few lines are asked for
- alarm: the first one always, the others where all notes are asked for
- note: where all notes are asked for, or where it is needed; it is marked as one
- more: where all notes are asked for
- detail: where details are asked for
- page: on a page alone, which has a place for it
"""
BOUNDS = ("_low", "_high")
"""Endings of the fields with the bounds of an interval, behind the name of the figure."""
_DIGIT = re.compile(r"\d")
# `{name}`, `{name:noun}` or `{name|one|many}`; what stands in brackets may be left out.
_PLACE = re.compile(r"\{(\w+)(?::([a-z ]+)|\|([^|}]*)\|([^}]*))?\}")
_GROUP = re.compile(r"\[([^]]*)\]")


@dataclass(frozen=True)
class Sentence:
    """Words, names and quoted figures."""

    parts: tuple[Part, ...]
    key: str = ""
    """Key by which a page finds it."""
    role: Role = "said"
    is_needed: bool = False
    """A note without which a table would mislead."""

    def __post_init__(self) -> None:
        for part in self.parts:
            # A figure typed into words could differ from the table's, so that it is a bug in any
            # sentence.
            if isinstance(part, str) and _DIGIT.search(part):
                raise ValueError(f"a sentence quotes its figures from a table: {part!r}")

    @property
    def text(self) -> str:
        """The sentence, safe for a terminal."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def to_json(self) -> list[str | dict[str, Any]]:
        """Return its parts as a page reads them: words, names of models, figures with cells."""
        return [_part_json(part) for part in self.parts]


def _part_json(part: Part) -> str | dict[str, Any]:
    if isinstance(part, str | Verbatim):
        return part if isinstance(part, str) else part.text
    if isinstance(part, ModelName):
        return {"model": part.name}
    cells = [[one.table.name, one.row, one.column.key] for one in part.cells]
    return {"figure": part.text, "cells": cells}


def sentence(
    template: str,
    quotes: Mapping[str, Quote] | None = None,
    *,
    key: str = "",
    role: Role = "said",
    is_needed: bool = False,
    **parts: Part | Iterable[Part],
) -> Sentence:
    """Return the sentence of a template, with parts or quotes in the place of their `{names}`.

    A quoted count takes a noun: `{battles:battle}` stands for `1 battle` or `2 battles`, and
    `{battles|was|were}` for `was` with one battle, else `were`. `[ on {videos:video}]` is left out
    if one of its figures is zero or missing, or one of its parts is empty.

    Raises:
        ValueError: the template, or words among the parts, hold a figure.
    """
    given: dict[str, Part | Iterable[Part]] = {**(quotes or {}), **parts}
    found: list[Part] = []
    # Split by a pattern with one group, so that every second part stood in brackets.
    for k, words in enumerate(_GROUP.split(template)):
        is_optional = k % 2 == 1
        if not is_optional or all(_is_something(given[of[1]]) for of in _PLACE.finditer(words)):
            found += _filled(words, given)
    kept = tuple(part for part in found if part != "")
    return Sentence(kept, key=key, role=role, is_needed=is_needed)


def _is_something(part: Part | Iterable[Part]) -> bool:
    return not part.is_nothing if isinstance(part, Quote) else bool(part)


def _filled(words: str, given: Mapping[str, Part | Iterable[Part]]) -> Iterator[Part]:
    """Yield words with parts in the place of their `{names}`."""
    end = 0
    for place in _PLACE.finditer(words):
        yield words[end : place.start()]
        end = place.end()
        name, noun, one, many = place.groups()
        part = given[name]
        if isinstance(part, Quote) and many is not None:
            yield one if part.is_one else many
        elif isinstance(part, Quote) and noun:
            yield from counting(part, noun)
        elif isinstance(part, str) or not isinstance(part, Iterable):
            yield part
        else:
            yield from part
    yield words[end:]


def listed(
    parts: Iterable[Part | tuple[Part, ...]], *, between: str = ", ", last: str = " and "
) -> tuple[Part, ...]:
    """Return parts as `a, b and c`; each may consist of several."""
    found: list[Part] = []
    each = list(parts)
    for k, part in enumerate(each):
        if k:
            found.append(last if k == len(each) - 1 else between)
        found += part if isinstance(part, tuple) else (part,)
    return tuple(found)


def counting(figure: Quote, noun: str) -> tuple[Part, ...]:
    """Return a count with its noun: `1 video`, `2 videos`."""
    return (figure, f" {noun}" if figure.is_one else f" {noun}s")


def named(models: Iterable[str]) -> tuple[Part, ...]:
    """Return names of models as `a, b and c`."""
    return listed(ModelName(name) for name in models)


@dataclass(frozen=True)
class Report:
    """Tables, what is said of them, and the one sentence to take away."""

    tables: tuple[Table, ...]
    sentences: tuple[Sentence, ...]
    """In the order in which they are said; the headline is one of them."""
    headline: Sentence | None = None
    above: tuple[Sentence, ...] = ()
    """What has to be read before the tables."""
    data: Table | None = None
    """What CSV and DataFrames hold; None: the first table."""

    @property
    def data_table(self) -> Table:
        """What CSV and DataFrames hold."""
        return self.data or self.tables[0]

    def sentence(self, key: str) -> Sentence | None:
        """Return the sentence of a key."""
        return next((one for one in self.sentences if one.key == key), None)

    def tables_shown(self, *, details: bool) -> list[Table]:
        """Return the tables that a reader sees."""
        return [t for t in self.tables if not t.is_spoken and (details or not t.is_detail)]

    def lines(self, *, notes: bool = False, details: bool = False) -> list[str]:
        """Return the lines under the tables: a few, or with `notes` all there are.

        Among few lines the first alarm takes the place of what was counted. The last line holds the
        notes without which a table would mislead, and the number of further ones.
        """
        unsaid = {"page"} if details else {"page", "detail"}
        said = [one for one in self.sentences if one.role not in unsaid]
        if notes:
            return [f"note: {ended(one.text)}" if one.role == "note" else one.text for one in said]
        alarms = [one for one in said if one.role == "alarm"]
        always = ("said", "detail") if alarms else ("said", "detail", "counted")
        kept: list[str] = []
        hidden = 0
        for one in said:
            if one.role in always or one in alarms[:1]:
                kept.append(one.text)
            elif one.role in ("counted", "more") or (one.role == "note" and not one.is_needed):
                hidden += 1
        needed = [one.text for one in said if one.is_needed]
        return [*kept, *_closing(needed, alarms=max(len(alarms) - 1, 0), notes=hidden)]

    def _quoted(self) -> Iterator[Table]:
        """Yield the tables that only sentences know, whose cells they name."""
        for one in (*self.above, *self.sentences):
            for part in one.parts:
                yield from (cell.table for cell in getattr(part, "cells", ()))

    def to_json(self) -> dict[str, Any]:
        """Return it as a page reads it: cells as texts with the fields behind them."""
        return {
            "headline": None if self.headline is None else self.headline.to_json(),
            "above": [one.to_json() for one in self.above],
            "sentences": [
                {"key": one.key, "role": one.role, "parts": one.to_json()} for one in self.sentences
            ],
            "tables": {
                name: table_json(one)
                # Each once, though a table may be in the report and be quoted as well.
                for name, one in {of.name: of for of in (*self.tables, *self._quoted())}.items()
            },
        }


def ended(text: str) -> str:
    """Return a text that ends like a sentence."""
    return text if text.endswith((".", ":", "!", "?")) else f"{text}."


def _closing(needed: Sequence[str], *, alarms: int, notes: int) -> list[str]:
    """Return the last line under a table: the needed notes, and how many more there are."""
    parts = [f"note: {'; '.join(text.removesuffix('.') for text in needed)}"] if needed else []
    rest = [_several(alarms, "more alarm"), _several(notes, "more note")]
    if shown := " and ".join(one for one in rest if one):
        parts.append(f"{shown}: --notes")
    return [f"{'. '.join(parts)}."] if parts else []


def _several(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number > 1)}" if number else ""


def table_json(table: Table) -> dict[str, Any]:
    """Return a table as a page reads it."""
    columns = [
        {
            "key": column.key,
            "title": column.title,
            "kind": column.kind,
            "unit": column.format.unit,
            "is_figure": column.format.is_figure,
            "is_detail": column.is_detail,
            "about": column.about,
            "is_aside": column.is_aside,
        }
        for column in table.columns
    ]
    rows = [
        {
            "cells": {column.key: table.cell(k, column) for column in table.columns},
            "fields": dict(row),
            "is_foot": k in table.feet,
        }
        for k, row in enumerate(table.rows)
    ]
    axis = None if table.axis is None else table.axis.to_json()
    starts = sorted(table.starts)
    return {
        "name": table.name,
        "caption": table.caption,
        "columns": columns,
        "rows": rows,
        "starts": starts,
        "axis": axis,
        "look": table.look,
    }


def _whole_json(table: Table) -> dict[str, Any]:
    """Return a table with intervals in the cells of their figures, as only a page has room for."""
    columns = tuple(
        column
        for column in table.columns
        # A page writes an interval below its figure, so a column of intervals alone would repeat
        # it.
        if "with_" in column.kind or not column.kind.endswith("_interval")
    )
    found = table_json(replace(table, columns=columns))
    for k, row in enumerate(found["rows"]):
        for column in columns:
            value, low, high = (row["fields"].get(column.key + of) for of in ("", *BOUNDS))
            digits = table.format(k, column).digits
            if digits is not None and None not in (value, low, high):
                row["cells"][column.key] = digits.with_interval(value, low, high)
    return found


def remark(text: str, key: str = "") -> Sentence:
    """Return how to read a part of a page; it repeats no figure."""
    return Sentence((Verbatim(text),), key=key, role="page")


@dataclass(frozen=True)
class Section:
    """A part of a page."""

    id: str
    title: str
    says: Sentence | None = None
    """Sentence on what there is to see."""
    tables: tuple[Table, ...] = ()
    each: tuple[Sentence, ...] = ()
    """Sentences below the tables, a line each."""
    notes: tuple[Sentence, ...] = ()
    """How to read it, and what to know before believing it."""

    def to_json(self) -> dict[str, Any]:
        """Return it as a page reads it."""
        return {
            "id": self.id,
            "title": self.title,
            "says": [] if self.says is None else self.says.to_json(),
            "tables": [_whole_json(one) for one in self.tables],
            "each": [one.to_json() for one in self.each],
            "notes": [{"key": one.key, "parts": one.to_json()} for one in self.notes],
        }
