"""Rates anybody's battles: from the columns of a file to the table of a leaderboard."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.formats.battle_table import (
    CodedColumn,
    ColumnSheet,
    StructuredCell,
    Wanted,
    as_number,
    is_gap,
    merge,
    quoted,
    read_numbers,
    read_sheet,
)
from videoautoarena.runs.formats.words import composed, outline, respellings
from videoautoarena.runs.rating.fit import Bouts, rate_bouts
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import USUAL, RatingMethod
from videoautoarena.runs.rating.table import count_verdicts, points_of, tabulate
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.texts.style import FEATURES, compare_styles, measure_styles

NEEDED = ("model_a", "model_b", "winner")
UNDECIDED = ("forfeit_a", "forfeit_b", "void")
"""Endings of the arena's own battles that are counted and never rated."""
VERDICTS = {
    **dict.fromkeys(("model_a", "a"), "a"),
    **dict.fromkeys(("model_b", "b"), "b"),
    **dict.fromkeys(("tie", "draw"), "tie"),
    # `tie (bothbad)` is how FastChat writes it, and with it the published battles of Chatbot Arena.
    **dict.fromkeys(("tie (bothbad)", "tie_bad", "bothbad", "both_bad"), "tie_bad"),
    **dict.fromkeys(("tie (bothgood)", "tie_good"), "tie_good"),
    "split": "split",
    **{verdict: verdict for verdict in UNDECIDED},
}
"""What may stand in the column of the winner, in small letters."""
MOST_MODELS = 2000
"""The time of a fit grows with the cube of their number: two thousand take seconds."""
_POINTS = {1.0: "a", 0.5: "tie", 0.0: "b"}
_STYLE = re.compile(r"style_(.+)_([ab])")


class ReadBattles(NamedTuple):
    """Battles of a file."""

    bouts: Bouts
    verdicts: Counter[str]
    forfeits: Counter[str]


def rate_file(file: Path, method: RatingMethod = USUAL) -> RatedLeaderboard:
    """Return the leaderboard of the battles in `file`.

    Columns are `model_a`, `model_b` and `winner`, or `verdict` as the arena writes it; `video`, if
    there, says which battles are not independent. Style is taken from `answer_a` and `answer_b`, or
    from columns `style_NAME_a` and `style_NAME_b` that hold sizes.

    Raises:
        BadInput: a file, a column, a row or an anchor that cannot be used; rows are named.
    """
    return rate_sheet(read_sheet(file, wanted_columns(method)), method)


def rate_sheet(sheet: ColumnSheet, method: RatingMethod = USUAL) -> RatedLeaderboard:
    """Return the leaderboard of the battles in a sheet, as `rate_file` does."""
    read = read_battles(sheet, method)
    board = tabulate(
        rate_bouts(read.bouts, method), forfeits=read.forfeits, totals=count_verdicts(read.verdicts)
    )
    warnings = [*_respelled(sheet), *_look_alikes(read.bouts.names)]
    if read.bouts.video is None and len(read.bouts.a):
        warnings.append(
            "there is no column video, so battles are treated as independent; if "
            "several share a video or a prompt, the intervals are too narrow"
        )
    warnings += board.settings.warnings
    return replace(board, settings=replace(board.settings, warnings=tuple(warnings)))


def read_battles(sheet: ColumnSheet, method: RatingMethod) -> ReadBattles:
    """Return the battles of a sheet.

    Raises:
        BadInput: a column that is missing, or a row that cannot be used.
    """
    winner = _find_columns(sheet)
    column = sheet.columns[winner]
    verdicts = _read_verdicts(sheet, winner)
    if winner == "winner":
        _refuse_two_winners(sheet, verdicts)
    decided = np.array([verdict not in UNDECIDED for verdict in verdicts])[column.codes]
    names, a, b = _read_models(sheet, decided)
    features, style = _read_style(sheet, method, decided)
    place, order = _keep_named(names)
    bouts = Bouts(
        order,
        place[a[decided]],
        place[b[decided]],
        np.array([points_of(verdict) for verdict in verdicts])[column.codes][decided],
        _read_videos(sheet, decided),
        style,
        features,
    )
    counted = Counter[str]()
    fallen = Counter[str]()
    for k, times in enumerate(np.bincount(column.codes, minlength=len(verdicts)).tolist()):
        counted[verdicts[k]] += times
        if times and (seat := {"forfeit_a": a, "forfeit_b": b}.get(verdicts[k])) is not None:
            fallen.update(names[who] for who in seat[column.codes == k].tolist())
    return ReadBattles(bouts, counted, fallen)


def wanted_columns(method: RatingMethod) -> Wanted:
    """Return which columns of a table of battles the method looks at."""
    names = {*NEEDED, "verdict", "video"}
    if method.style:
        names |= {"answer_a", "answer_b"}
    return lambda name: name in names or (method.style and _STYLE.fullmatch(name) is not None)


def _find_columns(sheet: ColumnSheet) -> str:
    """Return the name of the column with the winner; refuse a sheet that lacks any needed one."""
    if not sheet.names:
        raise BadInput(f"{sheet.file} has no rows")
    winner = "verdict" if "winner" not in sheet.columns else "winner"
    missing = [name for name in (*NEEDED[:2], winner) if name not in sheet.columns]
    if missing:
        wanted = "winner" if missing[0] == "verdict" else missing[0]
        there = ", ".join(quoted(name) for name in sheet.names[:8]) or "none"
        more = ", ..." if len(sheet.names) > 8 else ""
        raise BadInput(f"{sheet.file} has no column {wanted}; it has {there}{more}")
    return winner


def _read_verdicts(sheet: ColumnSheet, name: str) -> list[str]:
    """Return the verdict that each value of the column means; `void` alone for an empty column."""
    wrong = dict[int, str]()
    verdicts = list[str]()
    for k, value in enumerate(sheet.columns[name].values):
        verdict = verdict_of(value)
        verdicts.append(verdict or "")
        if verdict is None and is_gap(value):
            wrong[k] = "is missing"
        elif verdict is None:
            wrong[k] = f"is {quoted(value)}; it may be model_a, model_b or tie, a or b, 1, 0 or 0.5"
    sheet.check(name, wrong)
    # An empty list would make an array of floats, which is no mask.
    return verdicts or ["void"]


def _refuse_two_winners(sheet: ColumnSheet, verdicts: Sequence[str]) -> None:
    """Raise BadInput for the first row whose columns winner and verdict name two outcomes."""
    column = sheet.columns["winner"]
    other = sheet.columns.get("verdict")
    if other is None:
        return
    said = _outcomes(verdicts)[column.codes]
    told = _outcomes([verdict_of(value) or "void" for value in other.values] or ["void"])[
        other.codes
    ]
    contrary = (said != told) & ~np.isnan(said) & ~np.isnan(told)
    if contrary.any():
        row = int(np.argmax(contrary))
        values = (one.values[one.codes[row]] for one in (column, other))
        raise sheet.refuse(row, "winner is {} and verdict is {}".format(*map(quoted, values)))


def _outcomes(verdicts: Sequence[str]) -> Floats:
    """Return the points of the first model by each verdict; NaN if it decides nothing."""
    return np.array([math.nan if one in UNDECIDED else points_of(one) for one in verdicts])


def verdict_of(value: Any) -> str | None:
    """Return the verdict that a cell means, as VERDICTS and points have it; None if it is none."""
    if isinstance(value, str) and (found := VERDICTS.get(value.strip().casefold())):
        return found
    number = as_number(value)
    return None if number is None else _POINTS.get(number)


def _read_models(sheet: ColumnSheet, decided: NDArray[np.bool_]) -> tuple[list[Any], Ints, Ints]:
    """Return distinct names, and who had each seat as places in them.

    A name of None is nobody, which only a battle without a verdict may have.
    """
    seats = [_strip(sheet.columns[name]) for name in NEEDED[:2]]
    for name, seat in zip(NEEDED[:2], seats, strict=True):
        # A sheet without a row has no values, and an empty list would make an array of floats,
        # which takes no `&`.
        gaps = np.array([value is None for value in seat.values] or [False])
        broken = gaps[seat.codes] & decided
        # Refused: as place -1 a missing name would credit the battle to another model, unnoticed.
        if broken.any():
            raise sheet.refuse(int(np.argmax(broken)), f"{name} is missing")
        sheet.check(name, {
            k: f"is no name: {quoted(value)}"
            for k, value in enumerate(seat.values)
            if value is not None
            and (not isinstance(value, str) or isinstance(value, StructuredCell))
        })  # fmt: skip
    names, a, b = merge(*seats)
    if len(names) > MOST_MODELS:
        raise BadInput(
            f"{sheet.file} names {len(names)} models; the limit is {MOST_MODELS}. Are "
            "model_a and model_b the right columns?"
        )
    itself = (a == b) & decided
    if itself.any():
        row = int(np.argmax(itself))
        raise sheet.refuse(row, f"{quoted(names[a[row]])} plays against itself")
    return names, a, b


def _strip(column: CodedColumn) -> CodedColumn:
    """Return a column of names without blanks around them, gaps as None; two values may merge."""
    return _merged(column, [None if is_gap(value) else _name(value) for value in column.values])


def _composed(column: CodedColumn) -> CodedColumn:
    """Return a column whose texts are in composed letters; two values may merge."""
    return _merged(column, [composed(v) if type(v) is str else v for v in column.values])


def _merged(column: CodedColumn, values: Sequence[Any]) -> CodedColumn:
    distinct = list(dict.fromkeys(values))
    place = {value: k for k, value in enumerate(distinct)}
    moved = np.array([place[value] for value in values], dtype=np.int64)
    return CodedColumn(distinct, moved[column.codes] if len(moved) else column.codes)


def _name(value: Any) -> Any:
    """Return the name that a cell holds; a whole number is one, as it is in CSV."""
    if isinstance(value, str):
        return value if isinstance(value, StructuredCell) else composed(value.strip())
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return f"{value:.0f}" if is_whole else value


def _keep_named(names: Sequence[Any]) -> tuple[Ints, list[str]]:
    order = [name for name in names if name is not None]
    place = {name: k for k, name in enumerate(order)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64), order


def _read_videos(sheet: ColumnSheet, decided: NDArray[np.bool_]) -> Ints | None:
    if "video" not in sheet.columns:
        return None
    column = _composed(sheet.columns["video"])
    gap = np.array([is_gap(value) for value in column.values] or [False])[column.codes] & decided
    if gap.any():
        raise sheet.refuse(int(np.argmax(gap)), "video is missing; name it, or drop the column")
    return column.codes[decided]


def _read_style(
    sheet: ColumnSheet, method: RatingMethod, decided: NDArray[np.bool_]
) -> tuple[list[str], Floats | None]:
    if not method.style:
        return [], None
    sizes = [match[1] for name in sheet.columns if (match := _STYLE.fullmatch(name)) is not None]
    features = list(dict.fromkeys(sizes))
    if features:
        return features, _read_sizes(sheet, features)[decided]
    if not {"answer_a", "answer_b"} <= set(sheet.columns):
        raise BadInput(
            f"{sheet.file} has neither answer_a and answer_b nor style_NAME_a and style_NAME_b; "
            f"{option('style', True)} needs either"
        )
    measured = [_measure_answers(sheet.columns[name]) for name in ("answer_a", "answer_b")]
    return list(FEATURES), compare_styles(*measured)[decided]


def _read_sizes(sheet: ColumnSheet, features: Sequence[str]) -> Floats:
    sides = []
    for seat in "ab":
        columns = [f"style_{feature}_{seat}" for feature in features]
        for name in columns:
            if name not in sheet.columns:
                raise BadInput(f"{sheet.file} has no column {quoted(name)}, but its other half")
            sheet.check(name, {
                k: f"is below zero: {quoted(value)}"
                for k, value in enumerate(sheet.columns[name].values)
                if (as_number(value) or 0.0) < 0
            })  # fmt: skip
        sides.append(np.column_stack([read_numbers(sheet, name) for name in columns]))
    return compare_styles(sides[0], sides[1])


def _measure_answers(column: CodedColumn) -> Floats:
    styles = measure_styles("" if is_gap(value) else str(value) for value in column.values)
    return styles[column.codes] if len(styles) else styles


def _respelled(sheet: ColumnSheet) -> Iterator[str]:
    values = (value for name in NEEDED[:2] for value in sheet.columns[name].values)
    twice = respellings(value.strip() for value in values if isinstance(value, str))
    if twice:
        shown = " and ".join(map(quoted, twice))
        yield (
            f"{shown} stands there in composed and in decomposed letters, which look the same; "
            "it is taken for one model"
        )


def _look_alikes(names: Sequence[str]) -> Iterator[str]:
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(outline(name), []).append(name)
    for group in alike.values():
        if len(group) > 1:
            shown = " and ".join(quoted(name) for name in group)
            yield (
                f"{shown} look alike but are rated separately; if they are the same, "
                "spell them the same"
            )
