"""What the graph is handed from outside: models, rules, and ways to frames, draws and store."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel
from typing_extensions import TypedDict

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.graph.slot_ids import slot_id
from videoautoarena.memory.records.records import (
    Battle,
    Draw,
    Persona,
    Video,
    VideoFacts,
    VideoFrames,
)


@dataclass(frozen=True)
class TournamentRules:
    """The choices of a run that change what follows what."""

    rounds: int
    """Battles in each lineage, from 1."""
    overall_only: bool = False
    """The gate looks at the overall grade alone (the paper's rule)."""
    share_analyses: bool = True
    """The evolver reads the judge's analyses."""
    seats_count: bool = False
    """Seats that disagree make a split; otherwise a second seating is an audit only."""


async def always(_slot: str) -> bool:
    """Say at once that a slot is to be played."""
    return True


def nobody(_video: str) -> Mapping[int, Persona]:
    """Say that no user was brought for a video."""
    return {}


def no_language(_video: str, _persona: int) -> None:
    """Say that nobody drew a language."""


@dataclass(frozen=True)
class Arena:
    """Everything a node may use that is not in its state."""

    prompter: Prompter
    examiner: Model
    """Plays examiner, persona, questioner, evolver and grader."""
    judges: tuple[Model, ...]
    cast: Mapping[str, Model]
    """Alias to contestant."""
    rules: TournamentRules
    videos: Mapping[str, Video]
    prompts: Mapping[str, str]
    """Role to digest of its prompt file."""
    frames: Callable[[str], Awaitable[VideoFrames]]
    """Video id to its frames; raises UnusableVideo or FramesChanged."""
    draw: Callable[[str], Awaitable[Draw]]
    """Slot id to the pair that meets there; written down before it is returned.

    May take long: until battles of other lineages are settled. No call is under way meanwhile.
    """
    settle: Callable[[Battle], Awaitable[None]]
    """Write a battle down; returns when it is safe on disk."""
    settled: Callable[[str], Battle | None]
    """Slot id to the battle already settled there."""
    wanted: Callable[[str], bool]
    """Whether a slot is to be played; a lineage ends before the first that is not."""
    turn: Callable[[str], Awaitable[bool]] = always
    """Whether a slot is to be played after all, asked before its question; may take long, too."""
    language: Callable[[str, int], str | None] = no_language
    """Video id and persona to the code of the language that this user asks in, if one is drawn."""
    facts: Mapping[str, VideoFacts] = field(default_factory=dict)
    """Video id to what somebody says of it; nobody but the examiner is told."""
    categories: tuple[str, ...] | None = None
    """What the examiner chooses from; None as runs did that were begun without such a list."""
    # By itself each slot counts for itself; only a retried run has later ones in its place.
    current: Callable[[str], str] = str
    """Id of the first slot in a place to that of the one which counts there now."""

    brought: Callable[[str], Mapping[int, Persona]] = nobody
    """Video id to the users that were brought for it, by index; the others are invented."""
    alike: Callable[[Sequence[str]], Set[int]] | None = None
    """Texts of users to the places of those that repeat an earlier one; None: nobody looks."""

    def language_of(self, video: str, persona: int) -> str | None:
        """Return what a user asks in: what was brought with it, else what is drawn, if anything."""
        user = self.brought(video).get(persona)
        return (user.language if user else None) or self.language(video, persona)

    def slot(self, video: str, persona: int, round_: int) -> str:
        """Return the id of the slot that counts in a place, which is also its battle's."""
        return self.current(slot_id(video, persona, round_))


class Visit(NamedTuple):
    """A video, played as far as a generation of slots goes.

    Slots of a later one may wait for every block of this one; a visit that went on to them would
    keep its block open until blocks were done that it kept from beginning.
    """

    video: str
    generation: int


class BlockQueue:
    """The blocks of a run that are left, each begun once and in stored order."""

    def __init__(self, blocks: Sequence[Sequence[Visit]]) -> None:
        self.blocks = blocks
        """The visits of each block, in stored order."""
        self._left = iter(range(len(blocks)))
        # Weak, so that a lock lives only while somebody holds it or waits for it.
        self._locks = WeakValueDictionary[str, asyncio.Lock]()

    def take(self) -> int | None:
        """Return the number of the next block; None where all have begun."""
        return next(self._left, None)

    def turn_of(self, video: str) -> asyncio.Lock:
        """Return the lock that whoever plays a video holds.

        Two visits of one video at once would both ask its examiner, under one and the same key.
        """
        return self._locks.setdefault(video, asyncio.Lock())


class LiveRun(Protocol):
    """A run that is being played, in this process or on other machines."""

    @property
    def queue(self) -> BlockQueue:
        """The blocks that were left when it began."""

    def visiting(self, visit: Visit) -> AbstractAsyncContextManager[Arena | None]:
        """Yield what a visit is played with; None where other machines have played it."""

    async def meet_newcomers(self) -> None:
        """Play the slots of newcomers over stored answers."""

    async def until_drained(self, work: Awaitable[object]) -> None:
        """Await work whose calls are all the game's; cancel it once no call is sent any more."""


class NoInput(TypedDict):
    """Nothing: what a run is asked to be stands in the context."""


R = TypeVar("R", bound=BaseModel)
Update = dict[str, Any]
"""What a node changes in the state of its graph."""
Tell = Callable[[Any], None]
"""Takes what happens in a run, as JSON, for whoever follows the graph's stream."""


class RunDoors(ABC, Generic[R]):
    """The ways to a run by what it was asked to be; `owner` is the thread that asks.

    Each opens the run where it is not open in this process: a server that was killed goes on with
    any node.
    """

    @abstractmethod
    async def open(self, request: R, owner: str, tell: Tell) -> Update:
        """Begin a run, or check that the one that is there goes on; return its counts."""

    @abstractmethod
    def playing(self, request: R, owner: str, tell: Tell) -> AbstractAsyncContextManager[LiveRun]:
        """Yield the game of a run, the same to all who play it at once; the last one ends it."""

    @abstractmethod
    async def rate(self, request: R, owner: str, tell: Tell) -> Update:
        """Return how far a run is, and its board."""

    @abstractmethod
    def is_to_be_frozen(self, request: R) -> bool:
        """Return whether a run is to be frozen when it is complete."""

    @abstractmethod
    async def freeze(self, request: R, owner: str, tell: Tell) -> Update:
        """Freeze a run into a set; return where that is."""
