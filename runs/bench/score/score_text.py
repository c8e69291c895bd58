"""Scores on a bench for people: a table, and what is pasted into papers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.bench.score.score import BY_QUESTION, FEW, FEW_VIDEOS, JUDGED_BLIND, Board
from videoautoarena.runs.rundir.reader import SAW_NONE, STAND_INS, counted
from videoautoarena.runs.text.tables import Cell, Fitting, Sheet, as_label, comma_separated
from videoautoarena.runs.text.terminal import safe

FIGURES = ("vs selected", "vs rejected", "average")
NAMES = ("model", "judge")
"""Columns of text; the others are numbers."""
LEAD = "lead over next"
_CENT = Decimal("0.01")
OF = {
    "judged": "judged; void counts as not won",
    "decided": "decided against both references",
    "all": "of the bench; void or missing counts as not won",
}
"""Which questions are the whole."""


class Shown(NamedTuple):
    """A board as text, before it is a table in a terminal or in a paper."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    in_slice: Callable[[Board], str]
    """Return the figure of a row of a slice, and on how many questions."""
    spare: tuple[str, ...]
    """Columns that go, the first first, where a terminal is narrow."""
    longest_name: int
    """Cells that a name has at least, if it is that long."""
    captions: tuple[str, str]
    """Of the table, and of that of its slices."""
    label: str


def render(board: Board, shown: Shown, notes: Sequence[str]) -> list[RenderableType]:
    """Return the table of a board, that of its slices if there are any, and what to read."""
    parts: list[RenderableType] = [Fitting(partial(_grid, shown), shown.columns, shown.spare)]
    if "slices" in board:
        parts += [Text(""), _slice_grid(board, shown)]
    return [*parts, *(Text(safe(note)) for note in notes)]


def render_scores(board: Board) -> RenderableType:
    """Return the table of scores, those of slices if there are any, and what to read with them."""
    return Group(*render(board, _shown(board), notes(board)))


def pasted_scores(board: Board) -> str:
    """Return scores as CSV: all digits, and a row a slice."""
    parts = [{**board, "slice": ""}, *board.get("slices", [])]
    rows = [_csv_row(part["slice"], row) for part in parts for row in part["models"]]
    return comma_separated(CSV_COLUMNS, rows)


def score_sheet(board: Board) -> Sheet:
    """Return scores before they take a form for pasting."""
    return sheet(board, _shown(board), notes(board))


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


def _shown(board: Board) -> Shown:
    models = board["models"]
    by = ["judge"] if len({row["judge"] for row in models}) > 1 else []
    odd = [
        name
        for name, counts in {"void": voids, "missing": missing}.items()
        if any(map(counts, models))
    ]
    columns = ("model", *by, *FIGURES, "95 % interval", "n", *odd, LEAD)
    return Shown(
        columns,
        rows=list(_rows(board, columns)),
        in_slice=lambda row: "-" if row["average"] is None else f"{printed(row)[2]} ({row['n']})",
        spare=("n", LEAD, *FIGURES[:2]),
        longest_name=18,
        captions=(
            f"Scores of {counted(len(models), 'model')} on the bench",
            f"Scores by {board.get('by')}, with the number of questions",
        ),
        label="scores",
    )


def _rows(board: Board, columns: Sequence[str]) -> Iterator[list[str]]:
    below = above_next(board)
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


def above_next(board: Board) -> dict[tuple[str, str | None], str]:
    """Return the interval of how far each model is above the next one of its judge."""
    leads: dict[tuple[str, str | None], str] = {}
    for found in board["differences"]:  # in the order of the board, so the first is the next
        leads.setdefault((found["a"], found.get("judge")), bounds(found))
    return leads


def _grid(shown: Shown, names: Sequence[str]) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    rows = [dict(zip(shown.columns, row, strict=True)) for row in shown.rows]
    for name in names:
        if name in NAMES:
            longest = max(cell_len(safe(row[name])) for row in rows)
            grid.add_column(name, overflow="fold", min_width=min(longest, shown.longest_name))
        else:
            head = "\n".join(name.rsplit(" ", 1)) if name[0].isalnum() else name
            grid.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        grid.add_row(*(Text(safe(row[name])) for name in names))
    return grid


def sheet(board: Board, shown: Shown, notes: Sequence[str]) -> Sheet:
    """Return what is pasted of a board: its slices if it has any, else its table."""
    if "slices" not in board:
        numbers = frozenset(k for k, name in enumerate(shown.columns) if name not in NAMES)
        return Sheet(shown.columns, numbers, shown.rows, notes, shown.captions[0], shown.label)
    columns = ("model", *(part["slice"] for part in board["slices"]))
    return Sheet(
        columns,
        frozenset(range(1, len(columns))),
        _slice_rows(board, shown),
        notes,
        caption=shown.captions[1],
        label=f"{shown.label}-by-{as_label(board['by'])}",
    )


def _slice_rows(board: Board, shown: Shown) -> list[list[str]]:
    """Return a row a model, as the board has them: its figure in each slice and on how many."""
    rows = []
    for row in board["models"]:
        key, cells = (row["model"], row.get("judge")), [row["model"]]
        for part in board["slices"]:
            found = next(r for r in part["models"] if (r["model"], r.get("judge")) == key)
            cells.append(shown.in_slice(found))
        rows.append(cells)
    return [*rows, ["videos", *(str(part["videos"]) for part in board["slices"])]]


def _slice_grid(board: Board, shown: Shown) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(Text(safe(f"by {board['by']}")), overflow="fold")
    for part in board["slices"]:
        grid.add_column(Text(safe(part["slice"])), justify="right", overflow="fold")
    for row in _slice_rows(board, shown):
        grid.add_row(*(Text(safe(cell)) for cell in row))
    return grid


def notes(board: Board) -> list[str]:
    """Return what has to be read with the scores: of what they are, and what is odd about them."""
    models = board["models"]
    found = [
        f"In percent of the questions {OF[board['of']]}; {board['items']} questions about "
        f"{counted(board['videos'], 'video')} in all."
    ]
    found += of_several(board)
    if board["stand_ins"]:
        found.append(f"{STAND_INS}.")
    judges = {row["judge"] for row in models}
    if len(judges) > 1:
        found.append("Judges differ: compare models that one judge judged.")
    found += [line for row in models for line in _oddities(row, board)]
    found += few_videos(board)
    found += blind_notes(models)
    if len(judges) == 1:
        rated = [row["model"] for row in models if row["average"] is not None]
        found += who_leads(rated, board["differences"])
    return found


def of_several(board: Board) -> list[str]:
    """Return what has to be known of parts that share questions; nothing of other boards."""
    if board.get("by") != BY_QUESTION:
        return []
    return ["A question stands in each of its categories, so that slices may share questions."]


def blind_notes(rows: Sequence[Board], judge: str | None = None) -> Iterator[str]:
    """Yield which models and judges saw no frames; `judge` is that of rows that name none."""
    if blind := [row["model"] for row in rows if SAW_NONE in row["flags"]]:
        yield saw_none(blind)
    judged = (row.get("judge") or judge for row in rows if JUDGED_BLIND in row["flags"])
    for name in dict.fromkeys(judged):
        yield f"{name} judged without seeing a frame: words alone were judged."


def saw_none(models: Iterable[str]) -> str:
    """Return the sentence on models that were sent no frames."""
    return f"{', '.join(dict.fromkeys(models))} {SAW_NONE}: a baseline of what words give away."


def few_videos(board: Board) -> Iterator[str]:
    """Yield which models stand on so few videos that their intervals cannot be trusted."""
    few = [row["model"] for row in board["models"] if FEW in row["flags"]]
    if few:
        who = "all" if len(few) == len(board["models"]) > 1 else ", ".join(few)
        yield f"Fewer than {FEW_VIDEOS} videos, too few to trust an interval: {who}."


def _oddities(row: Board, board: Board) -> Iterator[str]:
    name, decided = row["model"], row["decided"]
    if missing(row):
        most = max(row[side]["missing"] for side in ("selected", "rejected"))
        yield f"{name}: {most} of {counted(board['items'], 'question')} not judged."
    if voids(row):
        average = "-" if decided["average"] is None else printed(decided)[2]
        yield (
            f"{name}: {voids(row)} of {2 * board['items'] - missing(row)} judgings void; on the "
            f"{counted(decided['n'], 'question')} decided its average is {average}."
        )


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
        yield f"{rated[0]} leads, but is not separated from {', '.join(level)}."
    else:
        yield f"{rated[0]} leads, and every interval of its lead is above 0."
