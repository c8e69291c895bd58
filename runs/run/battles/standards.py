"""Verdicts on battles by each standard alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic import Field, create_model

from videoautoarena.agents.roles.judge import settle_standard
from videoautoarena.memory.records.records import (
    DECIDED,
    TIES,
    Battle,
    PublishedRecord,
    Verdict,
)
from videoautoarena.memory.records.standards import STANDARDS, Standard
from videoautoarena.runs.run.rundir.reader import RunReader

UNRECORDED = "-"
_MEANING = (
    "The panel's verdict by it: `a`, `b`, `tie`, `split`, `void` if every judge left it open, null "
    "if none was asked"
)


class StandardVerdicts(PublishedRecord):
    """The panel's verdict on one battle by each standard; None where no judge was asked for it."""

    battle: str
    """Its id."""


if not TYPE_CHECKING:
    # One field a standard, which no type checker can know.
    StandardVerdicts = create_model(
        "StandardVerdicts",
        __base__=StandardVerdicts,
        __module__=__name__,
        __doc__=StandardVerdicts.__doc__,
        **dict.fromkeys(STANDARDS, (Verdict | None, Field(description=_MEANING))),
    )


def letters_of(verdicts: Mapping[Standard, Verdict | None]) -> str:
    """Return one letter a standard: `a`, `b`, `t` for every tie, `-` for none."""
    letters = ""
    for verdict in verdicts.values():
        if verdict is None or verdict not in DECIDED:
            letters += UNRECORDED
        else:
            letters += "t" if verdict in TIES else verdict
    return letters


def by_standard(battle: Battle, *, seats_count: bool) -> dict[Standard, Verdict | None]:
    """Return the panel's verdict on a battle by each standard; None if no judge was asked.

    With `seats_count` the swapped seating decides as well, else it only audits.
    """
    return {
        standard: settle_standard(battle.verdicts, standard, audit_only=not seats_count)
        for standard in STANDARDS
    }


def standards_of(run: RunReader) -> Iterator[StandardVerdicts]:
    """Yield the verdicts by standard of the battles that count, in slot order."""
    # Where fewer battles are judged from both seats, the second seating only audits.
    seats_count = run.manifest.get("swap") == "all"
    for battle in run.battles:
        found = by_standard(battle, seats_count=seats_count)
        yield StandardVerdicts.model_validate({"battle": battle.id, **found})
