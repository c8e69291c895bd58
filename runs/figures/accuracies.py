"""Figures of a task set: what each model came to on each task, beside chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from videoautoarena.runs.bench.score.task_points import Figure
from videoautoarena.runs.bench.score.task_score import TaskBoard, TaskScore, TaskScores
from videoautoarena.runs.figures.canvas import (
    BLUE,
    COLUMN,
    GREY,
    PAD,
    PAGE,
    PALE,
    SMALL,
    USUAL,
    Notes,
    Picture,
    Sheet,
    inches,
    shown,
    widest,
)
from videoautoarena.runs.figures.ranking import draw_interval
from videoautoarena.runs.rundir.reader import STAND_INS
from videoautoarena.runs.views.tasks import G_AVG, M_AVG, cautions

COMMAND = "arena bench score"
"""What prints all notes of a set."""
_GAP, _BETWEEN, _NARROWEST = 0.06, 0.14, 0.86
"""Inches: beside names, between panels, and of a panel at least."""
_TITLE, _AXIS, _LABEL = 2 * inches(SMALL) + 0.06, 0.2, 0.16
_CHOICE, _FREE = (0.0, 100.0), (2.0, 10.0)
_SCALES = {_CHOICE: "accuracy in percent", _FREE: "score of free text"}
_MARGIN = 0.05
"""Of a scale, on either side, so that what is at its end is drawn whole."""


class Panel(NamedTuple):
    """One figure of every model."""

    name: str
    ends: tuple[float, float]
    chance: float | None
    figures: tuple[Figure | None, ...]
    """In the order of the models."""

    @property
    def n(self) -> int:
        """On how many items, at most."""
        return max((one.n for one in self.figures if one), default=0)


class Plate(NamedTuple):
    """Panels of one picture, and what stands around them."""

    title: str
    banner: str
    names: Sequence[str]
    """Of models, as they are to be read."""
    panels: Sequence[Panel]
    notes: Notes


def names_of(board: TaskBoard) -> list[str]:
    """Return the names of those that are drawn: models, with judges where there are several."""
    judges = {row.judge for row in board.watched} - {None}
    if len(judges) < 2:
        return [row.model for row in board.watched]
    return [f"{row.model} ({row.judge})" if row.judge else row.model for row in board.watched]


def banner_of_set(scores: TaskScores) -> str:
    """Return what must stand above every picture of a set, if anything must."""
    return STAND_INS if scores.stand_ins else ""


def headed(title: str, board: TaskBoard) -> str:
    """Return the title of a picture of one part of a set."""
    return f"{title}: {board.split}" if board.split else title


def notes_of_set(legend: Sequence[str], board: TaskBoard) -> Notes:
    """Return what is read with a picture of a set: what its marks mean, and what to know."""
    return Notes([*legend, *(one.text for one in cautions(board))], [], COMMAND)


def tasks(scores: TaskScores, board: TaskBoard) -> Picture:
    """Return the accuracy of each model on each task; the mean over tasks stands first."""
    panels = list(_panels(board))
    plate = Plate(
        headed("Accuracy by task", board),
        banner_of_set(scores),
        names_of(board),
        panels,
        notes_of_set(list(_legend(panels)), board),
    )
    return Picture("tasks", "accuracy by task", lambda bare: draw_panels(plate, bare=bare))


def draw_panels(plate: Plate, *, bare: bool) -> Drawing:
    """Return panels beside and below one another, each with a line a model."""
    panels, names = plate.panels, [shown(name) for name in plate.names]
    left = PAD + max(widest(names), 0.2) + _GAP
    width, columns = _lay_out(left, len(panels))
    wide = (width - left - PAD - 0.1 + _BETWEEN) / columns - _BETWEEN
    high = 1.3 * inches(USUAL) * len(names)
    block = _TITLE + high + _AXIS + _BETWEEN
    rows = math.ceil(len(panels) / columns)
    sheet = Sheet(
        width,
        rows * block - _BETWEEN + _LABEL,
        bare=bare,
        head=(plate.title, plate.banner),
        notes=plate.notes,
    )
    for k, panel in enumerate(panels):
        row, column = divmod(k, columns)
        at = (left + column * (wide + _BETWEEN), row * block + _TITLE)
        axes = sheet.axes(*at, wide, high)
        _frame(axes, panel, wide=wide)
        axes.set_yticks(range(len(names)), names if column == 0 else [""] * len(names))
        for place, figure in enumerate(panel.figures):
            _mark(axes, place, figure)
    middle = (left + width - PAD) / 2 / width
    below = sheet.top + rows * block - _BETWEEN + 0.5 * inches(USUAL)
    scales = {panel.ends: None for panel in panels}
    said = "; ".join(_SCALES[ends] for ends in scales)
    sheet.figure.text(middle, 1 - below / sheet.height, said, ha="center", va="center")
    return sheet.figure


def _panels(board: TaskBoard) -> Iterator[Panel]:
    """Yield the means over tasks where there are several, then each task."""
    known = {(one.kind, one.task): one for row in board.watched for one in row.tasks}
    choices = [task for kind, task in known if kind == "choice"]
    free = [task for kind, task in known if kind == "generation"]
    if len(choices) > 1:
        figures = tuple(row.m_avg for row in board.watched)
        yield Panel(M_AVG, _CHOICE, board.chance, figures)
    if len(free) > 1:
        yield Panel(G_AVG, _FREE, None, tuple(row.g_avg for row in board.watched))
    for (kind, task), one in known.items():
        found = tuple(_figure(row, task, kind) for row in board.watched)
        yield Panel(task, _CHOICE if kind == "choice" else _FREE, one.chance, found)


def _figure(row: TaskScore, task: str, kind: str) -> Figure | None:
    found = (one.figure for one in row.tasks if (one.task, one.kind) == (task, kind))
    return next(found, None)


def _lay_out(left: float, panels: int) -> tuple[float, int]:
    """Return a column of a paper where all panels fit beside one another, else its page."""
    most = 1
    for width in (COLUMN, PAGE):
        most = max(int((width - left - PAD - 0.1 + _BETWEEN) / (_NARROWEST + _BETWEEN)), 1)
        if most >= panels:
            return width, panels
    return PAGE, math.ceil(panels / math.ceil(panels / most))


def _frame(axes: Axes, panel: Panel, *, wide: float) -> None:
    low, high = panel.ends
    reach = _MARGIN * (high - low)
    axes.set_xlim(low - reach, high + reach)
    axes.set_xticks([low, (low + high) / 2, high])
    axes.set_ylim(max(len(panel.figures), 1) - 0.5, -0.5)
    axes.tick_params(axis="x", labelsize=SMALL)
    axes.tick_params(axis="y", length=0, pad=72 * _GAP / 2)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    if panel.chance is not None:
        axes.axvline(panel.chance, color=GREY, linewidth=0.7, linestyle=(0, (3, 2)))
    most = max(int(wide * 72 / (0.6 * SMALL)), 5)
    for up, text in ((1, shown(panel.name, most)), (0, f"n = {panel.n}")):
        axes.annotate(
            text, (0, 1), xycoords="axes fraction", xytext=(0, 2.5 + up * SMALL * 1.25),
            textcoords="offset points", fontsize=SMALL, annotation_clip=False,
            fontweight="bold" if up else "normal",
        )  # fmt: skip


def _mark(axes: Axes, place: int, figure: Figure | None) -> None:
    if figure is None or figure.value is None:
        return
    if figure.low is not None and figure.high is not None:
        draw_interval(axes, place, figure.low, figure.high)
    axes.plot([figure.value], [place], "o", markersize=2.8, color=BLUE)


def _legend(panels: Sequence[Panel]) -> Iterator[str]:
    if any(panel.name == M_AVG and panel.ends == _CHOICE for panel in panels):
        yield "M-Avg: mean of the tasks’ accuracies."
    if any(panel.ends == _FREE for panel in panels):
        yield "Scores of free text: 2 to 10."
    if any(panel.chance is not None for panel in panels):
        yield "Dashed: chance."
    yield "Lines: 95 % intervals; n: items."
