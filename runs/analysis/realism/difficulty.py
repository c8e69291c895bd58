"""How hard real questions are beside the run's own, by one grader who saw both.

The paper shows its questions before and after evolution on the same five scales.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from videoautoarena.memory.records.records import DIFFICULTY_SCALES
from videoautoarena.runs.analysis.realism.grading import GradedPair, GradedQuestions
from videoautoarena.runs.rating.finding import UNKNOWN, Figure, figure_of
from videoautoarena.runs.rating.fit import number_names, share_of
from videoautoarena.scoring.intervals.proportions import measure_mean

OVERALL = "overall"
SCALES = (*DIFFICULTY_SCALES, OVERALL)


class ScaleDifficulty(NamedTuple):
    """Mean grades on one scale, 1 to 5, with 95 % intervals by video."""

    scale: str
    """One of the four standards, or `overall`."""
    real: Figure
    """Mean grade of real questions."""
    simulated: Figure
    """Of the run's questions that stood beside them."""
    difference: Figure
    """Mean of real minus simulated, within pairs."""
    first: Figure
    """Of those of the run's that were a user's first question."""
    evolved: Figure
    """Of those that were evolved."""


@dataclass(frozen=True)
class DifficultyComparison:
    """Real and simulated questions as one grader graded them."""

    grader: str
    """Who graded, by name."""
    pairs: int
    """Pairs of a real and a simulated question about one video."""
    videos: int
    """Videos that they are about."""
    failed: int
    """Pairs whose call failed."""
    elsewhere: int
    """Real questions about no video of the run, which nobody graded."""
    harder_share: Figure
    """Share of pairs in which the real question has the higher overall grade; equal ones are
    half."""
    scales: tuple[ScaleDifficulty, ...]
    """The four standards, then `overall`, see below."""


def compare_difficulty(graded: GradedQuestions) -> DifficultyComparison:
    """Return both sides' grades beside each other; calls nobody."""
    pairs = graded.pairs
    hits = [
        0.5
        + 0.5
        * ((one.real.overall > one.simulated.overall) - (one.real.overall < one.simulated.overall))
        for one in pairs
    ]
    films = [one.pair.real.video for one in pairs]
    return DifficultyComparison(
        grader=graded.grader,
        pairs=len(pairs),
        videos=len(set(films)),
        failed=graded.failed,
        elsewhere=graded.elsewhere,
        harder_share=figure_of(share_of(hits, films)) if pairs else UNKNOWN,
        scales=tuple(_on_scale(scale, pairs) for scale in SCALES),
    )


def _on_scale(scale: str, pairs: Sequence[GradedPair]) -> ScaleDifficulty:
    films = [one.pair.real.video for one in pairs]
    real = [getattr(one.real, scale) for one in pairs]
    simulated = [getattr(one.simulated, scale) for one in pairs]

    def of_origin(origin: str) -> Figure:
        mine = [k for k, one in enumerate(pairs) if one.pair.origin == origin]
        return _mean([simulated[k] for k in mine], [films[k] for k in mine])

    return ScaleDifficulty(
        scale,
        real=_mean(real, films),
        simulated=_mean(simulated, films),
        difference=_mean([a - b for a, b in zip(real, simulated, strict=True)], films),
        first=of_origin("first"),
        evolved=of_origin("evolved"),
    )


def _mean(values: Sequence[float], videos: Sequence[str]) -> Figure:
    return figure_of(measure_mean(values, number_names(videos))) if values else UNKNOWN


class OverallGrades(NamedTuple):
    """Overall grades of both sides, by video and text of the question."""

    real: Mapping[tuple[str, str], float]
    simulated: Mapping[tuple[str, str], float]
    """The mean where a question stood beside several real ones."""


def overall_grades(graded: GradedQuestions) -> OverallGrades:
    """Return the overall grade of each question that was graded."""
    sides: tuple[dict[tuple[str, str], list[float]], ...] = (defaultdict(list), defaultdict(list))
    for one in graded.pairs:
        for side, asked, grade in (
            (sides[0], one.pair.real, one.real),
            (sides[1], one.pair.simulated, one.simulated),
        ):
            side[asked.video, asked.text].append(grade.overall)
    return OverallGrades(*({key: sum(of) / len(of) for key, of in side.items()} for side in sides))
