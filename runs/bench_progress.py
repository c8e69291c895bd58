"""How far the playing of a bench is: a bar on a terminal, now and then a line in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from runs.audience import is_live
from runs.bench_run import OnSettled
from runs.bench_tally import BenchTally
from runs.events import Say
from runs.reading import counted

LINES = 10
"""About so many lines tell of all of it in a pipe."""


@contextmanager
def showing(say: Say, *, is_quiet: bool = False) -> Iterator[OnSettled]:
    """Give what hears of every question and shows how far they are."""
    if is_quiet:
        yield lambda _tally: None
    elif is_live():
        with _bar() as on_settled:
            yield on_settled
    else:
        yield _lines(say)


def _lines(say: Say) -> OnSettled:
    def on_settled(tally: BenchTally) -> None:
        every = max(1, tally.total // LINES)
        if tally.settled % every == 0 or tally.settled == tally.total:
            say(f"[{tally.settled}/{tally.total}] {told(tally)}")

    return on_settled


@contextmanager
def _bar() -> Iterator[OnSettled]:
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
        bar = progress.add_task("bench", total=None)

        def on_settled(tally: BenchTally) -> None:
            progress.update(
                bar, total=tally.total, completed=tally.settled, description=told(tally)
            )

        yield on_settled


def told(tally: BenchTally) -> str:
    """Return in a few words how it went so far."""
    words = [counted(tally.settled, "answer")]
    words += [counted(tally.forfeits, "forfeit")] * bool(tally.forfeits)
    words += [counted(tally.voids, "void")] * bool(tally.voids)
    return ", ".join(words)
