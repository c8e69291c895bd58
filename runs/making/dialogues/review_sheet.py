"""A sheet on which people review dialogues: a row a round, written and read as CSV.

What stands in the set is shown, with control characters escaped, and compared when it comes back:
it is changed in the columns of corrections alone, so that nobody's change is overlooked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.bench.dialogues.score import Of
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.schema import DIALOGUE, DialogueItem, Round
from videoautoarena.runs.bench.format.writer import refuse_within
from videoautoarena.runs.formats.battle_table import ColumnSheet, quoted, read_sheet
from videoautoarena.runs.formats.files import (
    lined,
    refuse_existing,
    sheet_text,
    shown,
    unquote_formula,
    write_whole,
)
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import unusable_too
from videoautoarena.runs.run.rundir.reader import counted

ITEMS = 5
"""Places for items of a checklist; more if a checklist of the set is longer."""
SHOWN = ("qid", "video", "ability", "round", "user", "reference")
TEXTS = ("user", "reference")
Decision = Literal["keep", "drop"]


@dataclass(frozen=True)
class Edit:
    """What a reviewer decided on one round."""

    decision: Decision = "keep"
    corrections: Mapping[str, str] = field(default_factory=dict)
    """Field (`user`, `reference`, `item_1`, `expected_1` and so on) to its new text, if changed."""
    note: str = ""

    @property
    def is_change(self) -> bool:
        """Whether it says anything of its round."""
        return bool(self.decision == "drop" or self.corrections or self.note)


def columns_of(items: Sequence[DialogueItem]) -> list[str]:
    """Return the columns of the sheet on these dialogues."""
    places = _places(items)
    return [*SHOWN, *_checks(places), "decision", *_corrected(places), "note"]


def _places(items: Sequence[DialogueItem]) -> int:
    return max((len(one.checklist) for item in items for one in item.rounds), default=0)


def _checks(places: int) -> Iterator[str]:
    for k in range(1, max(places, ITEMS) + 1):
        yield from (f"item_{k}", f"expected_{k}")


def _corrected(places: int) -> list[str]:
    return [f"corrected_{name}" for name in (*TEXTS, *_checks(places))]


def fields_of(asked: Round) -> dict[str, str]:
    """Return the parts of a round that can be corrected, by field."""
    found = {"user": asked.user, "reference": asked.reference}
    for k, check in enumerate(asked.checklist, 1):
        found |= {f"item_{k}": check.text, f"expected_{k}": check.expected}
    return found


def sheet_bytes(bench: OpenBench[DialogueItem]) -> bytes:
    """Return the sheet on a set as CSV with nothing decided; no cell of it is a formula."""
    rows = (
        _shown_row(bench, item, number) | fields_of(one)
        for item in bench.items
        for number, one in enumerate(item.rounds, 1)
    )
    return sheet_text(columns_of(bench.items), rows).encode()


def _shown_row(bench: OpenBench[DialogueItem], item: DialogueItem, number: int) -> dict[str, str]:
    path = bench.manifest.videos[item.video_id].path or item.video_id
    return {"qid": item.qid, "video": path, "ability": item.ability, "round": str(number)}


class _Unusable(Exception):
    """Why one row cannot be used."""

    def __init__(self, column: str, why: str) -> None:
        super().__init__(f"{column} {why}")


def read_edits(bench: OpenBench[DialogueItem], file: Path) -> dict[Of, Edit]:
    """Return what a sheet says of each round that has a row in it.

    Raises:
        BadInput: a file, a column or rows that cannot be used; rows and columns are named.
    """
    if file.suffix.lower() != ".csv":
        raise BadInput(f"{file} must end in .csv, as arena dialogues review writes it")
    columns = columns_of(bench.items)
    sheet = read_sheet(file, set(columns).__contains__)
    if lacking := [name for name in columns if name not in sheet.names]:
        more = f" and {len(lacking) - 1} more" * (len(lacking) > 1)
        more += "; save it with commas between columns" * (len(sheet.names) == 1)
        raise BadInput(f"{sheet.file} has no column {lacking[0]}{more}; nothing was made")
    reading = _Reading(bench)
    wrong = dict[int, str]()
    for place, row in enumerate(_rows(sheet)):
        try:
            reading.take(row)
        except _Unusable as why:
            wrong[place] = str(why)
    if wrong:
        raise _refusal(sheet, wrong)
    return reading.edits


def _rows(sheet: ColumnSheet) -> Iterator[dict[str, str]]:
    columns = sheet.columns
    for place in range(len(columns["qid"].codes)):
        cells = {name: column.values[column.codes[place]] for name, column in columns.items()}
        # Undoes the quote that kept a cell from being a formula, and line ends of spreadsheets.
        yield {name: unquote_formula(lined(cell)) for name, cell in cells.items()}


class _Reading:
    """Rows of a sheet becoming edits, against the set that they are about."""

    def __init__(self, bench: OpenBench[DialogueItem]) -> None:
        self.edits: dict[Of, Edit] = {}
        self._bench = bench
        # A qid of an import may hold control characters, which stand escaped in the sheet.
        self._shown = {shown(qid).strip(): item for qid, item in bench.by_qid.items()}

    def take(self, row: Mapping[str, str]) -> None:
        """Read one row; raises _Unusable if it is wrong."""
        if not any(cell.strip() for cell in row.values()):
            return  # spreadsheets leave rows of nothing behind
        item = self._item(row["qid"].strip())
        number = row["round"].strip()
        # Python refuses to read a number of thousands of digits.
        if not number.isascii() or not number.isdecimal() or len(number) > 9:
            raise _Unusable("round", f"is {quoted(number)}, which is no number")
        of = item.qid, int(number)
        if not 1 <= of[1] <= len(item.rounds):
            raise _Unusable("round", f"is {of[1]}: {quoted(item.qid)} has {len(item.rounds)}")
        if of in self.edits:
            raise _Unusable("round", f"is {of[1]} of {quoted(item.qid)} a second time")
        asked = item.rounds[of[1] - 1]
        self._refuse_changed(row, _shown_row(self._bench, item, of[1]) | fields_of(asked))
        self.edits[of] = _edit(row, asked)

    def _item(self, qid: str) -> DialogueItem:
        found = self._shown.get(qid)
        if found is None:
            # A qid such as 12e4567890123456 is a number to a spreadsheet.
            raise _Unusable("qid", f"is {quoted(qid)}, which the set does not hold; in a "
                            "spreadsheet, import this column as text")  # fmt: skip
        return found

    def _refuse_changed(self, row: Mapping[str, str], of: Mapping[str, str]) -> None:
        for name, cell in row.items():
            if name in ("decision", "note", "qid", "round") or name.startswith("corrected_"):
                continue
            if cell.strip() != shown(of.get(name, "")).strip():
                instead = "" if name in SHOWN[:4] else f"; write it as corrected_{name}"
                raise _Unusable(name, f"is not what the set holds{instead}")


def _edit(row: Mapping[str, str], asked: Round) -> Edit:
    decision = row["decision"].strip().casefold()
    if decision not in ("", "keep", "drop"):
        raise _Unusable("decision", f"is {quoted(decision)}; it may be keep, drop or empty")
    fields = fields_of(asked)
    corrections = dict[str, str]()
    for name, cell in row.items():
        of = name.removeprefix("corrected_")
        if of == name or not cell.strip():
            continue
        if of not in fields:
            raise _Unusable(name, f"corrects an item that is not there: this round has "
                            f"{len(asked.checklist)}")  # fmt: skip
        if of.startswith("expected_"):
            cell = cell.strip().casefold()
            if cell not in ("yes", "no"):
                raise _Unusable(name, f"is {quoted(cell)}; it may be yes or no")
        # As the sheet shows it, so that text which was only copied there corrects nothing.
        if cell != shown(fields[of]):
            corrections[of] = cell
        if decision == "drop":
            raise _Unusable(name, "corrects a round that is dropped; do one of both")
    note = row["note"].strip()
    return Edit("drop" if decision == "drop" else "keep", corrections, note)


def _refusal(sheet: ColumnSheet, wrong: Mapping[int, str]) -> BadInput:
    first, *others = wrong
    nor = unusable_too([str(sheet.first + k) for k in others], f"{sheet.row}s ")
    return BadInput(f"{sheet.refuse(first, wrong[first])}{nor}; nothing was made")


@dataclass(frozen=True)
class Sheeted:
    """A sheet that was written."""

    file: Path
    bench: str
    dialogues: int
    rounds: int
    scored: int

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena dialogues review --json` where it writes a sheet."""
        return {
            "schema": SCHEMA,
            "file": str(self.file),
            "bench": self.bench,
            "dialogues": self.dialogues,
            "rounds": self.rounds,
            "scored": self.scored,
        }

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        return [
            f"{safe(str(self.file))}: {counted(self.dialogues, 'dialogue')}, "
            f"{counted(self.rounds, 'round')}, {self.scored} scored"
        ]


def write_sheet(folder: Path, to: Path | None = None, *, force: bool = False) -> Sheeted:
    """Write the sheet on a set, by default beside it.

    Raises:
        BadInput: no set of dialogues, or a file that is there or cannot be written.
    """
    bench = open_dialogues(folder)
    # The real one: a folder typed as `.` has no name to add to.
    real = Path(os.path.realpath(folder))
    file = real.with_name(f"{real.name}-review.csv") if to is None else to
    if file.suffix.lower() != ".csv":
        raise BadInput(f"{file} must end in .csv; pass another {option('to')}")
    refuse_within(folder, file)
    refuse_existing(file, force=force)
    write_whole(file, sheet_bytes(bench))
    rounds = [one for item in bench.items for one in item.rounds]
    scored = sum(one.is_scored for one in rounds)
    return Sheeted(file, bench.bench, len(bench.items), len(rounds), scored)


def open_dialogues(folder: Path) -> OpenBench[DialogueItem]:
    """Return a set of dialogues; BadInput for a set of any other kind."""
    bench = open_bench(folder)
    if bench.manifest.kind != DIALOGUE:
        raise BadInput(f"{folder} holds no dialogues: it is a set of kind {bench.manifest.kind}")
    return bench
