"""Simulated questions beside real ones, as `import videoautoarena` returns them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from videoautoarena.runs.api.results import Json, Leaderboard, Markup, ReportedBoard
from videoautoarena.runs.views.results.forms import as_text, marked_up

if TYPE_CHECKING:
    from videoautoarena.runs.analysis.realism.report import Realism as KnownRealism
    from videoautoarena.runs.views.results.report import Report


class Realism(ReportedBoard):
    """How the questions of a run stand to those of real users.

    A row is one `value` of a `trait`: its share, or the mean, of `simulated` and of `real`
    questions with 95 % intervals by video, the trait's `held_p`, with the error held over all
    traits, and whether it `differs`.
    """

    _found: KnownRealism

    @property
    def rows(self) -> list[Json]:
        """A row a trait and value."""
        return [
            {
                "trait": trait["trait"],
                **value,
                "held_p": trait["held_p"],
                "differs": trait["differs"],
            }
            for trait in self.to_json()["traits"]
            for value in trait["values"]
        ]

    @property
    def told_apart(self) -> list[str]:
        """The traits by which simulated and real questions are told apart."""
        return list(self._found.told_apart)

    @property
    def warnings(self) -> list[str]:
        """What a reader of the figures must know."""
        return list(self._found.warnings)

    @property
    def as_played(self) -> Leaderboard | None:
        """The leaderboard of the run; None where none can be made by the real mix beside it."""
        boards = self._found.boards
        return None if boards is None else Leaderboard(boards.as_played)

    @property
    def real_mix(self) -> Leaderboard | None:
        """The leaderboard by the mix of real questions; None where no weights make it."""
        boards = self._found.boards
        return None if boards is None else Leaderboard(boards.real_mix)

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.realism import realism_report

        return realism_report(self._found)

    def to_text(self) -> str:
        return as_text(self._report(), notes=True)

    def to_markup(self, form: Markup) -> str:
        from videoautoarena.runs.views.results.realism import realism_report

        return marked_up(realism_report(self._found, most=None), form, notes=True)
