"""Tables for other programs to take in: Markdown, LaTeX and CSV, with every cell made harmless."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import NamedTuple

from runs.console import safe

Cell = str | int | float | None
_FORMULA = re.compile(r"'*\s*[=+\-@]")
"""What a spreadsheet takes for the beginning of a formula, also behind quotes that are part of the
text: of those, one more is what tells it from text that was quoted."""
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


def markdown(sheet: Sheet) -> str:
    """Return the sheet as a GitHub-flavoured Markdown table, its notes in a paragraph below."""
    rules = ["---:" if k in sheet.numbers else "---" for k in range(len(sheet.columns))]
    rows = [[_markdown(cell) for cell in row] for row in (sheet.columns, *sheet.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], rules, *rows[1:])]
    told = " ".join(_markdown(note) for note in sheet.notes)
    return "\n".join([*lines, *(["", told] if told else [])])


def latex(sheet: Sheet) -> str:
    r"""Return the sheet as a LaTeX table with booktabs' rules, a label, and its notes below."""
    spec = "".join("r" if k in sheet.numbers else "l" for k in range(len(sheet.columns)))
    rows = [" & ".join(map(_latex, row)) + r" \\" for row in (sheet.columns, *sheet.rows)]
    notes = " ".join(_latex(note) for note in sheet.notes)
    below = [r"\par\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {notes}}}"] * bool(notes)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(sheet.caption)}}}",
        rf"\label{{tab:{sheet.label}}}",
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


def comma_separated(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return rows as CSV with a header; nothing for None, a quote before what looks like a formula.

    Control characters become visible escapes, so that one row is one line.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_csv(cell) for cell in row] for row in rows)
    return text.getvalue().removesuffix("\n")


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


def _latex(text: str) -> str:
    escaped = "".join(_LATEX.get(char, char) for char in safe(text))
    # Of two that touch TeX makes a dash or a quotation mark.
    return re.sub(r"([-'])(?=\1)", r"\1{}", escaped)


def _csv(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    return quote_formula(safe(cell))
