"""What a run may spend at most: alone, since commands that only read a run say it, too."""

from __future__ import annotations

from typing import NamedTuple


class SpendCaps(NamedTuple):
    """How much may be spent on a run, over all its processes; None is no cap."""

    usd: float | None = None
    tokens: float | None = None
    """Input and output of remote models together."""

    def __bool__(self) -> bool:
        return self != SpendCaps()
