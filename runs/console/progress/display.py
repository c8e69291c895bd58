"""How a run is to be shown, as it was typed."""

from __future__ import annotations

from dataclasses import dataclass

ON_TERMINAL = "-"
"""The value of `--trace` without a file."""


@dataclass(frozen=True)
class Display:
    """What was typed about how a run is shown."""

    quiet: bool = False
    plain: bool = False
    trace: str | None = None
    """A file, or "-" for the terminal."""
