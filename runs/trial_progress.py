"""How far trials are, and how they went."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memory.evidence import Trial
from runs.events import Say
from runs.reading import counted
from runs.tallying import telling
from runs.trialling import OnHeld
from runs.trials import Tally


@contextmanager
def showing(say: Say, *, is_quiet: bool = False) -> Iterator[OnHeld]:
    """Give what takes every trial as it is held and shows how far they are."""
    with telling(say, is_quiet=is_quiet) as tell:

        def on_held(_trial: Trial, tally: Tally) -> None:
            tell(tally.held, tally.asked - tally.known, told(tally))

        yield on_held


def told(tally: Tally) -> str:
    """Return in a few words how trials went in this process."""
    words = [counted(tally.held, "judging")]
    words += [f"{tally.abstained} abstained"] * bool(tally.abstained)
    words += [f"{tally.failed} failed"] * bool(tally.failed)
    return ", ".join(words)
