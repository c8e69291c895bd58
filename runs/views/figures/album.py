"""Draws all pictures of a run or a set into files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import DECIDED
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.analysis.audit.verdicts import LEAST_ECHOES, find_echoes, measure_echoes
from videoautoarena.runs.analysis.categories.tags import tags_of
from videoautoarena.runs.analysis.categories.topics import topics_in
from videoautoarena.runs.analysis.leaderboard.board import board_of, slices_of
from videoautoarena.runs.analysis.leaderboard.slices import (
    QUESTION_CATEGORY,
    TOPIC,
    LeaderboardSlices,
)
from videoautoarena.runs.bench.dialogues.score import DialogueSetScores, score_dialogues
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.schema import DIALOGUE, TASK_KINDS
from videoautoarena.runs.bench.format.writer import refuse_within
from videoautoarena.runs.bench.score.task_score import TaskBoard, TaskSetScores, score_tasks
from videoautoarena.runs.formats.files import make_folder, refuse_existing, write_whole
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import USUAL, RatingMethod
from videoautoarena.runs.run.rundir.reader import open_run
from videoautoarena.runs.views.figures.canvas import Form, Picture, render
from videoautoarena.runs.views.figures.ranking import (
    battles,
    by_category,
    by_topic,
    judge,
    ladder,
    pairs_of,
    panels,
    style,
    wins,
)
from videoautoarena.runs.views.figures.sets import abilities, by_part, positions, sweep, tasks

_Maker = TypeVar("_Maker")
_NOTHING = "there is nothing to draw yet: no battle is decided"


class DrawnPicture(NamedTuple):
    """A file with a picture."""

    file: Path
    shows: str


class MissingPicture(NamedTuple):
    """A picture without data."""

    name: str
    why: str


@dataclass(frozen=True)
class Album:
    """The pictures that were drawn, and those that could not be."""

    pictures: Sequence[DrawnPicture]
    """`file`, and what it `shows`."""
    left_out: Sequence[MissingPicture]
    """`name` of a picture without data, and `why`; of a set with several parts names end in the
    part's, such as `tasks-dev`."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena pictures --json`."""
        return record_json(self)

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        return [
            *(f"{safe(str(one.file))}: {one.shows}" for one in self.pictures),
            *(f"no picture {one.name}: {one.why}" for one in self.left_out),
        ]


@dataclass(frozen=True)
class PictureOptions:
    """How pictures are wanted, and where."""

    to: Path
    """A folder, made if it is not there."""
    forms: Sequence[Form] = ("svg",)
    """Forms that each picture is written in."""
    only: Sequence[str] = ()
    """Names of PICTURES, or of what is drawn of a set; none gives all."""
    force: bool = False
    """Replace files that are there."""
    bare: bool = False
    """Draw neither title nor notes."""

    def of(self, makers: Mapping[str, _Maker]) -> dict[str, _Maker]:
        """Return the makers of the pictures that are wanted."""
        return {name: make for name, make in makers.items() if not self.only or name in self.only}


Makers = Mapping[str, Callable[[], Picture | str]]


def draw_run(folder: Path, wish: PictureOptions) -> Album:
    """Draw the run in `folder` into files, each whole or not at all.

    Raises:
        BadInput: no run, one without a decided battle, a file that is there, or a folder that
            cannot be written.
    """
    makers = {name: partial(make, folder) for name, make in wish.of(PICTURES).items()}
    # Refused before anything is drawn, which takes seconds.
    files = _files(makers, wish)
    with open_run(folder) as run:
        if not run.outlines.texts["verdict"].among(DECIDED).any():
            raise BadInput(f"{folder}: {_NOTHING}")
    return _drawn(makers, files, wish)


def draw_set(folder: Path, wish: PictureOptions) -> Album:
    """Draw the results on the set of tasks or dialogues in `folder` into files, each whole.

    Parts of a set have pictures of their own, whose names end in the part's.

    Raises:
        BadInput: no such set, one without results, or as `draw_run`.
    """
    opened = open_bench(folder)
    if opened.manifest.kind not in (*TASK_KINDS, DIALOGUE):
        raise BadInput(
            f"{folder} is a set of kind {opened.manifest.kind}; pictures are of runs, of tasks "
            "with a right answer, and of dialogues"
        )
    is_spoken = opened.manifest.kind == DIALOGUE
    there = DIALOGUE_PICTURES if is_spoken else SET_PICTURES
    if odd := [name for name in wish.only if name not in there]:
        raise BadInput(
            f"--only: a set of kind {opened.manifest.kind} has no picture {odd[0]}; there are "
            f"{', '.join(there)}"
        )
    # A set holds nothing but what was sealed.
    refuse_within(folder, wish.to)
    makers = _of_dialogues(opened, wish) if is_spoken else _of_tasks(opened, wish)
    return _drawn(makers, _files(makers, wish), wish)


def _of_tasks(opened: OpenBench[Any], wish: PictureOptions) -> Makers:
    scores = score_tasks(opened)
    return {
        f"{name}{ending}": partial(make, scores, board)
        for ending, board in _parts(scores).items()
        for name, make in wish.of(SET_PICTURES).items()
    }


def _of_dialogues(opened: OpenBench[Any], wish: PictureOptions) -> Makers:
    scores = score_dialogues(opened)
    return {name: partial(make, scores) for name, make in wish.of(DIALOGUE_PICTURES).items()}


def _parts(scores: TaskSetScores) -> dict[str, TaskBoard]:
    """Return the boards by the endings of their file names, harmless and all different."""
    found: dict[str, TaskBoard] = {}
    for place, board in enumerate(scores.boards, start=1):
        plain = re.sub(r"[^a-z0-9]+", "-", (board.split or "").casefold())[:40].strip("-")
        ending = f"-{plain or place}" if len(scores.boards) > 1 else ""
        # Two splits may have one name once it is harmless.
        while ending in found:
            ending += f"-{place}"
        found[ending] = board
    return found


def _files(makers: Makers, wish: PictureOptions) -> dict[Path, tuple[str, Form]]:
    """Return which picture in which form belongs into each file; BadInput where it must not."""
    if wish.to.exists() and not wish.to.is_dir():
        raise BadInput(f"{wish.to} is a file; pass a folder with {option('to')}")
    files = {wish.to / f"{name}.{form}": (name, form) for name in makers for form in wish.forms}
    for file in files:
        refuse_existing(file, force=wish.force)
    return files


def _drawn(makers: Makers, files: Mapping[Path, tuple[str, Form]], wish: PictureOptions) -> Album:
    made = {name: make() for name, make in makers.items()}
    drawn = {name: one for name, one in made.items() if isinstance(one, Picture)}
    contents = {
        file: render(drawn[name], form, bare=wish.bare)
        for file, (name, form) in files.items()
        if name in drawn
    }
    # Only now: where drawing fails, nothing is left behind.
    make_folder(wish.to)
    for file, content in contents.items():
        write_whole(file, content)
    return Album(
        [DrawnPicture(file, drawn[files[file][0]].shows) for file in contents],
        [MissingPicture(name, why) for name, why in made.items() if isinstance(why, str)],
    )


def picture_of(found: RatedLeaderboard | LeaderboardSlices) -> Picture:
    """Return the picture of a leaderboard: its ladder, or ratings over its slices.

    Raises:
        BadInput: none of its models met another in a battle that was decided.
    """
    if not is_rated(found):
        raise BadInput(_NOTHING)
    return ladder(found) if isinstance(found, RatedLeaderboard) else panels(found)


def is_rated(found: RatedLeaderboard | LeaderboardSlices) -> bool:
    """Return whether any two models met in a battle that was decided."""
    boards = (
        [found] if isinstance(found, RatedLeaderboard) else [part.board for part in found.parts]
    )
    return any(board.components for board in boards)


def _grid(draw: Callable[[RatedLeaderboard], Picture]) -> Callable[[Path], Picture | str]:
    def make(folder: Path) -> Picture | str:
        board = board_of(folder, RatingMethod(pairs=True))
        if len(pairs_of(board).models) < 2:
            return "no two models met in a battle that was decided"
        return draw(board)

    return make


def _duration(folder: Path) -> Picture | str:
    sliced = slices_of(folder, "duration")
    return panels(sliced) if is_rated(sliced) else "no battle was decided"


def _judge(folder: Path) -> Picture | str:
    board = board_of(folder, USUAL)
    with open_run(folder) as run:
        evidence = run.store.evidence
        echoes = find_echoes(list(run.battles), trials=evidence.trials(), labels=evidence.labels())
        found = measure_echoes(board, echoes)
    if not found:
        return (
            f"it needs {LEAST_ECHOES} battles judged in both orders, rejudged or labelled by people"
        )
    return judge(board, found)


def _categories(folder: Path) -> Picture | str:
    with open_run(folder) as run:
        if not tags_of(run):
            return "no question is tagged; first: arena categories tag"
    sliced = slices_of(folder, QUESTION_CATEGORY)
    return by_category(sliced) if is_rated(sliced) else "no battle was decided"


def _topics(folder: Path) -> Picture | str:
    with open_run(folder) as run:
        try:
            topics_in(run)
        except BadInput as lacking:
            # No topics, or not the extra that finds them; the other pictures do without.
            return safe(str(lacking))
    sliced = slices_of(folder, TOPIC)
    return by_topic(sliced) if is_rated(sliced) else "no battle was decided"


PICTURES: dict[str, Callable[[Path], Picture | str]] = {
    "ladder": lambda folder: ladder(board_of(folder)),
    "wins": _grid(wins),
    "battles": _grid(battles),
    "duration": _duration,
    "style": lambda folder: style(board_of(folder, RatingMethod(style=True, seats=True))),
    "judge": _judge,
    "categories": _categories,
    "topics": _topics,
}
"""Functions from the folder of a run to each picture, or to why there is none."""
SET_PICTURES: dict[str, Callable[[TaskSetScores, TaskBoard], Picture | str]] = {
    "tasks": tasks,
    "positions": positions,
    "sweep": sweep,
}
"""Functions from the scores on a part of a set, likewise."""
DIALOGUE_PICTURES: dict[str, Callable[[DialogueSetScores], Picture | str]] = {
    "abilities": abilities,
    "parts": by_part,
}
"""Functions from the scores on a set of dialogues, likewise."""
