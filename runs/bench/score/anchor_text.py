"""Scores against an anchor for people: a table, and what is pasted into papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.bench.format.points import DEGREES
from videoautoarena.runs.bench.score.anchor_score import ONE_SIDED, Board, Scores
from videoautoarena.runs.bench.score.score_text import (
    LEAD,
    bounds,
    few_videos,
    render_scores,
    slice_grid,
    who_leads,
)
from videoautoarena.runs.rundir.reader import STAND_INS, counted
from videoautoarena.runs.text.tables import Cell, Fitting, Sheet, comma_separated, mark_up
from videoautoarena.runs.text.terminal import safe

SCORE, VERDICTS = "win %", ">> > = < <<"
_MOST_NAME = 24
_DEGREES = tuple(DEGREES.values())
CSV_COLUMNS = (
    "judge", "anchor", "slice", "model", "score", "low", "high", "rating", "rating_low",
    "rating_high", "share", "n", *_DEGREES, "void", "missing", "split",
)  # fmt: skip


def render_each(scores: Scores) -> Iterator[RenderableType]:
    """Yield the table of scores against the references, and one a judge and anchor."""
    if scores.board["models"]:
        yield render_scores(scores.board)
    for place, one in enumerate(scores.anchored):
        if place or scores.board["models"]:
            yield Text("")
        yield render_anchored(one)


def render_anchored(board: Board) -> RenderableType:
    """Return the table of one judge and anchor, those of slices, and what to read with them."""
    parts: list[RenderableType] = [
        Text(safe(_title(board))),
        Fitting(
            partial(_grid, board), _columns(board), ("n", LEAD, VERDICTS, "rating", "95 % interval")
        ),
    ]
    if "slices" in board:
        parts += [Text(""), slice_grid(board, _slice_rows(board))]
    return Group(*parts, *(Text(safe(note)) for note in notes(board)))


def pasted_anchored(boards: Sequence[Board], form: str) -> str:
    """Return boards as Markdown, LaTeX, HTML or CSV; CSV has all digits and a row a slice."""
    if form == "csv":
        return comma_separated(CSV_COLUMNS, [row for board in boards for row in _csv_rows(board)])
    sheets = [_slice_sheet(board) if "slices" in board else _sheet(board) for board in boards]
    return "\n\n".join(mark_up(sheet, form) for sheet in sheets)


def _title(board: Board) -> str:
    return f"Against {board['anchor']}, judged by {board['judge']}"


def _csv_rows(board: Board) -> Iterator[list[Cell]]:
    given = {"judge": board["judge"], "anchor": board["anchor"]}
    parts = [("", board), *((part["slice"], part) for part in board.get("slices", []))]
    for name, part in parts:
        for row in part["models"]:
            cells = {**given, "slice": name, **row}
            yield [cells[column] for column in CSV_COLUMNS]


def _columns(board: Board) -> tuple[str, ...]:
    odd = [name for name in ("void", "missing") if any(row[name] for row in board["models"])]
    return ("model", SCORE, "95 % interval", "rating", "n", VERDICTS, *odd, LEAD)


def _rows(board: Board) -> Iterator[list[str]]:
    columns, leads = _columns(board), _leads(board)
    rows = [*board["models"]]
    above = sum((row["score"] or 0.0) >= 50.0 for row in rows)
    for at in range(len(rows) + 1):
        if at == above:
            cells = {"model": f"{board['anchor']} (anchor)", SCORE: "50.00", "rating": "1000"}
            yield [cells.get(name, "") for name in columns]
        if at == len(rows):
            return
        row = rows[at]
        cells = {
            "model": row["model"],
            SCORE: "-" if row["score"] is None else f"{row['score']:.2f}",
            "95 % interval": bounds(row),
            "rating": "-" if row["rating"] is None else f"{row['rating']:.0f}",
            LEAD: leads.get(row["model"], ""),
            VERDICTS: " ".join(str(row[degree]) for degree in _DEGREES),
            **{name: str(row[name]) for name in ("n", "void", "missing")},
        }
        yield [cells[name] for name in columns]


def _leads(board: Board) -> dict[str, str]:
    told: dict[str, str] = {}
    for found in board["differences"]:  # in the order of the board, so the first is the next
        told.setdefault(found["a"], bounds(found))
    return told


def _grid(board: Board, shown: Sequence[str]) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    columns = _columns(board)
    rows = [dict(zip(columns, row, strict=True)) for row in _rows(board)]
    for name in shown:
        if name == "model":
            longest = max(cell_len(safe(row[name])) for row in rows)
            grid.add_column(name, overflow="fold", min_width=min(longest, _MOST_NAME))
        else:
            told = name if name == VERDICTS else "\n".join(name.rsplit(" ", 1))
            grid.add_column(told, justify="right", no_wrap=True)
    for row in rows:
        grid.add_row(*(Text(safe(row[name])) for name in shown))
    return grid


def _sheet(board: Board) -> Sheet:
    columns = _columns(board)
    told = [f"{_title(board)}.", *notes(board)]
    return Sheet(
        columns,
        frozenset(range(1, len(columns))),
        list(_rows(board)),
        told,
        caption="Games against the anchor",
        label="anchor",
    )


def _slice_rows(board: Board) -> list[list[str]]:
    rows = []
    for row in board["models"]:
        cells = [row["model"]]
        for part in board["slices"]:
            found = next(one for one in part["models"] if one["model"] == row["model"])
            told = "-" if found["score"] is None else f"{found['score']:.2f} ({found['n']})"
            cells.append(told)
        rows.append(cells)
    return [*rows, ["videos", *(str(part["videos"]) for part in board["slices"])]]


def _slice_sheet(board: Board) -> Sheet:
    names = [part["slice"] for part in board["slices"]]
    told = [f"{_title(board)}.", *notes(board)]
    return Sheet(
        ("model", *names),
        frozenset(range(1, len(names) + 1)),
        _slice_rows(board),
        told,
        caption=f"Games against the anchor by {board['by']}",
        label=f"anchor-by-{board['by']}",
    )


def notes(board: Board) -> list[str]:
    """Return what has to be read with the scores: of what they are, and what is odd about them."""
    told = [
        "The share of games that each would win against the anchor, by Bradley-Terry; much better "
        f"(>>) or much worse (<<) counts as {board['weight']:g} games. "
        f"{counted(board['items'], 'question')} about {counted(board['videos'], 'video')} in all."
    ]
    if board["differences"]:
        told.append(
            "A lead is over the next model, in points of the mean share won of a question, each "
            "question counted once as in arena bench compare; it is no difference of these scores."
        )
    if board["stand_ins"]:
        told.append(f"{STAND_INS}.")
    if board["style"]:
        told.append(_styled(board))
    told += _seated(board["seats"])
    told += [line for row in board["models"] for line in _oddities(row, board)]
    return [*told, *few_videos(board), *_summary(board)]


def _styled(board: Board) -> str:
    worth = {name: x for name, x in (board["style_worth"] or {}).items() if x is not None}
    listed = ", ".join(f"{name} {points:+.0f}" for name, points in worth.items())
    return (
        "Style is taken out; in rating points a usual difference is worth: "
        f"{listed or 'nothing, since the answers never differ in it'}."
    )


def _seated(seats: Board) -> Iterator[str]:
    decided = seats["first"] + seats["second"]
    if decided:
        yield (
            f"Seats: the answer read first won {100 * seats['first'] / decided:.1f} % of "
            f"{counted(decided, 'decided judging')}; on {seats['split']} of "
            f"{counted(seats['questions'], 'question')} each seating found another answer better."
        )


def _oddities(row: Board, board: Board) -> Iterator[str]:
    name = row["model"]
    if row["missing"]:
        yield f"{name}: {row['missing']} of {counted(board['items'], 'question')} not judged."
    if row["void"]:
        yield f"{name}: {counted(row['void'], 'question')} void, which count for nobody."
    if ONE_SIDED in row["flags"]:
        yield f"{name} won or lost everything; half a game of a prior holds its score."


def _summary(board: Board) -> Iterator[str]:
    rows = [row for row in board["models"] if row["score"] is not None]
    if not rows:
        return
    unsure = [row["model"] for row in rows if row["low"] <= 50.0 <= row["high"]]
    if unsure:
        yield f"Not told apart from the anchor: {', '.join(unsure)}."
    yield from who_leads([row["model"] for row in rows], board["differences"])
