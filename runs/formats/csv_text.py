"""CSV with harmless cells: what a spreadsheet would take for a formula stays text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from videoautoarena.runs.formats.terminal import safe

Cell = str | int | float | None
_FORMULA = re.compile(r"'*\s*[=+\-@]")
"""What a spreadsheet takes for the beginning of a formula, also behind quotes of the text."""


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


def sheet_text(
    columns: Sequence[str], rows: Iterable[Mapping[str, str | None]], *, delimiter: str = ","
) -> str:
    """Return a sheet that people fill in: cells keep their lines, and none is a formula."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: quote_formula(shown(cell or "")) for name, cell in row.items()})
    # Without the mark, spreadsheets do not take it for UTF-8.
    return "\ufeff" + text.getvalue()


def shown(text: str) -> str:
    """Return text as it stands in a cell of a sheet: lines kept, control characters escaped."""
    return safe(lined(text), lines=True)


def lined(text: str) -> str:
    """Return text whose lines end in one way."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def quote_formula(text: str) -> str:
    """Return a cell of CSV with a quote before what a spreadsheet would take for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unquote_formula(cell: str) -> str:
    """Return the text of which `quote_formula` made a cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell
