"""What models get wrong, on a terminal: a line a model, or one model in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.runs.rating.finding import ENOUGH
from videoautoarena.runs.rating.profile import LEAST_TESTED, Profile, Profiles, ThemeRow
from videoautoarena.runs.rundir.reader import counted, one_line
from videoautoarena.runs.text.tables import Sheet, plain_grid
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.text.words import in_full

if TYPE_CHECKING:
    from rich.console import RenderableType

_THEME, _QUOTE, _NEAR = 200, 160, 5
"""Characters of a theme and of a quote, and how many names are offered for one there is not."""
_NO_ANSWER = "The evolver looked at no answer yet; it does from the second round on."
_SHORT = 60


def profile_of(found: Profiles, typed: str) -> Profile:
    """Return the profile of a model by its name, whole or short.

    Raises:
        WrongArgument: there is no such model, with those that are meant perhaps.
    """
    names = {profile.model: profile for profile in found.profiles}
    name = in_full(typed, names)
    if name not in names:
        near = _near(typed, list(names))
        more = len(names) - len(near)
        there = ", ".join([*near, *[f"{more} more"] * (more > 0)])
        raise WrongArgument(f"no model is called {typed!r}; there are {there}")
    return names[name]


def _near(typed: str, names: Sequence[str]) -> list[str]:
    """Return the names that are meant perhaps, with a provider or without; else the first ones."""
    forms = {form.casefold(): name for name in names for form in (name, name.partition(":")[2])}
    found = get_close_matches(typed[:_SHORT].casefold(), forms, n=_NEAR, cutoff=0.6)
    return list(dict.fromkeys(forms[form] for form in found)) or list(names[:_NEAR])


def render_profiles(found: Profiles) -> RenderableType:
    """Return a row a model: what it gets wrong most often, and more or less often than others."""
    grid = plain_grid(*_COLUMNS[:2], gap=2)
    grid.columns[0].min_width = _LEAST_NAME
    grid.columns[1].no_wrap = True
    grid.add_column(_COLUMNS[2], overflow="fold")
    for profile in found.profiles:
        grid.add_row(*map(Text, _line(profile)))
    return Group(grid, *map(Text, summary_lines(found)))


_COLUMNS = ("model", "answers", "weaknesses beside others")
_LEAST_NAME = 8


def _line(profile: Profile) -> tuple[str, str, str]:
    marked = [f"{row.mark}: {_shown(row)}" for row in profile.themes if row.mark]
    if not marked and (often := [row for row in profile.themes if row.n][:1]):
        marked = [
            f"as others; most often: {_shown(row)} ({_percent(row.share)} %)" for row in often
        ]
    return safe(profile.model), str(profile.looked_at), "; ".join(marked) or "-"


def _shown(row: ThemeRow) -> str:
    return one_line(row.theme, _SHORT)


def summary_lines(found: Profiles) -> list[str]:
    """Return what is said under the profiles of all models."""
    if not found.answers:
        return [_NO_ANSWER]
    themes = len(found.profiles[0].themes) if found.profiles else 0
    return [
        f"{counted(found.answers, 'answer')} looked at; {found.weaknesses} weaknesses in words of "
        f"the evolver, {counted(themes, 'theme')} by {_grouped_by(found.grouped_by)}.",
        _TESTS,
        "One model in full: arena profile OUT MODEL.",
    ]


def _grouped_by(name: str) -> str:
    return "their words" if name == "words" else f"embeddings of {safe(name)}"


_TESTS = (
    "More, less: the interval of the difference to all others, clustered by video, excludes 0 at "
    "95 % for all themes of a model together (Bonferroni). Not tested: fewer than "
    f"{ENOUGH} answers looked at, or a theme in fewer than {LEAST_TESTED}."
)


def render_profile(profile: Profile) -> RenderableType:
    """Return what a model gets wrong and where it wins; what models wrote is made safe."""
    parts: list[RenderableType] = [Text(_heading(profile))]
    if shown := [row for row in profile.themes if row.n or row.mark]:
        parts += [Text(""), _theme_grid(shown), *map(Text, _theme_lines(profile, len(shown)))]
        parts += _examples(shown)
    if profile.other.n:
        parts += _section(
            f"Other weaknesses, in {counted(profile.other.n, 'answer')}", profile.other.quotes
        )
    for title, ids in (("Telling wins", profile.wins), ("Telling losses", profile.losses)):
        parts += _section(title, ids) if ids else []
    if profile.opponents:
        parts += [Text(""), _opponent_grid(profile)]
    return Group(*parts)


def _heading(profile: Profile) -> str:
    name = safe(profile.model)
    if not profile.looked_at:
        return f"{name}: the evolver looked at none of its answers yet."
    by = _grouped_by(profile.grouped_by)
    return f"{name}: {counted(profile.looked_at, 'answer')} looked at. Themes by {by}."


def _theme_grid(rows: Iterable[ThemeRow]) -> Table:
    grid = plain_grid("weakness", "n", "%", "interval", "others %", "difference", gap=1)
    for column in grid.columns[1:]:
        column.no_wrap = True
    grid.add_column("", no_wrap=True)
    for row in rows:
        gap = row.difference
        grid.add_row(
            Text(one_line(row.theme, _THEME)),
            str(row.n),
            _percent(row.share),
            f"{_percent(row.low)}-{_percent(row.high)}",
            _percent(row.others_share),
            f"{_points(gap.value)} ({_points(gap.low)} to {_points(gap.high)})",
            row.mark or "",
        )
    return grid


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _points(gap: float | None) -> str:
    return "-" if gap is None else f"{100 * gap:+.1f}"


def _theme_lines(profile: Profile, shown: int) -> Iterator[str]:
    yield (
        "%: of answers looked at; a battle counts once. Difference: to all others, in points. "
        "Intervals: 95 %, clustered by video."
    )
    if not profile.tested:
        yield (
            "Nothing is marked: no theme was tested, which takes "
            f"{ENOUGH} answers on both sides and {LEAST_TESTED} that show it."
        )
    else:
        yield (
            "more, less: the interval excludes 0 also at the level for all "
            f"{counted(profile.tested, 'theme')} tested together (Bonferroni)."
        )
    if left := len(profile.themes) - shown:
        yield f"Not found in its answers: {counted(left, 'theme')} of others."


def _examples(rows: Iterable[ThemeRow]) -> list[RenderableType]:
    """Return faults and battles of the themes that are marked, or of the most frequent ones."""
    showing = [row for row in rows if row.n]
    chosen = [row for row in showing if row.mark == "more"] or showing[:_EXAMPLES]
    return [
        part
        for row in chosen
        for part in _section(
            _shown(row), [*row.quotes, f"battles: {' '.join(row.battles[:_EXAMPLES])}"]
        )
    ]


_EXAMPLES = 3


def _section(title: str, items: Iterable[str]) -> list[RenderableType]:
    lines = [Text(f"  - {one_line(item, _QUOTE)}") for item in items]
    return [Text(""), Text(title, style="bold"), *lines]


def _opponent_grid(profile: Profile) -> Table:
    grid = plain_grid("against", "won", "tied", "lost", gap=2)
    for column in grid.columns[1:]:
        column.no_wrap = True
    for opponent in profile.opponents:
        counts = (opponent.wins, opponent.ties, opponent.losses)
        grid.add_row(Text(safe(opponent.model)), *map(str, counts))
    return grid


def sheet_of_profile(profile: Profile) -> Sheet:
    """Return the themes of a model as a table for pasting."""
    rows = [
        [row.theme, str(row.n), _percent(row.share), f"{_percent(row.low)}-{_percent(row.high)}",
         _percent(row.others_share), _points(row.difference.value), row.mark or ""]
        for row in profile.themes
    ]  # fmt: skip
    columns = ("weakness", "n", "%", "interval", "others %", "difference", "")
    return Sheet(columns, frozenset(range(1, 6)), rows, [_heading(profile)], "Failure profile")


def sheet_of_profiles(found: Profiles) -> Sheet:
    """Return a row a model as a table for pasting."""
    rows = [_line(profile) for profile in found.profiles]
    return Sheet(_COLUMNS, frozenset({1}), rows, summary_lines(found), "Failure profiles")
