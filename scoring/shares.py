"""Shares with intervals that know which of their units belong together."""

from __future__ import annotations

from typing import NamedTuple


class Share(NamedTuple):
    """A figure, its 95 % interval and what it stands on."""

    value: float
    """NaN where there is nothing to say it from, as `low` and `high`."""
    low: float
    high: float
    n: int
    """Units: battles, judgings or pairs."""
