"""What kinds of question a run asked, as `import videoautoarena` returns it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from videoautoarena.runs.api.results import COLUMNS, Board, Json, Markup, drawn
from videoautoarena.runs.text.tables import Sheet, comma_separated, mark_up

if TYPE_CHECKING:
    from videoautoarena.runs.categories.figures import CategoryReport

_CELLS = ("category", "questions", "unknown", "share", "low", "high", "battles", "both_bad")


class Categories(Board):
    """How many questions are of each category, what became of their battles, and who leads there.

    A row is a `category`: `questions` of it, `unknown` ones, their `share` with a 95 % interval
    that knows which questions share a video, decided `battles` and `both_bad_share` of them. A
    question may be of several, so that shares add up to more than 1; the last row counts those of
    none. `record` holds each model's place in each category and language, and how far style moves
    it.
    """

    _found: CategoryReport

    @property
    def record(self) -> CategoryReport:
        """The whole, as a frozen record."""
        return self._found

    @property
    def rows(self) -> list[Json]:
        """A row a category, as they are shown."""
        found = self.to_json()
        groups = {one["name"]: one for one in found["groups"]}
        return [{**one, **_of(groups.get(one["category"]))} for one in found["counts"]]

    def to_text(self) -> str:
        from videoautoarena.runs.categories.text import render_report

        return drawn(render_report(self._found, COLUMNS))

    def to_markup(self, form: Markup) -> str:
        rows = [list(_cells(row)) for row in self.rows]
        if form == "csv":
            return comma_separated(_CELLS, rows)
        numbers = frozenset(range(1, len(_CELLS)))
        shown = [[_shown(cell) for cell in row] for row in rows]
        title = "Questions by category; one may be of several"
        return mark_up(Sheet(_CELLS, numbers, shown, [], title, "categories"), form)


def _of(group: Json | None) -> Json:
    if group is None:
        return {"battles": 0, "both_bad_share": None}
    return {"battles": group["battles"], "both_bad_share": group["both_bad_share"]}


def _cells(row: Json) -> Iterator[str | int | float | None]:
    yield from (row["category"], row["questions"], row["unknown"])
    yield from (row["share"][name] for name in ("value", "low", "high"))
    yield row["battles"]
    yield None if row["both_bad_share"] is None else row["both_bad_share"]["value"]


def _shown(cell: str | int | float | None) -> str:
    if cell is None:
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
