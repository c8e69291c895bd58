"""How far trials are: a bar on a terminal, now and then a line in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memory.evidence import Trial
from runs.audience import is_live
from runs.events import Say
from runs.reading import counted
from runs.trialling import OnHeld
from runs.trials import Tally

LINES = 10
"""About so many lines tell of all trials in a pipe."""


@contextmanager
def showing(say: Say, *, is_quiet: bool = False) -> Iterator[OnHeld]:
    """Give what takes every trial as it is held and shows how far they are."""
    if is_quiet:
        yield _ignore
    elif is_live():
        with _bar() as on_held:
            yield on_held
    else:
        yield _lines(say)


def _ignore(_trial: Trial, _tally: Tally) -> None:
    """Let a trial pass."""


def _lines(say: Say) -> OnHeld:
    def on_held(_trial: Trial, tally: Tally) -> None:
        total = tally.asked - tally.known
        every = max(1, total // LINES)
        if tally.held % every == 0 or tally.held == total:
            say(f"[{tally.held}/{total}] {told(tally)}")

    return on_held


@contextmanager
def _bar() -> Iterator[OnHeld]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("trials", total=None)

        def on_held(_trial: Trial, tally: Tally) -> None:
            total = tally.asked - tally.known
            progress.update(bar, total=total, completed=tally.held, description=told(tally))

        yield on_held


def told(tally: Tally) -> str:
    """Return in a few words how trials went in this process."""
    words = [counted(tally.held, "judging")]
    words += [f"{tally.abstained} abstained"] * bool(tally.abstained)
    words += [f"{tally.failed} failed"] * bool(tally.failed)
    return ", ".join(words)
