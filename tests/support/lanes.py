"""Blocks of visits played by the lanes of the graph, with nothing else of a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from videoautoarena.graph.arena import arena_graph
from videoautoarena.graph.context import BlockQueue, RunDoors, Tell, Update, Visit
from videoautoarena.runs.tournament.runner import Early


class Nothing(BaseModel):
    """A run of which nothing is asked."""


PlayVisit = Callable[[Visit], Coroutine[object, object, object]]


@dataclass
class Undrained:
    """What makes calls, and is never told to send no more of them."""

    drained: asyncio.Event = field(default_factory=asyncio.Event)
    under_way: int = 0
    is_broke: bool = False

    def announce(self, _on_empty: object, _on_outage: object) -> None:
        pass

    def drain(self) -> None:
        raise AssertionError("nobody interrupts")


async def nobody(_video: str) -> None:
    raise AssertionError("nobody joined")


@dataclass
class BlockGame:
    """A game whose visits are played by a function, and newcomers met about a video by another."""

    queue: BlockQueue
    play: PlayVisit
    newcomers: Sequence[str] = ()
    meet: Callable[[str], Awaitable[None]] = nobody

    @asynccontextmanager
    async def visiting(self, visit: Visit) -> AsyncIterator[None]:
        async with self.queue.turn_of(visit.video):
            await self.play(visit)
            yield None

    async def meet_newcomers(self) -> None:
        for video in self.newcomers:
            await self.meet(video)

    async def until_drained(self, work: Awaitable[object]) -> None:
        await work

    @property
    def calls(self) -> Undrained:
        return Undrained()

    async def end(self) -> Early:
        return Early()


@dataclass
class BlockDoors(RunDoors[Nothing]):
    """The way to a game that is there."""

    game: BlockGame

    async def open(self, _request: Any, _owner: str, _tell: Tell) -> Update:
        return {"left": len(self.game.queue.blocks), "newcomers": 0}

    @asynccontextmanager
    async def playing(self, _request: Any, _owner: str, _tell: Tell) -> AsyncIterator[BlockGame]:
        yield self.game

    async def rate(self, _request: Any, _owner: str, _tell: Tell) -> Update:
        return {"ended": ""}

    def is_to_be_frozen(self, _request: Any) -> bool:
        return False

    async def freeze(self, _request: Any, _owner: str, _tell: Tell) -> Update:
        raise AssertionError("nobody asked for it")


async def play_blocks(blocks: Sequence[Sequence[Visit]], play: PlayVisit) -> None:
    """Play all visits as a run does: two blocks at a time, in order."""
    doors = BlockDoors(BlockGame(BlockQueue(blocks), play))
    await arena_graph(Nothing, doors).ainvoke({}, context=Nothing())
