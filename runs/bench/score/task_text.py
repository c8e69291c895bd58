"""Scores on tasks for people: a table a part of the set, and what is pasted into papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from videoautoarena.runs.bench.score.score import FEW_VIDEOS
from videoautoarena.runs.bench.score.score_text import Shown, render, saw_none, sheet
from videoautoarena.runs.bench.score.task_points import Figure
from videoautoarena.runs.bench.score.task_score import TaskBoard, TaskScore, TaskScores
from videoautoarena.runs.rundir.reader import STAND_INS, counted
from videoautoarena.runs.text.tables import Cell, comma_separated, mark_up
from videoautoarena.runs.text.terminal import safe

M_AVG, G_AVG, OVERALL, INTERVAL = "M-Avg", "G-Avg", "overall", "95 % interval"
ODD = {
    "unreadable": "names no option, or several",
    "forfeit": "has no answer",
    "unscored": "has no score",
    "void": "was not asked, its video is lost",
}
"""How items end that are named beside a table, and what is said of one."""
CSV_COLUMNS = (
    "split", "model", "judge", "view", "max_frames", "task", "kind", "value", "low", "high", "n",
    "chance",
)  # fmt: skip
CHANCE = "(chance)"


def render_tasks(scores: TaskScores) -> Iterator[RenderableType]:
    """Yield a table a part of the set, with what has to be read with it."""
    for place, board in enumerate(scores.boards):
        if place:
            yield Text("")
        lines = render({}, _shown(board), notes(scores, board))
        yield Group(*([Text(safe(title(board)))] if board.split else []), *lines)


def pasted_tasks(scores: TaskScores, form: str) -> str:
    """Return scores as Markdown, LaTeX, HTML or CSV; CSV has all digits and a row a figure."""
    if form == "csv":
        rows = [row for board in scores.boards for row in _csv_rows(board)]
        return comma_separated(CSV_COLUMNS, rows)
    found = (
        sheet({}, _shown(board), [f"{title(board)}.", *notes(scores, board)])
        for board in scores.boards
    )
    return "\n\n".join(mark_up(one, form) for one in found)


def title(board: TaskBoard) -> str:
    """Return what a board is of."""
    part = f"{board.split}: " if board.split else ""
    items = counted(board.items, "item")
    return f"{part}{items} about {counted(board.videos, 'video')}"


def _shown(board: TaskBoard) -> Shown:
    tasks = list(dict.fromkeys(one.task for row in board.models for one in row.tasks))
    averages = [
        name
        for name, of in ((M_AVG, "m_avg"), (G_AVG, "g_avg"), (OVERALL, "overall"))
        if any(getattr(row, of) is not None for row in board.models)
        and (name != OVERALL or len(tasks) > 1)
    ]
    by = ["judge"] if len({row.judge for row in board.models} - {None}) > 1 else []
    alone = tasks if len(tasks) > 1 else []
    columns = ("model", *by, *averages, INTERVAL, *alone)
    rows = [_cells(row, columns) for row in board.models]
    if board.chance is not None:
        rows.append(_chances(board, columns))
    return Shown(
        columns,
        rows=rows,
        in_slice=lambda _: "",
        spare=(*reversed(alone), OVERALL, INTERVAL),
        longest_name=18,
        captions=(f"Scores of {counted(len(board.models), 'model')} on tasks", ""),
        label="tasks",
    )


def _cells(row: TaskScore, columns: Sequence[str]) -> list[str]:
    by_task = {one.task: one.figure for one in row.tasks}
    main = row.m_avg or row.g_avg
    cells = {
        "model": row.model,
        "judge": row.judge or "",
        M_AVG: _printed(row.m_avg),
        G_AVG: _printed(row.g_avg, digits=2),
        OVERALL: _printed(row.overall),
        INTERVAL: _bounds(main, digits=1 if row.m_avg else 2),
    }
    free = {one.task for one in row.tasks if one.kind == "generation"}
    return [
        cells[name] if name in cells else _printed(by_task.get(name), digits=1 + (name in free))
        for name in columns
    ]


def _chances(board: TaskBoard, columns: Sequence[str]) -> list[str]:
    chance = {one.task: one.chance for row in board.models for one in row.tasks}
    known = {task: f"{value:.1f}" for task, value in chance.items() if value is not None}
    known |= {"model": CHANCE, M_AVG: f"{board.chance:.1f}"}
    return [known.get(name, "") for name in columns]


def _printed(figure: Figure | None, digits: int = 1) -> str:
    return "-" if figure is None or figure.value is None else f"{figure.value:.{digits}f}"


def _bounds(figure: Figure | None, digits: int) -> str:
    if figure is None or figure.low is None or figure.high is None:
        return "-"
    return f"{figure.low:.{digits}f} to {figure.high:.{digits}f}"


def notes(scores: TaskScores, board: TaskBoard) -> list[str]:
    """Return what has to be read with a board: what its figures are, and what is odd about them."""
    found = list(_meaning(board))
    if scores.as_published:
        found.append("By the published rules: replies that are not one letter count as wrong.")
    if scores.stand_ins:
        found.append(f"{STAND_INS}.")
    if board.keyless:
        found.append(f"{counted(board.keyless, 'item')} without a known answer: unscored.")
    for row in board.models:
        odd = [f"{n} {end}" for end in ODD if (n := row.counts.get(end, 0))]
        odd += [f"{row.missing} not asked"] if row.missing else []
        if odd:
            found.append(f"{row.model}: {', '.join(odd)} of {counted(board.items, 'item')}.")
    if blind := [row.model for row in board.watched if row.is_blind]:
        found.append(saw_none(blind))
    found += [sweep.as_line() for sweep in board.sweeps]
    found += [ladder.as_line() for ladder in board.ladders if ladder.task is None]
    if any(row.positions for row in board.models):
        found.append("Needles by position and length: --json, arena pictures and arena report.")
    return [*found, *cautions(board)]


def cautions(board: TaskBoard) -> list[str]:
    """Return what to know of the intervals of a board before believing them."""
    found = []
    if board.sources < board.videos:
        cut = counted(board.sources, "video")
        found.append(f"Cut together from {cut}, by which intervals are clustered.")
    if board.sources < FEW_VIDEOS:
        found.append(f"Fewer than {FEW_VIDEOS} videos, too few to trust an interval.")
    return found


def _meaning(board: TaskBoard) -> Iterator[str]:
    if any(row.m_avg for row in board.models):
        yield "M-Avg: mean of the tasks' accuracies, in percent; no answer counts as wrong."
    if any(row.g_avg for row in board.models):
        yield "G-Avg: mean of the tasks' scores of free text, 2 to 10."


def _csv_rows(board: TaskBoard) -> Iterator[list[Cell]]:
    for row in board.models:
        head: list[Cell] = [board.split, row.model, row.judge, row.view, row.max_frames]
        averages = (
            (M_AVG, row.m_avg, board.chance),
            (G_AVG, row.g_avg, None),
            (OVERALL, row.overall, None),
        )
        for name, figure, chance in averages:
            if figure is not None:
                yield [*head, name, "mean", *_figures(figure), chance]
        for one in row.tasks:
            yield [*head, one.task, one.kind, *_figures(one.figure), one.chance]


def _figures(figure: Figure) -> list[Cell]:
    return [figure.value, figure.low, figure.high, figure.n]
