"""Weighs the battles of a run so that they have the mix of real questions, and rates them so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.records import DECIDED, Battle
from videoautoarena.runs.analysis.realism.question_traits import MeasuredQuestion
from videoautoarena.runs.rating.finding import figure_json
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.table import build
from videoautoarena.scoring.questions.two_samples import calibrate, effective_units

TARGET = "the mix of the real questions"
LEAST_EFFECTIVE, MOST_UNREACHABLE = 100, 0.5
"""Effective battles, and the share of real questions in cells that the run lacks: a board beyond
either says little."""
LEAST_WEIGHT = 0.01
"""A battle that would weigh less is left out."""


class CellName(NamedTuple):
    """The category of a question, and the form that its answer is to have."""

    category: str
    form: str


class MixCell(NamedTuple):
    """One cell of both mixes; shares are of questions that stand in a cell of the run."""

    category: str
    form: str
    battles: int
    """Decided battles of the run in it."""
    simulated: float | None
    """Share of the decided battles."""
    real: float | None
    """Share of the real questions that the weights aim at."""
    reached: float | None
    """Share that the weighted battles have."""


class Lacking(NamedTuple):
    """A cell from which real users ask, and the run does not."""

    category: str
    form: str
    questions: int
    real: float | None
    """Share of all real questions whose cells are known."""


@dataclass(frozen=True)
class Mix:
    """How battles are weighted."""

    cap: float
    """The largest weight that was allowed, 1 being the average."""
    heaviest: float
    """The largest weight that was given."""
    capped: int
    """Battles at the cap."""
    miss: float
    """By how much the share of the cell that is furthest off misses its aim, 0 to 1."""
    battles: int
    """Decided battles that are weighted."""
    effective_battles: float
    """Number of equally weighted battles that they are worth (Kish)."""
    unknown: int
    """Decided battles left out, since category or form of their questions is unknown."""
    unasked: int
    """Decided battles left out, since hardly any real user asks from their cells."""
    cells: tuple[MixCell, ...]
    """For each `category` and `form` that the run has: its `battles`, and the shares `simulated`,
    `real` (aimed at) and `reached`."""
    lacking: tuple[Lacking, ...]
    """For each `category` and `form` that the run lacks: real `questions`, and their share
    `real`."""
    unreachable: float
    """Share of the real questions that are in no cell of the run."""


def weakness_of(mix: Mix) -> str | None:
    """Return why a board by such a mix is worth little; None where it is not."""
    why = []
    if mix.effective_battles < LEAST_EFFECTIVE:
        why.append(f"its battles count as {mix.effective_battles:,.0f}")
    if mix.unreachable > MOST_UNREACHABLE:
        why.append(
            f"{100 * mix.unreachable:.0f} % of real questions are of kinds that this run lacks"
        )
    return f"the board by the real mix is worth little: {', and '.join(why)}" if why else None


@dataclass(frozen=True)
class Weighted:
    """Weights by id of battle, and how they came about."""

    mix: Mix
    weights: Mapping[str, float]


def cells_of(question: MeasuredQuestion) -> frozenset[CellName] | None:
    """Return the cells that a question is in; None where they are unknown."""
    if question.categories is None or question.form is None:
        return None
    return frozenset(CellName(category, question.form) for category in question.categories)


def weigh_to_real(
    battles: Sequence[Battle],
    measured: Mapping[str, MeasuredQuestion],
    real: Sequence[MeasuredQuestion],
    *,
    cap: float,
) -> Weighted | None:
    """Return weights by which decided battles have the real mix of category and form.

    Args:
        battles: of the run.
        measured: their questions, by id of battle.
        real: questions of real users.
        cap: the largest weight, above 1.

    Returns:
        None where no decided battle stands in a cell from which anybody really asks.
    """
    decided = [battle.id for battle in battles if battle.verdict in DECIDED]
    ours = {id_: cells for id_ in decided
            if id_ in measured and (cells := cells_of(measured[id_])) is not None}  # fmt: skip
    theirs = [cells for one in real if (cells := cells_of(one)) is not None]
    held = Counter(cell for cells in ours.values() for cell in cells)
    asked = Counter(cell for cells in theirs for cell in cells)
    # A question of several cells, some of which the run lacks, stands for the others.
    reachable = [there for cells in theirs if (there := cells & held.keys())]
    if not reachable:
        return None
    aimed = Counter(cell for cells in reachable for cell in cells)
    # By name at last, so that cells with equal counts keep one order.
    names = sorted(held, key=lambda cell: (-aimed[cell], -held[cell], cell))
    # A battle from whose cells nobody asks would only be in the way of the cap.
    usable = {id_: cells for id_, cells in ours.items() if cells & aimed.keys()}
    table = np.array([[name in cells for name in names] for cells in usable.values()])
    target = np.array([aimed[name] / len(reachable) for name in names])
    found = calibrate(table, target, cap=cap)
    kept = found.weights >= LEAST_WEIGHT
    # Mean 1 again after some were left out.
    weights = found.weights[kept] / found.weights[kept].mean()
    mix = Mix(
        cap=cap,
        heaviest=round(float(weights.max()), 4),
        # Weights come near the cap and never reach it.
        capped=int((found.weights >= 0.999 * cap).sum()),
        miss=round(float(np.abs(found.reached - target).max()), 6),
        battles=int(kept.sum()),
        effective_battles=round(effective_units(weights), 1),
        unknown=len(decided) - len(ours),
        unasked=len(ours) - int(kept.sum()),
        cells=tuple(
            MixCell(*name, held[name], *map(figure_json, (held[name] / len(ours), aim, reached)))
            for name, aim, reached in zip(names, target, found.reached, strict=True)
        ),
        lacking=tuple(
            Lacking(*name, times, figure_json(times / len(theirs)))
            for name, times in sorted(asked.items(), key=lambda item: (-item[1], item[0]))
            if name not in held
        ),
        unreachable=round(1.0 - len(reachable) / len(theirs), 6),
    )
    ids = [id_ for id_, keeps in zip(usable, kept.tolist(), strict=True) if keeps]
    return Weighted(mix, dict(zip(ids, weights.tolist(), strict=True)))


def weighted_board(
    battles: Sequence[Battle], roster: Sequence[str], weighted: Weighted, **given: Any
) -> RatedLeaderboard:
    """Return the leaderboard of the battles by their weights; those without one are left out.

    Intervals are those of weighted battles, clustered by video; the weights count as known.
    `given` is the rest of what `build` takes.
    """
    kept = [b for b in battles if b.verdict not in DECIDED or b.id in weighted.weights]
    board = build(kept, roster, weights=weighted.weights, **given)
    made = board.settings.reweighted
    named = None if made is None else made._replace(target=TARGET)
    return replace(board, settings=replace(board.settings, reweighted=named))
