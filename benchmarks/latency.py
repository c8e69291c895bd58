"""What share of the least possible time a run keeps up with: `python -m benchmarks.latency`.

Every call takes 0.2 s. The graph, its schedule, prompts, draws, journal and store are those of a
real run, of 126 lineages in two blocks with 3 rounds and 32 calls in flight. It is held to the time
in which a machine that takes no time itself would make the same calls, each as soon as the graph
lets it and none waiting for a wave: a simulation of them, beside which stands the plain bound, all
the calls' seconds divided among the places. The best of its turns counts, since whatever else the
machine does can only take from it. `--pairing uniform` is the same without waves.

`--http` also sends the calls through ChatOpenAI to a server in another process, which waits as long
before it answers; that is no part of the bound.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.bound import Calls, calls_of, least_s
from benchmarks.canned import Canned
from benchmarks.whole import MakeClient, Shape, Took, begun, played, timed
from videoautoarena.agents.calls.clients import ChatClient, Load, Received, Sending
from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cli.ending import run_async
from videoautoarena.runs.rundir.reader import RUN_FILE

BOUND = 0.95
VIDEOS = 42
ROUNDS = 3
PLACES = 32
CALL_S = 0.2
TURNS = 3


class Slow(Canned):
    """Replies what its role asks for, after as long as every call takes."""

    def __init__(self, model: Model, load: Load, *, call_s: float) -> None:
        """Take what a client takes, and how long a call is."""
        super().__init__(model, load)
        self._call_s = call_s

    async def send(self, sending: Sending) -> Received:
        """Reply after a while."""
        await asyncio.sleep(self._call_s)
        return await super().send(sending)


class Turn(NamedTuple):
    """One run: how long it took, and what it consisted of."""

    took: Took
    calls: Calls


def turn(shape: Shape, client: MakeClient, *, places: int) -> Turn:
    """Play one run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = begun(folder, shape)

        async def whole() -> Took:
            with timed() as took:
                finished = await played(run, folder, client=client, concurrency=places)
            if finished.settled != shape.battles or finished.voids:
                raise RuntimeError(f"{finished} is no whole run")
            return took

        took = run_async(whole())
        with Store.open(folder / "out" / RUN_FILE, write=False) as store:
            return Turn(took, calls_of(row.nonce for row in store.journal.calls()))


@contextmanager
def serving(call_s: float) -> Iterator[str]:
    """Give the address of a server that waits so long before it answers."""
    command = [sys.executable, "-m", "benchmarks.served", str(call_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the server has no pipes")
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.stdin.close()


def told(turns: Sequence[Turn], *, places: int, call_s: float, name: str) -> tuple[float, str]:
    """Return the best turn's share of the least time, and a line about it."""
    took, calls = min(turns, key=lambda one: one.took.wall_s)
    number = len(calls.waits_for)
    plain_s = max(number / places, calls.longest) * call_s
    bound_s = least_s(calls, places=places, call_s=call_s)
    share = bound_s / took.wall_s
    return share, (
        f"{name}: {number} calls, {took.wall_s:.2f} s; at least {bound_s:.2f} s, "
        f"plain bound {plain_s:.2f} s: {share:.1%}, {plain_s / took.wall_s:.1%} of the plain one; "
        f"{took.cpu_s / took.wall_s:.0%} of a core, {took.cpu_s * 1000 / number:.2f} ms a call"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how close the run comes to the bound; return 1 if it is not close enough."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--videos", type=int, default=VIDEOS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--places", type=int, default=PLACES)
    parser.add_argument("--call-s", type=float, default=CALL_S)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--pairing", choices=("mix", "uniform"), default="mix")
    parser.add_argument("--http", action="store_true")
    options = parser.parse_args(arguments)
    import videoautoarena.graph.tournament  # noqa: F401

    places = options.places
    shape = Shape(options.videos, options.rounds, pairing=options.pairing)
    tell = partial(told, places=places, call_s=options.call_s)
    slow = partial(Slow, call_s=options.call_s)
    turns = [turn(shape, slow, places=places) for _ in range(options.turns)]
    share, line = tell(turns, name="in the process")
    print(line)
    if options.http:
        with serving(options.call_s) as url:
            over = replace(shape, url=url)
            print(tell([turn(over, ChatClient, places=places)], name="over HTTP")[1])
    kept = share >= BOUND
    print(f"{share:.1%} of at least {BOUND:.0%}: {'kept' if kept else 'NOT kept'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
