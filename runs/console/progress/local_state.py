"""What a playing process keeps in the run's file for onlookers: machines at work, and waits.

Both are kept under the id of the process, so that nobody takes those of an earlier process for
machines at work or for waits that go on. They are no part of the run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from videoautoarena.agents.limits.outages import ServerWait
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import spent
from videoautoarena.runs.run.rundir.reader import counted, one_line

NODES_FILE = "local/nodes"
"""Name in the run's file of the state of its machines; no part of the run."""
NAMED = 8
"""The most machines that lines of text name."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The state of a machine of a cluster."""

    node: str
    workers: int = 0
    """Processes that play there."""
    under_way: int = 0
    """Tries that they have under way."""
    calls: int = 0
    """Calls that they have finished."""
    lost: int = 0
    """Workers that were given up there."""


@dataclass(frozen=True, slots=True)
class Machines:
    """The state of all machines of a cluster."""

    machines: tuple[Machine, ...]
    """The machines, sorted by name."""
    losses: int = 0
    """Workers that were given up since the process began."""


class KeptMachines(NamedTuple):
    """The last known state of machines, and the process that owned the run's file then."""

    machines: Machines
    process: int


class _MachinesFile(TypedDict):
    process: int
    machines: tuple[Machine, ...]
    losses: int


_KEPT_MACHINES = TypeAdapter(_MachinesFile)


def keep_machines(store: Store, machines: Machines, process: int) -> None:
    """Keep the state of its machines in the run's file."""
    text = json.dumps({"process": process, **asdict(machines)})
    store.put_file(NODES_FILE, text, replace=True)


def kept_machines(store: Store) -> KeptMachines | None:
    """Return the last known state of machines; None for a run that no cluster played."""
    found = store.file_as(_KEPT_MACHINES, NODES_FILE)
    if found is None:
        return None
    return KeptMachines(Machines(found["machines"], found["losses"]), found["process"])


def machines_at_work(store: Store, process: int | None) -> Machines | None:
    """Return the machines with which `process` plays a run now, or None."""
    kept = kept_machines(store)
    return kept.machines if kept and kept.process == process and kept.machines.machines else None


def summed(machines: Sequence[Machine], name: str = "") -> Machine:
    """Return the sum of machines, as one."""
    return Machine(
        name,
        sum(one.workers for one in machines),
        sum(one.under_way for one in machines),
        sum(one.calls for one in machines),
        sum(one.lost for one in machines),
    )


def troubled_first(machines: Machines) -> list[Machine]:
    """Return the machines, those that lost most workers first, then by name."""
    return sorted(machines.machines, key=lambda one: (-one.lost, one.node))


def about(machine: Machine) -> str:
    """Return the state of a machine, or of a sum of them, in words."""
    flying = f"{counted(machine.under_way, 'call')} in flight, {machine.calls:,} finished"
    lost = f", {counted(machine.lost, 'worker')} lost" if machine.lost else ""
    return f"{counted(machine.workers, 'worker')}, {flying}{lost}"


def machine_lines(machines: Machines) -> list[str]:
    """Return machines at work as lines for a person, the sum first."""
    ordered = troubled_first(machines)
    if len(ordered) == 1:
        return [f"on machine {safe(ordered[0].node)}: {about(ordered[0])}"]
    lines = [f"on {counted(len(ordered), 'machine')}: {about(summed(ordered))}"]
    lines += (f"  {safe(one.node)}: {about(one)}" for one in ordered[:NAMED])
    if more := ordered[NAMED:]:
        lines.append(f"  {len(more)} more: {about(summed(more))}")
    return lines


def past_line(machines: Machines) -> str:
    """Return one line on the machines of a cluster that no longer plays the run."""
    ordered = troubled_first(machines)
    names = ", ".join(safe(one.node) for one in ordered[:NAMED])
    more = f" and {len(ordered) - NAMED} more" if len(ordered) > NAMED else ""
    total = summed(ordered)
    lost = f"; {counted(total.lost, 'worker')} lost" if total.lost else ""
    calls = counted(total.calls, "call")
    return f"last time on a cluster: {calls} on {names}{more}{lost}"


WAITING_FILE = "local/waiting"
"""Name in the run's file of the servers that its process waits for; no part of the run."""
LONGEST_REASON = 200


class Waiting(NamedTuple):
    """A server at which calls of a run wait."""

    address: str
    since_s: float
    """When the wait began, in seconds since 1970."""
    fault: str
    reason: str

    @property
    def wait(self) -> ServerWait:
        """The event with which the wait began."""
        return ServerWait(self.address, "waiting", 0.0, self.fault, self.reason)

    def line(self) -> str:
        """Return a line for a person."""
        # The clock may have been set back meanwhile.
        time_s = max(time.time() - self.since_s, 0.0)
        return f"waiting at {safe(self.address)} for {spent(time_s)}: {_refusal(self.wait)}"

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `waiting` in `arena status --json`."""
        return {**self._asdict(), "since_s": round(self.since_s, 3)}


class _WaitsFile(TypedDict):
    process: int
    servers: list[Waiting]


_KEPT_WAITS = TypeAdapter(_WaitsFile)


class KeptWaits:
    """Keeps in a run's file for which servers its process waits."""

    def __init__(self, store: Store, process: int) -> None:
        self._store = store
        self._process = process
        self._waiting: dict[str, Waiting] = {}

    def hear(self, event: object) -> None:
        """Keep a wait when it begins, and forget it when it ends."""
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
    """Return the servers for which the process that plays a run waits; none if none plays it."""
    kept = store.file_as(_KEPT_WAITS, WAITING_FILE)
    return kept["servers"] if kept and kept["process"] == process else []


def about_wait(wait: ServerWait) -> str:
    """Return a line on the server at which calls wait or waited."""
    if wait.state == "over":
        return f"waiting at {safe(wait.address)} is over after {spent(wait.seconds)}"
    again = f", next try in {spent(wait.seconds)}" if wait.seconds else ""
    return f"waiting at {safe(wait.address)}{again}: {_refusal(wait)}; other work continues"


def _refusal(wait: ServerWait) -> str:
    status = wait.fault.removeprefix("http-")
    return f"it refuses calls for now ({status}): {one_line(wait.reason, LONGEST_REASON)}"
