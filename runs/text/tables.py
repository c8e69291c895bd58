"""Tables: for terminals of any width, and as Markdown, LaTeX, HTML and CSV with harmless cells."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from videoautoarena.runs.text.terminal import safe

Cell = str | int | float | None
_FORMULA = re.compile(r"'*\s*[=+\-@]")
"""What a spreadsheet takes for the beginning of a formula, also behind quotes of the text."""
_MARKDOWN = frozenset("\\`*_[]<>|#~&$@")
_LATEX = {
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


def plain_grid(*titles: str, gap: int = 1) -> Table:
    """Return an empty table with a line below its head and none around.

    Of its columns the first stands left-aligned, the others right-aligned.
    """
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, gap, 0, 0))
    for k, title in enumerate(titles):
        grid.add_column(title, justify="right" if k else "left", overflow="fold")
    return grid


class Sheet(NamedTuple):
    """A table of text before it takes a form."""

    columns: tuple[str, ...]
    numbers: frozenset[int]
    """Columns that stand right-aligned."""
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]
    """Sentences that belong to the table wherever it is pasted."""
    caption: str = "Results"
    """What LaTeX puts above it, in a few words."""
    label: str = "results"
    """By what LaTeX refers to it, behind `tab:`; letters and hyphens."""
    first: Sequence[str] = ()
    """Sentences that must be read before it, a paragraph each."""


def markdown(sheet: Sheet) -> str:
    """Return the sheet as a GitHub-flavoured Markdown table, its notes in a paragraph below."""
    rules = ["---:" if k in sheet.numbers else "---" for k in range(len(sheet.columns))]
    rows = [[_markdown(cell) for cell in row] for row in (sheet.columns, *sheet.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], rules, *rows[1:])]
    above = [line for text in sheet.first for line in (_markdown(text), "")]
    notes = " ".join(_markdown(note) for note in sheet.notes)
    return "\n".join([*above, *lines, *(["", notes] if notes else [])])


def latex(sheet: Sheet) -> str:
    r"""Return the sheet as a LaTeX table with booktabs' rules, a label, and its notes below."""
    spec = "".join("r" if k in sheet.numbers else "l" for k in range(len(sheet.columns)))
    rows = [" & ".join(map(_latex, row)) + r" \\" for row in (sheet.columns, *sheet.rows)]
    notes = " ".join(_latex(note) for note in sheet.notes)
    below = [r"\par\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {notes}}}"] * bool(notes)
    above = [rf"\parbox{{\linewidth}}{{\footnotesize {_latex(one)}}}\par" for one in sheet.first]
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(sheet.caption)}}}",
        rf"\label{{tab:{sheet.label}}}",
        *above,
        rf"\begin{{tabular}}{{{spec}}}",
        r"\toprule",
        rows[0],
        r"\midrule",
        *rows[1:],
        r"\bottomrule",
        r"\end{tabular}",
        *below,
        r"\end{table}",
    ]
    return "\n".join(lines)


def html(sheet: Sheet) -> str:
    """Return the sheet as an HTML table, its notes below; no text of it is read as markup."""
    right = ' style="text-align: right"'
    aligned = [right if k in sheet.numbers else "" for k in range(len(sheet.columns))]
    rows = [
        "".join(
            f"<{tag}{how}>{_html(cell)}</{tag}>" for cell, how in zip(row, aligned, strict=True)
        )
        for tag, row in (("th", sheet.columns), *(("td", row) for row in sheet.rows))
    ]
    lines = [
        *(f"<p>{_html(one)}</p>" for one in sheet.first),
        "<table>",
        f"<caption>{_html(sheet.caption)}</caption>",
        f"<thead><tr>{rows[0]}</tr></thead>",
        "<tbody>",
        *(f"<tr>{row}</tr>" for row in rows[1:]),
        "</tbody>",
        "</table>",
    ]
    return "\n".join([*lines, *(f"<p>{_html(note)}</p>" for note in sheet.notes)])


_MARKUPS = {"markdown": markdown, "latex": latex, "html": html}


def mark_up(sheet: Sheet, form: str) -> str:
    """Return the sheet as `markdown`, `latex` or `html`."""
    return _MARKUPS[form](sheet)


def comma_separated(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return rows as CSV with a header, one line each; nothing for None, no live formula."""
    return "\n".join(comma_separated_lines(columns, rows))


def comma_separated_lines(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Give the same a line at a time."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="")
    writer.writerow(columns)
    for row in rows:
        yield text.getvalue()
        text.seek(0)
        text.truncate()
        writer.writerow(
            [quote_formula(safe(cell)) if isinstance(cell, str) else cell for cell in row]
        )
    yield text.getvalue()


def quote_formula(text: str) -> str:
    """Return a cell of CSV with a quote before what a spreadsheet would take for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unquote_formula(cell: str) -> str:
    """Return the text of which `quote_formula` made a cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def _markdown(text: str) -> str:
    escaped = "".join(f"\\{char}" if char in _MARKDOWN else char for char in safe(text))
    # A bare address would become a link.
    return re.sub(r"(?i)(https?|ftp):|www\.", lambda m: f"{m[0][:-1]}\\{m[0][-1]}", escaped)


def as_label(text: str) -> str:
    """Return what of a text may stand in a label, which TeX reads as it is: letters, hyphens."""
    return "".join(char for char in text if char.isascii() and (char.isalnum() or char == "-"))


def _html(text: str) -> str:
    return escape(safe(text))


def _latex(text: str) -> str:
    escaped = "".join(_LATEX.get(char, char) for char in safe(text))
    # Of two that touch TeX makes a dash or a quotation mark.
    return re.sub(r"([-'])(?=\1)", r"\1{}", escaped)


UNBOUND = 10_000


@dataclass(frozen=True)
class Marks:
    """The signs that a terminal can show."""

    cut: str = "…"
    line: str = "─"
    dot: str = "●"
    full: str = "━"
    rest: str = "─"
    between: str = "·"


UNICODE = Marks()
ASCII = Marks(cut="~", line="-", dot="o", full="#", rest="-", between="|")


def plain(text: str) -> str:
    """Return `text` on one line, safe, without signs whose width terminals do not agree on."""
    flat = " ".join(text.split())
    if flat.isascii():
        return safe(flat)
    return "".join(c for c in safe(flat) if unicodedata.category(c) not in ("Mn", "Me"))


def fit(text: str, width: int, marks: Marks, *, right: bool = False) -> str:
    """Return `text` in exactly `width` cells: cut with a mark, or filled up with blanks."""
    if width <= 0:
        return ""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - cell_len(marks.cut)) + marks.cut
    blanks = " " * (width - length)
    return blanks + text if right else text + blanks


def cells(text: str) -> int:
    """Return how many cells of a terminal `text` takes."""
    return cell_len(text)


class Line:
    """A line that is put together piece by piece and never grows beyond its width."""

    def __init__(self, width: int, marks: Marks) -> None:
        self._left = width
        self.marks = marks
        self.text = Text(no_wrap=True)

    def add(self, text: str, style: str = "", *, width: int | None = None) -> Line:
        """Append text that is safe already, cut to what is left, or filled up to `width`."""
        room = self._left if width is None else min(width, self._left)
        if room > 0:
            text = fit(text, room, self.marks) if width or cell_len(text) > room else text
            self.text.append(text, style or None)
            self._left -= cell_len(text)
        return self

    @property
    def left(self) -> int:
        """How many cells are free."""
        return self._left
