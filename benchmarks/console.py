"""What the live console costs, as a share of one core: `python -m benchmarks.console`.

A whole run whose models are scripts that take their time, so that some sixty lineages are in flight
at once, is shown on a terminal that swallows everything. Counted is the CPU time of all that the
console does: taking events in, drawing, and rating for the running leaderboard in its thread.
`--show` draws on this terminal instead; `--mute` lets a share of the calls say nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.canned import USAGE, Canned, answered_by, keep, parser_of, run_frames
from videoautoarena.agents.calls.clients import Load, OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.digests import unit_interval
from videoautoarena.runs.api.simulate import play_run
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.console.progress.events import Listeners, RunBegun, RunEnded, RunEvent
from videoautoarena.runs.console.progress.live import LiveConsole
from videoautoarena.runs.console.progress.snapshot import SnapshotBattle
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import begin
from videoautoarena.runs.tournament.runner import Limits, RunSession
from videoautoarena.video.folder.find import Findings

BOUND = 0.05
VIDEOS = 22
ROUNDS = 5
LATENCY_S = 1.0
CAST = tuple(f"offline:{kind}" for kind in ("hawk", "owl", "mole", "blind", "terse", "windbag"))


class Slow(Canned):
    """Replies what its role asks for, after half to one and a half times the usual time."""

    def __init__(self, model: Model, load: Load, *, latency_s: float, mute: float) -> None:
        """Take what a client takes, and how it behaves."""
        super().__init__(model, load)
        self._latency_s = latency_s
        self._mute = mute

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        """Reply after a while, or say nothing."""
        await asyncio.sleep(self._latency_s * (0.5 + unit_interval(0, "latency", sending.key)))
        if sending.role in ("contestant", "judge") and (
            unit_interval(0, "mute", sending.key) < self._mute
        ):
            return ReceivedReply(text="", usage=USAGE, ending="stop")
        return await super().send(sending)


class Measured(LiveConsole):
    """A live console that counts what it costs."""

    cpu_s = wall_s = 0.0
    pictures = most_flights = 0

    @contextmanager
    def _counted(self) -> Iterator[None]:
        began = time.thread_time()
        yield
        self.cpu_s += time.thread_time() - began

    def hear(self, event: RunEvent) -> None:
        """Take an event in; what is drawn at once counts here."""
        with self._counted():
            super().hear(event)
        self.most_flights = max(self.most_flights, len(self.standing.flights))
        if isinstance(event, RunBegun):
            self.wall_s = -time.monotonic()
        if isinstance(event, RunEnded):
            self.wall_s += time.monotonic()

    def _draw(self, *, again: bool = True) -> None:
        self.pictures += 1
        # The last one is drawn by `hear`, where it is counted.
        with self._counted() if again else nullcontext():
            super()._draw(again=again)

    def _rate(self, battles: list[SnapshotBattle]) -> RatedLeaderboard:
        began = time.thread_time()
        table = super()._rate(battles)
        # In the loop's thread it is counted by whoever called.
        if not _in_loop():
            self.cpu_s += time.thread_time() - began
        return table


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def measure(folder: Path, live: Measured, options: argparse.Namespace) -> None:
    """Play the run to its end before `live`."""
    config = resolve(RunRequest(rounds=options.rounds, models=CAST, limit=None)).config
    films = dict(map(run_frames, range(options.videos)))
    found = Findings(videos=list(films), skipped=[], duplicates=[])
    prompts = PromptSet.load(None)
    client = partial(Slow, latency_s=options.latency_s, mute=options.mute)

    async def whole() -> None:
        run = begin(folder / "out", config, prompts=prompts, found=found, folder=folder)
        for frames in films.values():
            await run.store.put_frames(frames)
        limits = Limits(options.videos * 3)
        listeners = Listeners(live.say, live.hear)
        with answered_by(client):
            await play_run(RunSession(run, folder / "out", limits=limits, listeners=listeners))

    run_async(whole())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what the console costs; return 1 if it is more than the bound."""
    figures = {"videos": VIDEOS, "rounds": ROUNDS, "latency_s": LATENCY_S}
    parser = parser_of(__doc__, **figures, mute=0.0)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        console = (
            Console(stderr=True, highlight=False, emoji=False, markup=False)
            if options.show
            else Console(file=nowhere, force_terminal=True, width=160, height=50)
        )
        live = Measured(console)
        measure(Path(folder), live, options)
    share = live.cpu_s / live.wall_s
    standing = live.standing
    print(
        f"{standing.done} battles, {standing.calls} calls, up to {live.most_flights} lineages in "
        f"flight, {live.wall_s:.0f} s\n"
        f"{live.pictures} pictures ({live.pictures / live.wall_s:.1f} a second), "
        f"{live.cpu_s * 1000 / max(live.pictures, 1):.1f} ms of CPU each with all around them"
    )
    return 0 if keep(f"{share:.1%} of one core, of at most {BOUND:.0%}", share <= BOUND) else 1


if __name__ == "__main__":
    sys.exit(main())
