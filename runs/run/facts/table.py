"""Reading `videos.csv`: what somebody says of the videos in a folder, a row each.

The file is anybody's. Whatever stands in a cell is data: one line of it, without control
characters, marks of direction and invisible tags. What cannot be read for sure is refused whole.
"""

from __future__ import annotations

import csv
import io
import os
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.terminal import safe

NAME = "videos.csv"
"""What the file is called that is found beside the videos."""
KNOWN = ("title", "category", "language", "licence")
"""Columns that mean the same in every file, besides `path`."""
LARGEST = 64 << 20
"""Bytes of a file: a row each for several hundred thousand videos."""
LONGEST_CELL = 2000
LONGEST_NAME = 60
"""Characters of a column's name, and of a category."""
MOST_COLUMNS = 64
MOST_ROWS = 500_000
LONGEST_LINE = 200_000
"""Characters; more than all columns can hold, and far less than would fill the memory."""

_SPELLED = {"license": "licence"}
_DELIMITERS = (",", ";", "\t")
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_TAGS = range(0xE0000, 0xE0080)
"""Characters that nobody sees and models read: letters of ASCII once more."""


class Row(NamedTuple):
    """What the file says of one video."""

    line: int
    """Where it ends in the file, from 1."""
    path: str
    cells: dict[str, str]
    """By column; empty ones are left out."""


class Table(NamedTuple):
    """A file that was read."""

    file: str
    """Its name, harmless to a terminal."""
    sha256: str
    columns: tuple[str, ...]
    """Those besides `path`, in their order."""
    rows: tuple[Row, ...]

    def refuse(self, line: int, why: str) -> BadInput:
        """Return the error that a line is."""
        return BadInput(f"{self.file}, line {line}: {why}")


def read_table(file: Path) -> Table:
    """Return what a file says of videos; BadInput, in one line, for what cannot be read for sure.

    CSV in UTF-8, parted by commas, semicolons or tabs, with a header that has a column `path`.
    """
    name = safe(str(file))
    data = read_bytes(file)
    text = _decoded(data, name)
    _refuse_long(text, name)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise BadInput(f"{name} is blank; it needs a header with a column path, and rows")
    delimiter = max(_DELIMITERS, key=lambda sign: _has_path(first, sign))
    lines = _lines(text, delimiter, name)
    _, header = next(lines)
    columns = _columns(header, name)
    rows = tuple(_rows(lines, columns, name))
    kept = tuple(column for column in columns if column not in ("", "path"))
    return Table(name, digest(data), kept, rows)


def read_bytes(file: Path) -> bytes:
    """Return the bytes of a file; BadInput where they cannot be read, or are far too many."""
    # PyAV takes a while to import, and whoever reads a run has no use for it.
    from videoautoarena.video.decode.container import regular, trouble

    name = safe(str(file))
    if not os.path.lexists(file):
        raise BadInput(f"there is no file {name}; pass a CSV file with --facts, or --facts none")
    if why := "a folder" if file.is_dir() else trouble(os.fspath(file)):
        raise BadInput(f"{name} is {why}; pass a CSV file with --facts, or --facts none")
    try:
        with regular(file) as stream:
            data = stream.read(LARGEST + 1)
    except UnusableVideo as wrong:
        raise BadInput(f"{name} {wrong}; pass a CSV file") from None
    except OSError as wrong:
        raise BadInput(f"{name} cannot be read: {wrong.strerror}") from None
    if len(data) > LARGEST:
        raise BadInput(f"{name} is larger than {LARGEST >> 20} MB; leave out what is no fact")
    return data


def _decoded(data: bytes, name: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        raise BadInput(f"{name}, line {line}: is not UTF-8; save it as CSV in UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadInput(f"{name}, line {line}: holds a NUL character; save it as CSV in UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _refuse_long(text: str, name: str) -> None:
    """Refuse what would become millions of cells before any of them is made."""
    for number, line in enumerate(io.StringIO(text), 1):
        if len(line) > LONGEST_LINE:
            raise BadInput(f"{name}, line {number}: is longer than {LONGEST_LINE:,} characters")


def _has_path(header: str, delimiter: str) -> bool:
    return any(_named(cell.strip().strip('"')) == "path" for cell in header.split(delimiter))


def _lines(text: str, delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each row that has any."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as wrong:
            why = f"{wrong}"
            if "unexpected end" in why:
                why = "a quote is never closed; close it, or double it"
            elif "field larger" in why:
                why = f"a cell is longer than {LONGEST_CELL:,} characters; shorten it"
            raise BadInput(f"{name}, line {reader.line_num}: {why}") from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells


def _columns(header: Sequence[str], name: str) -> list[str]:
    """Return the columns by name; empty ones, as spreadsheets leave them at the end, stay empty."""
    if len(header) > MOST_COLUMNS:
        raise BadInput(f"{name} has {len(header)} columns; {MOST_COLUMNS} are read at most")
    columns = [_named(cell) for cell in header]
    if long := next((column for column in columns if len(column) > LONGEST_NAME), None):
        raise BadInput(
            f"{name}: the column {quoted(long)} has a name of more than {LONGEST_NAME} characters"
        )
    given = [column for column in columns if column]
    if twice := next((column for column in given if given.count(column) > 1), None):
        raise BadInput(f"{name} has two columns called {quoted(twice)}; rename one")
    if "path" not in given:
        raise BadInput(
            f"{name} has no column path in its header; add one with each video's path in the folder"
        )
    return columns


def _named(cell: str) -> str:
    """Return the name of a column; those that mean something are known in any case."""
    name = clean(cell)
    plain = _SPELLED.get(name.casefold(), name.casefold())
    return plain if plain in ("path", *KNOWN) else name


def _rows(
    lines: Iterator[tuple[int, list[str]]], columns: Sequence[str], name: str
) -> Iterator[Row]:
    for count, (line, found) in enumerate(lines, 1):
        if count > MOST_ROWS:
            raise BadInput(f"{name} has more than {MOST_ROWS:,} rows; leave out what is no video")
        where = f"{name}, line {line}"
        if any(cell.strip() for cell in found[len(columns) :]):
            raise BadInput(f"{where}: {len(found)} cells where the header has {len(columns)}")
        for cell, column in zip(found, columns, strict=False):
            if len(cell) > LONGEST_CELL:
                raise BadInput(
                    f"{where}: {quoted(column or 'a cell')} is longer than {LONGEST_CELL:,} "
                    "characters; shorten it"
                )
            if cell.strip() and not column:
                raise BadInput(f"{where}: {quoted(cell)} stands under no name; name its column")
        cells = dict(zip(columns, found, strict=False))
        # As it stands: a name of a file may hold what no other cell may.
        path = cells.pop("path", "").strip()
        if not path:
            raise BadInput(f"{where}: path is missing; name the video, or leave the row out")
        said = {column: clean(cell) for column, cell in cells.items()}
        if len(said.get("category", "")) > LONGEST_NAME:
            raise BadInput(
                f"{where}: the category {quoted(said['category'])} is longer than {LONGEST_NAME} "
                "characters; shorten it, or give the column another name"
            )
        yield Row(line, path, {column: cell for column, cell in said.items() if cell})


def clean(text: str) -> str:
    """Return a cell on one line, without what steers a terminal, a reader's eye or a model."""
    kept = (" " if c.isspace() else c for c in text if c.isspace() or not _is_unsafe(c))
    return " ".join("".join(kept).split())


def plain_licence(licence: str) -> str:
    """Return a licence as it is compared: `CC BY 4.0` and `cc-by-4.0` are one."""
    return "-".join(licence.casefold().replace("_", " ").replace("-", " ").split())


def _is_unsafe(char: str) -> bool:
    hidden = char in _TURNS or ord(char) in _TAGS
    return hidden or unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn")
