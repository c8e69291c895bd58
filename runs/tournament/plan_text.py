"""A plan in words and tables: what is expected, what nine of ten stay below, and the cap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from math import inf
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.prices import TABLE
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.formats.terminal import rendered, safe
from videoautoarena.runs.formats.words import LEAST_USD, dollars, roughly, short
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS
from videoautoarena.runs.run.config.run_config import about_sampling
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS, describe_caps
from videoautoarena.runs.run.rundir.reader import counted, one_line
from videoautoarena.runs.run.rundir.spending import CapUse
from videoautoarena.runs.tournament.past_calls import Basis
from videoautoarena.runs.tournament.plan import (
    AnswerSize,
    Costing,
    Line,
    LineCosts,
    Plan,
    billed_tokens,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

PRICE_HINT = (
    "write price = { input_usd = 1.0, output_usd = 4.0 } in its table of arena.toml, dollars per "
    "million tokens"
)
BASES: Mapping[Basis, str] = {"run": "this run", "machine": "past runs", "guess": "a guess"}
"""What an expectation rests on, in a table."""
BASIS_WORDS: Mapping[Basis, str] = {
    "run": "by calls of its own",
    "machine": "by such calls of past runs on this machine",
    "guess": "a guess: no such calls were measured here yet",
}
"""The same beside a bound."""
_LEAST_CALLS = 0.05
"""Expected calls of a line that is shown."""
_LEAST_NAME = 20
"""Characters of a longer name that are shown in any case, where there is room for that."""
_HEADS = ("role", "calls", "tokens in", "out", "expected", "90 % bound", "by")
_WORDS = frozenset({"role", "by"})
_DETAILS = frozenset({"tokens in", "out"})
"""Columns that a narrow terminal does without."""
_SIZE_HEADS = ("videos", "battles", "told apart", "expected", "90 % bound", "time", "90 % bound")
_SPARED = (1, -1, -1, 1)
"""Places of columns that a narrow terminal does without, one after the other: battles, the bound
of time, time, and which models are told apart."""


def plan_view(plan: Plan, today: date | None = None) -> RenderableType:
    """Return a run's plan for a terminal."""
    parts: list[RenderableType] = [
        Text(
            f"{counted(plan.battles, 'battle')} left, {counted(plan.videos, 'video')}; "
            f"{spent_words(plan)}"
        )
    ]
    if plan.basis is not None:
        times = (plan.duration_s, plan.duration_bound90_s)
        parts += [figures_view(plan, times, cap_use=plan.cap_use, at_once=plan.concurrency)]
    if plan.lines:
        parts += [LinesView(plan.lines)]
    if plan.sizes:
        parts += [Text("What an answer takes with these models:"), SizesView(plan.sizes)]
    notes = [
        *cap_notice(plan, plan.caps, plan.cap_use),
        *_worth(plan),
        about_sampling(plan.sampling),
        *prices_of(plan.prices, today),
        *plan.notes,
        *lacks_of(plan.lacking),
    ]
    return Group(*parts, *map(NoteView, notes))


def spent_words(plan: Costing) -> str:
    """Return what was spent so far, and what caps count of it where that is something else."""
    words = f"spent so far {dollars(plan.spent_usd)}"
    # Caps round each cost up to a billionth.
    if plan.cap_use.usd - plan.spent_usd < LEAST_USD / 2:
        return words
    return f"{words}, {dollars(plan.cap_use.usd)} with what is possibly paid"


def as_lines(plan: Plan, columns: int, today: date | None = None) -> list[str]:
    """Return the lines of a plan without colours, none longer than `columns`."""
    return rendered(plan_view(plan, today), columns)


class NoteView:
    """A sentence whose further lines are set in."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yield its lines."""
        del console
        for line in wrap(self._text, options.max_width, subsequent_indent="  "):
            yield Text(line, "dim")


def figures_view(
    costs: LineCosts,
    times: tuple[float | None, float | None],
    *,
    cap_use: CapUse,
    at_once: int | None = None,
) -> RenderableType:
    """Return the three figures of a plan: what is expected, the bound, and the cap.

    `times` are seconds, expected and bound.
    """
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    took, took_most = ("" if one is None else roughly(one) for one in times)
    beside = "" if at_once is None else f"with {counted(at_once, 'call')} at once"
    bold = "bold"
    grid.add_row(
        Text("expected", bold), Text(dollars(costs.expected_usd), bold), Text(took, bold), beside
    )
    sure = "" if costs.basis is None else BASIS_WORDS[costs.basis]
    if costs.basis != "guess":
        sure = f"nine of ten stay below, {sure}"
    elif len(_bases(costs.lines)) > 1:
        sure = "partly a guess, as the table says"
    grid.add_row("90 % bound", dollars(costs.bound90_usd), took_most, Text(sure))
    cap = dollars(costs.caps.usd) if costs.caps.usd is not None else ""
    grid.add_row(
        "cap", cap or (describe_caps(costs.caps) or "none"), "", Text(_at_cap(costs, cap_use))
    )
    return Padding(grid, (0, 0, 0, 2), expand=False)


def _at_cap(costs: LineCosts, cap_use: CapUse) -> str:
    """Return what happens at the cap, or how one is set."""
    caps = costs.caps
    if not caps:
        return f"{option('max_usd')} sets one; calls stop below it"
    if caps.usd is None:
        return f"calls stop below it, and go on under a higher {option('max_tokens')}"
    left = max(caps.usd - cap_use.usd, 0.0)
    words = f"calls stop below it, and go on under a higher {option('max_usd')}"
    if cap_use.usd:
        words = f"{dollars(left)} of it left; {words}"
    expected = costs.expected_usd
    if expected is not None and expected > left:
        return f"{words}: expected after {left / expected:.0%} of this"
    return words


class LinesView:
    """What each model needs in each role, and the total."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._every = lines
        # What only a repair would call is in the figures, and would be noise here.
        self._lines = [line for line in lines if line.calls >= _LEAST_CALLS] or lines

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yield a table; on a narrow terminal without tokens, and the longest names are cut."""
        del console
        columns = list(zip(_HEADS, *map(_cells, self._lines), _totals(self._every), strict=True))
        # Where all rests on the same, that stands beside the bound.
        if len(_bases(self._lines)) < 2:
            columns.pop()
        names = [safe(line.alias) for line in self._lines]
        room = _room(columns, options.max_width)
        if room < min(_LEAST_NAME, max(map(len, names))):
            columns = [one for one in columns if one[0] not in _DETAILS]
            room = max(_room(columns, options.max_width), 1)
        grid = Table(box=SIMPLE_HEAD, show_footer=True, pad_edge=False, padding=0)
        grid.add_column("model", "all", no_wrap=True)
        for head, *_, foot in columns:
            side = "left" if head in _WORDS else "right"
            grid.add_column(head, foot, justify=side, no_wrap=True)  # type: ignore[arg-type]
        cells = zip(*(column[1:-1] for column in columns), strict=True)
        for name, row in zip(names, cells, strict=True):
            grid.add_row(Text(one_line(name, room)), *row)
        yield grid


def _bases(lines: Iterable[Line]) -> set[Basis]:
    """Return on what lines rest that somebody bills."""
    return {line.basis for line in lines if not line.is_offline and line.calls >= _LEAST_CALLS}


def _room(columns: Iterable[Sequence[str]], width: int) -> int:
    """Return how many characters are left for names beside these columns."""
    return width - 2 - sum(max(map(len, column)) + 1 for column in columns)


def _cells(line: Line) -> Iterator[str]:
    tokens = (None, None) if line.is_offline else (line.input_tokens, line.output_tokens)
    yield line.role
    yield f"{line.calls:,.0f}"
    yield from map(_tokens, tokens)
    yield from (dollars(line.usd), dollars(line.bound90_usd))
    yield "" if line.is_offline else BASES[line.basis]


def _totals(lines: Sequence[Line]) -> Iterator[str]:
    whole = LineTotal(lines)
    yield ""
    yield f"{sum(line.calls for line in lines):,.0f}"
    yield from map(_tokens, billed_tokens(lines))
    yield from (dollars(whole.expected_usd), dollars(whole.bound90_usd), "")


class LineTotal(LineCosts):
    """Some lines by themselves, under no cap."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.caps = NO_CAPS


class SizesView:
    """What runs of several sizes take: videos and battles to dollars and hours."""

    def __init__(self, sizes: Sequence[AnswerSize]) -> None:
        self._sizes = sizes

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yield a table; a narrow terminal does without the columns that say least."""
        del console
        columns = list(zip(_SIZE_HEADS, *map(_size_cells, self._sizes), strict=True))
        # A blank behind each cell and one between two.
        for place in _SPARED:
            if sum(max(map(len, column)) + 2 for column in columns) - 1 <= options.max_width:
                break
            columns.pop(place)
        grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for head, *_ in columns:
            grid.add_column(head, justify="right", no_wrap=True)
        for row in zip(*(cells for _, *cells in columns), strict=True):
            grid.add_row(*row)
        yield grid


def _size_cells(one: AnswerSize) -> Iterator[str]:
    yield from (f"{one.videos:,}", f"{one.battles:,}")
    yield "-" if one.separable_gap is None else f"{one.separable_gap} points"
    yield from (dollars(one.expected_usd), dollars(one.bound90_usd))
    yield from (roughly(one.duration_s), roughly(one.duration_bound90_s))


def _worth(plan: Plan) -> Iterator[str]:
    """Yield which differences a plan's run will show."""
    if plan.whole is None:
        return
    size = f"{counted(plan.whole.battles, 'battle')} on {counted(plan.whole.videos, 'video')}"
    if plan.whole.separable_gap is None:
        yield f"{size} in all: too few videos to rank models ({RANKABLE_VIDEOS} are needed)"
    else:
        yield (
            f"{size} in all: two models {plan.whole.separable_gap} points apart are told apart in "
            "4 of 5 such runs (arena power says more)"
        )


def lacks_of(lacking: Sequence[str]) -> Iterator[str]:
    """Yield what keeps a plan from being carried out now, such as missing keys."""
    for lack in lacking:
        yield f"could not start here yet: {safe(lack)}"


def takes_words(duration_s: float, at_once: int) -> str:
    """Return how long calls are expected to take, `at_once` of them at a time."""
    return f"takes about {roughly(duration_s)} with {counted(at_once, 'call')} at once"


def plan_cost_words(costs: LineCosts) -> str:
    """Return what is expected, the bound and what they rest on, and the cap, in a few words."""
    words = f"expected cost {dollars(costs.expected_usd)}"
    if costs.expected_usd is not None and costs.basis is not None:
        basis = BASIS_WORDS[costs.basis]
        words += f", 90 % bound {dollars(costs.bound90_usd)} ({basis})"
    return words + (f", cap {describe_caps(costs.caps)}: calls stop below it" if costs.caps else "")


def money_notice(plan: Plan) -> Iterator[str]:
    """Yield what a run without `--plan` says of its costs before it begins."""
    if plan.unpriced:
        names = ", ".join(map(safe, plan.unpriced))
        yield f"cost unknown: no price is known for {names} (simulate --plan says more)"
    elif plan.lines:
        costs = plan_cost_words(LineTotal(plan.lines))
        yield f"{costs}; simulate --plan says more, and {option('max_usd')} limits it"


def cap_notice(plan: Plan, caps: SpendCaps, used: CapUse) -> Iterator[str]:
    """Yield a warning for each cap of which less is left than one call may take."""
    if not plan.lines:
        return
    hint = "a call that does not fit is not sent; raise the cap or lower max_tokens"
    dearest = max(plan.lines, key=lambda line: line.most_call_usd)
    left_usd = inf if caps.usd is None else max(caps.usd - used.usd, 0.0)
    if left_usd < dearest.most_call_usd:
        yield (
            f"one call to {safe(dearest.alias)} as {dearest.role} may cost up to "
            f"{dollars(dearest.most_call_usd)}, and {dollars(left_usd)} of the cap is left: {hint}"
        )
    billed = [line for line in plan.lines if not line.is_offline]
    if not billed:
        return
    longest = max(billed, key=lambda line: line.longest_tokens)
    left = inf if caps.tokens is None else max(caps.tokens - used.tokens, 0)
    if left < longest.longest_tokens:
        yield (
            f"one call to {safe(longest.alias)} as {longest.role} may take up to "
            f"{longest.longest_tokens:,} tokens, and {left:,.0f} of the cap are left: {hint}"
        )


def _tokens(number: float | None) -> str:
    return "-" if number is None else short(number)


def prices_of(sources: Mapping[str, str | None], today: date | None = None) -> Iterator[str]:
    """Yield the sources of prices, and the models without a known price."""
    today = today or datetime.now(UTC).date()
    found = dict[str, list[str]]()
    for alias, source in sources.items():
        if source is not None and source != "offline":
            found.setdefault(source, []).append(safe(alias))
    for source, aliases in found.items():
        date_of = f", as of {today.isoformat()}" if source.startswith(TABLE) else ""
        yield f"prices of {', '.join(aliases)}: {safe(source)}{date_of}"
    if unpriced := [alias for alias, source in sources.items() if source is None]:
        names = ", ".join(map(safe, unpriced))
        yield f"no price is known for {names}; {PRICE_HINT}"
