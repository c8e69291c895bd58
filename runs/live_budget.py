"""The live console's line about money: what was spent of what, and what it comes to in the end."""

from __future__ import annotations

from rich.text import Text

from runs.canvas import Line
from runs.figures import dollars, short
from runs.reading import counted
from runs.standing import Standing


def is_told(standing: Standing) -> bool:
    """Return whether there is anything to say: a cost, known or not, or a cap."""
    return bool(standing.caps or standing.usd or standing.unknown)


def budget(standing: Standing, line: Line) -> Text:
    """Return the line, the most important first: at 80 columns something may be cut."""
    usd, tokens = standing.caps
    dot = f" {line.marks.between} "
    is_known = bool(standing.usd) or not standing.unknown or usd is not None
    line.add("cost ").add(dollars(standing.usd) if is_known else "unknown", "bold")
    line.add(f" of ${usd:,.2f}" if usd is not None else "")
    if tokens is not None:
        taken = standing.tokens_in + standing.tokens_out
        line.add(f"{dot}{short(taken)} of {short(tokens)} tokens")
    if standing.usd and standing.usd_in_all is not None and standing.ended is None:
        line.add(f"{dot}about {dollars(standing.usd_in_all)} in all")
    if standing.usd and standing.done:
        line.add(f"{dot}{dollars(standing.usd / standing.done)} a battle")
    if standing.unknown and (is_known or standing.unknown < standing.calls):
        line.add(f"{dot}{counted(standing.unknown, 'call')} of unknown cost", "yellow")
    return line.text
