"""Battles of any origin as coded columns: from CSV, JSON lines, Parquet, or in memory."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from videoautoarena.memory.records.errors import BadInput, need_package
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.scoring.fitting.counts import Floats, Ints


class StructuredCell(str):
    """The JSON text of a cell that holds a list, an object, true or false; never a model's name."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of a table, coded by its distinct values."""

    values: Sequence[Any]
    """Distinct values in order of appearance; None stands for a gap."""
    codes: Ints
    """Shape (rows,): for each row the index of its value in `values`."""


@dataclass(frozen=True, eq=False)
class ColumnSheet:
    """The columns of a file that are wanted, all of the same length."""

    file: str
    row: str
    """The word for a row in messages, such as `line`."""
    first: int
    """Number of the first row, as messages count."""
    columns: Mapping[str, CodedColumn]
    names: Sequence[str]
    """Names of all columns, also of those that are not wanted."""

    def refuse(self, row: int, why: str) -> BadInput:
        """Return the error for a row, counted from 0."""
        return BadInput(f"{self.file}, {self.row} {self.first + row}: {why}")

    def check(self, name: str, wrong: Mapping[int, str]) -> None:
        """Raise BadInput for the first row with a wrong value; `wrong` maps codes to reasons."""
        column = self.columns[name]
        found = np.isin(column.codes, list(wrong))
        if found.any():
            row = int(np.argmax(found))
            raise self.refuse(row, f"{name} {wrong[int(column.codes[row])]}")


class ColumnCoder:
    """Codes a column that is read in portions."""

    def __init__(self) -> None:
        self._place: dict[Any, int] = {}
        self._codes: list[Ints] = []

    def add(self, values: Sequence[Any]) -> None:
        """Add the next rows."""
        place = self._place
        for value in dict.fromkeys(values):
            place.setdefault(value, len(place))
        self._codes.append(np.fromiter(map(place.__getitem__, values), np.int64, len(values)))

    def add_coded(self, values: Sequence[Any], codes: Ints) -> None:
        """Add the next rows, which are coded by `values` of their own."""
        place = self._place
        # Only values that occur: a dictionary of Arrow may hold more of them.
        used = np.unique(codes)
        moved = np.zeros(len(values), dtype=np.int64)
        for k in used.tolist():
            moved[k] = place.setdefault(values[k], len(place))
        self._codes.append(moved[codes])

    def done(self) -> CodedColumn:
        """Return the whole column."""
        codes = np.concatenate(self._codes) if self._codes else np.empty(0, dtype=np.int64)
        return CodedColumn(list(self._place), codes)


def quoted(value: Any) -> str:
    """Return a value for a message: short, on one line, and harmless to a terminal."""
    flat = safe(" ".join(str(value).split()))
    return f'"{flat if len(flat) <= 40 else flat[:37] + "..."}"'


def read_numbers(sheet: ColumnSheet, name: str) -> Floats:
    """Return a column as numbers; BadInput for a value that is no finite number."""
    column = sheet.columns[name]
    numbers = [as_number(value) for value in column.values]
    wrong = {
        k: "is missing" if is_gap(value) else f"is no number: {quoted(value)}"
        for k, value in enumerate(column.values)
        if numbers[k] is None
    }
    sheet.check(name, wrong)
    return np.array(numbers, dtype=np.float64)[column.codes] if numbers else np.empty(0)


def as_number(value: Any) -> float | None:
    """Return the finite number in a cell, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def is_gap(value: Any) -> bool:
    """Return whether a cell is empty, or holds what programs write for a missing value."""
    if isinstance(value, float):
        return bool(np.isnan(value))
    return value is None or (isinstance(value, str) and value.strip().casefold() in _GAPS)


_GAPS = frozenset({"", "nan", "none", "null", "na", "n/a", "<na>"})


def merge(first: CodedColumn, second: CodedColumn) -> tuple[list[Any], Ints, Ints]:
    """Return the distinct values of two columns, and both coded by those."""
    values = list(dict.fromkeys([*first.values, *second.values]))
    place = {value: k for k, value in enumerate(values)}
    one, two = (
        np.array([place[value] for value in column.values], dtype=np.int64)[column.codes]
        for column in (first, second)
    )
    return values, one, two


Wanted = Callable[[str], bool]
"""Returns whether a column of this name is needed."""
_PORTION = 50_000
# An answer may be longer than the 131,072 characters of a field that csv allows. More than this
# overflows the C long in which csv keeps the limit on some systems.
_LONGEST_CELL = 2**31 - 1


def read_sheet(file: Path, wanted: Wanted) -> ColumnSheet:
    """Return the columns of a file for which `wanted` holds; BadInput names a broken row.

    A million rows take some seconds as CSV or JSON lines, less than one as Parquet.
    """
    if not file.is_file():
        raise BadInput(f"{file} is no file; pass a .csv, .tsv, .jsonl or .parquet file")
    read = _READERS.get(file.suffix.lower())
    if read is None:
        raise BadInput(f"{file} must end in .csv, .tsv, .jsonl, .ndjson or .parquet")
    if file.stat().st_size == 0:
        raise BadInput(f"{file} is empty; it needs a header and rows")
    from videoautoarena.video.decode.disguise import HEAD, pointer_in

    with file.open("rb") as opened:
        # A clone without Git LFS has small text files in the place of large ones.
        if pointer := pointer_in(opened.read(HEAD + 1)):
            raise BadInput(f"{file} {pointer}")
    return read(file, wanted)


def _read_csv(file: Path, wanted: Wanted) -> ColumnSheet:
    csv.field_size_limit(_LONGEST_CELL)
    delimiter = "\t" if file.suffix.lower() == ".tsv" else ","
    with _text(file) as stream:
        reader = csv.reader(stream, delimiter=delimiter, strict=True)
        try:
            names = [name.strip() for name in next(filter(None, reader))]
        except StopIteration:
            raise BadInput(f"{file} is blank; it needs a header and rows") from None
        except csv.Error as wrong:
            raise BadInput(f"{file}, header: {_reason(wrong)}") from None
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            where = f"{file}, line {reader.line_num}"
            raise BadInput(f"{where}: two columns are called {quoted(twice)}; rename one")
        coders = {k: ColumnCoder() for k, name in enumerate(names) if wanted(name)}
        for rows in _portions(file, reader, len(names)):
            # Of no rows zip would make no columns.
            columns = list(zip(*rows, strict=True)) or [()] * len(names)
            for k, coder in coders.items():
                coder.add(columns[k])
    return ColumnSheet(str(file), "row", 1, {names[k]: coders[k].done() for k in coders}, names)


def _portions(file: Path, reader: Iterator[list[str]], width: int) -> Iterator[list[list[str]]]:
    """Yield rows in portions, without blank lines; each row is as long as the header."""
    done = 0
    while True:
        read: list[list[str]] = []
        try:
            # Extended and not assigned: where the reader fails in mid-portion, the rows before it
            # are counted.
            read.extend(islice(reader, _PORTION))
        except csv.Error as wrong:
            row = done + sum(map(bool, read)) + 1
            raise BadInput(f"{file}, row {row}: {_reason(wrong)}") from None
        if not read:
            return
        rows = [row for row in read if row]
        if set(map(len, rows)) - {width}:
            k = next(k for k, row in enumerate(rows) if len(row) != width)
            raise BadInput(
                f"{file}, row {done + k + 1}: {len(rows[k])} cells where the header has {width}"
            )
        done += len(rows)
        yield rows


def _reason(wrong: csv.Error) -> str:
    """Return what is wrong with a row of CSV in words that name what to look for."""
    if "unexpected end of data" in str(wrong):
        return "a quote is never closed; close it, or double it"
    return f"{wrong}; a quote within quotes is written twice"


def _read_lines(file: Path, wanted: Wanted) -> ColumnSheet:
    """Read JSON lines; a key that a line does not have is a gap there."""
    names: dict[str, ColumnCoder] = {}
    others: dict[str, None] = {}
    done = 0
    with _text(file) as stream:
        while lines := list(islice(stream, _PORTION)):
            objects = [_parse(file, done + k, line) for k, line in enumerate(lines)]
            for name in dict.fromkeys(name for found in objects for name in found):
                others.setdefault(name)
                if wanted(name) and name not in names:
                    names[name] = ColumnCoder()
                    if done:
                        # A key that comes late is a gap in all lines before.
                        names[name].add([None] * done)
            for name, coder in names.items():
                coder.add([_cell(found.get(name)) for found in objects])
            done += len(lines)
    columns = {name: coder.done() for name, coder in names.items()}
    return ColumnSheet(str(file), "line", 1, columns, list(others))


def _parse(file: Path, row: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
        # To look at every pair takes half as long again: only where there may be one more.
        if isinstance(found, dict) and len(_KEY_ENDS(line)) != len(found):
            found = json.loads(line, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        shown = "blank" if not line.strip() else f"not JSON: {quoted(line)}"
        raise BadInput(f"{file}, line {row + 1}: {shown}") from None
    if not isinstance(found, dict):
        raise BadInput(f"{file}, line {row + 1}: not a JSON object: {quoted(line)}")
    if isinstance(found, _Doubled):
        raise BadInput(f"{file}, line {row + 1}: has the key {quoted(found.key)} twice; keep one")
    return found


_KEY_ENDS = re.compile(r'"\s*:').findall
"""Finds every place where a key may end, and perhaps some within texts."""


class _Doubled(dict[str, Any]):
    """An object that has a key more than once, so that its value is ambiguous."""

    key: str


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    counts = Counter(key for key, _ in pairs)
    doubled = _Doubled(found)
    doubled.key = next(key for key, times in counts.items() if times > 1)
    return doubled


def _cell(value: Any) -> Any:
    """Return a cell's value so that it can be compared; lists, objects, booleans become text."""
    if isinstance(value, np.generic):
        value = value.item()
    # True equals 1 in Python: without a type of its own it would share its code.
    if isinstance(value, bool | list | dict):
        return StructuredCell(json.dumps(value, default=str))
    # NaN and NaT differ from themselves, and nothing else does.
    return None if value != value else value


def _read_parquet(file: Path, wanted: Wanted) -> ColumnSheet:
    need_package("pyarrow", f"{file}: Parquet needs pyarrow", "parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Read as one file: pyarrow's data sets take longer to import than a million rows to read.
        with pq.ParquetFile(file) as opened:
            names = opened.schema_arrow.names
            chosen = list(filter(wanted, names))
            columns = _columns_of(opened.iter_batches(_PORTION, columns=chosen), chosen)
    except (pa.ArrowException, OSError, ValueError) as wrong:
        first = (str(wrong).splitlines() or ["unreadable"])[0]
        raise BadInput(f"{file} is no Parquet file that can be read: {quoted(first)}") from None
    return ColumnSheet(str(file), "row", 1, columns, names)


def _columns_of(batches: Iterable[Any], names: Sequence[str]) -> dict[str, CodedColumn]:
    """Return coded columns of an Arrow table, of which one portion at a time is in memory."""
    coders = {name: ColumnCoder() for name in names}
    for batch in batches:
        for name, coder in coders.items():
            coder.add_coded(*_decode(batch[name]))
    return {name: coder.done() for name, coder in coders.items()}


def _decode(piece: Any) -> tuple[list[Any], Ints]:
    """Return values and codes of a piece of an Arrow column, without a Python object per cell."""
    import pyarrow as pa

    if not pa.types.is_dictionary(piece.type):
        piece = piece.dictionary_encode()
    values = [_cell(value) for value in [*piece.dictionary.to_pylist(), None]]
    # Arrow gives nulls no code: theirs is that of the None at the end.
    codes = piece.indices.cast(pa.int64()).fill_null(len(values) - 1)
    return values, codes.to_numpy(zero_copy_only=False)


TUPLE = ("model_a", "model_b", "winner", "video")
"""The fields of a battle that is given as a tuple; the video may be missing."""
ATTRIBUTES = (*TUPLE, "verdict", "answer_a", "answer_b")
"""The attributes that are read from a battle that is given as an object."""


def sheet_of(battles: Any, wanted: Wanted) -> ColumnSheet:
    """Return the columns for which `wanted` holds, of battles that a program has in memory.

    `battles` is a table of pandas, of Arrow or with its stream, or an iterable of mappings,
    tuples or objects with attributes. BadInput of anything else names the place, counted from
    0.
    """
    # Not imported: whoever passes a DataFrame has done so, and nobody else should wait for it.
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(battles, pandas.DataFrame):
        return _of_frame(battles, wanted)
    if hasattr(battles, "__arrow_c_stream__"):
        return _of_arrow(battles, wanted)
    if isinstance(battles, str | bytes | Mapping) or not isinstance(battles, Iterable):
        kind = type(battles).__name__
        raise BadInput(f"battles are of type {kind}; pass a file, a table, mappings or tuples")
    rows = [_mapped(battle, k) for k, battle in enumerate(battles)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    coders = {name: ColumnCoder() for name in names if wanted(name)}
    for name, coder in coders.items():
        coder.add([_cell(row.get(name)) for row in rows])
    return ColumnSheet(
        "battles", "index", 0, {k: coder.done() for k, coder in coders.items()}, names
    )


def _of_frame(frame: Any, wanted: Wanted) -> ColumnSheet:
    from pandas import factorize

    columns = {}
    for name in filter(wanted, map(str, frame.columns)):
        try:
            codes, values = factorize(frame[name])
        except (KeyError, TypeError, ValueError):
            raise BadInput(f"battles, column {quoted(name)}: not a plain column") from None
        cells = [_cell(value) for value in [*values.tolist(), None]]
        columns[name] = CodedColumn(cells, np.where(codes < 0, len(values), codes))
    return ColumnSheet("battles", "row", 0, columns, [str(name) for name in frame.columns])


def _of_arrow(given: Any, wanted: Wanted) -> ColumnSheet:
    need_package("pyarrow", "battles of this kind need pyarrow", "parquet")
    import pyarrow as pa

    table = pa.table(given)
    names: list[str] = table.column_names
    columns = _columns_of(table.to_batches(_PORTION), list(filter(wanted, names)))
    return ColumnSheet("battles", "row", 0, columns, names)


def _mapped(battle: Any, place: int) -> Mapping[str, Any]:
    if isinstance(battle, Mapping):
        return battle
    # A named tuple is read by its names, which may stand in another order.
    if isinstance(battle, tuple | list) and not hasattr(battle, "_fields"):
        if not 3 <= len(battle) <= len(TUPLE):
            raise BadInput(
                f"battles, index {place}: {len(battle)} values; a tuple is ({', '.join(TUPLE)})"
            )
        return dict(zip(TUPLE, battle, strict=False))
    if found := {name: getattr(battle, name) for name in ATTRIBUTES if hasattr(battle, name)}:
        return found
    raise BadInput(f"battles, index {place}: not a battle: {quoted(battle)}")


@contextmanager
def _text(file: Path) -> Iterator[Any]:
    try:
        # Spreadsheets put a byte order mark before UTF-8, and csv wants line ends as they are.
        with file.open(encoding="utf-8-sig", newline="") as stream:
            yield stream
    except UnicodeDecodeError:
        raise BadInput(f"{file} is not UTF-8 text; save it as UTF-8") from None


_READERS: dict[str, Callable[[Path, Wanted], ColumnSheet]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".jsonl": _read_lines,
    ".ndjson": _read_lines,
    ".parquet": _read_parquet,
}
