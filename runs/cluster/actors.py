"""What runs as a process of its own on a Ray cluster: the owner, the lender, and the workers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ray.exceptions import RayActorError

from videoautoarena.memory.records.errors import ArenaError
from videoautoarena.runs.cluster.fence import Fence, Fenced
from videoautoarena.runs.cluster.jobs import Setup
from videoautoarena.runs.cluster.lender import Lender as Lender
from videoautoarena.runs.cluster.owner import Owner as Owner
from videoautoarena.runs.cluster.owner import RunOwner as RunOwner
from videoautoarena.runs.cluster.worker import Worker


class ClusterWorker(Worker):
    """A worker that reaches owner and lender through Ray."""

    def __init__(
        self,
        name: str,
        node: str,
        setup: Setup,
        owner: Any,
        lender: Any,
        lease_s: float,
    ) -> None:
        fence = Fence()
        super().__init__(
            name,
            node,
            setup,
            Fenced(calls_of(owner), fence, is_away=is_away),
            Fenced(calls_of(lender), fence, is_away=is_away),
            fence,
            lease_s,
        )

    def __repr__(self) -> str:
        """Return what Ray calls it in its logs, where no setting and no prompt belongs."""
        return type(self).__name__


def calls_of(actor: Any) -> Callable[..., Awaitable[Any]]:
    """Return what calls a method of an actor, once; errors of ours are raised as they were."""

    async def call(method: str, *values: Any) -> Any:
        try:
            return await getattr(actor, method).remote(*values)
        except ArenaError as error:
            # Ray raises a class of its own beside ours, with a page of text.
            raise getattr(error, "cause", error) from None

    return call


def is_away(error: Exception) -> bool:
    """Return whether an error says that an actor is gone, for now or for good."""
    return isinstance(error, RayActorError)
