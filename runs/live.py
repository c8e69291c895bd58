"""The live console: one picture of the run, drawn again when something happened.

It is fed by events and never draws more than four times a second, and less often where drawing is
dear: at most a fortieth of the time goes into pictures, and as much into the running leaderboard.
"""

from __future__ import annotations

import asyncio
import os
import termios
import time

from rich.console import Console, Group
from rich.control import Control
from rich.live import Live
from rich.text import Text

from runs.canvas import ASCII, UNICODE
from runs.console import say
from runs.events import Begun, Ended, Happening
from runs.leaderboard import Table, build
from runs.live_text import Size, picture
from runs.standing import Result, Standing

LEAST_GAP_S = 0.25
IDLE_GAP_S = 1.0
"""Between two pictures where nothing happens but time."""
BOARD_GAP_S = 2.0
THRIFT = 40
"""So many times as long as it took, a picture or a leaderboard is let stand."""


class LiveConsole:
    """Shows a run on a terminal; hears events and takes lines, which appear above the picture."""

    def __init__(self, console: Console) -> None:
        self.standing = Standing()
        self._console = console
        self._live: Live | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._drawn_s = self._dear_s = 0.0
        self._board: Table | None = None
        self._board_task: asyncio.Task[None] | None = None
        self._board_due_s = 0.0
        self._rated = -1
        self._size = console.size
        self._hushed = False

    def hear(self, event: Happening) -> None:
        """Take an event in, and draw it soon."""
        self.standing.hear(event)
        match event:
            case Begun():
                self._start()
            case Ended():
                self._finish()
            case _:
                self._plan(max(LEAST_GAP_S, self._dear_s))

    def say(self, line: str) -> None:
        """Print a line above the picture, where there is one."""
        if self._live is None:
            say(line)
        else:
            self._console.print(Text(line))

    def close(self) -> None:
        """Give the terminal back; the last picture stays on it."""
        if self._timer is not None:
            self._timer.cancel()
        if self._board_task is not None:
            self._board_task.cancel()
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._hushed:
            self._hushed = not _echo_keys(True)

    def _start(self) -> None:
        self._board = self._rate(self.standing.battles())
        self._live = Live(
            self._picture(),
            console=self._console,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._hushed = _echo_keys(False)
        self._live.start(refresh=True)
        self._plan(IDLE_GAP_S)

    def _finish(self) -> None:
        self._board = self._rate(self.standing.battles())
        self._draw(again=False)
        self.close()

    def _plan(self, gap_s: float) -> None:
        """See to it that a picture is drawn so long after the last one."""
        if self._live is None:
            return
        loop = asyncio.get_running_loop()
        due = max(self._drawn_s + gap_s, loop.time())
        if self._timer is None or self._timer.cancelled() or self._timer.when() > due:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(due, self._draw)

    def _draw(self, *, again: bool = True) -> None:
        if self._live is None:
            return
        began = time.thread_time()
        if self._console.size != self._size:
            # What the old picture left behind has been wrapped anew; no counting finds it again.
            self._size = self._console.size
            self._console.control(Control.clear(), Control.home())
        self._live.update(self._picture(), refresh=True)
        self._dear_s = THRIFT * (time.thread_time() - began)
        self._drawn_s = asyncio.get_running_loop().time()
        self._timer = None
        if again:
            self._rate_soon()
            self._plan(IDLE_GAP_S)

    def _picture(self) -> Group:
        width, height = self._console.size
        marks = UNICODE if self._console.encoding.startswith("utf") else ASCII
        # A column stays free, since terminals do not agree on when a full line wraps; two rows for
        # the cursor and for the last line, so that it does not push the head out of sight.
        size = Size(max(width - 1, 20), max(height - 2, 1), marks)
        return Group(*picture(self.standing, self._board, size))

    def _rate_soon(self) -> None:
        is_busy = self._board_task is not None and not self._board_task.done()
        if is_busy or self.standing.done == self._rated or self._drawn_s < self._board_due_s:
            return
        self._board_task = asyncio.create_task(self._rate_aside(self.standing.battles()))

    async def _rate_aside(self, battles: list[Result]) -> None:
        def rate() -> tuple[Table, float]:
            began = time.thread_time()
            return self._rate(battles), time.thread_time() - began

        self._board, took_s = await asyncio.to_thread(rate)
        self._rated = len(battles)
        self._board_due_s = self._drawn_s + max(BOARD_GAP_S, THRIFT * took_s)

    def _rate(self, battles: list[Result]) -> Table:
        run = self.standing.run
        return build(battles, run.models if run else ())


def _echo_keys(told: bool) -> bool:
    """Let the terminal write ^C where it is typed, or not; return whether that changed.

    Below a picture it would move the cursor, and the next picture would leave parts of this one.
    """
    try:
        is_ours = os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False  # no terminal, or not the one whose keys interrupt this process
    if not is_ours:
        return False  # in the background the kernel stops who sets the modes of a terminal
    try:
        modes = termios.tcgetattr(0)
        if bool(modes[3] & termios.ECHOCTL) == told:
            return False
        modes[3] ^= termios.ECHOCTL
        termios.tcsetattr(0, termios.TCSANOW, modes)
    except termios.error:
        return False  # it was hung up
    return True
