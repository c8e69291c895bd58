"""What a leaderboard says only where it was asked: terms, Elo, who is better, what may tip it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.rating.leaderboard import (
    Elo,
    Fragility,
    Leaderboard,
    Matrices,
    Row,
    Term,
    Terms,
)
from videoautoarena.runs.rating.method import SOLID_BATTLES, TOO_FEW, too_few
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
    "refused: of the questions put to it; forfeit: of the slots it was asked in; void: of those it "
    "was drawn for; both bad: of its decided battles, in per cent. tokens: mean of its answers."
)
INTERVALS = "Below each stands its 95 % interval."
_UNKNOWN = "-"


def knows_behaviour(rows: Sequence[Row]) -> bool:
    """Return whether rows of a leaderboard tell how models behaved."""
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
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    grid.add_column("model", overflow="fold")
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
    told = [f"{MEANING} {INTERVALS}"]
    if len(counted) == len(rows):
        told.append("No provider counted all tokens: they are words and signs.")
    elif counted:
        told.append(f"Words and signs stand for tokens of {', '.join(counted)}.")
    return told


def closing_line(warnings: Sequence[str], *, lines: int, alarms: int = 0) -> list[str]:
    """Return the last line under a short table: cautions that no table lacks, and what is left out.

    Args:
        warnings: of the whole table; those that no table lacks are chosen from them.
        lines: how many lines are left out, the chosen ones among them.
        alarms: how many of those are alarms.
    """
    chosen = [safe(one) for one in warnings if any(word in one for word in _ALWAYS)]
    parts = [f"note: {'; '.join(chosen)}"] if chosen else []
    notes = lines - len(chosen) - alarms
    rest = [_several(alarms, "more alarm"), _several(notes, "more note")]
    if shown := " and ".join(one for one in rest if one):
        parts.append(f"{shown}: --notes")
    return [f"{'. '.join(parts)}."] if parts else []


_ALWAYS = (
    "rates stand-ins",
    "also competed",
    "an offline judge rated",
    "is not finished",
    "ended the run",
    TOO_FEW,
    too_few("battle"),
    "are on the scale of",
)
"""Words of the warnings without which a table would mislead."""


def _several(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number > 1)}" if number else ""


def extra_lines(board: Leaderboard) -> list[str]:
    """Return a sentence for each thing beyond the usual that a table holds."""
    settings, told = board.settings, []
    if anchor := settings.anchor:
        told.append(f"{safe(anchor.model)} is put at {anchor.rating:g}; intervals measure "
                    "against the mean of its group.")  # fmt: skip
    if settings.interval.startswith("percentiles"):
        told.append(f"Intervals are {settings.interval}.")
    if settings.simultaneous:
        told.append("Confidence ranges for ranks are simultaneous.")
    told += [line for found in (settings.terms or ())[:1] for line in _terms(found)]
    if settings.elo is not None and board.components:
        told.append(_elo(board.models, settings.elo))
    told += _better(board.pairs)
    if settings.without is not None:
        told.append(left_out_text(settings.without))
    if settings.effective_battles is not None:
        told.append(_reweighted(settings.effective_battles))
    if board.fragility is not None and board.fragility.leader is not None:
        told.append(_fragility(board.fragility, safe(board.fragility.leader)))
    return told


def left_out_text(without: Mapping[str, int]) -> str:
    """Return the sentence that says what was left out before the fit."""
    named = {"ties": "ties and splits", "refusals": "battles with a refusal in plain words"}
    told = [f"{count} {named[reason]}" for reason, count in without.items()]
    return f"Left out before the fit: {' and '.join(told)}."


def _reweighted(effective: float) -> str:
    return (
        "Battles weigh as if every pair had been equally likely to meet; they tell as much as "
        f"{effective:.0f} that weigh alike."
    )


def _terms(found: Terms) -> list[str]:
    told = []
    if found.seat is not None:
        told.append(f"Being read first is worth {_worth(found.seat)} points.")
    if found.style is not None:
        worth = [f"{safe(name)} {_worth(of)}" for name, of in found.style.items()]
        told.append(f"Style, points for one deviation more of it: {', '.join(worth)}.")
    if found.tie_share is not None:
        told.append(
            "Ties are counted half: there is none, or nothing else."
            if math.isnan(found.tie_share)
            else f"Between equals {100 * found.tie_share:.1f} % of battles tie (Davidson)."
        )
    return told


def _worth(term: Term | None) -> str:
    if term is None:
        return "never differs"
    if term.low is None or term.high is None:
        return f"{term.points:+.0f} (interval unknown)"
    return f"{term.points:+.0f} ({term.low:+.0f} to {term.high:+.0f})"


def _elo(rows: Sequence[Row], played: Elo) -> str:
    rated = [row for row in rows if row.elo is not None and not math.isnan(row.elo)]
    shown = [f"{safe(row.model)} {row.elo:.0f}" for row in rated]
    return f"Online Elo, which depends on a drawn order (K = {played.k:g}): {', '.join(shown)}."


def _better(pairs: Matrices | None) -> list[str]:
    """How sure each model is above the next, down the list."""
    if pairs is None:
        return []
    names, thin = [safe(name) for name in pairs.models], pairs.thin
    steps = [
        f"{names[k]} above {names[k + 1]} {_percent(chance)}{'*' * thin[k][k + 1]}"
        for k in range(len(names) - 1)
        if (chance := pairs.better[k][k + 1]) is not None
    ]
    told = [f"Probability of each step: {', '.join(steps)}."] if steps else []
    if any("*" in step[-1:] for step in steps):
        told.append(f"* the two met in fewer than {SOLID_BATTLES} battles.")
    return told


def _percent(chance: float) -> str:
    # Never 100 %: that much no battle tells.
    return f"{min(max(100 * chance, 0.1), 99.9):.1f} %"


def _fragility(found: Fragility, leader: str) -> str:
    if found.removed is None:
        return f"No way was found to take the lead from {leader} by leaving out battles."
    share = 100 * found.removed / found.battles
    plural = "battle" if found.removed == 1 else "battles"
    return (
        f"Leaving out {found.removed} {plural} of {found.battles} ({share:.1f} %) is enough for "
        f"{safe(found.rival or '')} to lead instead of {leader}."
    )
