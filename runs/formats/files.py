"""Files that are written whole or not at all, CSV with harmless cells, and strict JSON of others.

In CSV, what a spreadsheet would take for a formula stays text.

Python's JSON reader keeps the last of two equal keys, takes NaN for a number and an enormous one
for infinity. Here such places are kept, so that whoever knows what a part is called can name them.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.terminal import safe


def refuse_existing(file: Path, *, force: bool) -> None:
    """Raise BadInput if a file cannot be made, or exists and may not be replaced."""
    if file.is_dir():
        raise BadInput(f"{file} is a folder; pass the name of a file")
    refuse_special(file)
    if file.exists() and not force:
        raise BadInput(f"{file} already exists; pass another name, or --force to replace it")


def refuse_special(file: Path) -> None:
    """Raise BadInput for a device, pipe or socket, which would be replaced, not written to."""
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise BadInput(f"{file} is no ordinary file; pass another name")


def write_whole(to: Path, content: bytes) -> None:
    """Write a file beside `to` and rename it, so that no reader sees a part of it."""
    with whole_file(to) as file:
        file.write(content)


def write_lines(to: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write objects as JSON lines, whole or not at all.

    Raises:
        BadInput: the file cannot be written.
    """
    content = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
    write_whole(to, content.encode("ascii"))


def make_folder(to: Path) -> None:
    """Make a folder, and its parents, unless it exists.

    Raises:
        BadInput: it cannot be made.
    """
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise BadInput(
            f"{to} cannot be made: {wrong.strerror}; pass another with {option('to')}"
        ) from wrong


@contextmanager
def whole_file(to: Path) -> Iterator[BinaryIO]:
    """Yield a file beside `to`, which is renamed at the end, or removed after an error."""
    refuse_special(to)
    draft = None
    try:
        # In the same folder, since a file can be renamed only within one file system.
        number, name = tempfile.mkstemp(dir=to.parent, prefix=f".{to.name[:40]}-")
        draft = Path(name)
        with os.fdopen(number, "wb") as file:
            yield file
        draft.chmod(0o644)  # mkstemp keeps it to its owner
        draft.replace(to)
    except OSError as wrong:
        raise BadInput(f"{to} cannot be written: {wrong.strerror}") from wrong
    finally:
        if draft is not None:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


LARGEST_FILE = 2**29
"""The most bytes of a JSON file; the published bench has a megabyte."""
DEEPEST = 50
"""The most levels of nesting below a part; published files have three."""


class OddNumber:
    """A number that JSON does not allow, kept in its place."""

    def __init__(self, text: str) -> None:
        self.text = text


class DoubledObject(dict[str, Any]):
    """An object that has a key more than once."""

    key: str


def read_json(file: Path) -> Any:
    """Return the content of a JSON file, or BadInput; `oddity` finds what is wrong in a part."""
    return parse_json(decode(read_bytes(file), str(file)), str(file))


def read_bytes(file: Path) -> bytes:
    """Return the bytes of a file; BadInput if it cannot be read or is too large."""
    if not file.is_file():
        raise BadInput(f"{file} is no file; pass a JSON file")
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise BadInput(f"{file} is larger than {LARGEST_FILE >> 20} MB")
        content = file.read_bytes()
    except OSError as wrong:
        raise BadInput(f"{file} cannot be read: {wrong.strerror}") from wrong
    from videoautoarena.video.decode.disguise import HEAD, pointer_in

    if pointer := pointer_in(content[: HEAD + 1]):
        raise BadInput(f"{file} {pointer}")
    return content


def decode(content: bytes, name: str) -> str:
    """Return the text of a file without a byte order mark; BadInput if blank or not UTF-8."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{name} is not UTF-8 text; save it as UTF-8") from None
    if not text.strip():
        raise BadInput(f"{name} is empty")
    return text


def parse_json(text: str, name: str) -> Any:
    """Return the content of a JSON text, odd places kept; BadInput names an invalid one."""
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=OddNumber, parse_float=_number
        )
    except RecursionError:
        raise BadInput(f"{name} is nested too deep") from None
    except json.JSONDecodeError as wrong:
        raise BadInput(f"{name} is no JSON: line {wrong.lineno}: {wrong.msg}") from None
    except ValueError:  # an integer of thousands of digits
        raise BadInput(f"{name} is no JSON: a number in it is too long") from None


def oddity(value: Any) -> str | None:
    """Return what is wrong inside a value that was read, or None."""
    level = [value]
    # Level by level and not by recursion, which a hostile file could drive into its limit.
    for _ in range(DEEPEST):
        below: list[Any] = []
        for one in level:
            if isinstance(one, OddNumber):
                return f"holds {one.text}, which is no JSON number"
            if isinstance(one, DoubledObject):
                return f"has the key {quoted(one.key)} twice"
            if isinstance(one, dict):
                below += one.values()
            elif isinstance(one, list):
                below += one
        level = below
        if not level:
            return None
    return f"is nested deeper than {DEEPEST} levels"


def kind_of(value: Any) -> str:
    """Return the JSON type of a value, with an article."""
    if value is None:
        return "null"
    return _KINDS.get(type(value), "an object")


_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    OddNumber: "no number",
    str: "a text",
    list: "a list",
}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    odd = DoubledObject(made)
    odd.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return odd


def _number(text: str) -> float | OddNumber:
    number = float(text)
    return number if math.isfinite(number) else OddNumber(text[:40])


Cell = str | int | float | None
_FORMULA = re.compile(r"'*\s*[=+\-@]")
"""The beginning of what a spreadsheet takes for a formula, also behind quotes of the text."""


def comma_separated(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return rows as CSV with a header, one line each; None is empty, and no cell a formula."""
    return "\n".join(comma_separated_lines(columns, rows))


def comma_separated_lines(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield the lines of `comma_separated`, one at a time."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="")
    writer.writerow(columns)
    for row in rows:
        yield text.getvalue()
        # One line at a time: a table of a million battles is never whole in memory.
        text.seek(0)
        text.truncate()
        writer.writerow(
            [quote_formula(safe(cell)) if isinstance(cell, str) else cell for cell in row]
        )
    yield text.getvalue()


def sheet_text(
    columns: Sequence[str], rows: Iterable[Mapping[str, str | None]], *, delimiter: str = ","
) -> str:
    """Return a sheet for people to fill in; cells keep their line breaks, and none is a formula."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: quote_formula(shown(cell or "")) for name, cell in row.items()})
    # Without the mark, spreadsheets do not take it for UTF-8.
    return "\ufeff" + text.getvalue()


def shown(text: str) -> str:
    """Return text as a cell of a sheet has it: line breaks kept, control characters escaped."""
    return safe(lined(text), lines=True)


def lined(text: str) -> str:
    """Return text whose lines all end in a line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def quote_formula(text: str) -> str:
    """Return a CSV cell with a quote put before what a spreadsheet would take for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unquote_formula(cell: str) -> str:
    """Return the text from which `quote_formula` made a cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell
