"""Rows a second that the owner of a run's file commits, sent by workers of a Ray cluster.

Run by an interpreter that has Ray, on a cluster of this machine: `python -m
benchmarks.cluster_rows`. Prints one line of JSON. Senders send rows of 5 kB in messages of one size
after the other, as a worker does: one message at a time each.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from videoautoarena.memory.store.shares import Unit, UnitClaim, Write
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cluster.actors import CallsOwnerActor, calls_of
from videoautoarena.runs.cluster.connection import connected
from videoautoarena.runs.cluster.jobs import Job

SENDERS = 3
SECONDS = 4.0
ROW_BYTES = 4960
SIZES = (1, 32, 128)
_SQL = (
    "INSERT INTO calls (key, scope, role, generation, ordinal, model, body) "
    "VALUES (?, ?, 'judge', 0, 0, 'openai:one', ?) ON CONFLICT (key) DO NOTHING"
)


class Sender:
    """Stands for a worker."""

    def __init__(self, name: str, owner: Any) -> None:
        self._name = name
        self._owner = calls_of(owner)
        self._number = 0

    async def send(self, rows: int, seconds: float) -> int:
        """Send messages of so many rows for a while, and return how many rows were committed."""
        job = Job(Unit(self._name, (self._name,)), "", 0)
        claimed = await self._owner("claim", job, self._name)
        # Read by the file's triggers, as any call's is.
        sent = 0
        body = json.dumps({"alias": "one", "frames": 8, "reply": "x" * ROW_BYTES})
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            self._number += 1
            writes = [self._row(claimed.claim, place, body) for place in range(rows)]
            held = await self._owner("deliver", self._name, self._number, writes)
            sent += sum(held)
        return sent

    def _row(self, claim: UnitClaim, place: int, body: str) -> Write:
        key = f"{self._name}-{self._number}-{place}"
        return Write(claim, ((_SQL, [(key, self._name, body)]),))


async def measured(cluster: Any, path: Path, rows: int) -> float:
    """Return how many rows a second are committed in messages of so many."""
    owner = cluster.on_head(CallsOwnerActor, str(path))
    await calls_of(owner)("begin")
    node = cluster.nodes()[0]
    senders = [cluster.on_node(node, Sender, f"{rows}-{n}", owner) for n in range(SENDERS)]
    await asyncio.gather(*(calls_of(one)("send", rows, 0.5) for one in senders))
    began_s = time.monotonic()
    sent: list[int] = await asyncio.gather(
        *(calls_of(one)("send", rows, SECONDS) for one in senders)
    )
    took_s = time.monotonic() - began_s
    await calls_of(owner)("close")
    for one in (*senders, owner):
        cluster.kill(one)
    return sum(sent) / took_s


async def main() -> None:
    """Measure each size, and print them."""
    with connected(None) as cluster, tempfile.TemporaryDirectory() as folder:
        found = {}
        for rows in SIZES:
            path = Path(folder) / f"{rows}.sqlite"
            Store.create(path, {"bench": "rows"}).close()
            found[rows] = round(await measured(cluster, path, rows))
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main())
