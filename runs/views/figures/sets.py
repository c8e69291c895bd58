"""Makes the pictures of frozen sets: tasks with a right answer, and dialogues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from videoautoarena.runs.bench.dialogues.score import DialogueScore, DialogueSetScores
from videoautoarena.runs.bench.format.schema import TWIN
from videoautoarena.runs.bench.score.task_points import PARTS, Positions, ScoreFigure
from videoautoarena.runs.bench.score.task_score import TaskBoard, TaskScore, TaskSetScores
from videoautoarena.runs.formats.terminal_text import Axis
from videoautoarena.runs.formats.words import FORMATS
from videoautoarena.runs.views.figures.canvas import UPWARD, Caption, Picture
from videoautoarena.runs.views.figures.curves import CurvePanel, CurvePoint, Curves
from videoautoarena.runs.views.figures.dots import Dot, Dots, Panel, names
from videoautoarena.runs.views.figures.grids import ShadedGrid, ShadedGrids, cells_of
from videoautoarena.runs.views.results.dialogues import OVERALL, dialogues_report
from videoautoarena.runs.views.results.report import MODEL, Column, Table
from videoautoarena.runs.views.results.tasks import G_AVG, M_AVG, task_reports

_COMMAND = "arena bench score"
_PERCENT = Axis(0.0, 100.0)
# Free text gets two marks, each from 1 to 5.
_FREE = Axis(2.0, 10.0)
_SCALES = {_PERCENT: "accuracy in percent", _FREE: "score of free text"}
_N = Column("n", "items", "count")
_FEW = 10
"""Items below which a share hardly says anything."""
_ALL = "all"
POSITIONS = tuple(f"{100 * k // PARTS}–{100 * (k + 1) // PARTS} %" for k in range(PARTS))
"""Where in a video a needle may lie."""
# A row or column without a name is a gap, which parts what is over all from its parts.
_ROWS = (*POSITIONS, "", _ALL)


class ModelFigures(NamedTuple):
    """One figure of every model."""

    name: str
    figures: Mapping[int, ScoreFigure]
    """Figures by the place of the model."""
    dashed: float | None = None
    axis: Axis = _PERCENT


def tasks(scores: TaskSetScores, board: TaskBoard) -> Picture | str:
    """Return the accuracy of each model on each task, the mean over tasks first; or why not."""
    if not board.watched:
        return "no model was shown the videos as they are"
    parts = list(_by_task(board))
    if not parts:
        return "no answer could be scored"
    caption = _caption(scores, board, "Accuracy by task", leads=True)
    models = _named(board.watched)
    return _picture("tasks", caption, models, parts, dashed="chance", count="items")


def _by_task(board: TaskBoard) -> Iterator[ModelFigures]:
    """Yield the means over tasks where there are several, then each task."""
    rows = board.watched
    known = {(one.kind, one.task): one.chance for row in rows for one in row.tasks}
    free = [key for key in known if key[0] == "generation"]
    if len(known) - len(free) > 1:
        yield ModelFigures(M_AVG, _figures(row.m_avg for row in rows), board.chance)
    if len(free) > 1:
        yield ModelFigures(G_AVG, _figures(row.g_avg for row in rows), axis=_FREE)
    for key, chance in known.items():
        of = [{(one.kind, one.task): one.figure for one in row.tasks}.get(key) for row in rows]
        yield ModelFigures(key[1], _figures(of), chance, _FREE if key in free else _PERCENT)


def _figures(of: Iterable[ScoreFigure | None]) -> dict[int, ScoreFigure]:
    return {place: one for place, one in enumerate(of) if one and one.value is not None}


def abilities(scores: DialogueSetScores) -> Picture:
    """Return the accuracy of each model in each ability; the mean over the six stands first."""
    has_twin = TWIN in scores.abilities
    caption = _caption_of_dialogues(scores, "Accuracy by ability", leads=True)
    silence = next(one for one in scores.constants if one.name == "silence")
    silent: dict[str, float | None] = dict(silence.abilities.items())
    silent[OVERALL] = silence.overall
    several = len(scores.abilities) - has_twin > 1
    parts = [
        ModelFigures(
            column.title,
            _figures(_of_ability(row, column.key) for row in scores.models),
            silent.get(column.key),
        )
        for column in caption.report.tables[0].columns
        if column.kind == "percent" and (column.key != OVERALL or several)
    ]
    count = "dialogues, of over refusal rounds" if has_twin else "dialogues"
    dashed = "what saying nothing scores"
    models = _named(scores.models)
    return _picture("abilities", caption, models, parts, dashed=dashed, count=count)


def _of_ability(row: DialogueScore, key: str) -> ScoreFigure | None:
    figures: dict[str, ScoreFigure | None] = {
        OVERALL: row.overall,
        "over_refusal": row.over_refusal,
    }
    figures |= {one.ability: one.figure for one in (*row.abilities, row.twin) if one is not None}
    return figures.get(key)


def by_part(scores: DialogueSetScores) -> Picture | str:
    """Return the accuracy of each model by turns, length of the video, and scenes; or why not."""
    caption = _caption_of_dialogues(scores, "Accuracy by turns, length and scenes")
    tables = [table for table in caption.report.tables if table.name == "dialogue-parts"]
    if not tables:
        return "all dialogues are alike in turns, length and scenes"
    known = [{f"{of.by}_{of.part}": of.figure for of in row.parts} for row in scores.models]
    parts = [
        ModelFigures(column.title, _figures(of.get(column.key) for of in known))
        for column in tables[0].columns
        if column.kind == "percent"
    ]
    return _picture("parts", caption, _named(scores.models), parts, count="dialogues")


def _caption_of_dialogues(scores: DialogueSetScores, title: str, *, leads: bool = False) -> Caption:
    report = dialogues_report(scores)
    return Caption(title, report, scores.stand_ins, leads=leads, command=_COMMAND)


def _named(rows: Sequence[TaskScore | DialogueScore]) -> list[str]:
    """Return the names of models, with judges where there are several."""
    several = len({row.judge for row in rows} - {None}) > 1
    return [f"{r.model} ({r.judge})" if several and r.judge else r.model for r in rows]


def _caption(
    scores: TaskSetScores, board: TaskBoard, title: str, *, leads: bool = False, about: str = ""
) -> Caption:
    """Return what stands above and under a picture of one part of a set."""
    headed = f"{title}: {board.split}" if board.split else title
    report = task_reports(scores)[scores.boards.index(board)]
    return Caption(headed, report, scores.stand_ins, (), leads, about, _COMMAND)


def _picture(
    name: str,
    caption: Caption,
    models: Sequence[str],
    parts: Sequence[ModelFigures],
    *,
    count: str,
    dashed: str = "",
) -> Picture:
    """Return panels beside and below one another, each with a line a model."""
    counts = [max((one.n for one in part.figures.values()), default=0) for part in parts]
    rows = tuple({"part": part.name, "n": n} for part, n in zip(parts, counts, strict=True))
    table = Table(name, caption.title, (Column("part", "part"), _N), rows)
    panels = [
        Panel(
            {
                place: Dot(one.value or 0.0, one.low, one.high)
                for place, one in part.figures.items()
            },
            part.axis,
            part.name,
            f"n = {table.cell(k, _N)}",
            part.dashed,
            ticks=(part.axis.low, sum(part.axis) / 2, part.axis.high),
        )
        for k, part in enumerate(parts)
    ]
    scales = dict.fromkeys(_SCALES[part.axis] for part in parts)
    label = "; ".join(scales)
    dots = Dots(len(models), panels, label, [names(models)], count=count, dashed=dashed)
    return Picture(name, caption.title.partition(":")[0].lower(), dots, caption, table)


def positions(scores: TaskSetScores, board: TaskBoard) -> Picture | str:
    """Return where in a video each model finds needles, or why there is nothing to draw."""
    found = [
        (name, row.positions)
        for name, row in zip(_named(board.watched), board.watched, strict=True)
        if row.positions is not None
    ]
    if not found:
        return "no item says where its needle lies, as made items do"
    caption = _caption(scores, board, "Needles found, in percent")
    columns = (
        MODEL,
        Column("position", "position"),
        Column("length", "background"),
        Column("value", "found", "percent"),
        _N,
    )
    needles = [_needles(name, of) for name, of in found]
    table = Table("found", caption.title, columns, tuple(row for of in needles for row in of))
    grids: list[ShadedGrid] = []
    first = 0
    for (name, _), of in zip(found, needles, strict=True):
        lengths = list(dict.fromkeys(row["length"] for row in of))
        across = [*lengths[:-1], "", _ALL]
        places = {
            k: (_ROWS.index(row["position"]), across.index(row["length"]))
            for k, row in enumerate(of, first)
        }
        cells = cells_of(table, places, "value", "n", few=_FEW)
        # The corner, all positions at all lengths, is the figure of the board.
        grids.append(ShadedGrid(cells, across, {(len(_ROWS) - 1, len(across) - 1)}, name))
        first += len(of)
    body = ShadedGrids(
        _ROWS,
        grids,
        UPWARD,
        0.0,
        100.0,
        under="items",
        few=f"{_FEW} items",
        lacking="none",
        label="length of the background; rows: where in the video the needle lies",
    )
    return Picture("positions", "needles by position and length", body, caption, table)


def _needles(model: str, of: Positions) -> list[dict[str, Any]]:
    """Return the needles that a model found by position and length, and over all of either."""
    lengths = [*(FORMATS["length"].cell([seconds]) for seconds in of.lengths), _ALL]
    cells = [[*row, last] for row, last in zip(of.cells, of.by_position, strict=True)]
    return [
        {"model": model, "position": position, "length": length}
        | {"value": cell and cell.value, "n": cell.n if cell else 0}
        for position, some in zip([*POSITIONS, _ALL], [*cells, [*of.by_length, None]], strict=True)
        for length, cell in zip(lengths, some, strict=True)
    ]


def sweep(scores: TaskSetScores, board: TaskBoard) -> Picture | str:
    """Return the accuracy of each model by budget, or why there is nothing to draw."""
    if not board.sweeps:
        return "no model was played with several numbers of frames"
    rows: list[dict[str, Any]] = [
        {
            "model": of.model,
            "frames": one.frames,
            # What cost nothing has no place on a scale that grows by factors.
            "usd": one.usd or None,
            **one.accuracy.model_dump(include={"value", "low", "high"}),
            "is_ringed": one.frames == of.cheapest,
        }
        for of in board.sweeps
        for one in of.settings
    ]
    columns = (
        MODEL,
        Column("frames", "frames", "count"),
        Column("usd", "dollars an item", "money"),
    )
    caption = _caption(scores, board, "Accuracy by budget", about="sweep")
    table = Table("sweep", caption.title, columns, tuple(rows))
    ends = [row[key] for row in rows for key in ("value", "low", "high")]
    known = [end for end in [*ends, board.chance] if end is not None]
    curves = Curves(
        [_course(table, key) for key in ("frames", "usd") if any(row[key] for row in rows)],
        "accuracy in percent",
        Axis(min(known), max(known)),
        f"the cheapest setting that is shown to lie within {board.sweeps[0].margin:g} points",
        "chance",
        board.chance,
    )
    return Picture("sweep", "accuracy against frames and dollars", curves, caption, table)


def _course(table: Table, key: str) -> CurvePanel:
    """Return each model's accuracy by frames or dollars."""
    column = table.column(key)
    curves: dict[str, list[CurvePoint]] = {row["model"]: [] for row in table.rows}
    ticks: dict[float, str] = {}
    for k, row in enumerate(table.rows):
        if row[key] and row["value"] is not None:
            figure = (row["value"], row["low"], row["high"], row["is_ringed"])
            curves[row["model"]].append(CurvePoint(row[key], *figure))
            ticks[row[key]] = table.cell(k, column)
    return CurvePanel(column.title, curves, ticks)
