"""A plan as lines for a person: a table of models and roles, totals, and where prices stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from math import inf
from textwrap import wrap

from videoautoarena.agents.limits.caps import Caps
from videoautoarena.agents.limits.prices import TABLE
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import dollars, roughly, short
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS
from videoautoarena.runs.run.config.sampling import about_sampling
from videoautoarena.runs.run.rundir.reader import counted, one_line
from videoautoarena.runs.tournament.plan import Line, Plan, billed_tokens, most_calls

LEAST_NAME = 12
PRICE_HINT = (
    "write price = { input_usd = 1.0, output_usd = 4.0 } in its table of arena.toml, dollars per "
    "million tokens"
)
_HEADS = ("role", "calls", "at most", "tokens in", "out", "expected", "at most")


def as_lines(plan: Plan, columns: int, today: date | None = None) -> Iterator[str]:
    """Yield the lines of a plan, for a terminal of so many columns."""
    yield (
        f"{counted(plan.battles, 'battle')} left, "
        f"{counted(plan.videos, 'video')}; spent so far {dollars(plan.spent_usd)}"
    )
    yield from table(
        plan.lines, (plan.cost_usd, plan.cost_usd_at_most), columns, at_most=most_calls(plan)
    )
    for note in _worth(plan):
        yield from wrap(note, columns)
    sampled = about_sampling(plan.sampling)
    prices = prices_of(plan.prices, today)
    lacks = lacks_of(plan.lacking)
    for note in (sampled, *prices, *plan.notes, *lacks):
        yield from wrap(note, columns, subsequent_indent="  ")


def _worth(plan: Plan) -> Iterator[str]:
    """Yield how long a plan takes, and what its run will be able to tell."""
    if plan.duration_s is not None:
        yield takes_words(plan.duration_s, plan.concurrency)
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
    """Yield what keeps a plan from being carried out as things are."""
    for lack in lacking:
        yield f"could not start here yet: {safe(lack)}"


def takes_words(duration_s: float, at_once: int) -> str:
    """Return how long calls are expected to take, so many of them at a time."""
    return f"takes about {roughly(duration_s)} with {counted(at_once, 'call')} at once"


def table(
    lines: Sequence[Line],
    sums: tuple[float | None, float | None],
    columns: int,
    *,
    at_most: int,
) -> Iterator[str]:
    """Yield what each model takes in each role, and all; `sums` is in dollars, likely and most."""
    names = ["model", *(safe(line.alias) for line in lines), "all"]
    rows = [_HEADS, *map(_cells, lines), _totals(lines, sums, at_most)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(widths), LEAST_NAME)
    width = min(max(map(len, names)), room)
    for name, cells in zip(names, rows, strict=True):
        role, *figures = cells
        each = (f"{cell:>{wide}}" for cell, wide in zip(figures, widths[1:], strict=True))
        shown = one_line(name, width).ljust(width)
        yield " ".join([shown, role.ljust(widths[0]), *each]).rstrip()


def money_notice(plan: Plan) -> Iterator[str]:
    """Yield what is to be known of a plan before an unplanned run goes on."""
    if plan.unpriced:
        names = ", ".join(map(safe, plan.unpriced))
        yield f"cost unknown: no price is known for {names} (see --plan)"
    elif plan.lines:
        yield (
            f"expected cost {dollars(plan.cost_usd)}, at most {dollars(plan.cost_usd_at_most)} "
            "(see --plan; --max-usd limits it)"
        )


def cap_notice(plan: Plan, caps: Caps, spent: Caps) -> Iterator[str]:
    """Yield what is to be known of caps of which less is left than one call may take."""
    if not plan.lines:
        return
    hint = "a call that does not fit is not sent; raise the cap or lower max_tokens"
    dearest = max(plan.lines, key=lambda line: line.dearest_usd)
    left_usd = inf if caps.usd is None else max(caps.usd - (spent.usd or 0.0), 0.0)
    if left_usd < dearest.dearest_usd:
        yield (
            f"one call to {safe(dearest.alias)} as {dearest.role} may cost up to "
            f"{dollars(dearest.dearest_usd)}, and {dollars(left_usd)} of the cap is left: {hint}"
        )
    billed = [line for line in plan.lines if not line.is_offline]
    if not billed:
        return
    longest = max(billed, key=lambda line: line.longest_tokens)
    left = inf if caps.tokens is None else max(caps.tokens - (spent.tokens or 0), 0)
    if left < longest.longest_tokens:
        yield (
            f"one call to {safe(longest.alias)} as {longest.role} may take up to "
            f"{longest.longest_tokens:,} tokens, and {left:,.0f} of the cap are left: {hint}"
        )


def _cells(line: Line) -> tuple[str, ...]:
    return (
        f"{line.role}{'*' * line.is_measured}",
        f"{line.calls:,.0f}",
        f"{line.most_calls:,}",
        _tokens(None if line.is_offline else line.input_tokens),
        _tokens(None if line.is_offline else line.output_tokens),
        dollars(line.usd),
        dollars(line.most_usd),
    )


def _totals(
    lines: Sequence[Line], sums: tuple[float | None, float | None], at_most: int
) -> tuple[str, ...]:
    return (
        "",
        f"{sum(line.calls for line in lines):,.0f}",
        f"{at_most:,}",
        *map(_tokens, billed_tokens(lines)),
        *map(dollars, sums),
    )


def _tokens(number: float | None) -> str:
    return "-" if number is None else short(number)


def prices_of(sources: Mapping[str, str | None], today: date | None = None) -> Iterator[str]:
    """Yield whose prices stand where, and whose nobody knows."""
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
