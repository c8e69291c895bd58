"""Scores on a bench for people: a table, and what is pasted into papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.bench.score.score import FEW, FEW_VIDEOS
from videoautoarena.runs.rundir.reader import STAND_INS, counted
from videoautoarena.runs.text.tables import Cell, Fitting, Sheet, comma_separated, mark_up
from videoautoarena.runs.text.terminal import safe

Board = dict[str, Any]
FIGURES = ("vs selected", "vs rejected", "average")
LEAD = "lead over next"
SPARE = ("n", LEAD, *FIGURES[:2])
"""Columns that go, the first first, where a terminal is narrow."""
_MOST_NAME = 18
"""Columns that a name has at least, if it is that long."""
_CENT = Decimal("0.01")
OF = {
    "judged": "judged; what is void is not won",
    "decided": "decided against both references",
    "all": "of the bench; what is void or missing is not won",
}
"""Which questions are the whole."""


def render_scores(board: Board) -> RenderableType:
    """Return the table of scores, those of slices if there are any, and what to read with them."""
    parts: list[RenderableType] = [Fitting(partial(_grid, board), _columns(board), SPARE)]
    if "slices" in board:
        parts += [Text(""), slice_grid(board, _slice_rows(board))]
    return Group(*parts, *(Text(safe(note)) for note in notes(board)))


def pasted_scores(board: Board, form: str) -> str:
    """Return scores as Markdown, LaTeX, HTML or CSV; CSV has all digits and a row a slice."""
    if form == "csv":
        return comma_separated(CSV_COLUMNS, [_csv_row("", row) for row in board["models"]] + [
            _csv_row(part["slice"], row)
            for part in board.get("slices", [])
            for row in part["models"]
        ])  # fmt: skip
    sheet = _slice_sheet(board) if "slices" in board else _sheet(board)
    return mark_up(sheet, form)


CSV_COLUMNS = (
    "slice", "model", "judge", "vs_selected", "vs_rejected", "average", "low", "high", "n",
    "void", "missing",
)  # fmt: skip


def _csv_row(part: str, row: Board) -> list[Cell]:
    return [part, *(row[name] for name in CSV_COLUMNS[1:-2]), voids(row), missing(row)]


def voids(row: Board) -> int:
    """Return how many of a model's judgings could not be read."""
    return int(row["selected"]["void"] + row["rejected"]["void"])


def missing(row: Board) -> int:
    """Return how many judgings a model lacks, of two a question."""
    return int(row["selected"]["missing"] + row["rejected"]["missing"])


def printed(row: Board) -> tuple[str, str, str]:
    """Return the two percentages and their average, with two decimals each.

    The average is that of the two as they are printed, so that a reader who adds them up agrees;
    published tables are made like that. It may lie a hundredth beside the one with all digits.
    """
    if row["average"] is None:
        return "-", "-", "-"
    selected, rejected = (_cents(Decimal(row[f"vs_{side}"])) for side in ("selected", "rejected"))
    return f"{selected}", f"{rejected}", f"{_cents((selected + rejected) / 2)}"


def _cents(value: Decimal) -> Decimal:
    return value.quantize(_CENT, ROUND_HALF_UP)


def bounds(row: Board) -> str:
    """Return an interval, to a tenth of a point."""
    return "-" if row["low"] is None else f"{row['low']:.1f} to {row['high']:.1f}"


def _columns(board: Board) -> tuple[str, ...]:
    judges = {row["judge"] for row in board["models"]}
    odd = [
        name
        for name, counts in {"void": voids, "missing": missing}.items()
        if any(counts(row) for row in board["models"])
    ]
    by = ["judge"] if len(judges) > 1 else []
    return ("model", *by, *FIGURES, "95 % interval", "n", *odd, LEAD)


def _rows(board: Board) -> Iterator[list[str]]:
    columns, below = _columns(board), _above_next(board)
    for row in board["models"]:
        cells = {
            "model": row["model"],
            "judge": row["judge"],
            **dict(zip(FIGURES, printed(row), strict=True)),
            "95 % interval": bounds(row),
            "n": str(row["n"]),
            "void": str(voids(row)),
            "missing": str(missing(row)),
            LEAD: below.get((row["model"], row["judge"]), ""),
        }
        yield [cells[name] for name in columns]


def _above_next(board: Board) -> dict[tuple[str, str], str]:
    """Return the interval of how far each model is above the next one of its judge."""
    told: dict[tuple[str, str], str] = {}
    for found in board["differences"]:  # in the order of the board, so the first is the next
        told.setdefault((found["a"], found["judge"]), bounds(found))
    return told


def _grid(board: Board, shown: Sequence[str]) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    columns = _columns(board)
    for name in shown:
        if name in ("model", "judge"):
            longest = max(cell_len(safe(row[name])) for row in board["models"])
            grid.add_column(name, overflow="fold", min_width=min(longest, _MOST_NAME))
        else:
            grid.add_column("\n".join(name.rsplit(" ", 1)), justify="right", no_wrap=True)
    for row in _rows(board):
        cells = dict(zip(columns, row, strict=True))
        grid.add_row(*(Text(safe(cells[name])) for name in shown))
    return grid


def _sheet(board: Board) -> Sheet:
    columns = _columns(board)
    return Sheet(
        columns=columns,
        numbers=frozenset(k for k, name in enumerate(columns) if name not in ("model", "judge")),
        rows=list(_rows(board)),
        notes=notes(board),
        caption=f"Scores of {counted(len(board['models']), 'model')} on the bench",
        label="scores",
    )


def _slice_rows(board: Board) -> list[list[str]]:
    """Return a row a model, as the board has them: its average in each slice and on how many."""
    rows = []
    for row in board["models"]:
        key, cells = (row["model"], row["judge"]), []
        for part in board["slices"]:
            found = next(r for r in part["models"] if (r["model"], r["judge"]) == key)
            cells.append("-" if found["average"] is None else f"{printed(found)[2]} ({found['n']})")
        rows.append([row["model"], *cells])
    videos = ["videos", *(str(part["videos"]) for part in board["slices"])]
    return [*rows, videos]


def slice_grid(board: Board, rows: Sequence[Sequence[str]]) -> Grid:
    """Return a column a slice of a board, beside the names of the models."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(f"by {board['by']}", overflow="fold")
    for part in board["slices"]:
        grid.add_column(Text(safe(part["slice"])), justify="right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(safe(cell)) for cell in row))
    return grid


def _slice_sheet(board: Board) -> Sheet:
    names = [part["slice"] for part in board["slices"]]
    return Sheet(
        columns=("model", *names),
        numbers=frozenset(range(1, len(names) + 1)),
        rows=_slice_rows(board),
        notes=notes(board),
        caption=f"Scores by {board['by']}, with the number of questions",
        label=f"scores-by-{board['by']}",
    )


def notes(board: Board) -> list[str]:
    """Return what has to be read with the scores: of what they are, and what is odd about them."""
    told = [
        f"In percent of the questions {OF[board['of']]}; {board['items']} questions about "
        f"{counted(board['videos'], 'video')} in all."
    ]
    if board["stand_ins"]:
        told.append(f"{STAND_INS}.")
    if len({row["judge"] for row in board["models"]}) > 1:
        told.append("Judges differ: compare models that one judge judged.")
    told += [line for row in board["models"] for line in _oddities(row, board)]
    return [*told, *few_videos(board), *_summary(board["models"], board["differences"])]


def few_videos(board: Board) -> Iterator[str]:
    """Yield which models stand on so few videos that their intervals cannot be trusted."""
    few = [row["model"] for row in board["models"] if FEW in row["flags"]]
    if few:
        who = "all" if len(few) == len(board["models"]) > 1 else ", ".join(few)
        yield f"Fewer than {FEW_VIDEOS} videos, too few to trust an interval: {who}."


def _oddities(row: Board, board: Board) -> Iterator[str]:
    name, decided = row["model"], row["decided"]
    if missing(row):
        told = max(row[side]["missing"] for side in ("selected", "rejected"))
        yield f"{name}: {told} of {counted(board['items'], 'question')} not judged."
    if voids(row):
        average = "-" if decided["average"] is None else printed(decided)[2]
        yield (
            f"{name}: {voids(row)} of {2 * board['items'] - missing(row)} judgings void; on the "
            f"{counted(decided['n'], 'question')} decided its average is {average}."
        )


def _summary(rows: Sequence[Board], differences: Sequence[Board]) -> Iterator[str]:
    """Yield who leads and whether that is sure, where one judge judged all."""
    rated = [row["model"] for row in rows if row["average"] is not None]
    if len({row["judge"] for row in rows}) == 1:
        yield from who_leads(rated, differences)


def who_leads(rated: Sequence[str], differences: Sequence[Board]) -> Iterator[str]:
    """Yield who leads of models in the order of their scores, and whether that is sure."""
    if len(rated) < 2:
        return
    level = [
        found["b"]
        for found in differences
        if found["a"] == rated[0] and (found["low"] is None or found["low"] <= 0)
    ]
    if level:
        yield f"{rated[0]} leads, but cannot be told apart from {', '.join(level)}."
    else:
        yield f"{rated[0]} leads, and every interval of its lead is above 0."
