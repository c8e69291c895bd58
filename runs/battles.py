"""Every battle of a run, one a line, for eyes or for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from memory.records import Battle, Video
from runs.canvas import Marks, cells, fit
from runs.console import safe
from runs.figures import length
from runs.pasting import Cell, comma_separated
from runs.phrases import short_names
from runs.reading import open_run, outcome

CUT = Marks(cut="...")
LEAST = 24
"""Columns for what a line tells, however narrow the terminal is."""
Form = Literal["table", "csv", "json", "jsonl"]
COLUMNS = (
    *("id", "video", "duration_s", "category", "persona", "round", "origin", "difficulty"),
    *("model_a", "model_b", "verdict", "reason", "propensity", "question"),
)
"""Of the CSV: what a battle holds that fits a cell; the texts are in the JSON."""


def listing(folder: Path, form: Form, columns: int = 80) -> Iterator[str]:
    """Yield the lines that list the battles of the run in `folder`, a table in so many columns."""
    with open_run(folder) as run:
        if form == "jsonl":
            yield from (json.dumps(as_json(battle)) for battle in run.battles)
        elif form == "csv":
            yield comma_separated(COLUMNS, [as_cells(battle) for battle in run.battles])
        elif form == "json":
            yield json.dumps([as_json(battle) for battle in run.battles], indent=2)
        else:
            films = {video.id: video for video in run.store.videos()}
            names = short_names(run.manifest.get("models") or ())
            told = as_lines(run.battles, films, names, columns)
            yield from told or ["no battle is settled yet"]


def as_json(battle: Battle) -> dict[str, Any]:
    """Return a battle in the shape other programs rely on."""
    return battle.model_dump(by_alias=True, mode="python")


def as_cells(battle: Battle) -> list[Cell]:
    """Return a battle's cells in the order of COLUMNS."""
    return [getattr(battle, column) for column in COLUMNS]


def as_lines(
    battles: Sequence[Battle],
    films: Mapping[str, Video],
    names: Mapping[str, str],
    columns: int,
) -> list[str]:
    """Return one aligned line a battle: id, video, outcome, question, cut to `columns`.

    Args:
        battles: in the order in which they are listed.
        films: by id.
        names: of models, as short as they may be.
        columns: of the terminal.
    """
    if not battles:
        return []
    ids = [safe(battle.id) for battle in battles]
    seen = [_seen(films.get(battle.video)) for battle in battles]
    long, file, lasts = (_widest(column) for column in (ids, *zip(*seen, strict=True)))
    file = min(file, columns // 5)
    room = max(columns - long - file - lasts - 5, LEAST)
    # Both names of a pair are to be seen, whatever their lengths.
    most = max((room - len(" beat ")) // 2, len("..."))
    cut = {m: fit(name, most, CUT) if cells(name) > most else name for m, name in names.items()}
    told = [outcome(_named(battle, cut)) for battle in battles]
    width = min(_widest(told), room * 3 // 5)
    return [
        f"{id_:<{long}}  {fit(name, file, CUT)} {length_:>{lasts}}  "
        f"{_ended(text, _asked(battle), width, room)}".rstrip()
        for id_, (name, length_), text, battle in zip(ids, seen, told, battles, strict=True)
    ]


def _widest(texts: Iterable[str]) -> int:
    return max(map(cells, texts), default=0)


def _named(battle: Battle, names: Mapping[str, str]) -> Battle:
    pair = {"model_a": battle.model_a, "model_b": battle.model_b}
    return battle.model_copy(update={k: names.get(m or "", m) for k, m in pair.items()})


def _seen(film: Video | None) -> tuple[str, str]:
    """Return the file of a video, without its folders, and how long it is."""
    if film is None:
        return "?", "?"
    return safe(film.path.rpartition("/")[2]), length(film.duration_s)


def _ended(told: str, asked: str, width: int, room: int) -> str:
    """Return who won and what was asked; what needs more than its column takes the question's."""
    if cells(told) > width:
        return fit(told, room, CUT)
    return f"{fit(told, width, CUT)}  {fit(asked, room - width - 2, CUT)}"


def _asked(battle: Battle) -> str:
    return " ".join(safe(battle.question or "").split())
