"""Traits that a run knows of its battles and no battle says itself, to slice boards by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, get_args

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.leaderboard.slices import By

if TYPE_CHECKING:
    from videoautoarena.runs.rundir.reader import Run

Known = Callable[[Battle], Iterable[str]]
"""The slices that a battle stands in; it may stand in several."""

QUESTION_CATEGORY = "question-category"


def _by_question_category(run: Run) -> Known:
    """Return under which categories a battle stands: several, none of them, or not tagged."""
    from videoautoarena.runs.categories.tags import NONE, SHOWN, UNTAGGED, categories_of

    found = categories_of(run)
    if not found:
        raise BadInput(
            f"no question of {run.folder} is tagged; first: arena categories tag {run.folder}"
        )

    def slices(battle: Battle) -> Iterable[str]:
        named = found.get(battle.id)
        return [UNTAGGED] if named is None else [SHOWN[name] for name in named] or [NONE]

    return slices


_TRAITS: dict[str, Callable[[Run], Known]] = {QUESTION_CATEGORY: _by_question_category}
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
