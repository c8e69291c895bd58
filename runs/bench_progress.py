"""How far the playing of a bench is, and how it went."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from runs.bench_run import OnSettled
from runs.bench_tally import BenchTally
from runs.events import Say
from runs.reading import counted
from runs.tallying import telling


@contextmanager
def showing(say: Say, *, is_quiet: bool = False) -> Iterator[OnSettled]:
    """Give what hears of every question and shows how far they are."""
    with telling(say, is_quiet=is_quiet) as tell:

        def on_settled(tally: BenchTally) -> None:
            tell(tally.settled, tally.total, told(tally))

        yield on_settled


def told(tally: BenchTally) -> str:
    """Return in a few words how it went so far."""
    words = [counted(tally.settled, "answer")]
    words += [counted(tally.forfeits, "forfeit")] * bool(tally.forfeits)
    words += [counted(tally.voids, "void")] * bool(tally.voids)
    return ", ".join(words)
