"""The way to a Ray cluster: finding it, looking at its machines, starting processes on them.

Its head is asked before Ray asks it: Ray tries for minutes where nobody listens, and for half of
one where it has the wrong token. A head's first service is gRPC over HTTP/2; one call tells.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

from videoautoarena.memory.records.errors import BadInput, need_package
from videoautoarena.runs.formats.terminal import safe

HEAD = "node:__internal_head__"
"""The resource that Ray gives to the head of a cluster, and to no other machine."""
PINNED = 0.001
"""The share of that resource that a process takes to be placed on the head."""
LOOPBACK = "127.0.0.1"
PROBE_S = 60.0
"""How long a machine may take to answer a probe."""
AUTO = "auto"
"""The address that means: the cluster of this machine, wherever its head is."""
CALLS_AT_ONCE = 100_000
"""Calls that one process may have under way: most of them wait for waves to be settled."""
TOKEN_MODE = "RAY_AUTH_MODE"
REACH_S = 5.0
"""How long the address of a cluster may take to answer."""
SETTINGS, HEADERS, DATA = 4, 1, 0
"""Types of HTTP/2 frames (RFC 9113, section 6)."""
END_OF_STREAM = 1
END_OF_HEADERS = 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
METHOD = "/ray.rpc.NodeInfoGcsService/GetClusterId"
NO_MESSAGE = b"\0" * 5
"""A gRPC message without fields, uncompressed."""
UNAUTHENTICATED = b"grpc-status\x0216"
LONGEST = 1 << 16
"""The most bytes of an answer that are read."""
Door = Literal["open", "locked", "none"]
"""What answers at an address: a head without a token, one that asks for it, or no head."""


@dataclass(frozen=True)
class Node:
    """A machine of the cluster."""

    id: str
    name: str
    cpus: int


class ClusterConnection:
    """A connection to a cluster; a process has one at most."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray

    def nodes(self) -> list[Node]:
        """Return the machines that are alive and have processors to play on, the head first."""
        found = [one for one in self.ray.nodes() if one["Alive"]]
        found.sort(key=lambda one: (HEAD not in one["Resources"], one["NodeID"]))
        # Two nodes of one host have the same name; the id tells them apart.
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
        """Start a process on the head that Ray restarts when it dies."""
        # A process without processors may be placed anywhere, so the head's own resource pins it
        # there. Ray repeats no call by itself: `Head` and `Fenced` do, and know an error from a
        # death.
        options = self.ray.remote(kind).options(
            num_cpus=0,
            resources={HEAD: PINNED},
            max_restarts=-1,
            max_task_retries=0,
            max_concurrency=CALLS_AT_ONCE,
        )
        return options.remote(*values, **named)

    def on_node(self, node: Node, kind: type, *values: Any) -> Any:
        """Start a process on a machine that Ray does not restart when it dies."""
        options = self.ray.remote(kind).options(
            num_cpus=0,
            scheduling_strategy=self._there(node),
            max_restarts=0,
            max_concurrency=CALLS_AT_ONCE,
        )
        return options.remote(*values)

    def _there(self, node: Node) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        # Never elsewhere: a worker or a probe on another machine would speak for the wrong one.
        return NodeAffinitySchedulingStrategy(node.id, soft=False)

    async def probe(
        self, node: Node, names: Sequence[str], paths: Sequence[str]
    ) -> dict[str, Any] | None:
        """Return what `probe.look` finds on a machine; None if it does not answer in time."""
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
def connected(address: str | None) -> Iterator[ClusterConnection]:
    """Yield a connection to a cluster, or to one of this machine alone; BadInput says why not.

    Ray reports no usage and prints nothing of its workers.
    """
    refuse_no_ray()
    is_locked = address is not None and address != AUTO and refuse_unreachable(address)
    # Before the import: Ray reads them there, and so do the processes that it starts.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    _be_silent(ray)
    if address == AUTO:
        is_locked = _find_here(ray)
    if is_locked:
        _use_token()
    # Without an address Ray would look for a cluster as for "auto", and wait for one long gone;
    # and nobody outside this machine has any business with one of this machine alone.
    alone = {"address": "local", "include_dashboard": False, "_node_ip_address": LOOPBACK}
    options = {"address": address} if address else alone
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", **options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise BadInput(why_not(address, error, ray_version=ray.__version__)) from None
    from videoautoarena.runs.cluster import probe

    # By value, since a machine without this package could not import it to say that it is missing.
    ray.cloudpickle.register_pickle_by_value(probe)
    try:
        yield ClusterConnection(ray)
    finally:
        ray.shutdown()


def refuse_no_ray() -> None:
    """Raise BadInput where Ray is not installed."""
    need_package("ray", "--engine ray needs Ray", "ray")


def _find_here(ray: Any) -> bool:
    """Look up the cluster that this machine is part of, as `refuse_unreachable` does."""
    try:
        # A private name of Ray's: where a version lacks it, Ray itself looks, and may take its
        # time.
        found = ray._private.services.canonicalize_bootstrap_address(AUTO)
    except AttributeError:
        return False
    except (ConnectionError, RuntimeError, ValueError, OSError):
        found = None
    if not found or found == AUTO:
        raise BadInput(
            "--address auto finds no Ray cluster on this machine; start one: ray start --head"
        )
    return refuse_unreachable(str(found))


def refuse_unreachable(address: str) -> bool:
    """Return whether a head asks for a token; BadInput if none listens or it refuses ours."""
    host, _, port = address.rpartition(":")
    if not host or "/" in address or not port.isdecimal():
        raise BadInput(
            f"--address {safe(address)!a} is no HOST:PORT of a head; give what ray start printed "
            "there, or auto on the head itself"
        )
    # An IPv6 address stands in brackets.
    where = host.strip("[]"), int(port)
    try:
        door = knock(*where)
        if door == "locked":
            _refuse_wrong_token(address, where)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "no answer"
        raise BadInput(
            f"no Ray cluster answers at {safe(address)} ({safe(reason)}); check --address, or start"
            " one there: ray start --head"
        ) from None
    if door == "none":
        raise BadInput(
            f"what answers at {safe(address)} is no head of a Ray cluster; check the port of "
            "--address (ray start uses 6379)"
        )
    return door == "locked"


def _refuse_wrong_token(address: str, where: tuple[str, int]) -> None:
    remedy = "set RAY_AUTH_TOKEN to what ray get-auth-token prints on its head"
    token = own_token()
    if token is None:
        raise BadInput(f"the cluster at {safe(address)} asks for its token; {remedy}")
    # The token goes to no head that has not asked for it.
    if knock(*where, token) != "open":
        raise BadInput(
            f"the cluster at {safe(address)} does not take the token in {token.place}; {remedy}"
        )
    if (mode := os.environ.get(TOKEN_MODE, "token")).lower() != "token":
        raise BadInput(
            f"the cluster at {safe(address)} asks for its token, and {TOKEN_MODE} is {safe(mode)} "
            "here; unset it"
        )


def _use_token() -> None:
    """Make Ray send its token, which by itself it does only for clusters that it found."""
    with suppress(ImportError, AttributeError):
        from ray._private.authentication import authentication_token_setup

        authentication_token_setup._enable_token_auth()


class Token(NamedTuple):
    """A token for a head, and where this process found it."""

    text: str
    place: str


def own_token() -> Token | None:
    """Return the token that Ray would use here, found in Ray's own order; None without one."""
    if text := os.environ.get("RAY_AUTH_TOKEN", "").strip():
        return Token(text, "RAY_AUTH_TOKEN")
    named = os.environ.get("RAY_AUTH_TOKEN_PATH")
    file = Path(named) if named else Path.home() / ".ray" / "auth_token"
    with suppress(OSError, UnicodeDecodeError):
        if text := file.read_text(encoding="ascii").strip():
            return Token(text, "RAY_AUTH_TOKEN_PATH" if named else "~/.ray/auth_token")
    return None


def knock(host: str, port: int, token: Token | None = None) -> Door:
    """Ask a head for its cluster's id, with a token if any; OSError if nobody answers in time."""
    with socket.create_connection((host, port), timeout=REACH_S) as line:
        if os.environ.get("RAY_USE_TLS", "0") != "0":
            return "open"  # it greets nobody before it has seen a certificate
        with suppress(ConnectionResetError, BrokenPipeError):
            line.sendall(b"".join(_call(host, token)))
            return _answer(line)
    return "none"


def _answer(line: socket.socket) -> Door:
    heard = b""
    greets = bytes([SETTINGS])
    # A head begins with its SETTINGS. Whatever begins otherwise is no head, and is not waited for,
    # though it may keep the line open.
    while b"grpc-status" not in heard and len(heard) < LONGEST:
        try:
            said = line.recv(4096)
        except TimeoutError:
            if not heard:
                raise
            break  # it has greeted as heads do: when it says more is up to it
        heard += said
        if not said or heard[3:4] not in (b"", greets):
            break
    if heard[3:4] != greets:
        return "none"
    return "locked" if UNAUTHENTICATED in heard else "open"


def _call(host: str, token: Token | None) -> Iterator[bytes]:
    yield PREFACE + _frame(SETTINGS, 0, b"", stream=0)
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": METHOD,
        ":authority": host,
        "content-type": "application/grpc",
        "te": "trailers",
    }
    if token is not None:
        fields["authorization"] = f"Bearer {token.text}"
    # Literal fields without indexing: every HTTP/2 server reads them, and no table has to be kept.
    block = b"".join(b"\0" + _text(name) + _text(value) for name, value in fields.items())
    yield _frame(HEADERS, END_OF_HEADERS, block)
    yield _frame(DATA, END_OF_STREAM, NO_MESSAGE)


def _frame(kind: int, flags: int, body: bytes, *, stream: int = 1) -> bytes:
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def _text(text: str) -> bytes:
    """Return a text as HPACK has it, without Huffman coding (RFC 7541, section 5.2)."""
    data = text.encode()
    length = len(data)
    most = 127
    if length < most:
        return bytes([length]) + data
    head = bytes([most])
    rest = length - most
    while rest >= 128:
        head += bytes([rest % 128 + 128])
        rest //= 128
    return head + bytes([rest]) + data


def why_not(address: str | None, error: Exception, *, ray_version: str) -> str:
    """Return one line that says why a cluster that answers cannot be used."""
    words = " ".join(str(error).split())
    if "ersion mismatch" in words:
        ours = f"Ray {ray_version} and Python {sys.version.split()[0]}"
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
