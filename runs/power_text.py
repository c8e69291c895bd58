"""The answer of `arena power` for a person."""

from __future__ import annotations

from typing import Any

from runs.power import GOALS

_COLUMNS = ("battles", "next apart", "order right", "separated", "interval")


def as_lines(table: dict[str, Any]) -> list[str]:
    """Return lines of at most 80 columns: what is needed, how it grows, and what it is worth."""
    question = table["question"]
    head = (
        f"{question['models']} models, {question['gap']:g} points from each to the next; pairs by "
        f"{question['pairing']}, {question['rounds']} rounds a video"
    )
    return [
        head,
        "",
        f"{'with probability ' + format(question['power'], 'g'):41}{'battles':>9}"
        f"{'simulated between':>20}{'videos':>9}",
        *(_goal(GOALS[goal], found) for goal, found in table["needed"].items()),
        "",
        "  ".join(f"{name:>11}" for name in _COLUMNS),
        *(_point(point) for point in _spread(table["curve"])),
        "",
        table["sentence"],
    ]


def _goal(told: str, found: dict[str, Any]) -> str:
    if found["battles"] is None:
        return f"{told:41}{'never':>9}"
    high = "no end" if found["high"] is None else f"{found['high']:,}"
    between = f"{found['low']:,} to {high}"
    return f"{told:41}{found['battles']:>9,}{between:>20}{found['videos']:>9,}"


def _point(point: dict[str, Any]) -> str:
    shares = [f"{100 * point[goal]['value']:.0f} %" for goal in GOALS]
    width = "-" if point["width"] is None else f"{point['width']:.0f} points"
    return "  ".join(f"{cell:>11}" for cell in (f"{point['battles']:,}", *shares, width))


def _spread(curve: list[dict[str, Any]], rows: int = 12) -> list[dict[str, Any]]:
    """At most so many points, evenly taken, the last among them."""
    step = -(-len(curve) // rows)
    return curve[::-1][::step][::-1]
