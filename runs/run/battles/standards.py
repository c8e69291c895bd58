"""How battles were decided by each of the four standards alone."""

from __future__ import annotations

from collections.abc import Iterator

from videoautoarena.agents.roles.judge import settle_standard
from videoautoarena.memory.records.records import (
    DECIDED,
    STANDARDS,
    TIES,
    Battle,
    Published,
    Standard,
    Verdict,
)
from videoautoarena.runs.run.rundir.reader import Run

UNRECORDED = "-"


class StandardVerdicts(Published):
    """The panel's verdict on one battle by each standard; None where no judge was asked for it."""

    battle: str
    """Its id."""
    instruction_following: Verdict | None
    """The panel's verdict by that standard, combined as by `arena leaderboard --by standard`: `a`,
    `b`, `tie`, `split`, or `void` if every judge left it open; null if none was asked (contract
    1)."""
    accuracy: Verdict | None
    """Likewise."""
    relevance: Verdict | None
    """Likewise."""
    helpfulness: Verdict | None
    """Likewise."""

    @property
    def letters(self) -> str:
        """Return the four as letters: `a`, `b`, `t` for every tie, `-` for none."""
        return "".join(_letter(getattr(self, standard)) for standard in STANDARDS)


def _letter(verdict: Verdict | None) -> str:
    if verdict is None or verdict not in DECIDED:
        return UNRECORDED
    return "t" if verdict in TIES else verdict


def by_standard(battle: Battle, *, seats_count: bool) -> dict[Standard, Verdict | None]:
    """Return how the panel decided a battle by each standard; None: no judge was asked.

    With `seats_count` the swapped seating decides as well.
    """
    return {
        standard: settle_standard(battle.verdicts, standard, audit_only=not seats_count)
        for standard in STANDARDS
    }


def standards_of(run: Run) -> Iterator[StandardVerdicts]:
    """Give the verdicts by standard of the battles that count, in slot order."""
    seats_count = run.manifest.get("swap") == "all"
    for battle in run.battles:
        found = by_standard(battle, seats_count=seats_count)
        yield StandardVerdicts(battle=battle.id, **found)
