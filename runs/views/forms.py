"""The forms of a report: a terminal of any width, Markdown, LaTeX, HTML, CSV, data for frames.

Names, questions and answers are what strangers and models wrote: no form reads them as anything.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.text.tables import (
    UNBOUND,
    Cell,
    Sheet,
    comma_separated,
    mark_up,
    plain_grid,
)
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.views.axis import Axis
from videoautoarena.runs.views.report import Column, Report, Table, is_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

Form = Literal["table", "markdown", "latex", "html", "csv", "json"]
PIPED = 80
"""Columns of what is printed into a pipe."""
_BAR = 13
"""Columns of an interval that is drawn."""
_LEAST_NAME, _MOST_NAME = 8, 32
"""Columns that a name keeps, if it is that long, before others go; and that it takes at most."""
_LONG_HEAD = 10
"""A longer head of a column stands in two lines."""
_FOLDED = ("name", "text", "flags")
"""What may stand in several lines of a terminal; figures never do."""
_ASCII = str.maketrans({"–": "-", "−": "-", "±": "~", "’": "'", "…": "~"})


@dataclass(frozen=True)
class ReportView:
    """A report on a terminal of any width."""

    report: Report
    notes: bool = False
    """Say all there is to say."""
    details: bool = False

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yield what has to be read first, the tables, and what is said of them."""
        terminal = _Terminal(console, options)
        for one in self.report.above:
            yield terminal.text(one.text)
        if self.report.above:
            yield Text("")
        tables = [t for t in self.report.tables_shown(details=self.details) if t.rows]
        for k, table in enumerate(tables):
            if k:
                yield Text("")
            yield from _parts(terminal, table, details=self.details)
        lines = self.report.lines(notes=self.notes, details=self.details)
        if lines and (len(tables) > 1 or self.details or any(table.wraps for table in tables)):
            yield Text("")
        for line in lines:
            yield terminal.text(line)


def as_text(report: Report, *, notes: bool = False, details: bool = False) -> str:
    """Return a report as it is printed into a pipe."""
    text = io.StringIO()
    console = Console(
        file=text, width=PIPED, color_system=None, highlight=False, emoji=False, markup=False
    )
    console.print(ReportView(report, notes=notes, details=details))
    return text.getvalue().removesuffix("\n")


def marked_up(report: Report, form: str, *, notes: bool = False, details: bool = False) -> str:
    """Return a report for pasting: `markdown`, `latex`, `html` or `csv`; every cell is harmless.

    CSV holds the figures behind the columns, with all their digits.
    """
    if form == "csv":
        return csv_text(report.data_table)
    tables = report.tables_shown(details=details)
    lines = report.lines(notes=notes, details=details)
    sheets = [_sheet(table, details=details) for table in tables]
    sheets[0] = sheets[0]._replace(first=[one.text for one in report.above])
    sheets[-1] = sheets[-1]._replace(notes=lines)
    return "\n\n".join(mark_up(sheet, form) for sheet in sheets)


def csv_text(table: Table) -> str:
    """Return the fields of a table as CSV, a row each."""
    rows = [[_csv_cell(row.get(of)) for of in table.data_fields] for row in table.rows]
    return comma_separated(table.data_fields, rows)


def _csv_cell(value: Any) -> Cell:
    if is_whole(value):
        value = value.value
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(map(str, value))
    found: Cell = value
    return found


def columns_of(table: Table) -> dict[str, list[Any]]:
    """Return the fields of a table as the columns of a DataFrame."""
    return {of: [row.get(of) for row in table.rows] for of in table.data_fields}


def _sheet(table: Table, *, details: bool) -> Sheet:
    """Return a table as text, before it takes a form."""
    columns = [
        column
        for column in table.columns
        if column.kind != "bar" and (details or not column.is_detail)
    ]
    return Sheet(
        columns=tuple(column.head for column in columns),
        numbers=frozenset(k for k, column in enumerate(columns) if column.format.is_figure),
        rows=[[table.cell(k, column) for column in columns] for k in range(len(table.rows))],
        notes=(),
        caption=table.caption,
        label=table.name,
    )


class _Terminal(NamedTuple):
    """What a table is drawn on."""

    console: Console
    options: ConsoleOptions

    @property
    def width(self) -> int:
        return self.options.max_width

    def text(self, text: str) -> Text:
        """Return text that is safe and that the terminal has the signs for."""
        shown = safe(text, lines=True)
        return Text(shown.translate(_ASCII) if self.options.ascii_only else shown)

    def measure(self, part: RenderableType) -> Measurement:
        return Measurement.get(self.console, self.options.update(width=UNBOUND), part)


def _parts(terminal: _Terminal, table: Table, *, details: bool) -> Iterator[RenderableType]:
    """Yield a table; where details are asked for, its own ones in another one below."""
    usual = [column for column in table.columns if not column.is_detail]
    if table.is_list:
        yield Text(safe(table.caption), style="bold")
        for k in range(len(table.rows)):
            yield from _item(terminal, safe(table.cell(k, usual[0])))
    elif table.wraps:
        yield from _portions(terminal, table, usual)
    else:
        yield from _spared(terminal, table, usual)
    extra = [column for column in table.columns if column.is_detail]
    if details and extra:
        names = [column for column in usual if column.kind == "name"][:1]
        yield Text("")
        yield _grid(terminal, table, [*names, *extra], is_tall=True)


def _item(terminal: _Terminal, text: str) -> Iterator[Text]:
    """Yield a text behind a dash, its further lines below its first; none begins with a `%`."""
    lines = wrap(
        text.replace(" %", "\xa0%"),
        terminal.width,
        initial_indent="  - ",
        subsequent_indent=" " * 4,
        break_on_hyphens=False,
    )
    for line in lines:
        yield terminal.text(line.replace("\xa0%", " %"))


def _spared(
    terminal: _Terminal, table: Table, columns: Sequence[Column]
) -> Iterator[RenderableType]:
    """Yield a table of as many columns as there is room for, and which others there are.

    rich would take the room that is lacking from the names, until nothing is left of them.
    """
    kept, gone = list(columns), list[Column]()
    for column in sorted((c for c in columns if c.spare), key=lambda column: column.spare):
        if _least_width(terminal, table, kept) <= terminal.width:
            break
        kept.remove(column)
        gone.append(column)
    yield _grid(terminal, table, kept)
    if gone:
        heads = ", ".join(column.head for column in gone)
        yield terminal.text(f"A wider terminal also shows: {heads}.")


def _least_width(terminal: _Terminal, table: Table, columns: Sequence[Column]) -> int:
    grid = _grid(terminal, table, columns, gap=0)
    for column in grid.columns:
        if column.no_wrap:
            cells = (column.header, *column.cells)
            column.min_width = max(terminal.measure(cell).maximum for cell in cells)
    return terminal.measure(grid).minimum


def _portions(
    terminal: _Terminal, table: Table, columns: Sequence[Column]
) -> Iterator[RenderableType]:
    """Yield a table in the portions that fit beside the names."""
    (names, *others) = columns
    left = min(max(_width(table, names), 1), _MOST_NAME)
    room = max(terminal.width - left, 1)
    portions, used = list[list[Column]](), 0
    for column in others:
        wide = _width(table, column) + 2
        if not portions or used + wide > room:
            portions.append([])
            used = 0
        portions[-1].append(column)
        used += wide
    for k, portion in enumerate(portions):
        if k:
            yield Text("")
        grid = _grid(terminal, table, [names, *portion], gap=1)
        grid.columns[0].width = left
        yield grid


def _width(table: Table, column: Column) -> int:
    cells = (table.cell(k, column) for k in range(len(table.rows)))
    return max(cell_len(safe(text)) for text in (column.head, *cells))


def _grid(
    terminal: _Terminal,
    table: Table,
    columns: Sequence[Column],
    *,
    gap: int | None = None,
    is_tall: bool = False,
) -> Grid:
    """Return a table of some columns; `is_tall` puts an interval below its figure."""
    if gap is None:
        airy = _grid(terminal, table, columns, gap=1, is_tall=is_tall)
        if terminal.measure(airy).maximum <= terminal.width:
            return airy
        gap = 0
    grid = plain_grid(gap=gap)
    for column in columns:
        longest = _width(table, column) if column.kind == "name" else 0
        grid.add_column(
            terminal.text(_head(table, column)),
            justify="right" if column.format.is_figure else "left",
            no_wrap=column.kind not in _FOLDED,
            overflow="fold",
            min_width=min(longest, _LEAST_NAME) or None,
        )
    for k in range(len(table.rows)):
        if k in table.starts:
            grid.add_section()
        cells = (_terminal_cell(terminal, table, k, column, is_tall) for column in columns)
        grid.add_row(*cells)
    return grid


def _terminal_cell(
    terminal: _Terminal, table: Table, row: int, column: Column, is_tall: bool
) -> RenderableType:
    if column.kind == "bar":
        value, low, high = (table.rows[row].get(of) for of in column.fields)
        return Text("") if value is None else Bar.on(_axis(table), value, low, high)
    text = table.cell(row, column)
    if is_tall and column.format.is_figure and text.endswith(")"):
        text = text.removesuffix(")").replace(" (", "\n", 1)
        return terminal.text(text)
    return terminal.text(safe(text))


def _head(table: Table, column: Column) -> str:
    if column.kind == "bar":
        return _axis_title(_axis(table))
    head = safe(column.head)
    if len(head) <= _LONG_HEAD or not column.format.is_figure or table.wraps:
        return head
    words = head.split(" ")
    halves = ((" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words)))
    return "\n".join(min(halves, key=lambda pair: max(map(len, pair)), default=(head,)))


def _axis(table: Table) -> Axis:
    assert table.axis is not None, "a table with bars has an axis"
    return table.axis


def _axis_title(axis: Axis) -> str:
    """Return both ends of the scale of the bars."""
    low, high = f"{axis.low:.0f}", f"{axis.high:.0f}"
    room = _BAR - len(low)
    return f"{low}{high:>{room}}" if low != high and len(high) < room else ""


@dataclass(frozen=True)
class Bar:
    """An interval and its middle on a scale of some columns; an arrow where it goes on."""

    low: int
    middle: int
    high: int

    @classmethod
    def on(cls, axis: Axis, value: float, low: float | None, high: float | None) -> Bar:
        """Return the bar of a figure on an axis; one without bounds is its middle alone."""
        ends = (value if low is None else low, value, value if high is None else high)
        return cls(*(_column(axis.place(x)) for x in ends))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_BAR, _BAR)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        line, dot, left, right = "-o<>" if options.ascii_only else "─●◂▸"
        marks = [line if self.low <= x <= self.high else " " for x in range(_BAR)]
        if self.low < 0:
            marks[0] = left
        if self.high >= _BAR:
            marks[-1] = right
        marks[min(max(self.middle, self.low < 0), _BAR - 1 - (self.high >= _BAR))] = dot
        yield Text("".join(marks))


def _column(share: float) -> int:
    """Return the column of a place on the scale; one beyond either end has none of its columns."""
    if not 0.0 <= share <= 1.0:
        return -1 if share < 0.0 else _BAR
    return round(share * (_BAR - 1))
