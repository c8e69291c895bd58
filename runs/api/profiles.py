"""What models get wrong, as `import videoautoarena` returns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from videoautoarena.runs.api.results import Json, Reported

if TYPE_CHECKING:
    from videoautoarena.runs.rating.profile import Profile as KnownProfile
    from videoautoarena.runs.rating.profile import Profiles as KnownProfiles
    from videoautoarena.runs.views.results.report import Report


class Profile(Reported):
    """What one model gets wrong more often than others, and where it wins.

    A row holds a `theme` of weaknesses, of how many answers `n` it was written, the `share` of
    those that were looked at with its 95 % interval, the same of all others, their `difference`,
    and the `mark` `more` or `less` where that is sure.
    """

    _found: KnownProfile

    @property
    def rows(self) -> list[Json]:
        """A row a theme, the most frequent first."""
        return list(self.to_json()["themes"])

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.profiles import profile_report

        return profile_report(self._found)


class Profiles(Reported):
    """The profiles of all models of a run; a row holds what a `Profile` does."""

    _found: KnownProfiles

    @property
    def rows(self) -> list[Json]:
        """A row a model, the best-rated first."""
        return list(self.to_json()["profiles"])

    def _report(self) -> Report:
        from videoautoarena.runs.views.results.profiles import profiles_report

        return profiles_report(self._found)
