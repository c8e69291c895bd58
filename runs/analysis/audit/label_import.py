"""What people say of battles, taken from a file into the run it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import DECIDED, Choice
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.memory.store.evidence import Label
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.battle_table import (
    ColumnSheet,
    as_number,
    is_gap,
    quoted,
    read_sheet,
)
from videoautoarena.runs.formats.words import composed, unusable_too
from videoautoarena.runs.run.rundir.reader import RunReader, counted, run_file

COLUMNS = ("battle", "labeller", "verdict", *STANDARDS)
"""Columns that are read of a file; all others are ignored."""
WORDS: dict[str, Choice] = {
    **dict.fromkeys(("a", "model_a", "answer_a"), "a"),
    **dict.fromkeys(("b", "model_b", "answer_b"), "b"),
    **dict.fromkeys(("tie", "draw"), "tie"),
    **dict.fromkeys(("tie_good", "tie good", "tie (bothgood)", "bothgood"), "tie_good"),
    **dict.fromkeys(("tie_bad", "tie bad", "tie (bothbad)", "bothbad", "both_bad"), "tie_bad"),
}
"""How a verdict may be spelt, in small letters."""
_POINTS: dict[float, Choice] = {1.0: "a", 0.5: "tie", 0.0: "b"}
_ALLOWED = "it may be a, b, tie, tie_good or tie_bad"
_LONGEST_NAME = 100


class Imported(NamedTuple):
    """Counts of what an import did."""

    added: int
    """Labels that were new to the run."""
    known: int
    """Rows that say what the run holds already."""
    blank: int
    """Rows without a verdict."""

    def as_line(self) -> str:
        """Return it as a sentence."""
        known = f"; {counted(self.known, 'row')} known already" * bool(self.known)
        blank = f"; {counted(self.blank, 'row')} without a verdict skipped" * bool(self.blank)
        return f"{counted(self.added, 'label')} added{known}{blank}"


class _UnusableLabel(Exception):
    """Why one row cannot be used."""


def import_labels(folder: Path, file: Path, *, labeller: str | None = None) -> Imported:
    """Add the labels in `file` to the run in `folder`: all of them, or none where a row is wrong.

    Args:
        folder: of the run; no other process may be writing it.
        file: CSV, TSV, JSON lines or Parquet with the columns COLUMNS; standards may be missing.
        labeller: who labelled the rows that do not say it.

    Raises:
        BadInput: a file, a column or rows that cannot be used; rows are named.
        RunLocked: a process is running it.
    """
    sheet = read_sheet(file, lambda name: name in COLUMNS)
    needed = ("battle", "verdict") if labeller else COLUMNS[:3]
    for name in needed:
        if name not in sheet.names and len(sheet.names):
            there = ", ".join(quoted(found) for found in sheet.names[:8])
            hint = "; name who labelled with --labeller" if name == "labeller" else ""
            raise BadInput(f"{sheet.file} has no column {name}; it has {there}{hint}")
    # Under the lock of a writer from the first look on, so that what was checked still holds.
    with Store.open(run_file(folder), write=True) as store:
        read = _LabelReading(RunReader(folder, store), labeller)
        wrong: dict[int, str] = {}
        for k, row in enumerate(_rows(sheet)):
            try:
                read.take(row)
            except _UnusableLabel as why:
                wrong[k] = str(why)
        if wrong:
            first, *others = wrong
            nor = unusable_too([str(sheet.first + k) for k in others], f"{sheet.row}s ")
            raise BadInput(f"{sheet.refuse(first, wrong[first])}{nor}; nothing was imported")
        store.evidence.add_labels(read.new)
        return Imported(len(read.new), read.known, read.blank)


class _LabelReading:
    """Rows of a file becoming labels, against what the run holds."""

    def __init__(self, run: RunReader, labeller: str | None) -> None:
        self.new: list[Label] = []
        self.known = 0
        self.blank = 0
        self._labeller = labeller
        self._verdicts = run.store.verdicts()
        self._counting = run.lineup.ids
        known = run.store.evidence.labels()
        self._said = {(of.battle, of.labeller): of for of in known}
        self._spelled = {composed(of.labeller): of.labeller for of in known}
        """Names of labellers as their labels spell them, by the name in composed letters."""

    def take(self, row: Mapping[str, Any]) -> None:
        """Read one row; raise _UnusableLabel where it is wrong."""
        # Nobody has filled it in yet.
        if is_gap(row.get("verdict")):
            self.blank += 1
            return
        battle = self._battle(row)
        labeller = self._name(row)
        label = Label(
            battle=battle,
            labeller=labeller,
            verdict=_choice("verdict", row["verdict"]),
            standards={
                name: _choice(name, row[name]) for name in STANDARDS if not is_gap(row.get(name))
            },
        )
        # A row that repeats a label is known, so that the same file may be imported again.
        before = self._said.setdefault((battle, labeller), label)
        if before is label:
            self.new.append(label)
        elif before == label:
            self.known += 1
        else:
            raise _UnusableLabel(
                f"{quoted(labeller)} labelled {battle} as {_words(before)} before, and as "
                f"{_words(label)} now"
            )

    def _battle(self, row: Mapping[str, Any]) -> str:
        given = row.get("battle")
        if is_gap(given):
            raise _UnusableLabel("battle is missing")
        battle = str(given).strip()
        verdict = self._verdicts.get(battle)
        if verdict is None:
            raise _UnusableLabel(f"there is no battle {quoted(given)} in this run")
        if verdict not in DECIDED:
            ended = "void" if verdict == "void" else "forfeit"
            raise _UnusableLabel(f"battle {battle} is {ended}: there are no two answers to compare")
        if battle not in self._counting:
            raise _UnusableLabel(f"battle {battle} was superseded")
        return battle

    def _name(self, row: Mapping[str, Any]) -> str:
        given = row.get("labeller")
        name = (self._labeller or "") if is_gap(given) else " ".join(str(given).split())
        if wrong := wrong_name(name):
            raise _UnusableLabel(wrong)
        # One name in composed and in decomposed letters is one labeller, spelt as the run has it.
        return self._spelled.setdefault(composed(name), composed(name))


def wrong_name(name: str) -> str | None:
    """Return why a labeller cannot have this name; None where one can."""
    if not name:
        return "labeller is missing; name who it was with --labeller"
    if len(name) > _LONGEST_NAME:
        return f"labeller is longer than {_LONGEST_NAME} characters: {quoted(name)}"
    return None


def _rows(sheet: ColumnSheet) -> Iterator[dict[str, Any]]:
    columns = sheet.columns
    count = max((len(column.codes) for column in columns.values()), default=0)
    for k in range(count):
        yield {name: column.values[column.codes[k]] for name, column in columns.items()}


def _choice(name: str, given: Any) -> Choice:
    number = as_number(given)
    word = _POINTS.get(number) if number is not None else None
    if isinstance(given, str):
        word = word or WORDS.get(" ".join(given.casefold().split()))
    if word is None:
        raise _UnusableLabel(f"{name} is {quoted(given)}; {_ALLOWED}")
    return word


def _words(label: Label) -> str:
    rest = [f"{name} {word}" for name, word in label.standards.items()]
    return f"{label.verdict} ({', '.join(rest)})" if rest else label.verdict
