"""What kinds of question a run asked, as `import videoautoarena` returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from videoautoarena.runs.api.results import Json, ReportedBoard

if TYPE_CHECKING:
    from videoautoarena.runs.analysis.categories.figures import CategoryReport
    from videoautoarena.runs.views.results.report import Report


class Categories(ReportedBoard):
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

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.categories import categories_report

        return categories_report(self._found)


def _of(group: Json | None) -> Json:
    if group is None:
        return {"battles": 0, "both_bad_share": None}
    return {"battles": group["battles"], "both_bad_share": group["both_bad_share"]}
