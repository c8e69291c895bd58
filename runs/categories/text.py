"""The categories of a run as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Group as Parts
from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.runs.categories.check import CategoryCheck
from videoautoarena.runs.categories.figures import CategoryReport, Group, Place
from videoautoarena.runs.rating.finding import Figure
from videoautoarena.runs.rating.method import SOLID_BATTLES
from videoautoarena.runs.text.tables import plain_grid
from videoautoarena.runs.text.terminal import safe

_MOST_PAIRS = 8
"""Pairs of categories that are shown; all are in the JSON."""
_THIN = "*"
_GAP, _LEFT = 2, 20
PLACES = (
    "place by rating, in brackets how many places a model moves up (+) or down (-) under --style"
)
THIN_MARK = f"{_THIN} fewer than {SOLID_BATTLES} battles"


def render_report(report: CategoryReport, width: int) -> RenderableType:
    """Return the tables of a report, in as many parts as `width` columns call for."""
    parts: list[RenderableType] = [_counts(report), Text("")]
    if pairs := _pairs(report):
        parts += [Text(f"together: {'; '.join(pairs)}"), Text("")]
    for head, groups in (("category", report.groups), ("language", report.languages)):
        for names in _pages(groups, width):
            parts += [_places(head, groups, names), Text("")]
    return Parts(*parts, *map(Text, _lines(report)))


def _counts(report: CategoryReport) -> Grid:
    """One row a category: how many questions, with an interval, and what became of the battles."""
    grid = plain_grid("category", "questions", "share %", "unknown", "battles", "both bad %", gap=2)
    groups = {group.name: group for group in report.groups}
    for one in report.counts:
        group = groups.get(one.category)
        battles = "-" if group is None else f"{group.battles}{_THIN * group.is_thin}"
        grid.add_row(
            one.category,
            str(one.questions),
            _percent(one.share),
            str(one.unknown),
            battles,
            "-" if group is None else _percent(group.both_bad_share),
        )
    return grid


def _percent(figure: Figure) -> str:
    if figure.value is None:
        return "-"
    value = f"{100 * figure.value:.1f}"
    if figure.low is None or figure.high is None:
        return value
    return f"{value} ({100 * figure.low:.0f}-{100 * figure.high:.0f})"


def _pairs(report: CategoryReport) -> list[str]:
    """Return the categories that most often stand together, the most frequent first."""
    names = [one.category for one in report.counts[:-1]]
    found = [
        (count, names[i], names[k])
        for i, row in enumerate(report.overlap)
        for k, count in enumerate(row)
        if k > i and count
    ]
    found.sort(key=lambda pair: -pair[0])
    return [f"{one} and {other} {count}" for count, one, other in found[:_MOST_PAIRS]]


def _pages(groups: Sequence[Group], width: int) -> Iterator[list[str]]:
    """Yield the models, best first over all, in the portions that fit beside the names."""
    if not groups:
        return
    page, used = list[str](), _LEFT
    for place in groups[0].places:
        wide = max(cell_len(safe(place.model)), 8) + _GAP
        if page and used + wide > width:
            yield page
            page, used = [], _LEFT
        page.append(place.model)
        used += wide
    if page:
        yield page


def _places(head: str, groups: Sequence[Group], names: Sequence[str]) -> Grid:
    grid = plain_grid(f"place by {head}", gap=_GAP)
    for name in names:
        grid.add_column(Text(safe(name)), justify="right", overflow="fold")
    for group in groups:
        places = {place.model: place for place in group.places}
        grid.add_row(Text(safe(group.name)), *(Text(_cell(places.get(name))) for name in names))
    return grid


def _cell(place: Place | None) -> str:
    if place is None or place.place is None:
        return "-"
    moved = f" ({place.moved:+d})" if place.moved else ""
    return f"{place.place}{moved}{_THIN * place.is_thin}"


def _lines(report: CategoryReport) -> Iterator[str]:
    untold = report.questions - report.tagged
    yield f"{PLACES}."
    yield f"{THIN_MARK}. A question may be of several categories, so that shares add up to more."
    beside = f"; {untold:,} are not tagged" if untold else ""
    yield (
        f"{report.tagged:,} of {report.questions:,} questions by {safe(report.classifier)}{beside}."
    )


def render_check(check: CategoryCheck) -> RenderableType:
    """Return how far a classifier agrees with somebody else, by category."""
    grid = plain_grid("category", "they say yes", "it says yes", "precision %", "recall %", gap=2)
    for row in check.rows:
        grid.add_row(
            row.category,
            str(row.truths),
            f"{row.claims}" + (f" +{row.unknown}?" if row.unknown else ""),
            _percent(row.precision),
            _percent(row.recall),
        )
    lines = [
        f"{check.questions:,} questions: {safe(check.classifier)} against {safe(check.against)}.",
        "precision: of what it calls yes, so much is; recall: of what is, it calls so much yes.",
        f"Intervals are 95 %, {check.interval}; +N?: it said neither yes nor no, which finds none.",
    ]
    return Parts(grid, Text(""), *map(Text, lines))
