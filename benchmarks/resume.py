"""What a large run costs to go on with, to replay and to read: `python -m benchmarks.resume`.

A run whose models answer at once is played to its end. Then a video is added: until its first call
is made, all that is settled has to be passed by, which is held to twenty times what SQLite takes to
give out the battles' bytes once. Then the last round of every lineage is cut off, but for what
contestants have said in it, and played again. Then the whole run is replayed, and read as the
commands read it. Times are those of the processor, of all threads.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.canned import Canned, Shape, begun, continued, keep, parser_of, played, timed
from videoautoarena.agents.calls.clients import Load, OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model
from videoautoarena.runs.analysis.leaderboard.board import board_of, slices_of
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.console.progress.status import status_of
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.tournament.replay import replay

BOUND = 20.0
VIDEOS = 334
ROUNDS = 3


@dataclass
class Sent:
    """Calls that were made, and the processor's time at the first of them."""

    calls: int = 0
    first_s: float = 0.0


class Counting(Canned):
    """Replies at once, and counts."""

    def __init__(self, model: Model, load: Load, *, sent: Sent) -> None:
        """Take what a client takes, and where to count."""
        super().__init__(model, load)
        self._sent = sent

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        """Reply, and note when the first call came."""
        if not self._sent.calls:
            self._sent.first_s = time.process_time()
        self._sent.calls += 1
        return await super().send(sending)


class Part(NamedTuple):
    """What was done, and milliseconds of CPU for each of so many battles."""

    name: str
    cpu_s: float
    battles: int

    @property
    def line(self) -> str:
        """A line of the table."""
        each = self.cpu_s * 1000 / self.battles
        return f"{self.name:<44}{self.cpu_s:9.2f} s{each:9.3f} ms a battle"


@dataclass
class Bench:
    """A run in a folder, and what was measured of it."""

    folder: Path
    shape: Shape
    parts: list[Part] = field(default_factory=list)

    @property
    def file(self) -> Path:
        """Where the run lies."""
        return self.folder / "out" / RUN_FILE

    def measure(self, name: str, deed: Callable[[], object], battles: int = 0) -> None:
        """Do something and note what it cost."""
        with timed() as took:
            deed()
        self.parts.append(Part(name, took.cpu_s, battles or self.shape.battles))

    def begin(self) -> None:
        """Play the run to its end."""
        run = begun(self.folder, self.shape)
        self.measure("playing it", lambda: run_async(played(run, self.folder)))

    def read_bytes(self) -> None:
        """Read the battles' bytes once."""
        with closing(sqlite3.connect(self.file)) as file:
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            read = file.execute("SELECT body FROM battles").fetchall
            self.measure("SQLite giving out the battles", read)

    def add_video(self) -> None:
        """Go on with one more video; what counts is the time up to its first call."""
        sent = Sent()
        began = time.process_time()
        self.go_on(sent, replace(self.shape, videos=self.shape.videos + 1))
        cost = Part("up to the first call of a new video", sent.first_s - began, self.shape.battles)
        self.parts.append(cost)

    def finish(self) -> None:
        """Play the last round again, of which the journal has the contestants' calls."""
        last = self.shape.rounds - 1
        with closing(sqlite3.connect(self.file)) as file, file:
            file.execute("DELETE FROM battles WHERE id LIKE ?", (f"%-r{last}",))
            gone = file.execute(
                "DELETE FROM calls WHERE role != 'contestant' AND scope LIKE ?", (f"%-r{last}",)
            ).rowcount
        sent = Sent()
        again = self.shape.battles // self.shape.rounds
        self.measure("the last round, half of it in the journal", lambda: self.go_on(sent), again)
        if sent.calls != gone:
            raise RuntimeError(f"{sent.calls} calls were made, of which {gone} were missing")

    def go_on(self, sent: Sent, shape: Shape | None = None) -> None:
        """Continue the run to its end."""
        run = continued(self.folder, shape or self.shape)
        run_async(played(run, self.folder, client=partial(Counting, sent=sent)))

    def read(self) -> None:
        """Replay the run and read it as the commands do."""
        out = self.folder / "out"

        def play_again() -> None:
            if (found := run_async(replay(out))).others:
                raise RuntimeError(found.differences[0])

        self.measure("replaying it", play_again)
        self.measure("arena status", lambda: status_of(out).as_lines())
        self.measure("arena leaderboard", lambda: board_of(out))
        self.measure("arena leaderboard --by category", lambda: slices_of(out, "category"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what each thing costs; return 1 if going on costs more than the bound."""
    options = parser_of(__doc__, videos=VIDEOS, rounds=ROUNDS).parse_args(arguments)
    import videoautoarena.graph.tournament  # noqa: F401

    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), Shape(options.videos, options.rounds))
        bench.begin()
        bench.read_bytes()
        bench.add_video()
        bench.shape = replace(bench.shape, videos=options.videos + 1)
        bench.finish()
        bench.read()
    print(f"a run of {bench.shape.battles} battles", *(part.line for part in bench.parts), sep="\n")
    cost = {part.name: part.cpu_s for part in bench.parts}
    ratio = cost["up to the first call of a new video"] / cost["SQLite giving out the battles"]
    line = f"going on takes {ratio:.1f} x what SQLite takes, of at most {BOUND:g} x"
    return 0 if keep(line, ratio <= BOUND) else 1


if __name__ == "__main__":
    sys.exit(main())
