"""How battles are rated, as a caller of `import videoautoarena` says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from videoautoarena.runs.rating.method import Fit, Intervals, Ties, Unwanted


class RatingOptions(TypedDict, total=False):
    """How battles are rated: the fields of `RatingMethod`, which says what each means."""

    ties: Ties
    fit: Fit | None
    style: bool
    seats: bool
    anchor: str | None
    intervals: Intervals
    simultaneous: bool
    elo: bool
    pairs: bool
    seed: int
    without: tuple[Unwanted, ...]
    reweight: bool
