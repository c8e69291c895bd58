"""The live console, and plain lines for a pipe.

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
"""Finished pieces from which on time is estimated; of fewer than a hundred, a tenth of all."""
LEAST_S = 1.0
"""Seconds; a shorter rest is not worth an estimate."""
NEWEST = 100
"""The latest pieces that the estimate rests on; known ones come all at once at the beginning."""
LONGEST_LEFT = len(" ~123.4 h")
"""Characters of the words for the time left, up to weeks of work."""


class RemainingTime:
    """Estimates how long the rest of some work takes from how many pieces are done."""

    def __init__(self, *, done: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # One more than pieces, since each took the time between two looks.
        self._looks = deque([(clock(), done)], maxlen=NEWEST + 1)

    def left_s(self, done: int, total: int) -> float | None:
        """Note how many pieces are done, and return the seconds left; None if it is too early."""
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
        """Note how many pieces are done, and return the time left, such as ` ~7 min`, or ""."""
        left_s = self.left_s(done, total)
        return "" if left_s is None or left_s < LEAST_S else f" ~{roughly(left_s)}"


PIPED = 140
"""Columns of a line without a terminal."""
LEAST_QUESTION = 12
"""Characters; a question that would be cut shorter is left out."""


class BattleLines:
    """Says each settled battle on one line that fits the terminal."""

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
    """Return a listener that says each battle of a run on a line."""
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
    """Says a fact of a model's calls when it first occurs, and at the end how often it did."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._count = FactCount()
        self._said: dict[tuple[str, str, str], int] = {}
        """Key of a fact, model and role to its count when it was said last."""

    def hear(self, event: RunEvent) -> None:
        """Count an event, and say each fact that it is the first case of."""
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


# Rich took about 29 ms of CPU for a table of forty rows: four a second are an eighth of a core, so
# dear pictures stand longer, up to IDLE_GAP_S.
LEAST_GAP_S = 0.25
IDLE_GAP_S = 1.0
"""Seconds between two pictures while nothing happens."""
BEHIND_S = 2.0
BEHIND = 0.05
"""A leaderboard on the screen may be older than the one, or leave out a larger share of the battles
than the other, but never both; unless rating itself takes longer."""
THRIFT = 40
"""A picture or a leaderboard stays for so many times as long as it took to make."""


class LiveConsole:
    """Shows a run on a terminal; lines that it is given appear above the picture."""

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
        """When the last rating began, in the loop's time, and how long it took."""
        self._size = console.size
        self._hushed = False

    def hear(self, event: RunEvent) -> None:
        """Note an event, and draw it soon."""
        self.standing.hear(event)
        match event:
            case RunBegun():
                self._start()
            case RunEnded():
                # The last picture stays on the terminal, so its board has every battle.
                self._rate_now()
                self._draw(again=False)
                self.close()
            case _:
                self._plan(self._picture_gap_s)
                self._rate_soon()

    def say(self, line: str) -> None:
        """Print a line above the picture, if there is one."""
        if self._live is None:
            say(line)
        else:
            self._console.print(Text(line))

    def close(self) -> None:
        """Release the terminal; the last picture stays on it."""
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
            # Drawn on events: a thread of rich's would draw though nothing has changed.
            auto_refresh=False,
            # Results go to stdout as they are, and lines above the picture come through `say`
            # alone.
            redirect_stdout=False,
            redirect_stderr=False,
            # What has scrolled out of the terminal cannot be drawn over.
            vertical_overflow="crop",
        )
        self._hushed = _echo_keys(False)
        self._live.start(refresh=True)
        self._plan(IDLE_GAP_S)

    @property
    def _picture_gap_s(self) -> float:
        return min(max(LEAST_GAP_S, self._dear_s), IDLE_GAP_S)

    def _plan(self, gap_s: float) -> None:
        """Plan a picture `gap_s` seconds after the last one, unless an earlier one is planned."""
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
        # CPU and not wall time: what a picture costs, however busy the machine is.
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
        """Plan a new leaderboard before the shown one is too far behind."""
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
        """Return the seconds between the beginnings of the last leaderboard and the next."""
        # Half of what it may be: when the rest comes at once, what is missing by then is young.
        if self._missing() <= BEHIND / 2 * self.standing.done:
            return THRIFT * self._took_cpu_s
        # What a rating and then the next picture take is time in which it grows older still.
        left_s = BEHIND_S - self._picture_gap_s - 2 * self._took_s
        return min(THRIFT * self._took_cpu_s, max(0.0, left_s))

    def _begin_rating(self) -> None:
        self._rating_timer = None
        # Battles are copied here, in the loop: the thread must not read what events change.
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
        # In a thread, so that no reply has to wait for a rating.
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
    """Make the terminal echo ^C, or not; return whether that changed.

    An echo below a picture would move the cursor, and parts of the picture would stay behind.
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
        # Index 3 holds the local modes, where ECHOCTL is the one that shows ^C.
        modes[3] ^= termios.ECHOCTL
        termios.tcsetattr(0, termios.TCSANOW, modes)
    except termios.error:
        return False  # it was hung up
    return True
