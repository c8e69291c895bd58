"""What runs as a process of its own on a Ray cluster: the owner, the lender, and the workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from ray.exceptions import RayActorError

from videoautoarena.agents.transport.redaction import keep_keys_out_of_logs
from videoautoarena.memory.records.errors import ArenaError, StoreError
from videoautoarena.runs.cluster import lender, owner
from videoautoarena.runs.cluster.connection import Node
from videoautoarena.runs.cluster.fence import GAP_S, Fence, Fenced
from videoautoarena.runs.cluster.jobs import WorkerSetup
from videoautoarena.runs.cluster.owner import Owner
from videoautoarena.runs.cluster.worker import Worker
from videoautoarena.runs.console.progress.events import hear_logs
from videoautoarena.runs.formats.terminal import safe

AWAY_S = 120.0
"""How long owner or lender may be gone before the run stops: a process begins anew in seconds."""


class Process:
    """A process on the head whose object is made at its first call, so that its errors are told.

    An error in `__init__` would look to Ray like a death, and the process would restart for ever.
    """

    kind: type

    def __init__(self, *values: Any, **named: Any) -> None:
        self._values = values
        self._named = named
        self._made: Any = None

    async def call(self, method: str, *values: Any) -> Any:
        """Return the result of a method of the object."""
        if self._made is None:
            self._made = self.kind(*self._values, **self._named)
        return await getattr(self._made, method)(*values)


class CallsOwnerActor(Process):
    """Owns a file of calls."""

    kind = Owner


class RunOwnerActor(Process):
    """Owns a run."""

    kind = owner.RunOwner


class LenderActor(Process):
    """Lends what workers share."""

    kind = lender.Lender


class ClusterWorker(Worker):
    """A worker that reaches owner and lender through Ray."""

    def __init__(
        self,
        name: str,
        node: str,
        setup: WorkerSetup,
        head: tuple[Any, Any],
        lease_s: float,
    ) -> None:
        # This is a process of its own: the filter that the command has put over its logs is not
        # here.
        keep_keys_out_of_logs()
        fence = Fence()
        to_owner, to_lender = (Fenced(calls_of(one), fence, is_away=is_away) for one in head)
        super().__init__(name, node, setup, to_owner, to_lender, fence, lease_s)
        hear_logs(node, self._hear)

    def __repr__(self) -> str:
        """Return the name that Ray writes into its logs, without settings or prompts."""
        return type(self).__name__


def calls_of(actor: Any) -> Callable[..., Awaitable[Any]]:
    """Return a function that calls a method of an actor, once; our errors keep their class."""

    async def call(method: str, *values: Any) -> Any:
        try:
            if hasattr(actor, "call"):
                return await actor.call.remote(method, *values)
            return await getattr(actor, method).remote(*values)
        except ArenaError as error:
            # Ray raises a class of its own beside ours, with a page of text.
            raise getattr(error, "cause", error) from None

    return call


def is_away(error: Exception) -> bool:
    """Return whether an error says that an actor is gone, for now or for good."""
    return isinstance(error, RayActorError)


class HeadClient:
    """A way to owner or lender; raises StoreError if it stays away."""

    def __init__(self, actor: Any, what: str) -> None:
        self.actor = actor
        self._what = what
        self._call = calls_of(actor)

    async def __call__(self, method: str, *values: Any) -> Any:
        """Return the result of a method; ask again while the process restarts.

        Raises:
            StoreError: it was away for longer than `AWAY_S`.
        """
        loop = asyncio.get_running_loop()
        # A death does not tell whether the method had run, so whatever is asked this way must bear
        # being asked twice.
        until_s = loop.time() + AWAY_S
        while True:
            try:
                return await self._call(method, *values)
            except Exception as error:
                if not is_away(error):
                    raise
                if loop.time() > until_s:
                    words = " ".join(str(error).split())[:200]
                    raise StoreError(
                        f"{self._what} on the head of the cluster is gone ({safe(words)}); "
                        "nothing is lost: the same command continues"
                    ) from None
            await asyncio.sleep(GAP_S)


@dataclass(eq=False)
class WorkerActor:
    """A worker, as the command sees it."""

    name: str
    node: Node
    actor: Any
    busy: set[str] = field(default_factory=set)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it is certain that it does nothing more."""
    losing: asyncio.Task[None] | None = None
    telling: asyncio.Future[list[Any]] | None = None
    """The request for its events that is under way, if any."""
    has_ended_one: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether it is given up, or about to be."""
        return self.losing is not None
