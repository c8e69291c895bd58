"""The live console, and plain lines where there is no terminal.

It is fed by events and never draws more than four times a second, and less often where drawing is
dear: at most a fortieth of the time goes into pictures. As much goes into the running leaderboard,
and more only while that is behind: it holds all battles but a twentieth, or all that had ended two
seconds ago.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import termios
import time
from collections import deque
from collections.abc import Callable

from rich.console import Console, Group
from rich.control import Control
from rich.live import Live
from rich.text import Text

from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    Hear,
    RuleRead,
    RunBegun,
    RunEnded,
    RunEvent,
    Say,
    end_of,
)
from videoautoarena.runs.console.progress.screen import LiveBoard, ScreenSize, picture
from videoautoarena.runs.console.progress.snapshot import RunSnapshot, SnapshotBattle
from videoautoarena.runs.formats.terminal import say
from videoautoarena.runs.formats.terminal_text import ASCII, UNICODE
from videoautoarena.runs.formats.words import roughly
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.rundir.call_facts import FactCount
from videoautoarena.runs.run.rundir.reader import one_line, outcome

LEAST = 10
"""So many pieces say how long one takes; of fewer than a hundred, a tenth of them."""
LEAST_S = 1.0
"""Nobody asks how long less than this takes."""
NEWEST = 100
"""By so many pieces it is told: what is known from before comes all at once, at the beginning."""
LONGEST_LEFT = len(" ~123.4 h")
"""Characters of the words for what is left, but for weeks of work."""


class RemainingTime:
    """Takes how many pieces are done whenever one is, and says how long the rest takes."""

    def __init__(self, *, done: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looks = deque([(clock(), done)], maxlen=NEWEST + 1)

    def left_s(self, done: int, total: int) -> float | None:
        """Take a look, and return the seconds that are left; None where nobody can say yet."""
        if done == self._looks[-1][1]:
            # What went before the first piece takes no time of any.
            self._looks.pop()
        self._looks.append((self._clock(), done))
        since, before = self._looks[0]
        now, _ = self._looks[-1]
        fresh = done - before
        if done >= total or fresh < min(LEAST, max(1, total // 10)):
            return None
        return (now - since) / fresh * (total - done)

    def words(self, done: int, total: int) -> str:
        """Take a look, and return it as it follows a count: ` ~7 min`, or nothing."""
        left_s = self.left_s(done, total)
        return "" if left_s is None or left_s < LEAST_S else f" ~{roughly(left_s)}"


PIPED = 140
"""Columns of a line where no terminal says how many there are."""
LEAST_QUESTION = 12
"""A question that would be cut shorter than this is left out."""


class BattleLines:
    """Says each battle as it is settled, on one line that fits the terminal."""

    def __init__(
        self,
        *,
        total: int,
        done: int,
        say: Callable[[str], None],
        columns: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = total
        self.done = done
        self._say = say
        self._columns = columns or (
            shutil.get_terminal_size().columns if sys.stderr.isatty() else PIPED
        )
        self._pace = RemainingTime(done=done, clock=clock)

    def settled(self, battle: Battle) -> None:
        """Count a battle and print its line."""
        self.done += 1
        left = self._pace.words(self.done, self.total)
        counted = f"{self.done:>{len(str(self.total))}}/{self.total}"
        line = f"[{counted}{left}] {outcome(battle)}  {battle.id}"
        # As much of a question is shown whatever the clock says, so that equal runs say the same.
        room = self._columns - len(line) + len(left) - LONGEST_LEFT - 2
        if battle.question and room >= LEAST_QUESTION:
            line += f"  {one_line(battle.question, room)}"
        self._say(line)


def plain_lines(say: Say) -> Hear:
    """Return what hears a run and says each battle on a line."""
    progress: BattleLines | None = None
    facts = FactLines(say)

    def hear(event: RunEvent) -> None:
        nonlocal progress
        facts.hear(event)
        match event:
            case RunBegun():
                progress = BattleLines(total=len(event.slots), done=len(event.battles), say=say)
            case BattleSettled(battle) if progress is not None:
                progress.settled(battle)
            case RuleRead(reading):
                mark = "met, " if reading.is_met else ""
                say(f"until {reading.rule}: {mark}{reading.where}")

    return hear


class FactLines:
    """Says what is so of a model's calls when it is first heard of, and at the end how often."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._count = FactCount()
        self._said: dict[tuple[str, str, str], int] = {}
        """How often a fact held of a model in a role when it was said last."""

    def hear(self, event: RunEvent) -> None:
        """Take an event in, and say what it is the first of."""
        match event:
            case RunBegun(facts=facts) if facts is not None:
                self._count = facts.copy()
            case CallEvent(kind="finished"):
                if self._count.add(end_of(event)):
                    self._say_new()
            case BattleSettled(battle):
                if self._count.add_answers(battle):
                    self._say_new()
            case RunEnded():
                self._say_new(is_end=True)

    def _say_new(self, *, is_end: bool = False) -> None:
        for one in self._count.found("lines"):
            place = (one.fact.key, one.model, one.role)
            is_known = self._said.get(place) == one.count if is_end else place in self._said
            if not is_known:
                self._said[place] = one.count
                self._say(f"note: {one.sentence}")


LEAST_GAP_S = 0.25
IDLE_GAP_S = 1.0
"""Between two pictures where nothing happens but time."""
BEHIND_S = 2.0
BEHIND = 0.05
"""A leaderboard on the screen is older than the one or leaves out more battles than the other, of
those that ended, but never both; if only the rating itself takes no longer."""
THRIFT = 40
"""So many times as long as it took, a picture or a leaderboard is let stand."""


class LiveConsole:
    """Shows a run on a terminal; hears events and takes lines, which appear above the picture."""

    def __init__(self, console: Console) -> None:
        self.standing = RunSnapshot()
        self._console = console
        self._live: Live | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._drawn_s = self._dear_s = 0.0
        self._board: LiveBoard | None = None
        self._rating: asyncio.Task[None] | None = None
        self._rating_timer: asyncio.TimerHandle | None = None
        self._rated_s = self._took_s = self._took_cpu_s = 0.0
        """When the last rating began, in the loop's time, and what it took."""
        self._size = console.size
        self._hushed = False

    def hear(self, event: RunEvent) -> None:
        """Take an event in, and draw it soon."""
        self.standing.hear(event)
        match event:
            case RunBegun():
                self._start()
            case RunEnded():
                self._rate_now()
                self._draw(again=False)
                self.close()
            case _:
                self._plan(self._picture_gap_s)
                self._rate_soon()

    def say(self, line: str) -> None:
        """Print a line above the picture, where there is one."""
        if self._live is None:
            say(line)
        else:
            self._console.print(Text(line))

    def close(self) -> None:
        """Give the terminal back; the last picture stays on it."""
        for under_way in (self._timer, self._rating_timer, self._rating):
            if under_way is not None:
                under_way.cancel()
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._hushed:
            self._hushed = not _echo_keys(True)

    def _start(self) -> None:
        self._rate_now()
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

    @property
    def _picture_gap_s(self) -> float:
        return min(max(LEAST_GAP_S, self._dear_s), IDLE_GAP_S)

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
            self._plan(IDLE_GAP_S)

    def _picture(self) -> Group:
        width, height = self._console.size
        marks = UNICODE if self._console.encoding.startswith("utf") else ASCII
        # A column stays free, since terminals do not agree on when a full line wraps; two rows for
        # the cursor and for the last line, so that it does not push the head out of sight.
        size = ScreenSize(max(width - 1, 20), max(height - 2, 1), marks)
        return Group(*picture(self.standing, self._board, size))

    def _rate_soon(self) -> None:
        """See to it that the leaderboard is made anew before it is too far behind."""
        is_busy = self._rating is not None and not self._rating.done()
        if self._live is None or is_busy or not self._missing():
            return
        loop = asyncio.get_running_loop()
        due_s = max(self._rated_s + self._board_gap_s(), loop.time())
        if self._rating_timer is not None:
            if self._rating_timer.when() <= due_s:
                return
            self._rating_timer.cancel()
        self._rating_timer = loop.call_at(due_s, self._begin_rating)

    def _missing(self) -> int:
        return self.standing.done - (self._board.battles if self._board else 0)

    def _board_gap_s(self) -> float:
        """Return how long after the last leaderboard was begun the next one is."""
        # Half of what it may be: when the rest comes at once, what is missing by then is young.
        if self._missing() <= BEHIND / 2 * self.standing.done:
            return THRIFT * self._took_cpu_s
        # What a rating and then the next picture take is time in which it grows older still.
        left_s = BEHIND_S - self._picture_gap_s - 2 * self._took_s
        return min(THRIFT * self._took_cpu_s, max(0.0, left_s))

    def _begin_rating(self) -> None:
        self._rating_timer = None
        self._rating = asyncio.create_task(self._rate_aside(self.standing.battles()))
        self._rating.add_done_callback(self._after_rating)

    def _after_rating(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is None:
            self._rate_soon()

    async def _rate_aside(self, battles: list[SnapshotBattle]) -> None:
        def rate() -> tuple[RatedLeaderboard, float]:
            began = time.thread_time()
            return self._rate(battles), time.thread_time() - began

        loop = asyncio.get_running_loop()
        self._rated_s = loop.time()
        table, self._took_cpu_s = await asyncio.to_thread(rate)
        self._took_s = loop.time() - self._rated_s
        self._board = LiveBoard(table, len(battles))
        self._plan(self._picture_gap_s)

    def _rate_now(self) -> None:
        battles = self.standing.battles()
        self._board = LiveBoard(self._rate(battles), len(battles))

    def _rate(self, battles: list[SnapshotBattle]) -> RatedLeaderboard:
        run = self.standing.run
        return build(battles, run.models if run else ())


def _echo_keys(wanted: bool) -> bool:
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
        if bool(modes[3] & termios.ECHOCTL) == wanted:
            return False
        modes[3] ^= termios.ECHOCTL
        termios.tcsetattr(0, termios.TCSANOW, modes)
    except termios.error:
        return False  # it was hung up
    return True
