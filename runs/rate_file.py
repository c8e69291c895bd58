"""Files of battles that anybody may have: CSV, JSON lines or Parquet, read into columns."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from memory.errors import BadInput
from runs.rate_columns import Coded, Coder, Shaped, Sheet, quoted

Wanted = Callable[[str], bool]
"""Whether a column of this name matters."""
_PORTION = 50_000
_LONGEST_CELL = 2**31 - 1


def read_sheet(file: Path, wanted: Wanted) -> Sheet:
    """Return the columns of a file for which `wanted` holds.

    A million rows take some seconds as CSV or JSON lines, less than one as Parquet.

    Raises:
        BadInput: no such file, not one of these kinds, or broken; it names the row.
    """
    if not file.is_file():
        raise BadInput(f"{file} is no file; pass a .csv, .tsv, .jsonl or .parquet file")
    read = _READERS.get(file.suffix.lower())
    if read is None:
        raise BadInput(f"{file} must end in .csv, .tsv, .jsonl, .ndjson or .parquet")
    if file.stat().st_size == 0:
        raise BadInput(f"{file} is empty; it needs a header and rows")
    return read(file, wanted)


def _read_csv(file: Path, wanted: Wanted) -> Sheet:
    csv.field_size_limit(_LONGEST_CELL)
    delimiter = "\t" if file.suffix.lower() == ".tsv" else ","
    with _text(file) as stream:
        reader = csv.reader(stream, delimiter=delimiter, strict=True)
        names = [name.strip() for name in _read_header(file, reader)]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInput(f"{file} has two columns called {quoted(twice)}")
        coders = {k: Coder() for k, name in enumerate(names) if wanted(name)}
        for rows in _portions(file, reader, len(names)):
            columns = list(zip(*rows, strict=True)) or [()] * len(names)
            for k, coder in coders.items():
                coder.add(columns[k])
    return Sheet(str(file), "row", 1, {names[k]: coders[k].done() for k in coders}, names)


def _portions(file: Path, reader: Iterator[list[str]], width: int) -> Iterator[list[list[str]]]:
    """Rows in portions, blank lines left out; each as long as the header."""
    done = 0
    while True:
        read: list[list[str]] = []
        try:
            read.extend(islice(reader, _PORTION))
        except csv.Error as wrong:
            row = done + sum(map(bool, read)) + 1
            raise BadInput(f"{file}, row {row}: {_told(wrong)}") from None
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


def _told(wrong: csv.Error) -> str:
    """Return what is wrong with a row of CSV in words that name what to look for."""
    if "unexpected end of data" in str(wrong):
        return "a quote is opened and closed nowhere below; close it, or double it"
    return f"{wrong}; a quote within quotes is written twice"


def _read_header(file: Path, reader: Iterator[list[str]]) -> list[str]:
    try:
        return next(row for row in reader if row)
    except StopIteration:
        raise BadInput(f"{file} is blank; it needs a header and rows") from None
    except csv.Error as wrong:
        raise BadInput(f"{file}, header: {_told(wrong)}") from None


def _read_lines(file: Path, wanted: Wanted) -> Sheet:
    """JSON lines; a column that a line does not have is a gap in it."""
    names: dict[str, Coder] = {}
    others: dict[str, None] = {}
    done = 0
    with _text(file) as stream:
        while lines := list(islice(stream, _PORTION)):
            objects = [_parse(file, done + k, line) for k, line in enumerate(lines)]
            for name in dict.fromkeys(name for found in objects for name in found):
                others.setdefault(name)
                if wanted(name) and name not in names:
                    names[name] = Coder()
                    if done:
                        names[name].add([None] * done)
            for name, coder in names.items():
                coder.add([_cell(found.get(name)) for found in objects])
            done += len(lines)
    columns = {name: coder.done() for name, coder in names.items()}
    return Sheet(str(file), "line", 1, columns, list(others))


def _parse(file: Path, row: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        shown = "blank" if not line.strip() else f"no JSON: {quoted(line)}"
        raise BadInput(f"{file}, line {row + 1}: {shown}") from None
    if not isinstance(found, dict):
        raise BadInput(f"{file}, line {row + 1}: no JSON object: {quoted(line)}")
    return found


def _cell(value: Any) -> Any:
    """A value that can be told from others; 1 and true are not the same, lists are text."""
    if isinstance(value, bool | list | dict):
        return Shaped(json.dumps(value))
    return None if value != value else value


def _read_parquet(file: Path, wanted: Wanted) -> Sheet:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise BadInput(
            f"{file}: Parquet needs pyarrow; install it with pip install 'videoautoarena[parquet]'"
        ) from None
    try:
        schema = pq.read_schema(file)
        chosen = [name for name in schema.names if wanted(name)]
        texts = [name for name in chosen if pa.types.is_string(schema.field(name).type)]
        # Read as one file: pyarrow's data sets take longer to import than a million rows to read.
        table = pq.ParquetFile(file, read_dictionary=texts).read(columns=chosen)
        columns = {name: _decode(table[name]) for name in table.column_names}
    except (pa.ArrowException, OSError, ValueError) as wrong:
        first = (str(wrong).splitlines() or ["unreadable"])[0]
        raise BadInput(f"{file} is no Parquet file that can be read: {quoted(first)}") from None
    return Sheet(str(file), "row", 1, columns, schema.names)


def _decode(column: Any) -> Coded:
    """A column of Arrow, without making a Python value of every cell."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    pieces = column.unify_dictionaries().chunks
    values: Sequence[Any] = pieces[0].dictionary.to_pylist() if pieces else []
    codes = [
        piece.indices.cast(pa.int64()).fill_null(len(values)).to_numpy(zero_copy_only=False)
        for piece in pieces
    ]
    return Coded(
        [_cell(value) for value in [*values, None]],
        np.concatenate(codes) if codes else np.empty(0, dtype=np.int64),
    )


@contextmanager
def _text(file: Path) -> Iterator[Any]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            yield stream
    except UnicodeDecodeError:
        raise BadInput(f"{file} is not UTF-8 text; save it as UTF-8") from None


_READERS: dict[str, Callable[[Path, Wanted], Sheet]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".jsonl": _read_lines,
    ".ndjson": _read_lines,
    ".parquet": _read_parquet,
}
