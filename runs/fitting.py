"""Tables that leave columns out, and say so, where a terminal is too narrow for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

UNBOUND = 10_000


@dataclass(frozen=True)
class Fitting:
    """A table of which some columns can be spared.

    rich takes the room that is lacking from the names of the rows, until nothing is left of them.
    """

    draw: Callable[[Sequence[str]], Table]
    """Return the table of these columns."""
    columns: Sequence[str]
    spare: Sequence[str]
    """Those that may go, the first first."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table with as many columns as there is room for."""
        kept, gone = list(self.columns), list[str]()
        for name in self.spare:
            if (
                _needed(console, options.update(width=UNBOUND), self.draw(kept))
                <= options.max_width
            ):
                break
            if name in kept:
                kept.remove(name)
                gone.append(name)
        yield self.draw(kept)
        if gone:
            yield Text(f"A wider terminal also shows: {', '.join(gone)}.")


def _needed(console: Console, options: ConsoleOptions, table: Table) -> int:
    """Return how wide a table is whose columns without wrapping are shown whole."""
    for column in table.columns:
        if column.no_wrap:
            told = (column.header, *column.cells)
            column.min_width = max(Measurement.get(console, options, x).maximum for x in told)
    return Measurement.get(console, options, table).minimum
