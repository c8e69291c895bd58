"""Every battle of a run, one a line, for eyes or for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from memory.records import Battle
from runs.console import safe
from runs.pasting import Cell, comma_separated
from runs.reading import one_line, open_run, outcome

Form = Literal["table", "csv", "json", "jsonl"]
COLUMNS = (
    *("id", "video", "duration_s", "category", "persona", "round", "origin", "difficulty"),
    *("model_a", "model_b", "verdict", "reason", "propensity", "question"),
)
"""Of the CSV: what a battle holds that fits a cell; the texts are in the JSON."""


def listing(folder: Path, form: Form) -> Iterator[str]:
    """Yield the lines that list the battles of the run in `folder`."""
    with open_run(folder) as run:
        if form == "jsonl":
            yield from (json.dumps(as_json(battle)) for battle in run.battles)
        elif form == "csv":
            yield comma_separated(COLUMNS, [as_cells(battle) for battle in run.battles])
        elif form == "json":
            yield json.dumps([as_json(battle) for battle in run.battles], indent=2)
        else:
            yield from as_lines(run.battles) or ["no battle is settled yet"]


def as_json(battle: Battle) -> dict[str, Any]:
    """Return a battle in the shape other programs rely on."""
    return battle.model_dump(by_alias=True, mode="python")


def as_cells(battle: Battle) -> list[Cell]:
    """Return a battle's cells in the order of COLUMNS."""
    return [getattr(battle, column) for column in COLUMNS]


def as_lines(battles: list[Battle]) -> list[str]:
    """Return one aligned line a battle: id, round, outcome, question."""
    told = [outcome(battle) for battle in battles]
    ids = [safe(battle.id) for battle in battles]
    long = max(map(len, ids), default=0)
    width = min(max(map(len, told), default=0), 60)
    return [
        f"{id_:<{long}}  r{battle.round}  {text:<{width}}  {_asked(battle)}".rstrip()
        for id_, battle, text in zip(ids, battles, told, strict=True)
    ]


def _asked(battle: Battle) -> str:
    return one_line(battle.question or "", 72)
