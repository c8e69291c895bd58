"""Makes the report of how many battles separate models."""

from __future__ import annotations

from typing import Any

from videoautoarena.runs.analysis.leaderboard.power import GOALS, PowerEstimate, PowerPoint
from videoautoarena.runs.formats.words import Kind
from videoautoarena.runs.views.results.report import (
    Column,
    Report,
    Sentence,
    Table,
    sentence,
    tally_table,
)

_MOST_ROWS = 12
"""Points of the curve that are shown, evenly taken, the last among them."""


def power_report(found: PowerEstimate) -> Report:
    """Return the battles that are needed, the curve behind them, and a sentence on them."""
    columns = (
        Column("goal", "goal"),
        Column("battles", "battles", "needed"),
        Column("between", "simulated between", "count_interval", ("low", "high")),
        Column("videos", "videos", "count"),
    )
    rows = tuple({"goal": GOALS[goal], **one._asdict()} for goal, one in found.needed.items())
    needed = Table("needed", "Battles that are needed", columns, rows)
    question = found.question
    last = found.curve[-1]
    value, low, high = last.neighbours
    fields = {
        **{name: getattr(question, name) for name in ("models", "rounds", "videos")},
        **{name: getattr(question, name) for name in ("gap", "power", "tournaments")},
        "played": last.battles,
        **{"reached": value, "low": low, "high": high},
    }
    reached: tuple[Kind, tuple[str, ...]] = ("share_with_interval", ("reached", "low", "high"))
    asked = tally_table(fields, "question", gap="number", power="number", reached=reached)
    about = sentence(
        "{models} models, {gap} points from each to the next; pairs by {pairing}, {rounds} rounds "
        "a video. Needed with probability {power}:",
        asked.quotes(),
        pairing=found.question.pairing,
    )
    headline = _headline(found, needed, asked)
    return Report((needed, _curve_table(found), asked), (headline,), headline, above=(about,))


def power_json(found: PowerEstimate) -> dict[str, Any]:
    """Return it as `arena power --json` prints it."""
    headline = power_report(found).headline
    return found.to_json() | {"sentence": "" if headline is None else headline.text}


def _curve_table(found: PowerEstimate) -> Table:
    columns = (
        Column("battles", "battles", "count"),
        Column("neighbours", "next apart", "share"),
        Column("order", "order right", "share"),
        Column("separated", "separated", "share"),
        Column("width", "interval", "width"),
    )
    step = -(-len(found.curve) // _MOST_ROWS)
    # Taken from the end, so that the last point is always among them.
    rows = tuple(_point_fields(point) for point in found.curve[::-1][::step][::-1])
    return Table("curve", "What is reached after so many battles", columns, rows)


def _point_fields(point: PowerPoint) -> dict[str, Any]:
    shares: dict[str, Any] = {goal: getattr(point, goal).value for goal in GOALS}
    return {"battles": point.battles, "width": point.width, **shares}


def _headline(found: PowerEstimate, needed: Table, asked: Table) -> Sentence:
    question = found.question
    gap = "gap of {gap} points between neighbours is separated with probability"
    if found.needed["neighbours"].battles is not None:
        said = f"A {gap} {{power}} after about {{battles}} battles ({{between}})"
    elif question.videos is not None and question.end < question.battles:
        made = "{videos} videos of {rounds} rounds make {played} battles, which are not enough"
        said = f"{made}: a {gap} {{reached}}"
    else:
        said = f"{{played}} battles are not enough: a {gap} {{reached}}"
    return sentence(
        f"{said} (from {{tournaments}} simulated tournaments). A biased judge, or videos that "
        "differ more than assumed, need more battles, or no number is enough.",
        needed.quotes(GOALS["neighbours"]) | asked.quotes(),
    )
