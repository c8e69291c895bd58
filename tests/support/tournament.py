"""Tournaments written as a line of text, so that a test's numbers can be checked by hand."""

from __future__ import annotations

import re

import numpy as np

from videoautoarena.scoring.fitting.counts import Cells, Floats, count_cells
from videoautoarena.scoring.intervals.sandwich import measure_spread, place_errors

_BATTLE = re.compile(r"([A-Z])([>=])([A-Z])(?:\*(\d+))?(?:@(\d+))?")


def fought(text: str, *, models: int | None = None) -> Cells:
    """Cells of "A>B*3@1 B=C": A beats B three times in cluster 1, B and C tie once.

    Clusters count only where every battle names one. A is model 0.
    """
    matches = [_BATTLE.fullmatch(word) for word in text.split()]
    rows = [match.groups() for match in matches if match]
    assert all(matches)
    times = [int(row[3] or 1) for row in rows]
    a, b = (np.repeat([ord(row[k]) - 65 for row in rows], times) for k in (0, 2))
    clusters = [int(row[4]) for row in rows if row[4]]
    return count_cells(
        a,
        b,
        outcome=np.repeat([1.0 if row[1] == ">" else 0.5 for row in rows], times),
        models=models or int(max(a.max(), b.max())) + 1,
        cluster=np.repeat(clusters, times) if len(clusters) == len(rows) else None,
    )


def in_cells(cells: Cells) -> list[tuple[int, int, list[float]]]:
    """Cells as (i, j, [losses, ties, wins of i]), to compare with."""
    rows = zip(cells.i.tolist(), cells.j.tolist(), cells.counts.tolist(), strict=True)
    return list(rows)


def standard_errors(cells: Cells, theta: Floats) -> Floats:
    """How far each strength of one component may lie from the truth, in nats."""
    return place_errors(measure_spread(cells, theta))
