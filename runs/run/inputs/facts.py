"""What a run knows of its videos from somebody's `videos.csv`: read, matched, kept, sliced by.

The file is anybody's. Whatever stands in a cell is data: one line of it, without control
characters, marks of direction and invisible tags. What cannot be read for sure is refused whole.
"""

from __future__ import annotations

import csv
import io
import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from videoautoarena.agents.prompting.categories import OTHER, plain_category, read_category
from videoautoarena.memory.records.digests import digest, read_body, write_body
from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import CATEGORIES, Record, VideoFacts
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.terminal import safe

if TYPE_CHECKING:
    from videoautoarena.video.folder.find import Findings


NAME = "videos.csv"
"""Name of the file that is looked for beside the videos."""
KNOWN = ("title", "category", "language", "licence")
"""Columns with a fixed meaning, besides `path`."""
LARGEST = 64 << 20
"""The most bytes of a file: enough for several hundred thousand videos."""
LONGEST_CELL = 2000
LONGEST_NAME = 60
"""The most characters of a column's name, and of a category."""
MOST_COLUMNS = 64
MOST_ROWS = 500_000
LONGEST_LINE = 200_000
"""The most characters of a line: more than all columns hold, far less than would fill memory."""

_SPELLED = {"license": "licence"}
_DELIMITERS = (",", ";", "\t")
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_TAGS = range(0xE0000, 0xE0080)
"""Tag characters, which nobody sees and models read as letters."""


class FactRow(NamedTuple):
    """What a file says of one video."""

    line: int
    """The line of the file in which it ends, from 1."""
    path: str
    cells: dict[str, str]
    """Column to cell; empty cells are left out."""


class FactTable(NamedTuple):
    """A file that was read."""

    file: str
    """Name of the file, safe for a terminal."""
    sha256: str
    columns: tuple[str, ...]
    """Names of the columns besides `path`, in order."""
    rows: tuple[FactRow, ...]

    def refuse(self, line: int, why: str) -> BadInput:
        """Return the error for a line."""
        return BadInput(f"{self.file}, line {line}: {why}")


def read_table(file: Path) -> FactTable:
    """Return what a file says of videos; BadInput for anything ambiguous.

    The file is CSV in UTF-8, separated by commas, semicolons or tabs, and has a column `path`.
    """
    name = safe(str(file))
    data = read_bytes(file)
    text = _decoded(data, name)
    _refuse_long(text, name)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise BadInput(f"{name} is blank; it needs a header with a column path, and rows")
    # Spreadsheets of some countries part cells by semicolons, since they write numbers with a
    # comma.
    delimiter = max(_DELIMITERS, key=lambda sign: _has_path(first, sign))
    lines = _lines(text, delimiter, name)
    _, header = next(lines)
    columns = _columns(header, name)
    rows = tuple(_rows(lines, columns, name))
    kept = tuple(column for column in columns if column not in ("", "path"))
    return FactTable(name, digest(data), kept, rows)


def read_bytes(file: Path) -> bytes:
    """Return the bytes of a file; BadInput if it cannot be read or is too large."""
    # PyAV takes a while to import, and whoever reads a run has no use for it.
    from videoautoarena.video.decode.container import regular, trouble

    name = safe(str(file))
    if not os.path.lexists(file):
        raise BadInput(
            f"there is no file {name}; pass a CSV file with {option('facts')}, or "
            f"{option('facts', 'none')}"
        )
    # A pipe without a writer, for one, would be waited for without end.
    if why := "a folder" if file.is_dir() else trouble(os.fspath(file)):
        raise BadInput(
            f"{name} is {why}; pass a CSV file with {option('facts')}, or {option('facts', 'none')}"
        )
    try:
        # One byte more than allowed tells a larger file without reading all of it.
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
        # Spreadsheets put a byte order mark before UTF-8.
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        raise BadInput(f"{name}, line {line}: is not UTF-8; save it as CSV in UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadInput(f"{name}, line {line}: holds a NUL character; save it as CSV in UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _refuse_long(text: str, name: str) -> None:
    """Raise BadInput for a line that would become millions of cells, before any is made."""
    for number, line in enumerate(io.StringIO(text), 1):
        if len(line) > LONGEST_LINE:
            raise BadInput(f"{name}, line {number}: is longer than {LONGEST_LINE:,} characters")


def _has_path(header: str, delimiter: str) -> bool:
    return any(_named(cell.strip().strip('"')) == "path" for cell in header.split(delimiter))


def _lines(text: str, delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each row that is not blank."""
    # Unless it is strict, it reads on behind a stray quote and guesses.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as wrong:
            why = f"{wrong}"
            if "unexpected end" in why:
                why = "a quote is never closed; close it, or double it"
            # csv has a limit of its own: 131,072 characters,
            # unless somebody raised it in this process.
            elif "field larger" in why:
                why = f"a cell is longer than {LONGEST_CELL:,} characters; shorten it"
            raise BadInput(f"{name}, line {reader.line_num}: {why}") from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells


def _columns(header: Sequence[str], name: str) -> list[str]:
    """Return the names of the columns; empty ones, as spreadsheets leave them, stay empty."""
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
    """Return the name of a column; those with a fixed meaning are known in any case."""
    name = clean(cell)
    plain = _SPELLED.get(name.casefold(), name.casefold())
    return plain if plain in ("path", *KNOWN) else name


def _rows(
    lines: Iterator[tuple[int, list[str]]], columns: Sequence[str], name: str
) -> Iterator[FactRow]:
    for count, (line, found) in enumerate(lines, 1):
        if count > MOST_ROWS:
            raise BadInput(f"{name} has more than {MOST_ROWS:,} rows; leave out what is no video")
        where = f"{name}, line {line}"
        if any(cell.strip() for cell in found[len(columns) :]):
            raise BadInput(f"{where}: {len(found)} cells where the header has {len(columns)}")
        # A row may lack cells at its end, or have empty ones beyond the header.
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
        yield FactRow(line, path, {column: cell for column, cell in said.items() if cell})


def clean(text: str) -> str:
    """Return a cell on one line, without characters that steer a terminal, an eye or a model."""
    kept = (" " if c.isspace() else c for c in text if c.isspace() or not _is_unsafe(c))
    return " ".join("".join(kept).split())


def plain_licence(licence: str) -> str:
    """Return a licence for comparison: `CC BY 4.0` and `cc-by-4.0` are equal."""
    return "-".join(licence.casefold().replace("_", " ").replace("-", " ").split())


def _is_unsafe(char: str) -> bool:
    # Not all of category Cf: emoji and scripts such as Persian need the joiners in it.
    hidden = char in _TURNS or ord(char) in _TAGS
    return hidden or unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn")


FILE = "facts"
"""Name of the facts in the run's file."""
NONE = "none"
"""The value of `--facts` that ignores the file beside the videos."""
MOST_CATEGORIES = 50
"""The most categories of a file, between which an examiner is asked to choose."""
_NAMED = 3
"""The most that are named of what is wrong in the same way."""


class Facts(Record):
    """What a file says of videos, as a run keeps it."""

    sha256: str | None = None
    """Sha256 of the file's bytes; None if there was none, or if runs with several were merged."""
    is_beside: bool = True
    """Whether it is the file beside the videos, and none that was passed."""
    categories: tuple[str, ...] = CATEGORIES
    """Categories the examiner chooses from: the ten, or the file's own; always with "other"."""
    columns: tuple[str, ...] = ()
    """The columns of the file besides `path`, in order."""
    videos: dict[str, VideoFacts] = Field(default_factory=dict)
    """Id of a video to its facts; videos of which the file says nothing are left out."""

    def cell(self, video: str, column: str) -> str | None:
        """Return what the file says of a video in a column, None if nothing."""
        said = self.videos.get(video)
        if said is None:
            return None
        if column in KNOWN:
            found: str | None = getattr(said, column)
            return found
        return said.columns.get(column)


NO_FACTS = Facts()


def file_of(folder: Path, asked: str | None) -> Path | None:
    """Return the file to read: the one `asked` for, else the one beside the videos, or None."""
    if asked == NONE:
        return None
    if asked is not None:
        return Path(asked)
    # A link that leads nowhere is taken, too, so that it is told and not passed over.
    beside = folder / NAME
    return beside if beside.is_symlink() or beside.exists() else None


def read_facts(folder: Path, found: Findings, asked: str | None = None) -> Facts:
    """Return what a file says of the videos found in a folder; NO_FACTS without a file.

    Raises BadInput for a file that cannot be read, and for rows of no video or of the same one.
    """
    file = file_of(folder, asked)
    if file is None:
        return NO_FACTS
    table = read_table(file)
    rows = _matched(table, found)
    categories, names = _categories(table, rows.values())
    videos = {video: _facts(row, names) for video, row in rows.items()}
    return Facts(
        sha256=table.sha256,
        is_beside=asked is None,
        categories=categories,
        columns=table.columns,
        videos=videos,
    )


def _matched(table: FactTable, found: Findings) -> dict[str, FactRow]:
    """Return the rows by id of their video, without those of files that cannot be used."""
    from videoautoarena.video.folder.find import VideoPaths

    places = VideoPaths(found)
    rows: dict[str, FactRow] = {}
    strangers = list[FactRow]()
    twice = list[tuple[FactRow, FactRow]]()
    for row in table.rows:
        video = places.id_of(row.path)
        if video is not None:
            earlier = rows.setdefault(video, row)
            if earlier is not row:
                twice.append((earlier, row))
        # A row about a file that cannot be used is no mistake of the table.
        elif places.why_skipped(row.path) is None:
            strangers.append(row)
    if strangers:
        are = "is no video" if len(strangers) == 1 else "are no videos"
        raise table.refuse(
            strangers[0].line,
            f"{_some(quoted(row.path) for row in strangers)} {are} of the folder; write paths as "
            "`arena videos` lists them, or leave the rows out",
        )
    if twice:
        pairs = (f"{quoted(b.path)} (line {a.line})" for a, b in twice)
        raise table.refuse(
            twice[0][1].line, f"{_some(pairs)}: a video has one row; leave the others out"
        )
    return rows


def _some(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return f"{', '.join(every[:_NAMED])}{more}"


def _categories(
    table: FactTable, rows: Iterable[FactRow]
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the categories to choose from, and each spelling in the file to its category.

    The categories are the ten if the file names no others, else its own in their first spelling.
    """
    said = list(dict.fromkeys(row.cells["category"] for row in rows if "category" in row.cells))
    among_ten = {name: read_category(name) for name in said}
    if all(among_ten.values()):
        return CATEGORIES, {name: among or OTHER for name, among in among_ten.items()}
    first: dict[str, str] = {}
    for name in said:
        if read_category(name, ()) != OTHER:
            first.setdefault(plain_category(name), name)
    if len(first) > MOST_CATEGORIES:
        raise BadInput(
            f"{table.file} has {len(first)} different categories; {MOST_CATEGORIES} are the most "
            "to choose from: give fewer, or call the column something else"
        )
    names = {name: first.get(plain_category(name), OTHER) for name in said}
    return (*first.values(), OTHER), names


def _facts(row: FactRow, names: Mapping[str, str]) -> VideoFacts:
    said = {name: cell for name, cell in row.cells.items() if name in KNOWN}
    if "category" in said:
        said["category"] = names[said["category"]]
    own = {name: cell for name, cell in row.cells.items() if name not in KNOWN}
    return VideoFacts(**said, columns=own)


def facts_text(facts: Facts) -> dict[str, str]:
    """Return the text that a new run keeps of its videos' facts, by its name in the run's file."""
    return {FILE: write_body(facts)}


def keep_more(store: Store, facts: Facts, videos: Iterable[str]) -> None:
    """Add what a file says of videos that are new to a run; everything else stays as it is."""
    kept = stored_facts(store)
    new = {id_: facts.videos[id_] for id_ in videos if id_ in facts.videos}
    known = {id_: said for id_, said in new.items() if id_ not in (kept or NO_FACTS).videos}
    if kept is None or not known:
        return
    # New videos take the spelling that the run has for a category.
    own = {plain_category(name): name for name in kept.categories}
    for id_, said in known.items():
        category = said.category and (
            read_category(said.category, kept.categories)
            or own.setdefault(plain_category(said.category), said.category)
        )
        known[id_] = said.model_copy(update={"category": category})
    columns = tuple(dict.fromkeys((*kept.columns, *facts.columns)))
    update = {"videos": kept.videos | known, "columns": columns}
    store.put_file(FILE, write_body(kept.model_copy(update=update)), replace=True)


def stored_facts(store: Store) -> Facts | None:
    """Return what a run knows of its videos; None if it began when no facts were read."""
    file = store.file(FILE)
    return read_body(Facts, file.text) if file else None


def merged_facts(kept: Sequence[Facts | None]) -> dict[str, str]:
    """Return the texts of facts of a merged run, by name; empty if all parts have the same.

    The first holds the facts of all parts. An examiner chose from the categories of its own run,
    so the facts of each part follow under its number from 0.
    """
    told = [facts for facts in kept if facts is not None]
    if len(told) == len(kept) and all(facts == told[0] for facts in told):
        return {}
    categories = [name for facts in told for name in facts.categories if name != OTHER]
    every = Facts(
        is_beside=all(facts.is_beside for facts in told),
        categories=(*dict.fromkeys(categories), OTHER),
        columns=tuple(dict.fromkeys(name for facts in told for name in facts.columns)),
        videos={id_: said for facts in told for id_, said in facts.videos.items()},
    )
    own = {f"{FILE}/{n}": write_body(facts) if facts else "" for n, facts in enumerate(kept)}
    return {FILE: write_body(every), **own}


def facts_told(store: Store, part: int) -> Facts | None:
    """Return the facts of one of the runs that this one was merged from, numbered from 0.

    A run that was not merged, or whose parts had the same facts, returns its own.
    """
    file = store.file(f"{FILE}/{part}")
    if file is None:
        return stored_facts(store)
    return read_body(Facts, file.text) if file.text else None


def changed_facts(store: Store, folder: Path, asked: str | None = None) -> str | None:
    """Return a line if the file at hand is not the one that the run has kept, else None.

    The file at hand is the one `asked` for, else the one beside the videos.
    """
    kept = stored_facts(store) or NO_FACTS
    if asked is None and not kept.is_beside:
        return None
    file = file_of(folder, asked)
    name = NAME if asked is None else safe(asked)
    try:
        now = digest(read_bytes(file)) if file else None
    except BadInput:
        # Equal to no digest, so that it differs from whatever was kept.
        now = ""
    if now == kept.sha256:
        return None
    if asked == NONE:
        return f"the facts this run began with stay; {option('facts', 'none')} is for new runs"
    if kept.sha256 is None:
        return f"{name} was not there when this run began; nothing in it is used"
    what = "is gone" if now is None else "differs from the one this run began with"
    return f"{name} {what}; the recorded facts are used"


def summary(facts: Facts) -> str:
    """Return one line on the facts that were read."""
    named = ", ".join(safe(column) for column in facts.columns) or "no column but path"
    count = 0 if facts.categories == CATEGORIES else len(facts.categories) - 1
    own = f"; {count} own {'category' if count == 1 else 'categories'}" if count else ""
    return f"facts on {len(facts.videos)} of the videos: {named}{own}"
