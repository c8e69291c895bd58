"""How far work in counted pieces is: a bar on a terminal, now and then a line in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from runs.audience import is_live
from runs.events import Say

Tell = Callable[[int, int, str], None]
"""Takes how many pieces are done, of how many, and how they went in a few words."""
LINES = 10
"""About so many lines tell of all of it in a pipe."""


@contextmanager
def telling(say: Say, *, is_quiet: bool = False) -> Iterator[Tell]:
    """Give what hears of every piece that is done and shows how far the work is."""
    if is_quiet:
        yield lambda _done, _total, _words: None
    elif is_live():
        with _bar() as tell:
            yield tell
    else:
        yield _lines(say)


def _lines(say: Say) -> Tell:
    def tell(done: int, total: int, words: str) -> None:
        if done % max(1, total // LINES) == 0 or done == total:
            say(f"[{done}/{total}] {words}")

    return tell


@contextmanager
def _bar() -> Iterator[Tell]:
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
        bar = progress.add_task("", total=None)

        def tell(done: int, total: int, words: str) -> None:
            progress.update(bar, total=total, completed=done, description=words)

        yield tell
