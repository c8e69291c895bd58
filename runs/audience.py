"""Who is told of a run: the live console, plain lines, stories, a trace file, or nobody."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from runs.console import say
from runs.events import Audience, Hear, Say, all_of
from runs.progress import plain_lines

ON_TERMINAL = "-"
"""The value of `--trace` without a file."""
DUMB = ("dumb", "unknown", "")


@dataclass(frozen=True)
class Display:
    """What was typed about how a run is shown."""

    quiet: bool = False
    plain: bool = False
    trace: str | None = None
    """A file, or "-" for the terminal."""


@contextmanager
def audience(display: Display) -> Iterator[Audience]:
    """Give who is told of a run, and let go of terminal and file at the end.

    Raises:
        BadInput: the trace file cannot be written.
    """
    with ExitStack() as stack:
        speak, listeners = _shown(display, stack)
        unwritten: list[str] = []

        def miss(line: str) -> None:
            unwritten.append(line)
            speak(line)

        if display.trace not in (None, ON_TERMINAL):
            from runs.trace import TraceFile

            file = TraceFile(Path(display.trace or ""), say=miss)
            stack.callback(file.close)
            listeners.append(file.hear)
        yield Audience(speak, all_of(*listeners), unwritten)


def _shown(display: Display, stack: ExitStack) -> tuple[Say, list[Hear]]:
    if display.trace == ON_TERMINAL:
        from runs.trace import Stories

        return say, [Stories(say).hear]
    if display.quiet:
        return say, []
    if display.plain or not is_live():
        return say, [plain_lines(say)]
    from rich.console import Console

    from runs.live import LiveConsole

    live = LiveConsole(Console(stderr=True, highlight=False, emoji=False, markup=False))
    stack.callback(live.close)
    return live.say, [live.hear]


def is_live() -> bool:
    """Return whether standard error is a terminal that can be drawn on."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in DUMB
