"""A command on a terminal of its own, and what a person would see on it."""

from __future__ import annotations

import os
import pty
import selectors
import signal
import subprocess
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

import pyte

from tests.support.whole_runs import environment

PATIENCE_S = 120.0
LEFT_OUT = ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR")


@dataclass
class OnTerminal:
    """A running command whose every file is a terminal of `columns` by `rows`."""

    line: list[str]
    columns: int = 120
    rows: int = 40
    extra: dict[str, str] = field(default_factory=dict)
    raw: bytes = b""

    def __enter__(self) -> OnTerminal:
        self.screen = pyte.HistoryScreen(self.columns, self.rows, history=2000)
        self._stream = pyte.ByteStream(self.screen)
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (self.rows, self.columns))
        env = {name: value for name, value in environment().items() if name not in LEFT_OUT}
        env |= {"TERM": "xterm-256color", **self.extra}
        self.process = subprocess.Popen(
            self.line, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    @property
    def lines(self) -> list[str]:
        """What stands on the screen, without blanks at the ends of lines."""
        return [line.rstrip() for line in self.screen.display]

    def until(self, happened: Callable[[], object]) -> None:
        """Let it run until something has happened."""
        end = time.monotonic() + PATIENCE_S
        while not happened():
            assert self._read(0.05), f"it ended by itself:\n{self.raw.decode()}"
            assert time.monotonic() < end, "\n".join(self.lines)

    def hang_up(self) -> None:
        """Take the terminal away; nobody sees what it says from here on."""
        os.close(self._ours)
        self._ours = os.open(os.devnull, os.O_RDONLY)

    def interrupt(self, number: int = signal.SIGINT) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Read to its end and return its exit code."""
        end = time.monotonic() + PATIENCE_S
        while self._read(0.2):
            assert time.monotonic() < end, "\n".join(self.lines)
        return self.process.wait(PATIENCE_S)

    def _read(self, seconds: float) -> bool:
        """Read what is there; return whether there may be more."""
        with selectors.DefaultSelector() as ready:
            ready.register(self._ours, selectors.EVENT_READ)
            if not ready.select(seconds):
                return True
            try:
                got = os.read(self._ours, 1 << 16)
            except OSError:
                return False
        self.raw += got
        self._stream.feed(got)
        return bool(got)


def on_terminal(line: list[str], **more: object) -> OnTerminal:
    """Run a command to its good end on a terminal and return what is left of it."""
    with OnTerminal(line, **more) as terminal:  # type: ignore[arg-type]
        code = terminal.end()
        assert code == 0, "\n".join(terminal.lines)
    return terminal
