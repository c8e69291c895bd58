"""Traits that a run knows of its battles and no battle says itself, to slice boards by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, get_args

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.leaderboard.slices import By
from videoautoarena.runs.text.language import asked_language

if TYPE_CHECKING:
    from videoautoarena.runs.rundir.reader import Run

Known = Callable[[Battle], Iterable[str]]
"""The slices that a battle stands in; it may stand in several."""


def _languages(_run: Run) -> Known:
    return lambda battle: [asked_language(battle.language, battle.question)]


_TRAITS: dict[str, Callable[[Run], Known]] = {"language": _languages}
"""The name of a trait to what reads it from a run; which raises BadInput where it is not there."""

NAMES = (*get_args(By), *_TRAITS)
"""All that any run can be sliced by."""


def known_of(run: Run, by: str) -> Known | None:
    """Return how the battles of a run stand to a trait; None for one of the battles' own.

    Raises WrongArgument for a trait that neither battles nor this run know.
    """
    if by in get_args(By):
        return None
    if by not in _TRAITS:
        raise WrongArgument(f"by cannot be {by!r}; there are {', '.join((*NAMES, 'pair'))}")
    return _TRAITS[by](run)
