"""Scores against an anchor for people: a table, and what is pasted into papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from videoautoarena.runs.bench.format.points import DEGREES
from videoautoarena.runs.bench.score.anchor_score import ONE_SIDED, Scores
from videoautoarena.runs.bench.score.score import Board
from videoautoarena.runs.bench.score.score_text import (
    LEAD,
    Shown,
    above_next,
    blind_notes,
    bounds,
    few_videos,
    of_several,
    pasted_scores,
    render,
    render_scores,
    score_sheet,
    sheet,
    who_leads,
)
from videoautoarena.runs.rating.finding import language_lines
from videoautoarena.runs.rundir.reader import STAND_INS, counted
from videoautoarena.runs.text.tables import comma_separated, mark_up
from videoautoarena.runs.text.terminal import safe

SCORE, VERDICTS = "win %", ">> > = < <<"
_DEGREES = tuple(DEGREES.values())
CSV_COLUMNS = (
    "judge", "anchor", "slice", "model", "score", "low", "high", "rating", "rating_low",
    "rating_high", "share", "n", *_DEGREES, "void", "missing", "split",
)  # fmt: skip


def render_each(scores: Scores) -> Iterator[RenderableType]:
    """Yield the table of scores against the references, and one a judge and anchor.

    Before any board by language stands what the judge is like in each.
    """
    if first := _first(scores):
        yield Text("\n".join(first))
        yield Text("")
    if scores.board["models"]:
        yield render_scores(scores.board)
    for place, one in enumerate(scores.anchored):
        if place or scores.board["models"]:
            yield Text("")
        yield render_anchored(one)


def render_anchored(board: Board) -> RenderableType:
    """Return the table of one judge and anchor, those of slices, and what to read with them."""
    return Group(Text(safe(_title(board))), *render(board, _shown(board), notes(board)))


def pasted_each(scores: Scores, form: str) -> str:
    """Return them all as Markdown, LaTeX, HTML or CSV.

    As CSV it is one table: that of the references where there are any.
    """
    if form == "csv":
        board = scores.board
        return pasted_scores(board) if board["models"] else _pasted_anchored(scores.anchored)
    sheets = [score_sheet(scores.board)] if scores.board["models"] else []
    sheets += [sheet(one, _shown(one), [f"{_title(one)}.", *notes(one)]) for one in scores.anchored]
    firsts = [_first(scores), *([] for _ in sheets)]
    each = zip(sheets, firsts, strict=False)
    return "\n\n".join(mark_up(found._replace(first=first), form) for found, first in each)


def _first(scores: Scores) -> list[str]:
    return [] if scores.audit is None else language_lines(scores.audit)


def _pasted_anchored(boards: Sequence[Board]) -> str:
    """Return boards as CSV: all digits, and a row a slice."""
    rows = []
    for board in boards:
        given = {"judge": board["judge"], "anchor": board["anchor"]}
        for part in ({**board, "slice": ""}, *board.get("slices", [])):
            each = ({**given, "slice": part["slice"], **row} for row in part["models"])
            rows += [[cells[column] for column in CSV_COLUMNS] for cells in each]
    return comma_separated(CSV_COLUMNS, rows)


def _title(board: Board) -> str:
    return f"Against {board['anchor']}, judged by {board['judge']}"


def _shown(board: Board) -> Shown:
    odd = [name for name in ("void", "missing") if any(row[name] for row in board["models"])]
    columns = ("model", SCORE, "95 % interval", "rating", "n", VERDICTS, *odd, LEAD)
    caption = "Games against the anchor"
    return Shown(
        columns,
        rows=_rows(board, columns),
        in_slice=lambda row: "-" if row["score"] is None else f"{row['score']:.2f} ({row['n']})",
        spare=("n", LEAD, VERDICTS, "rating", "95 % interval"),
        longest_name=24,
        captions=(caption, f"{caption} by {board.get('by')}"),
        label="anchor",
    )


def _rows(board: Board, columns: Sequence[str]) -> list[list[str]]:
    """Return the models with the anchor among them, above those that lose to it."""
    leads, rows = above_next(board), []
    for row in board["models"]:
        cells = {
            "model": row["model"],
            SCORE: "-" if row["score"] is None else f"{row['score']:.2f}",
            "95 % interval": bounds(row),
            "rating": "-" if row["rating"] is None else f"{row['rating']:.0f}",
            LEAD: leads.get((row["model"], None), ""),
            VERDICTS: " ".join(str(row[degree]) for degree in _DEGREES),
            **{name: str(row[name]) for name in ("n", "void", "missing")},
        }
        rows.append(cells)
    above = sum((row["score"] or 0.0) >= 50.0 for row in board["models"])
    rows.insert(above, {"model": f"{board['anchor']} (anchor)", SCORE: "50.00", "rating": "1000"})
    return [[cells.get(name, "") for name in columns] for cells in rows]


def notes(board: Board) -> list[str]:
    """Return what has to be read with the scores: of what they are, and what is odd about them."""
    models, differences = board["models"], board["differences"]
    found = [
        "Win rate against the anchor by Bradley-Terry; much better (>>) or much "
        f"worse (<<) counts as {board['weight']:g} games. "
        f"{counted(board['items'], 'question')} about "
        f"{counted(board['videos'], 'video')} in all."
    ]
    if differences:
        found.append(
            "lead over next: difference of the mean share won per question, as in "
            "arena bench compare, not of these win rates."
        )
    found += of_several(board)
    if board["stand_ins"]:
        found.append(f"{STAND_INS}.")
    if board["style"]:
        worth = (board["style_worth"] or {}).items()
        listed = ", ".join(f"{name} {points:+.0f}" for name, points in worth if points is not None)
        found.append(
            "Controlled for style; rating points per usual difference: "
            f"{listed or 'nothing, since the answers never differ in it'}."
        )
    found += _seated(board["seats"])
    found += [line for row in models for line in _oddities(row, board)]
    found += few_videos(board)
    found += blind_notes(models, board["judge"])
    rated = [row for row in models if row["score"] is not None]
    if unsure := [row["model"] for row in rated if row["low"] <= 50.0 <= row["high"]]:
        found.append(f"Not separated from the anchor: {', '.join(unsure)}.")
    return [*found, *who_leads([row["model"] for row in rated], differences)]


def _seated(seats: Board) -> Iterator[str]:
    decided = seats["first"] + seats["second"]
    if decided:
        yield (
            f"Position: the answer read first won {100 * seats['first'] / decided:.1f} % "
            f"of {counted(decided, 'decided judging')}; on {seats['split']} of "
            f"{counted(seats['questions'], 'question')} the two orders preferred "
            "different answers."
        )


def _oddities(row: Board, board: Board) -> Iterator[str]:
    name = row["model"]
    if row["missing"]:
        yield f"{name}: {row['missing']} of {counted(board['items'], 'question')} not judged."
    if row["void"]:
        yield f"{name}: {counted(row['void'], 'question')} void, which are not counted."
    if ONE_SIDED in row["flags"]:
        yield f"{name} won or lost everything; a prior of half a game limits its score."
