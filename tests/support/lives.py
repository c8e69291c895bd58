"""A command in a process of its own, which a test can interrupt, and what it leaves behind."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from tests.support.forks import started
from tests.support.whole_runs import environment

GLANCE_S = 0.02
PATIENCE_S = 120.0
NOISE = ("Traceback", "Task ", "Exception", "Warning", "never awaited", "destroyed", "leaked")


@dataclass
class Life:
    """A running command; its stderr is read as it comes."""

    line: list[str]
    cwd: Path | None = None
    extra: dict[str, str] = field(default_factory=dict)
    said: str = ""
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __enter__(self) -> Life:
        env = {**environment(), **self.extra, "LIFE": self.mark}
        pipe = subprocess.PIPE
        self.process = started(
            self.line, env=env, cwd=self.cwd, stderr=pipe, stdout=pipe, start_new_session=True
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def until(self, happened: Callable[[], object]) -> None:
        """Let it live until something has happened."""
        end = time.monotonic() + PATIENCE_S
        while not happened():
            self._read(GLANCE_S)
            assert self.process.poll() is None, f"it ended by itself:\n{self.said}"
            assert time.monotonic() < end, f"it did not happen in time:\n{self.said}"

    def has_said(self, words: str) -> Callable[[], bool]:
        """Return what tells whether it has said these words."""
        return lambda: words in self.said

    def interrupt(self, number: int = signal.SIGINT) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Wait for its end and return its exit code."""
        assert self.process.stderr is not None
        _, rest = self.process.communicate(timeout=PATIENCE_S)
        self.said += rest.decode()
        assert self.process.returncode is not None
        return self.process.returncode

    @property
    def last_line(self) -> str:
        """The last thing it said."""
        return self.said.splitlines()[-1]

    @property
    def noise(self) -> list[str]:
        """Lines that no person should have to read."""
        return [line for line in self.said.splitlines() if any(word in line for word in NOISE)]

    @property
    def children(self) -> list[int]:
        """Processes that it started, or that those did, and that still run."""
        return [pid for pid in _processes() if self.mark in _environ(pid)]

    def _read(self, seconds: float) -> None:
        assert self.process.stderr is not None
        with _waiting(self.process.stderr.fileno()) as ready:
            if ready.select(seconds):
                self.said += os.read(self.process.stderr.fileno(), 1 << 16).decode()


@contextmanager
def _waiting(file: int) -> Iterator[selectors.DefaultSelector]:
    with selectors.DefaultSelector() as selector:
        selector.register(file, selectors.EVENT_READ)
        yield selector


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _environ(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_text(errors="replace")
    except OSError:
        return ""
