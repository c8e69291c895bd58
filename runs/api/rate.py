"""Anybody's battles, rated as `import videoautoarena` offers it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from typing_extensions import Unpack

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.runs.api.results import Leaderboard
from videoautoarena.runs.rating.method import RatingMethod

if TYPE_CHECKING:
    from videoautoarena.runs.rating.method import Fit, Intervals, Ties, Unwanted


class RatingOptions(TypedDict, total=False):
    """How battles are rated: the fields of `RatingMethod`, which says what each means."""

    # Written out for editors and type checkers; a test holds the names to the options of the
    # command line.
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


def rate(
    battles: str | os.PathLike[str] | Iterable[Any], **options: Unpack[RatingOptions]
) -> Leaderboard:
    """Return the leaderboard of anybody's battles, as `arena rate` prints it; calls no model.

    Args:
        battles: a CSV, JSON lines or Parquet file; a table of pandas or Arrow; or an iterable of
            mappings, of tuples `(model_a, model_b, winner)` or `(.., video)`, or of battles of a
            run. Columns are `model_a`, `model_b`, and `winner` or `verdict`: `model_a`, `model_b`,
            `tie`, `tie (bothbad)`, or `a`, `b`, 1, 0, .5. Battles of one `video` are not taken
            for independent.
        options: how battles are rated, by the names of `RatingOptions`; `reweight` and `without`
            work for runs only.

    Returns:
        A Leaderboard. Ratings are Elo points with mean 1000.

    Raises:
        BadInput: no battles, a column that is missing, a row that cannot be used (which is named),
            or an option that cannot be.
    """
    from videoautoarena.runs.formats.battle_table import sheet_of
    from videoautoarena.runs.rating.rate import rate_file, rate_sheet, wanted_columns

    method = RatingMethod.of(options)
    if method.reweight or method.without:
        name = "reweight" if method.reweight else "without"
        raise WrongArgument(f"{name} needs a run; leave it out")
    if isinstance(battles, str | os.PathLike):
        return Leaderboard(rate_file(Path(battles), method))
    sheet = sheet_of(battles, wanted_columns(method))
    return Leaderboard(rate_sheet(sheet, method))
