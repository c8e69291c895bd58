"""The forms of a report: a terminal of any width, Markdown, LaTeX, HTML and CSV.

Names, questions and answers are what strangers and models wrote: no form reads them as anything.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.formats.files import Cell, comma_separated
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.terminal_text import ASCII, UNICODE, Axis, DrawnInterval, bar
from videoautoarena.runs.formats.words import short_points
from videoautoarena.runs.views.results.report import Column, Report, Table, is_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

PIPED = 80
"""Columns of what is printed into a pipe."""
# Wide enough for rich to measure any table without folding it.
_UNBOUND = 10_000
_BAR = 13
"""Columns of an interval that is drawn."""
_LEAST_NAME, _WHOLE_NAME, _MOST_NAME = 8, 16, 32
"""Columns that a longer name keeps at least; before others are dropped; and that it takes at most
where a table wraps."""
_LONG_HEAD = 10
"""A longer head of a column stands in two lines."""
_FOLDED = ("name", "text", "flags")
"""Kinds of cells that may take several lines on a terminal; figures never do."""
_ASCII = str.maketrans({"–": "-", "−": "-", "±": "~", "’": "'", "…": "~"})


@dataclass(frozen=True)
class ReportView:
    """A report on a terminal of any width."""

    report: Report
    notes: bool = False
    """Show all notes."""
    details: bool = False

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yield what has to be read first, the tables, and the sentences below them."""
        terminal = TerminalSize(console, options)
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
    # Nothing in a name is read: no markup, no `:emoji:`, and no colours.
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
    pasted = [PastedTable(table, details) for table in report.tables_shown(details=details)]
    pasted[0] = pasted[0]._replace(above=[one.text for one in report.above])
    pasted[-1] = pasted[-1]._replace(notes=report.lines(notes=notes, details=details))
    return "\n\n".join(map(_MARKUPS[form], pasted))


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


class PastedTable(NamedTuple):
    """A table for pasting."""

    table: Table
    details: bool
    above: Sequence[str] = ()
    """Sentences to be read before it, a paragraph each."""
    notes: Sequence[str] = ()
    """Sentences that belong to it wherever it is pasted."""

    @property
    def columns(self) -> list[Column]:
        columns = self.table.columns
        return [c for c in columns if c.kind != "bar" and (self.details or not c.is_detail)]

    def rows(self, escaped: Callable[[str], str]) -> list[list[str]]:
        """Return its heads and its cells."""
        heads = [column.head for column in self.columns]
        every = range(len(self.table.rows))
        cells = ([self.table.cell(k, column) for column in self.columns] for k in every)
        return [list(map(escaped, row)) for row in (heads, *cells)]

    def aligned(self, figure: str, other: str) -> list[str]:
        """Return how each column is aligned: figures to the right."""
        return [figure if column.format.is_figure else other for column in self.columns]


def _markdown(pasted: PastedTable) -> str:
    """Return a GitHub-flavoured Markdown table, its notes in a paragraph below."""
    heads, *rows = pasted.rows(_in_markdown)
    above = [line for text in pasted.above for line in (_in_markdown(text), "")]
    lines = [f"| {' | '.join(row)} |" for row in (heads, pasted.aligned("---:", "---"), *rows)]
    notes = " ".join(map(_in_markdown, pasted.notes))
    return "\n".join([*above, *lines, *(["", notes] if notes else [])])


# GitHub also reads `@` as a mention, `#` as an issue and `$` as a formula.
_SPECIAL = frozenset("\\`*_[]<>|#~&$@")


def _in_markdown(text: str) -> str:
    escaped = "".join(f"\\{char}" if char in _SPECIAL else char for char in safe(text))
    # A bare address would become a link.
    return re.sub(r"(?i)(https?|ftp):|www\.", lambda m: f"{m[0][:-1]}\\{m[0][-1]}", escaped)


def _latex(pasted: PastedTable) -> str:
    """Return a LaTeX table with booktabs' rules, a label, and its notes below."""
    heads, *rows = (" & ".join(row) + r" \\" for row in pasted.rows(_in_latex))
    notes = " ".join(map(_in_latex, pasted.notes))
    below = [r"\par\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {notes}}}"] * bool(notes)
    # TeX reads a label as it is.
    label = "".join(c for c in pasted.table.name if c.isascii() and (c.isalnum() or c == "-"))
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_in_latex(pasted.table.caption)}}}",
        rf"\label{{tab:{label}}}",
        *(rf"\parbox{{\linewidth}}{{\footnotesize {_in_latex(one)}}}\par" for one in pasted.above),
        rf"\begin{{tabular}}{{{''.join(pasted.aligned('r', 'l'))}}}",
        r"\toprule",
        heads,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        *below,
        r"\end{table}",
    ]
    return "\n".join(lines)


_COMMANDS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
    # After a line break TeX takes these two for its arguments.
    "[": "{[}",
    "*": "{*}",
    "`": r"\textasciigrave{}",
}


def _in_latex(text: str) -> str:
    escaped = "".join(_COMMANDS.get(char, char) for char in safe(text))
    # Of two that touch TeX makes a dash or a quotation mark.
    return re.sub(r"([-'])(?=\1)", r"\1{}", escaped)


def _html(pasted: PastedTable) -> str:
    """Return an HTML table, its notes below; no text of it is read as markup."""
    # In place, since where this is pasted there is no style sheet of ours.
    aligned = pasted.aligned(' style="text-align: right"', "")
    rows = pasted.rows(_in_html)
    heads, *others = (
        "".join(f"<{tag}{how}>{cell}</{tag}>" for cell, how in zip(row, aligned, strict=True))
        for tag, row in zip(["th", *["td"] * len(rows)], rows, strict=False)
    )
    lines = [
        *(f"<p>{_in_html(one)}</p>" for one in pasted.above),
        "<table>",
        f"<caption>{_in_html(pasted.table.caption)}</caption>",
        f"<thead><tr>{heads}</tr></thead>",
        "<tbody>",
        *(f"<tr>{row}</tr>" for row in others),
        "</tbody>",
        "</table>",
        *(f"<p>{_in_html(note)}</p>" for note in pasted.notes),
    ]
    return "\n".join(lines)


def _in_html(text: str) -> str:
    return escape(safe(text))


_MARKUPS = {"markdown": _markdown, "latex": _latex, "html": _html}


class TerminalSize(NamedTuple):
    """The terminal that a table is drawn on."""

    console: Console
    options: ConsoleOptions

    @property
    def width(self) -> int:
        return self.options.max_width

    def text(self, text: str) -> Text:
        """Return text that is safe and that the terminal has the signs for."""
        shown = safe(text, lines=True)
        # A Text, since rich reads markup in strings.
        return Text(shown.translate(_ASCII) if self.options.ascii_only else shown)

    def measure(self, part: RenderableType) -> Measurement:
        return Measurement.get(self.console, self.options.update(width=_UNBOUND), part)


def _parts(terminal: TerminalSize, table: Table, *, details: bool) -> Iterator[RenderableType]:
    """Yield a table; if details are asked for, its detail columns follow in a second one."""
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


def _item(terminal: TerminalSize, text: str) -> Iterator[Text]:
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
    terminal: TerminalSize, table: Table, columns: Sequence[Column]
) -> Iterator[RenderableType]:
    """Yield a table of as many columns as fit, and the names of those that were dropped.

    rich would take the room that is lacking from the names, until nothing is left of them.
    """
    kept = list(columns)
    gone = list[Column]()
    for column in sorted((c for c in columns if c.spare), key=lambda column: column.spare):
        if _least_width(terminal, table, kept) <= terminal.width:
            break
        kept.remove(column)
        gone.append(column)
    grid = _grid(terminal, table, kept)
    _leave_flags_whole(terminal, grid, kept)
    yield grid
    if heads := ", ".join(column.head for column in gone if column.head):
        yield terminal.text(f"A wider terminal also shows: {heads}.")


def _leave_flags_whole(terminal: TerminalSize, grid: Grid, columns: Sequence[Column]) -> None:
    """Give a column of flags what names leave of the terminal, and its longest word at least.

    rich would fold both alike, within the words of flags, too.
    """
    surplus = terminal.measure(grid).maximum - terminal.width
    for column, drawn in zip(columns, grid.columns, strict=True):
        if column.kind == "flags" and surplus > 0:
            cells = [terminal.measure(cell) for cell in (drawn.header, *drawn.cells)]
            longest = max(cell.maximum for cell in cells)
            drawn.width = max(longest - surplus, *(cell.minimum for cell in cells))


def _least_width(terminal: TerminalSize, table: Table, columns: Sequence[Column]) -> int:
    grid = _grid(terminal, table, columns, gap=0)
    for column, drawn in zip(columns, grid.columns, strict=True):
        if drawn.no_wrap:
            cells = (drawn.header, *drawn.cells)
            # rich takes the longest word of a cell for its least width, even where it may not be
            # folded.
            drawn.min_width = max(terminal.measure(cell).maximum for cell in cells)
        elif column.kind == "name":
            # And a name, which is one word, for one that may not be folded.
            drawn.max_width = _WHOLE_NAME
    return terminal.measure(grid).minimum


def _portions(
    terminal: TerminalSize, table: Table, columns: Sequence[Column]
) -> Iterator[RenderableType]:
    """Yield a table in the portions that fit beside the names."""
    (names, *others) = columns
    left = min(max(_width(table, names), 1), _MOST_NAME)
    room = max(terminal.width - left, 1)
    portions = list[list[Column]]()
    used = 0
    for column in others:
        # A blank of the box and one of the padding stand between two columns.
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
        # The same in every portion, so that names stand below one another.
        grid.columns[0].width = left
        yield grid


def _width(table: Table, column: Column) -> int:
    cells = (table.cell(k, column) for k in range(len(table.rows)))
    return max(cell_len(safe(text)) for text in (column.head, *cells))


def _grid(
    terminal: TerminalSize,
    table: Table,
    columns: Sequence[Column],
    *,
    gap: int | None = None,
    is_tall: bool = False,
) -> Grid:
    """Return a table of some columns; `is_tall` puts an interval below its figure."""
    if gap is None:
        # A blank more between columns where there is room for it.
        airy = _grid(terminal, table, columns, gap=1, is_tall=is_tall)
        if terminal.measure(airy).maximum <= terminal.width:
            return airy
        gap = 0
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, gap, 0, 0))
    for column in columns:
        longest = _width(table, column) if column.kind == "name" else 0
        grid.add_column(
            terminal.text(_head(table, column)),
            justify="right" if column.format.is_figure else "left",
            no_wrap=column.kind not in _FOLDED,
            # Folded: an ellipsis would hide which model a row is about.
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
    terminal: TerminalSize, table: Table, row: int, column: Column, is_tall: bool
) -> RenderableType:
    if column.kind == "bar":
        value, low, high = (table.rows[row].get(of) for of in column.fields)
        return Text("") if value is None else Bar(_axis(table), DrawnInterval(value, low, high))
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
    """Return both ends of the scale of the bars, called an axis if there is room."""
    low = short_points(axis.low)
    high = short_points(axis.high)
    spoken = f"{low} to {high}"
    for title in (f"axis {spoken}", f"axis\n{spoken}"):
        if low != high and max(map(len, title.split("\n"))) <= _BAR:
            return title
    room = _BAR - len(low)
    return f"{low}{high:>{room}}" if low != high and len(high) < room else ""


@dataclass(frozen=True)
class Bar:
    """An interval and its middle on the scale of a table's bars."""

    axis: Axis
    drawn: DrawnInterval

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_BAR, _BAR)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield Text(bar(self.axis, self.drawn, _BAR, ASCII if options.ascii_only else UNICODE))
