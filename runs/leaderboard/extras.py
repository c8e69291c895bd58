"""What a leaderboard says only where it was asked: terms, Elo, who is better, what may tip it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.rating.finding import sure_percent
from videoautoarena.runs.rating.leaderboard import (
    EVEN_PAIRS,
    Elo,
    Fragility,
    Leaderboard,
    Matrices,
    Row,
    Term,
    Terms,
)
from videoautoarena.runs.rating.method import SOLID_BATTLES, TOO_FEW, too_few
from videoautoarena.runs.rundir.call_facts import is_fact
from videoautoarena.runs.text.tables import plain_grid
from videoautoarena.runs.text.terminal import safe

FIGURES = {
    "refusal_share": "refused",
    "forfeit_share": "forfeit",
    "void_share": "void",
    "both_bad_share": "both bad",
    "mean_tokens": "tokens",
}
"""Field of a row to the title of its column."""
MEANING = (
    "refused: in percent of its questions; forfeit: of slots with a question; void: of slots "
    "drawn; both bad: of decided battles. tokens: mean per answer."
)
INTERVALS = "Below each is its 95 % interval."
_UNKNOWN = "-"


def knows_behaviour(rows: Sequence[Row]) -> bool:
    """Return whether rows of a leaderboard say how models behaved."""
    return bool(rows) and rows[0].behaviour is not None


def shown(row: Row, figure: str) -> str:
    """Return a figure of a row, without its interval: `3.1`, a per cent or a number of tokens."""
    value = row.figure(figure).value
    if value is None:
        return _UNKNOWN
    return f"{value:.0f}" if figure == "mean_tokens" else f"{100 * value:.1f}"


def bounds(row: Row, figure: str) -> str:
    """Return the interval of a figure: `1.2-6.0`; nothing where there is none."""
    _, low, high, _ = row.figure(figure)
    if low is None or high is None:
        return ""
    times, digits = (1, 0) if figure == "mean_tokens" else (100, 1)
    return f"{max(times * low, 0):.{digits}f}-{times * high:.{digits}f}"


def behaviour_grid(rows: Sequence[Row]) -> Grid:
    """Return the figures of every model, each above its interval; fits 80 columns."""
    grid = plain_grid("model")
    for title in FIGURES.values():
        grid.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        cells = [f"{shown(row, figure)}\n{bounds(row, figure)}" for figure in FIGURES]
        grid.add_row(Text(safe(row.model)), *(Text(cell) for cell in cells))
    return grid


def behaviour_notes(rows: Sequence[Row]) -> list[str]:
    """Return what has to be read with the figures: what they mean, and who counted tokens."""
    counted = [
        safe(row.model)
        for row in rows
        if row.behaviour is not None and row.behaviour.counted_by != "provider"
    ]
    who = ""
    if len(counted) == len(rows):
        who = "No provider reported all tokens: words and signs are counted instead."
    elif counted:
        who = f"Words and signs are counted instead of tokens: {', '.join(counted)}."
    return [f"{MEANING} {INTERVALS}", *[who] * bool(who)]


def closing_line(warnings: Sequence[str], *, lines: int, alarms: int = 0) -> list[str]:
    """Return the last line under a short table: cautions that no table lacks, and what is left out.

    Args:
        warnings: of the whole table; those that no table lacks are chosen from them.
        lines: how many lines are left out, the chosen ones among them.
        alarms: how many of those are alarms.
    """
    chosen = [safe(one) for one in warnings if is_needed(one)]
    parts = [f"note: {'; '.join(chosen)}"] if chosen else []
    notes = lines - len(chosen) - alarms
    rest = [_several(alarms, "more alarm"), _several(notes, "more note")]
    if shown := " and ".join(one for one in rest if one):
        parts.append(f"{shown}: --notes")
    return [f"{'. '.join(parts)}."] if parts else []


def is_needed(warning: str) -> bool:
    """Return whether a table or a figure would mislead without a warning."""
    return is_fact(warning) or any(word in warning for word in _ALWAYS)


_ALWAYS = (
    "rates stand-ins",
    "also competed",
    "an offline judge rated",
    "is not finished",
    "ended the run",
    TOO_FEW,
    too_few("battle"),
    "are on the scale of",
    "is taken for one model",
)
"""Words of the warnings without which a table would mislead."""


def _several(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number > 1)}" if number else ""


def extra_lines(board: Leaderboard) -> list[str]:
    """Return a sentence for each thing beyond the usual that a table holds."""
    settings, lines = board.settings, []
    if anchor := settings.anchor:
        lines.append(
            f"{safe(anchor.model)} is fixed at {anchor.rating:g}; intervals are "
            "relative to the mean of its group."
        )
    if settings.interval.startswith("percentiles"):
        lines.append(f"Intervals are {settings.interval}.")
    if settings.simultaneous:
        lines.append("Confidence ranges for ranks are simultaneous.")
    lines += [line for found in (settings.terms or ())[:1] for line in _terms(found)]
    if settings.elo is not None and board.components:
        lines.append(_elo(board.models, settings.elo))
    lines += _better(board.pairs)
    if settings.without is not None:
        named = {"ties": "ties and splits", "refusals": "battles with a refusal in plain words"}
        counts = [f"{count} {named[reason]}" for reason, count in settings.without.items()]
        lines.append(f"Left out before the fit: {' and '.join(counts)}.")
    if (made := settings.reweighted) is not None:
        by = "by inverse pairing probability" if made.target == EVEN_PAIRS else f"to {made.target}"
        lines.append(
            f"Battles are weighted {by}; effective number of battles: {made.effective_battles:.0f}."
        )
    if board.fragility is not None and board.fragility.leader is not None:
        lines.append(_fragility(board.fragility, safe(board.fragility.leader)))
    return lines


def _terms(found: Terms) -> Iterator[str]:
    if found.seat is not None:
        yield f"Being read first is worth {_worth(found.seat)} points."
    if found.style is not None:
        worth = [f"{safe(name)} {_worth(of)}" for name, of in found.style.items()]
        yield f"Style, points per standard deviation: {', '.join(worth)}."
    if found.tie_share is not None and math.isnan(found.tie_share):
        yield "Ties count half: there are none, or only ties."
    elif found.tie_share is not None:
        yield (
            f"Between equal models {100 * found.tie_share:.1f} % of battles are ties (Davidson)."
        )


def _worth(term: Term | None) -> str:
    if term is None:
        return "never differs"
    if term.low is None or term.high is None:
        return f"{term.points:+.0f} (interval unknown)"
    return f"{term.points:+.0f} ({term.low:+.0f} to {term.high:+.0f})"


def _elo(rows: Sequence[Row], played: Elo) -> str:
    rated = [row for row in rows if row.elo is not None and not math.isnan(row.elo)]
    shown = [f"{safe(row.model)} {row.elo:.0f}" for row in rated]
    return f"Online Elo over a random order (K = {played.k:g}): {', '.join(shown)}."


def _better(pairs: Matrices | None) -> list[str]:
    """How sure each model is above the next, down the list."""
    if pairs is None:
        return []
    names, thin = [safe(name) for name in pairs.models], pairs.thin
    steps = [
        f"{names[k]} above {names[k + 1]} {sure_percent(chance)}{'*' * thin[k][k + 1]}"
        for k in range(len(names) - 1)
        if (chance := pairs.better[k][k + 1]) is not None
    ]
    lines = [f"Probability of being better than the next: {', '.join(steps)}."] if steps else []
    if any(step.endswith("*") for step in steps):
        lines.append(f"* the two met in fewer than {SOLID_BATTLES} battles.")
    return lines


def _fragility(found: Fragility, leader: str) -> str:
    if found.removed is None:
        return f"No set of battles was found whose removal would change the leader, {leader}."
    share = 100 * found.removed / found.battles
    plural = "battle" if found.removed == 1 else "battles"
    return (
        f"Leaving out {found.removed} {plural} of {found.battles} ({share:.1f} %) "
        f"makes {safe(found.rival or '')} lead instead of {leader}."
    )
