"""Waiting at servers that refuse calls for now: in words, and kept in the run's file for others.

The process that plays a run keeps them under its own id, so that nobody takes those of an earlier
process for waits that go on.
"""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from videoautoarena.agents.limits.outages import ServerWait
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import spent
from videoautoarena.runs.run.rundir.reader import one_line

WAITING_FILE = "local/waiting"
"""Name in the run's file of the servers that its process waits at; no part of the run."""
LONGEST_REASON = 200


class Waiting(NamedTuple):
    """A server at which calls of a run wait."""

    address: str
    since_s: float
    """In seconds since 1970."""
    fault: str
    reason: str

    @property
    def wait(self) -> ServerWait:
        """Return it as it was heard of where it began."""
        return ServerWait(self.address, "waiting", 0.0, self.fault, self.reason)

    def line(self) -> str:
        """Return it as a line for a person."""
        time_s = max(time.time() - self.since_s, 0.0)
        return f"waiting at {safe(self.address)} for {spent(time_s)}: {_refusal(self.wait)}"

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `waiting` in `arena status --json`."""
        return {**self._asdict(), "since_s": round(self.since_s, 3)}


class _Written(TypedDict):
    process: int
    servers: list[Waiting]


_WRITTEN = TypeAdapter(_Written)


class KeptWaits:
    """Keeps in a run's file at which servers its process waits."""

    def __init__(self, store: Store, process: int) -> None:
        self._store = store
        self._process = process
        self._waiting: dict[str, Waiting] = {}

    def hear(self, event: object) -> None:
        """Keep where a wait begins, and forget it where it ends."""
        if not isinstance(event, ServerWait):
            return
        if event.state == "waiting":
            of_it = Waiting(event.address, time.time(), event.fault, event.reason)
            self._waiting[event.address] = of_it
        else:
            self._waiting.pop(event.address, None)
        servers = [one._asdict() for one in self._waiting.values()]
        text = json.dumps({"process": self._process, "servers": servers})
        self._store.put_file(WAITING_FILE, text, replace=True)


def waiting_now(store: Store, process: int | None) -> list[Waiting]:
    """Return the servers at which the process that plays a run waits; none where none plays it."""
    kept = store.file_as(_WRITTEN, WAITING_FILE)
    return kept["servers"] if kept and kept["process"] == process else []


def about_wait(wait: ServerWait) -> str:
    """Return where calls wait, or waited, as a line for a person."""
    if wait.state == "over":
        return f"waiting at {safe(wait.address)} is over after {spent(wait.seconds)}"
    again = f", next try in {spent(wait.seconds)}" if wait.seconds else ""
    return f"waiting at {safe(wait.address)}{again}: {_refusal(wait)}; other work continues"


def _refusal(wait: ServerWait) -> str:
    status = wait.fault.removeprefix("http-")
    return f"it refuses calls for now ({status}): {one_line(wait.reason, LONGEST_REASON)}"
