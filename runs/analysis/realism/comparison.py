"""Compares each trait of simulated questions with that of real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from videoautoarena.runs.analysis.categories.tags import NONE
from videoautoarena.runs.analysis.realism.question_traits import MeasuredQuestion
from videoautoarena.runs.rating.finding import Figure, figure_json, figure_of
from videoautoarena.runs.rating.fit import number_names
from videoautoarena.scoring.fitting.counts import Floats, Ints
from videoautoarena.scoring.intervals.proportions import measure_mean, measure_share
from videoautoarena.scoring.questions.two_samples import UnitSample, compare_samples, hold_error
from videoautoarena.scoring.texts.traits import FORMS

SURE = 0.01
"""About how likely questions of one population are told apart by any trait. With few videos a test
is somewhat too sure; at this level it stays well below 5 in 100."""
MOST_VALUES = 40
"""Values of a trait that are kept apart, where a file names them; rarer ones are one value."""
RARER = "rarer ones"


class Value(NamedTuple):
    """How often one value of a trait occurs, or its mean, with 95 % intervals by video."""

    value: str
    simulated: Figure
    real: Figure
    p: float | None
    """p-value of a difference, with the error held over the values of its trait; None if too
    rare."""


@dataclass(frozen=True)
class TraitComparison:
    """One trait on both sides."""

    trait: str
    """`length`, `form`, `category`, `vagueness` or `language`; `difficulty` if it was graded."""
    meaning: str
    """What was measured."""
    p: float | None
    """p-value of a difference in this trait alone, with the error held over its values; None where
    there is too little to tell."""
    held_p: float | None
    """`p` with the error held over all traits (Holm)."""
    differs: bool
    """Whether `held_p` is at most `level`."""
    unknown: tuple[int, int]
    """Simulated and real questions that are left out, since the trait is unknown of them."""
    values: tuple[Value, ...]
    """Each `value` (a share, or the `mean`) as the figures `simulated` and `real`, with its own
    `p`, None where it is too rare."""


class _Columns(NamedTuple):
    """A trait as columns of figures, a row for each question whose trait is known."""

    names: Sequence[str]
    simulated: Floats
    real: Floats
    ranked: int = 0
    """How many of the first columns are tested by ranks, which no outlier moves."""


class _Trait(NamedTuple):
    name: str
    meaning: str
    of: Callable[[MeasuredQuestion], Any]
    columns: Callable[[Sequence[Any], Sequence[Any]], _Columns]


def compare_questions(
    simulated: Sequence[MeasuredQuestion],
    real: Sequence[MeasuredQuestion],
    *,
    rounds: int,
    seed: int,
) -> tuple[TraitComparison, ...]:
    """Return the traits of two sets of questions side by side, and which of them differ.

    Args:
        simulated: measured; each once.
        real: measured.
        rounds: permutations of a test, at least 19.
        seed: of the permutations.
    """
    is_graded = any(one.difficulty is not None for one in (*simulated, *real))
    traits = (*_TRAITS, _DIFFICULTY) if is_graded else _TRAITS
    found = [_compare(trait, simulated, real, rounds=rounds, seed=seed) for trait in traits]
    # A trait that could not be tested takes no part in the error of the others.
    tested = [k for k, one in enumerate(found) if one.p is not None]
    held = hold_error([found[k].p or 0.0 for k in tested])
    for k, p in zip(tested, held, strict=True):
        found[k] = _held(found[k], float(p))
    return tuple(found)


def _held(one: TraitComparison, p: float) -> TraitComparison:
    return TraitComparison(
        one.trait, one.meaning, one.p, figure_json(p), p <= SURE, one.unknown, one.values
    )


def _compare(
    trait: _Trait,
    simulated: Sequence[MeasuredQuestion],
    real: Sequence[MeasuredQuestion],
    *,
    rounds: int,
    seed: int,
) -> TraitComparison:
    known = [[q for q in side if trait.of(q) is not None] for side in (simulated, real)]
    unknown = (len(simulated) - len(known[0]), len(real) - len(known[1]))
    columns = trait.columns(*([trait.of(q) for q in side] for side in known))
    # Numbered together: a video that both sides ask about is one cluster.
    cluster = number_names([q.cluster for side in known for q in side])
    ours = cluster[: len(known[0])]
    theirs = cluster[len(known[0]) :]
    tested = _ranked(columns)
    test = compare_samples(
        UnitSample(tested[0], ours), UnitSample(tested[1], theirs), rounds=rounds, seed=seed
    )
    values = tuple(
        Value(
            name,
            _figure(columns.simulated[:, k], ours),
            _figure(columns.real[:, k], theirs),
            figure_json(test.columns[k]),
        )
        for k, name in enumerate(columns.names)
    )
    p = None if test.p is None else figure_json(test.p)
    return TraitComparison(trait.name, trait.meaning, p, None, False, unknown, values)


def _figure(column: Floats, cluster: Ints) -> Figure:
    """Return a share of zeros and ones, of other figures the mean."""
    binary = bool(((column == 0.0) | (column == 1.0)).all())
    return figure_of((measure_share if binary else measure_mean)(column, cluster))


def _words(simulated: Sequence[Any], real: Sequence[Any]) -> _Columns:
    return _spread(simulated, real, _whole)


def _shares(simulated: Sequence[Any], real: Sequence[Any]) -> _Columns:
    return _spread(simulated, real, _part)


def _spread(
    simulated: Sequence[float], real: Sequence[float], bin_names: Callable[[Floats], Iterator[str]]
) -> _Columns:
    """Return the mean, and how many values lie in each quarter of both sides together."""
    sides = [np.array(side, dtype=np.float64) for side in (simulated, real)]
    both = np.concatenate(sides)
    edges = np.empty(0)
    if len(both):
        # A quantile that occurs, so that bins of whole numbers have whole edges.
        quarters = np.quantile(both, [0.25, 0.5, 0.75], method="inverted_cdf")
        # No edge at the maximum, above which nothing lies.
        edges = np.unique(quarters[quarters < both.max()])
    names = ["mean", *bin_names(edges)] if len(edges) else ["mean"]

    def columns(side: Floats) -> Floats:
        # An edge belongs to the bin below it, as "up to" in its name says.
        place = np.searchsorted(edges, side, side="left")
        bins = place[:, None] == np.arange(len(edges) + 1)[None, :]
        # Without an edge the only bin would hold everybody, so that it is left out.
        return np.column_stack([side, bins]).astype(np.float64)[:, : len(names)]

    return _Columns(names, columns(sides[0]), columns(sides[1]), ranked=1)


_STEPS = ("1 to under 2", "2 to under 3", "3 to under 4", "4 to 5")


def _grades(simulated: Sequence[Any], real: Sequence[Any]) -> _Columns:
    """Return the mean grade, and how many lie in each step of the scale."""

    def columns(side: Sequence[float]) -> Floats:
        grades = np.array(side, dtype=np.float64)
        # The highest grade has no step of its own.
        step = np.minimum(np.floor(grades), len(_STEPS)) - 1
        steps = step[:, None] == np.arange(len(_STEPS))[None, :]
        return np.column_stack([grades, steps]).astype(np.float64)

    return _Columns(("mean", *_STEPS), columns(simulated), columns(real), ranked=1)


def _ranked(columns: _Columns) -> tuple[Floats, Floats]:
    both = np.concatenate([columns.simulated, columns.real])
    here = len(columns.simulated)
    for k in range(columns.ranked):
        both[:, k] = rankdata(both[:, k]) / max(len(both), 1)
    return both[:here], both[here:]


def _whole(edges: Floats) -> Iterator[str]:
    yield f"up to {edges[0]:.0f}"
    for low, high in pairwise(edges):
        yield f"{low + 1:.0f} to {high:.0f}" if high > low + 1 else f"{high:.0f}"
    yield f"above {edges[-1]:.0f}"


def _part(edges: Floats) -> Iterator[str]:
    yield f"up to {edges[0]:.2f}"
    for low, high in pairwise(edges):
        yield f"{low:.2f} to {high:.2f}"
    yield f"above {edges[-1]:.2f}"


def _forms(simulated: Sequence[Any], real: Sequence[Any]) -> _Columns:
    return _labelled([{one} for one in simulated], [{one} for one in real], FORMS)


def _names(simulated: Sequence[Any], real: Sequence[Any]) -> _Columns:
    """Return a column for each label, the most frequent on either side first."""
    ours, theirs = ([_set(one) for one in side] for side in (simulated, real))
    times: dict[str, tuple[int, int]] = {}
    for k, side in enumerate((ours, theirs)):
        for labels in side:
            for label in labels:
                before = times.get(label, (0, 0))
                times[label] = (before[0] + 1, before[1]) if k == 0 else (before[0], before[1] + 1)
    sizes = max(len(ours), 1), max(len(theirs), 1)
    # The larger one, so that what one side alone asks often is kept.
    share = {name: max(a / sizes[0], b / sizes[1]) for name, (a, b) in times.items()}
    order = sorted(times, key=lambda name: (name == NONE, -share[name], name))
    if len(order) > MOST_VALUES:
        # Two places are left for NONE and for the rarer ones.
        kept = set(order[: MOST_VALUES - 2]) | {NONE}
        ours, theirs = (
            [{one if one in kept else RARER for one in labels} for labels in side]
            for side in (ours, theirs)
        )
        order = [*(name for name in order if name in kept), RARER]
    return _labelled(ours, theirs, order)


def _set(labels: Any) -> set[str]:
    return {labels} if isinstance(labels, str) else set(labels)


def _labelled(
    simulated: Sequence[set[str]], real: Sequence[set[str]], order: Sequence[str]
) -> _Columns:
    there = set().union(*simulated, *real)
    names = [name for name in order if name in there]
    ours, theirs = (
        np.array([[name in labels for name in names] for labels in side], dtype=np.float64)
        for side in (simulated, real)
    )
    shape = len(names)
    # Reshaped, since without a question an array would have one dimension.
    return _Columns(names, ours.reshape(len(ours), shape), theirs.reshape(len(theirs), shape))


_TRAITS = (
    _Trait("length", "words and signs of the question", lambda q: q.length, _words),
    _Trait("form", "the form that the answer is to have", lambda q: q.form, _forms),
    _Trait("category", "what the question is about", lambda q: q.categories, _names),
    _Trait(
        "vagueness",
        "share of its words that would fit a question about any video",
        lambda q: q.vagueness,
        _shares,
    ),
    _Trait("language", "the language that is asked in", lambda q: q.language, _names),
)
_DIFFICULTY = _Trait(
    "difficulty", "overall grade of a difficulty grader, 1 to 5", lambda q: q.difficulty, _grades
)
TRAITS = tuple(trait.name for trait in _TRAITS)
