"""Which language a battle's question was asked in."""

from __future__ import annotations

from videoautoarena.memory.records.records import Battle

UNKNOWN = "unknown"
"""Of a question whose language nobody told."""


def language_of(battle: Battle) -> str:
    """Return the code of the language that was asked in (ISO 639-1), or UNKNOWN.

    It is what the run drew for the user; a run that drew none told nobody.
    """
    return battle.language or UNKNOWN
