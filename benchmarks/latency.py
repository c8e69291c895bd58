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

import asyncio
import heapq
import subprocess
import sys
import tempfile
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from benchmarks.canned import (
    Canned,
    MakeClient,
    Shape,
    Took,
    begun,
    check_whole,
    keep,
    parser_of,
    played,
    timed,
)
from videoautoarena.agents.calls.clients import ChatClient, Load, OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.records import Nonce
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.run.rundir.reader import RUN_FILE

STEPS = {"questioner": 0, "evolver": 1, "grader": 1, "contestant": 2, "judge": 3}
"""What follows what in a round."""


@dataclass
class Calls:
    """Calls and what each waits for, in the order in which they come up first."""

    waits_for: list[int] = field(default_factory=list)
    """How many calls must have ended before each."""
    opens: list[list[int]] = field(default_factory=list)
    """The calls that wait for each."""

    def add(self, number: int, after: Sequence[int]) -> list[int]:
        """Add calls side by side that wait for all of `after`; return their places."""
        places = list(range(len(self.waits_for), len(self.waits_for) + number))
        self.waits_for += [len(after)] * number
        self.opens += [[] for _ in places]
        for call in after:
            self.opens[call] += places
        return places

    @property
    def longest(self) -> int:
        """How many calls the longest chain has."""
        depth = [1] * len(self.opens)
        # A call is added before those that wait for it.
        for call, opened in enumerate(self.opens):
            for later in opened:
                depth[later] = max(depth[later], depth[call] + 1)
        return max(depth, default=0)


def calls_of(nonces: Iterable[Nonce]) -> Calls:
    """Return the calls of a run by what the graph makes each wait for."""
    by_scope: dict[str, list[Nonce]] = defaultdict(list)
    for nonce in nonces:
        by_scope[nonce.scope].append(nonce)
    calls = Calls()
    ends: dict[str, list[int]] = {}
    for scope in sorted(by_scope, key=_round):
        video = scope.split("-")[0]
        lineage = scope.rpartition("-r")[0]
        made = by_scope[scope]
        steps = [1] * len(made) if scope == video else _played(made)
        after = ends.get(lineage, ends.get(video, []))
        for side_by_side in steps:
            after = calls.add(side_by_side, after)
        ends[lineage or video] = after
    return calls


def _round(scope: str) -> int:
    return int(scope.rpartition("-r")[2]) if "-" in scope else -1


def _played(nonces: Sequence[Nonce]) -> list[int]:
    """Return how many calls stand side by side in each step of a slot."""
    ordered = sorted(nonces, key=lambda nonce: STEPS[nonce.role])
    steps = {step: len(list(group)) for step, group in groupby(ordered, lambda n: STEPS[n.role])}
    return [
        number
        for step, side_by_side in sorted(steps.items())
        for number in ([1] * side_by_side if step <= 1 else [side_by_side])
    ]


def least_s(calls: Calls, *, places: int, call_s: float) -> float:
    """Return when the last call ends if each is sent as soon as it may be and a place is free."""
    waits_for = list(calls.waits_for)
    ready = deque(call for call, before in enumerate(waits_for) if not before)
    under_way: list[tuple[float, int]] = []
    now = 0.0
    while ready or under_way:
        while ready and len(under_way) < places:
            heapq.heappush(under_way, (now + call_s, ready.popleft()))
        now, ended = heapq.heappop(under_way)
        for later in calls.opens[ended]:
            waits_for[later] -= 1
            if not waits_for[later]:
                ready.append(later)
    return now


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

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
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
            check_whole(finished, shape.battles)
            return took

        took = run_async(whole())
        with Store.open(folder / "out" / RUN_FILE, write=False) as store:
            return Turn(took, calls_of(row.nonce for row in store.journal.calls()))


@contextmanager
def serving(call_s: float) -> Iterator[str]:
    """Give the address of a server that waits so long before it answers."""
    command = [sys.executable, "-m", "benchmarks.canned", str(call_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the server has no pipes")
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.stdin.close()


def summary(turns: Sequence[Turn], *, places: int, call_s: float, name: str) -> tuple[float, str]:
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
    figures = {"videos": VIDEOS, "rounds": ROUNDS, "places": PLACES, "call_s": CALL_S}
    parser = parser_of(__doc__, **figures, turns=TURNS)
    parser.add_argument("--pairing", choices=("mix", "uniform"), default="mix")
    parser.add_argument("--http", action="store_true")
    options = parser.parse_args(arguments)
    import videoautoarena.graph.tournament  # noqa: F401

    places = options.places
    shape = Shape(options.videos, options.rounds, pairing=options.pairing)
    summed = partial(summary, places=places, call_s=options.call_s)
    slow = partial(Slow, call_s=options.call_s)
    turns = [turn(shape, slow, places=places) for _ in range(options.turns)]
    share, line = summed(turns, name="in the process")
    print(line)
    if options.http:
        with serving(options.call_s) as url:
            over = replace(shape, url=url)
            print(summed([turn(over, ChatClient, places=places)], name="over HTTP")[1])
    return 0 if keep(f"{share:.1%} of at least {BOUND:.0%}", share >= BOUND) else 1


if __name__ == "__main__":
    sys.exit(main())
