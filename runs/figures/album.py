"""All pictures of a run, and their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import DECIDED, SCHEMA
from videoautoarena.runs.figures.canvas import Form, Picture, render
from videoautoarena.runs.figures.heatmaps import battles, pairs_of, wins
from videoautoarena.runs.figures.judge_agreement import LEAST, find_echoes, judge, measure_courses
from videoautoarena.runs.figures.ranking import ladder, style, style_terms
from videoautoarena.runs.figures.slices import panels
from videoautoarena.runs.leaderboard.board import board_of, slices_of
from videoautoarena.runs.leaderboard.slices import Slices
from videoautoarena.runs.rating.leaderboard import Leaderboard
from videoautoarena.runs.rating.method import USUAL, Method
from videoautoarena.runs.rundir.reader import open_run
from videoautoarena.runs.text.files import make_folder, refuse_existing, write_whole
from videoautoarena.runs.text.terminal import safe

_NOTHING = "there is nothing to draw yet: no battle is decided"


class LeftOut(NamedTuple):
    """A picture that a run has no data for."""

    name: str
    why: str


@dataclass(frozen=True)
class Album:
    """What was drawn of a run."""

    files: Sequence[Path]
    shows: Sequence[str]
    """What is to be seen in each file."""
    left_out: Sequence[LeftOut]

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena pictures --json`."""
        return {
            "schema": SCHEMA,
            "pictures": [
                {"file": str(file), "shows": shows}
                for file, shows in zip(self.files, self.shows, strict=True)
            ],
            "left_out": [one._asdict() for one in self.left_out],
        }

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        drawn = zip(self.files, self.shows, strict=True)
        return [
            *(f"{safe(str(file))}: {shows}" for file, shows in drawn),
            *(f"no picture {one.name}: {one.why}" for one in self.left_out),
        ]


def draw_run(
    folder: Path,
    to: Path,
    *,
    forms: Sequence[Form],
    only: Sequence[str],
    force: bool,
    bare: bool = False,
) -> Album:
    """Draw the run in `folder` into files in the folder `to`, each whole or not at all.

    Args:
        folder: of the run.
        to: made if it is not there.
        forms: of each picture.
        only: names of PICTURES; none gives all.
        force: replace files that are there.
        bare: draw neither title nor notes.

    Raises:
        BadInput: no run, one without a decided battle, a file that is there, or a folder that
            cannot be written.
    """
    if to.exists() and not to.is_dir():
        raise BadInput(f"{to} is a file; pass a folder with --to")
    chosen = [name for name in PICTURES if not only or name in only]
    files = {(name, form): to / f"{name}.{form}" for name in chosen for form in forms}
    for file in files.values():
        refuse_existing(file, force=force)
    with open_run(folder) as run:
        if not any(battle.verdict in DECIDED for battle in run.each_battle):
            raise BadInput(f"{folder}: {_NOTHING}")
    made = {name: PICTURES[name](folder) for name in chosen}
    drawn = {name: one for name, one in made.items() if isinstance(one, Picture)}
    contents = {key: render(drawn[key[0]], key[1], bare=bare) for key in files if key[0] in drawn}
    make_folder(to)
    for key, content in contents.items():
        write_whole(files[key], content)
    return Album(
        [files[key] for key in contents],
        [drawn[name].shows for name, _ in contents],
        [one for one in made.values() if isinstance(one, LeftOut)],
    )


def picture_of(found: Leaderboard | Slices) -> Picture:
    """Return the picture of a leaderboard: its ladder, or ratings over its slices.

    Raises:
        BadInput: none of its models met another in a battle that was decided.
    """
    if not is_rated(found):
        raise BadInput(_NOTHING)
    return ladder(found) if isinstance(found, Leaderboard) else panels(found)


def is_rated(found: Leaderboard | Slices) -> bool:
    """Return whether any two models met in a battle that was decided."""
    boards = [found] if isinstance(found, Leaderboard) else [part.board for part in found.parts]
    return any(board.components for board in boards)


def _grid(name: str, draw: Callable[[Leaderboard], Picture]) -> Callable[[Path], Picture | LeftOut]:
    def make(folder: Path) -> Picture | LeftOut:
        board = board_of(folder, Method(pairs=True))
        if len(pairs_of(board).models) < 2:
            return LeftOut(name, "no two models met in a battle that was decided")
        return draw(board)

    return make


def _duration(folder: Path) -> Picture | LeftOut:
    sliced = slices_of(folder, "duration")
    if not is_rated(sliced):
        return LeftOut("duration", "no battle was decided")
    return panels(sliced)


def _style(folder: Path) -> Picture | LeftOut:
    board = board_of(folder, Method(style=True, seats=True))
    if not style_terms(board):
        return LeftOut("style", "no two answers differ in style, or no battle was decided")
    return style(board)


def _judge(folder: Path) -> Picture | LeftOut:
    board = board_of(folder, USUAL)
    with open_run(folder) as run:
        evidence = run.store.evidence
        echoes = find_echoes(run.battles, trials=evidence.trials(), labels=evidence.labels())
        courses = measure_courses(board, echoes)
    if not courses:
        why = f"it needs {LEAST} battles judged in both orders, rejudged or labelled by people"
        return LeftOut("judge", why)
    return judge(board, courses)


PICTURES: dict[str, Callable[[Path], Picture | LeftOut]] = {
    "ladder": lambda folder: ladder(board_of(folder)),
    "wins": _grid("wins", wins),
    "battles": _grid("battles", battles),
    "duration": _duration,
    "style": _style,
    "judge": _judge,
}
"""Makes each from the folder of a run."""
