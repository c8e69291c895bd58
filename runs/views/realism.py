"""Simulated questions beside real ones on a terminal, and as sheets to paste."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from videoautoarena.runs.rating.finding import Figure
from videoautoarena.runs.rating.leaderboard import Row
from videoautoarena.runs.realism.comparison import TraitComparison
from videoautoarena.runs.realism.real_mix import Mix, weakness_of
from videoautoarena.runs.realism.report import Boards, Realism
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.tables import Sheet, plain_grid
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.views.number_formats import FORMATS, NOTHING

TRAIT_COLUMNS = ("trait", "value", "simulated", "real", "p")
BOARD_COLUMNS = ("model", "as played", "rank", "real mix", "interval", "rank", "moves")
MARK = "*"
_SHOWN = 6
"""Values of a trait, and cells that a run lacks, on a terminal."""
_UNKNOWN = NOTHING


def render_realism(found: Realism) -> RenderableType:
    """Return both tables, each with what must be said below it; names are user text."""
    grid = plain_grid(*TRAIT_COLUMNS)
    grid.columns[1].justify = "left"
    for cells in _trait_rows(found.traits, most=_SHOWN):
        grid.add_row(*map(Text, cells))
    parts: list[RenderableType] = [grid, Text(""), *map(Text, _told_lines(found)), Text("")]
    if found.boards is not None and found.mix is not None:
        board = plain_grid(*BOARD_COLUMNS)
        for cells in _board_rows(found.boards):
            board.add_row(*map(Text, cells))
        parts += map(Text, _weak_lines(found.mix))
        parts += [board, Text(""), *map(Text, _mix_lines(found.mix)), Text("")]
    weak = found.mix and weakness_of(found.mix)
    below = (line for line in found.warnings if line != weak)
    return Group(*parts, *(Text(f"note: {safe(line)}.") for line in below))


def sheets_of(found: Realism) -> Iterator[Sheet]:
    """Yield the tables for pasting: traits, and where there is one the board."""
    notes = [*_told_lines(found), *(f"{line}." for line in found.warnings)]
    rows = list(_trait_rows(found.traits, most=None))
    yield Sheet(TRAIT_COLUMNS, frozenset({2, 3, 4}), rows, notes, "Questions", "questions")
    if found.boards is not None and found.mix is not None:
        board = list(_board_rows(found.boards))
        lines = [*_weak_lines(found.mix), *_mix_lines(found.mix)]
        numbers = frozenset(range(1, len(BOARD_COLUMNS)))
        yield Sheet(BOARD_COLUMNS, numbers, board, lines, "Board by the real mix", "real-mix")


def _trait_rows(traits: Sequence[TraitComparison], *, most: int | None) -> Iterator[list[str]]:
    for one in traits:
        p = f"{FORMATS['p'].cell([one.held_p])}{MARK if one.differs else ''}"
        name = one.trait
        shown = one.values if most is None or len(one.values) <= most else one.values[: most - 1]
        for row in shown:
            figures = [_figure(side, is_mean=row.value == "mean") for side in row[1:3]]
            yield [name, safe(row.value), *figures, p]
            name = p = ""
        if len(shown) < len(one.values):
            yield ["", f"{len(one.values) - len(shown)} more", "", "", ""]
        if not one.values:
            yield [name, _UNKNOWN, _UNKNOWN, _UNKNOWN, p]


def _figure(figure: Figure, *, is_mean: bool) -> str:
    """A share in percent, or a mean, with its interval."""
    if figure.value is None:
        return _UNKNOWN
    digits, times = (_digits(figure.value), 1) if is_mean else (0, 100)
    value, low, high = (
        "?" if x is None else f"{times * x:.{digits}f}"
        for x in (figure.value, figure[1], figure[2])
    )
    return f"{value}{'' if is_mean else ' %'} ({low} to {high})"


def _digits(value: float) -> int:
    return 1 if value >= 2 else 2


def _told_lines(found: Realism) -> Iterator[str]:
    sides = (
        f"{counted(side.questions, what)} on {counted(side.videos, 'video')}"
        for side, what in ((found.simulated, "simulated question"), (found.real, "real question"))
    )
    yield f"{', '.join(sides)}; {found.shared_videos:,} in common."
    tested = sum(one.p is not None for one in found.traits)
    if not tested:
        yield "There is too little of either to tell them apart."
    elif found.told_apart:
        yield (
            f"Told apart by {', '.join(found.told_apart)} ({MARK}): p held over {tested} traits "
            f"is at most {found.level:g}."
        )
    else:
        yield f"Not told apart by any of {tested} traits, which is no proof that they are alike."


def _board_rows(boards: Boards) -> Iterator[list[str]]:
    """A row a model, the best by the real mix first."""
    played = {row.model: row for row in boards.as_played.models}
    for row in boards.real_mix.models:
        before = played[row.model]
        yield [
            safe(row.model),
            *_rated(before)[:1],
            *_rated(before)[2:],
            *_rated(row),
            _moves(before, row),
        ]


def _rated(row: Row) -> list[str]:
    if row.rating is None:
        return ["unrated", _UNKNOWN, _UNKNOWN]
    return [
        FORMATS["rating"].cell([row.rating]),
        FORMATS["reach"].cell([row.rating, row.low, row.high]),
        FORMATS["places"].cell([row.rank_best, row.rank_worst]),
    ]


def _moves(before: Row, after: Row) -> str:
    if before.rating is None or after.rating is None:
        return _UNKNOWN
    return f"{round(after.rating - before.rating):+d}"


def _weak_lines(mix: Mix) -> Iterator[str]:
    """What is to be read before the board."""
    if weak := weakness_of(mix):
        yield f"{weak[0].upper()}{weak[1:]}."


def _mix_lines(mix: Mix) -> Iterator[str]:
    yield (
        f"Real mix: {mix.battles:,} battles weighted by category and form, at most "
        f"{mix.heaviest:.2f} each (cap {mix.cap:g}); they count as {mix.effective_battles:,.0f}."
    )
    if mix.lacking:
        named = ", ".join(
            f"{safe(one.category)} / {safe(one.form)} {100 * (one.real or 0.0):.1f} %"
            for one in mix.lacking[:_SHOWN]
        )
        more = len(mix.lacking) - _SHOWN
        rest = f" and {more} more" if more > 0 else ""
        yield f"This run lacks {named}{rest}."
