"""How far two leaderboards agree as a report: shared models side by side, then what figures say."""

from __future__ import annotations

import math
from collections.abc import Iterator

from videoautoarena.runs.analysis.leaderboard.agreement import Agreed
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.views.results.remarks import findings_said, notes_of
from videoautoarena.runs.views.results.report import (
    Column,
    Model,
    Report,
    Sentence,
    Table,
    Verbatim,
    listed,
    sentence,
)

MOST_TURNED = 5
"""Pairs that are named."""
COLUMNS = (
    Column("place_a", "A", "count"),
    Column("place_b", "B", "count"),
    Column("model", "model", "name"),
    Column("rating_a", "rating A", "given"),
    Column("rating_b", "rating B", "given"),
)


def agreement_report(found: Agreed) -> Report:
    """Return the shared models side by side, then what each figure says."""
    table = Table(
        name="agreement",
        caption="Models on both leaderboards",
        columns=COLUMNS,
        rows=tuple(row._asdict() for row in found.models),
    )
    return Report((table,), tuple(_sentences(found)), above=tuple(_above(found)))


def _above(found: Agreed) -> Iterator[Sentence]:
    for name, board in zip("AB", found.boards, strict=True):
        bounds = "" if board.intervals else ", no intervals"
        about = f"{name}: {board.source}, {counted(board.models, 'model')}{bounds}"
        yield Sentence((Verbatim(about),))
    yield Sentence((Verbatim(f"{counted(len(found.models), 'model')} on both"),))


def _sentences(found: Agreed) -> Iterator[Sentence]:
    yield from findings_said(found.figures)[1]
    if found.turned:
        each = ((Model(a), " above ", Model(b)) for a, b in found.turned[:MOST_TURNED])
        more = len(found.turned) - MOST_TURNED
        yield sentence(
            "Ordered with confidence on both, but in opposite ways: {pairs}[, and {more}].",
            pairs=listed(each, between="; ", last="; "),
            more=Verbatim(f"{more} more") if more > 0 else "",
        )
    if any(math.isfinite(figure.low) for figure in found.figures):
        yield sentence(
            "The {level} intervals of correlations are over models like these; the uncertainty of "
            "the ratings enters confidence agreement only.",
            level=Verbatim("95 %"),
        )
    yield from notes_of(found.warnings)
