"""The way to a Ray cluster: finding it, looking at its machines, starting processes on them."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.text.terminal import safe

HEAD = "node:__internal_head__"
"""The resource that Ray gives to the head of a cluster, and to no other machine."""
PINNED = 0.001
"""How much of it a process takes that has to be there."""
LOOPBACK = "127.0.0.1"
REACH_S = 5.0
"""How long a cluster's address may take to answer."""
PROBE_S = 60.0
"""And a machine to say what it has."""
CALLS_AT_ONCE = 100_000
"""Of one process: most of them wait for waves."""
INSTALL = "pip install 'videoautoarena[ray]'"


@dataclass(frozen=True)
class Node:
    """A machine of the cluster."""

    id: str
    name: str
    cpus: int


class Connection:
    """A connection to a cluster; one a process."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray

    def nodes(self) -> list[Node]:
        """Return the machines that are alive and have processors to play on, the head first."""
        found = [one for one in self.ray.nodes() if one["Alive"]]
        found.sort(key=lambda one: (HEAD not in one["Resources"], one["NodeID"]))
        names: dict[str, int] = {}
        nodes = []
        for one in found:
            host = str(one["NodeManagerHostname"] or one["NodeManagerAddress"])
            names[host] = names.get(host, 0) + 1
            name = host if names[host] == 1 else f"{host}/{one['NodeID'][:6]}"
            cpus = int(one["Resources"].get("CPU", 0))
            if cpus:
                nodes.append(Node(one["NodeID"], name, cpus))
        return nodes

    def on_head(self, kind: type, *values: Any, **named: Any) -> Any:
        """Start a process on the head that begins anew when it dies."""
        options = self.ray.remote(kind).options(
            num_cpus=0,
            resources={HEAD: PINNED},
            max_restarts=-1,
            max_task_retries=0,
            max_concurrency=CALLS_AT_ONCE,
        )
        return options.remote(*values, **named)

    def on_node(self, node: Node, kind: type, *values: Any) -> Any:
        """Start a process on a machine that stays dead when it dies."""
        options = self.ray.remote(kind).options(
            num_cpus=0,
            scheduling_strategy=self._there(node),
            max_restarts=0,
            max_concurrency=CALLS_AT_ONCE,
        )
        return options.remote(*values)

    def _there(self, node: Node) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(node.id, soft=False)

    async def probe(
        self, node: Node, names: Sequence[str], paths: Sequence[str]
    ) -> dict[str, Any] | None:
        """Return what a machine says of itself; None where it does not answer in time."""
        from videoautoarena.runs.cluster import probe

        looking = self.ray.remote(probe.look).options(
            num_cpus=0, scheduling_strategy=self._there(node), max_retries=0
        )
        with suppress(TimeoutError, self.ray.exceptions.RayError):
            async with asyncio.timeout(PROBE_S):
                found: dict[str, Any] = await looking.remote(list(names), list(paths))
                return found
        return None

    def kill(self, actor: Any) -> None:
        """End a process at once."""
        with suppress(Exception):
            self.ray.kill(actor)


@contextmanager
def connected(address: str | None) -> Iterator[Connection]:
    """Give a connection to a cluster, or to one of this machine alone; BadInput says why not.

    Ray reports no usage and prints nothing of its workers.
    """
    refuse_no_ray()
    if address is not None:
        _refuse_unreachable(address)
    # Before the import: Ray reads them there, and so do the processes that it starts.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    _be_silent(ray)
    # Nobody outside this machine has any business there.
    alone = {"include_dashboard": False, "_node_ip_address": LOOPBACK}
    local = {} if address else alone
    try:
        # By no address at all Ray would join whatever cluster somebody began on this machine.
        ray.init(address=address or "local", log_to_driver=False, logging_level="ERROR", **local)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise BadInput(_why_not(address, error)) from None
    from videoautoarena.runs.cluster import probe

    ray.cloudpickle.register_pickle_by_value(probe)
    try:
        yield Connection(ray)
    finally:
        ray.shutdown()


def refuse_no_ray() -> None:
    """Raise BadInput where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise BadInput(f"--engine ray needs Ray: {INSTALL}")


def _refuse_unreachable(address: str) -> None:
    """Refuse an address at which nobody listens; Ray itself would try for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or "/" in address or not port.isdecimal():
        raise BadInput(
            f"--address {safe(address)!a} is no HOST:PORT of a head; give what ray start printed "
            "there, or auto on the head itself"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_S).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "no answer"
        raise BadInput(
            f"no Ray cluster answers at {safe(address)} ({safe(reason)}); check --address, or start"
            " one there: ray start --head"
        ) from None


def _why_not(address: str | None, error: Exception) -> str:
    words = " ".join(str(error).split())
    if "ersion mismatch" in words:
        import ray

        ours = f"Ray {ray.__version__} and Python {sys.version.split()[0]}"
        return (
            f"the cluster at {safe(address or 'this machine')} has another version of Ray or "
            f"Python than {ours} here; install the same on all machines"
        )
    where = "this machine" if address is None else safe(address)
    return f"no Ray cluster can be used at {where} ({safe(words[:200])}); check --address"


def _be_silent(ray: Any) -> None:
    """Keep Ray from printing over the console that a person looks at.

    What it would print of processes that died is shown as a lost worker; it has no setting of its
    own for that.
    """
    with suppress(AttributeError):
        ray._private.worker.print_to_stdstream = lambda *_values, **_named: None


def own_version() -> str:
    """Return the version that all machines must have."""
    return version("videoautoarena")
