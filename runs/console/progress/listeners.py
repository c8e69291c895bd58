"""Who listens to a run: console, plain lines, trace and progress bars."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.console.progress.events import Hear, Listeners, Say, all_of
from videoautoarena.runs.console.progress.live import RemainingTime, plain_lines
from videoautoarena.runs.formats.terminal import safe, say
from videoautoarena.video.folder.find import Findings, find_videos

ON_TERMINAL = "-"
"""The value of `--trace` without a file."""


# What rich takes for a terminal that cannot be drawn on, and no terminal at all.
DUMB = ("dumb", "unknown", "")


@contextmanager
def audience(
    *, quiet: bool = False, plain: bool = False, trace: str | None = None
) -> Iterator[Listeners]:
    """Yield the listeners of a run; BadInput if the trace cannot be written.

    `trace` is a file, or "-" for the terminal.
    """
    with ExitStack() as stack:
        speak: Say = say
        listeners: list[Hear] = []
        if trace == ON_TERMINAL:
            from videoautoarena.runs.console.progress.trace import Stories

            listeners = [Stories(say).hear]
        elif not quiet and (plain or not is_live()):
            listeners = [plain_lines(say)]
        elif not quiet:
            # Imported only where something is drawn: a pipe does without rich's console.
            from rich.console import Console

            from videoautoarena.runs.console.progress.live import LiveConsole

            # Names of models and files may hold what rich takes for markup or an emoji.
            live = LiveConsole(Console(stderr=True, highlight=False, emoji=False, markup=False))
            stack.callback(live.close)
            speak = live.say
            listeners = [live.hear]
        unwritten: list[str] = []

        def miss(line: str) -> None:
            unwritten.append(line)
            speak(line)

        if trace not in (None, ON_TERMINAL):
            from videoautoarena.runs.console.progress.trace import TraceFile

            file = TraceFile(Path(trace or ""), say=miss)
            stack.callback(file.close)
            listeners.append(file.hear)
        yield Listeners(speak, all_of(*listeners), unwritten)


def is_live() -> bool:
    """Return whether standard error is a terminal that can be drawn on."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in DUMB


OnProgress = Callable[[int, int, str], None]
"""Takes the number of finished pieces, of all pieces, and a few words."""


def unheard(_done: int, _total: int, _words: str) -> None:
    """Show no progress."""


LINES = 10
"""About how many lines of progress are printed into a pipe."""


@contextmanager
def progress(say: Say, *, is_quiet: bool = False, total: int | None = None) -> Iterator[OnProgress]:
    """Yield a function that takes every finished piece and shows the progress.

    `total` is how many pieces there are, where that is known before the first.
    """
    if is_quiet:
        yield unheard
    elif is_live():
        with _bar(total) as bar:
            yield bar
    else:
        pace = RemainingTime()

        def on_progress(done: int, total: int, words: str) -> None:
            left = pace.words(done, total)
            if done and (done % max(1, total // LINES) == 0 or done == total):
                say(f"[{done}/{total}{left}] {words}")

        yield on_progress


@contextmanager
def _bar(total: int | None) -> Iterator[OnProgress]:
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        # Words may hold what rich takes for markup.
        rich.TextColumn("{task.description}", markup=False),
    )
    pace = RemainingTime()
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        bar = shown.add_task("", total=total)

        def on_progress(done: int, total: int, words: str) -> None:
            left = f"{pace.words(done, total)} {words}".strip()
            shown.update(bar, total=total, completed=done, description=left)

        yield on_progress


MANY = 100
"""Fewer files than this show no progress: a hundred small ones are read in a second."""


def gather(folder: Path, say: Say) -> Findings:
    """Return what `find_videos` finds in a folder; show progress if there are many files."""
    with ExitStack() as shown:
        on_progress: OnProgress | None = None

        def count(done: int, total: int) -> None:
            nonlocal on_progress
            if total >= MANY:
                # Only now is the number of files known, and with it whether there is any progress
                # to show.
                on_progress = on_progress or shown.enter_context(progress(say))
                on_progress(done, total, "files read")

        return find_videos(folder, count)


def gather_usable(folder: Path, say: Say, found: Findings | None = None) -> Findings:
    """Return what a folder holds, or `found`, and say which files cannot be used.

    Raises:
        BadInput: there is no usable video.
    """
    found = found or gather(folder, say)
    for path, same in found.duplicates:
        say(f"{safe(path)} is the same video as {safe(same)}; it is used once")
    for skipped in found.skipped:
        say(f"skipped {safe(skipped.path)}: {safe(skipped.reason)}")
    if not found.videos:
        raise BadInput(f"{safe(str(folder))} contains no usable video; pass another folder")
    return found
