"""The least time in which a run's calls can be made, when everything between them takes none."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from videoautoarena.memory.records.records import Nonce

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
        video, lineage = scope.split("-")[0], scope.rpartition("-r")[0]
        steps = _examined(by_scope[scope]) if scope == video else _played(by_scope[scope])
        after = ends.get(lineage, ends.get(video, []))
        for side_by_side in steps:
            after = calls.add(side_by_side, after)
        ends[lineage or video] = after
    return calls


def _round(scope: str) -> int:
    return int(scope.rpartition("-r")[2]) if "-" in scope else -1


def _examined(nonces: Sequence[Nonce]) -> list[int]:
    return [1] * len(nonces)


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
