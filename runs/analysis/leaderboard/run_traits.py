"""Traits that a run knows of its battles and no battle says itself, to slice boards by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, get_args

from videoautoarena.agents.prompting.languages import asked_language
from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.leaderboard.slices import UNKNOWN, By, Known
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.terminal import safe

if TYPE_CHECKING:
    from videoautoarena.runs.run.rundir.reader import Run


def _languages(_run: Run) -> Known:
    return lambda battle: [asked_language(battle.language, battle.question)]


QUESTION_CATEGORY = "question-category"


def _by_question_category(run: Run) -> Known:
    """Return under which categories a battle stands: several, none of them, or not tagged."""
    from videoautoarena.runs.analysis.categories.tags import NONE, SHOWN, UNTAGGED, categories_of

    found = categories_of(run)
    if not found:
        raise BadInput(
            f"no question of {run.folder} is tagged; first: arena categories tag {run.folder}"
        )

    def slices(battle: Battle) -> Iterable[str]:
        named = found.get(battle.id)
        return [UNTAGGED] if named is None else [SHOWN[name] for name in named] or [NONE]

    return slices


_TRAITS: dict[str, Callable[[Run], Known]] = {
    "language": _languages,
    QUESTION_CATEGORY: _by_question_category,
}
"""The name of a trait to what reads it from a run; which raises BadInput where it is not there."""

NAMES = (*get_args(By), *_TRAITS)
"""All that any run can be sliced by."""
COLUMN = "column:"
"""Before the name of a column of the file of facts that is called like another trait."""
MOST_PARTS = 100
"""Values of a column that are parts; one with more is no trait but says something of each video."""


def names_of(run: Run) -> tuple[str, ...]:
    """Return all that a run can be sliced by; its own columns last."""
    columns = (name for name in run.known_facts.columns if name != "title")
    taken = (*NAMES, "pair")
    return (*NAMES, *(f"{COLUMN}{name}" if name in taken else name for name in columns))


def known_of(run: Run, by: str) -> Known | None:
    """Return how the battles of a run stand to a trait; None for one of the battles' own.

    Raises WrongArgument for a trait that neither battles nor this run know.
    """
    if by == "persona":
        # Who brought no users need not read what reads a file of them.
        from videoautoarena.runs.run.inputs.users import slices_of

        return slices_of(run.store)
    if by in get_args(By):
        return None
    if by in _TRAITS:
        return _TRAITS[by](run)
    column = by.removeprefix(COLUMN)
    facts = run.known_facts
    if column not in facts.columns:
        there = safe(", ".join((*names_of(run), "pair")))
        raise WrongArgument(f"by cannot be {quoted(by)}; this run has {there}")
    cells = {video: facts.cell(video, column) for video in facts.videos}
    if len(set(cells.values())) > MOST_PARTS:
        raise WrongArgument(
            f"{quoted(column)} has {len(set(cells.values()))} different values; a column to slice "
            f"by has at most {MOST_PARTS}"
        )
    return lambda battle: [cells.get(battle.video) or UNKNOWN]
