"""Where in its video a needle lies, in how much background, and what a model finds of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from videoautoarena.memory.records.records import Record
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.task_points import Figure, figure_of
from videoautoarena.scoring.tasks.averages import measure_accuracy

PARTS = 5
"""Of a video, all as long, by which positions are told apart."""


class Cell(Figure):
    """The accuracy on some needles, in percent."""

    right: int


class Positions(Record):
    """What a model came to on needles by where they lie, and in how much background."""

    lengths: tuple[int, ...]
    """Seconds of background, ascending."""
    cells: tuple[tuple[Cell | None, ...], ...]
    """A row for each fifth of the video that a needle's middle lies in, from the first, with a cell
    for each length: `right` of `n`, in percent `value`, `low` and `high`; null without needles."""
    by_position: tuple[Cell | None, ...]
    """Cells over all lengths."""
    by_length: tuple[Cell | None, ...]
    """Cells over all positions."""


def positions_of(items: Sequence[TaskItem], points: Mapping[str, float]) -> Positions | None:
    """Return what points by qid come to by position and length; None where no place is known."""
    asked = [
        (item, *place)
        for item in items
        if item.qid in points and (place := place_of(item)) is not None
    ]
    lengths = sorted({length for _, _, length in asked})

    def cell(part: int | None, length: int | None) -> Cell | None:
        some = [one for one, at, of in asked if part in (None, at) and length in (None, of)]
        if not some:
            return None
        by_qid = {item.qid: item for item in some}
        values = [points[qid] for qid in by_qid]
        share = measure_accuracy(values, videos_of(by_qid, by_qid))
        right = sum(value == 1.0 for value in values)
        return Cell(right=right, **figure_of(share, 100.0).model_dump())

    if not asked:
        return None
    parts = range(PARTS)
    return Positions(
        lengths=tuple(lengths),
        cells=tuple(tuple(cell(part, length) for length in lengths) for part in parts),
        by_position=tuple(cell(part, None) for part in parts),
        by_length=tuple(cell(None, length) for length in lengths),
    )


def place_of(item: TaskItem) -> tuple[int, int] | None:
    """Return the part of the video that a needle's middle lies in, and seconds of background.

    None of an item that is no needle, or that does not say where it lies.
    """
    match item.made:
        case {
            "kind": "needle",
            "background_s": int(length),
            "probes": [{"at_s": int(at) | float(at), "lasts_s": int(lasts) | float(lasts)}],
        }:
            whole = item.duration_s
            if not whole or not (0 <= at <= whole and 0 <= lasts <= whole):
                return None
            return min(int(PARTS * (at + lasts / 2) / whole), PARTS - 1), length
    return None
