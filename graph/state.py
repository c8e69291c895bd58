"""What changes while a video is played, and what the graph is handed from outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from operator import add
from typing import Annotated

from typing_extensions import TypedDict

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import EvolverReply
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.records import (
    Answer,
    Battle,
    Brief,
    Draw,
    Evolution,
    Forfeit,
    Frames,
    Persona,
    Question,
    Video,
)

PERSONAS = (1, 2, 3)
"""Every video gets three users."""


class Settled(TypedDict):
    """Ids of the battles that were settled: all that a graph gives back."""

    settled: Annotated[list[str], add]


class LineageState(Settled, total=False):
    """One persona's chain of questions on one video."""

    video: str
    brief: Brief
    persona: Persona
    round: int
    """The round that is being played; equal to `Rules.rounds` when the lineage has ended."""
    last: Battle | None
    """The battle settled before this round."""
    asked: tuple[str, ...]
    """Every question put to contestants so far in this lineage."""
    proposal: EvolverReply | None
    evolution: tuple[Evolution, ...]
    """Attempts of this round."""
    failure: str | None
    """Why this round came to no question."""
    is_over: bool
    """The run stops before this round."""
    question: Question | None
    draw: Draw | None
    answer_a: Answer | Forfeit | None
    answer_b: Answer | Forfeit | None


class VideoState(Settled, total=False):
    """One video, up to its three lineages."""

    video: str
    brief: Brief
    starts: list[LineageState]
    """Each unfinished lineage at its first unsettled slot."""
    failure: str | None
    """Why this video cannot be played; its slots become void."""


def lineage_id(video: str, persona: int) -> str:
    """Return the id that all slots of one lineage begin with."""
    return f"{video}-p{persona}"


def slot_id(video: str, persona: int, round_: int) -> str:
    """Return the id of a lineage's first slot in a round, which is the scope of all its asks."""
    return f"{lineage_id(video, persona)}-r{round_}"


def superseding_id(base: str, generation: int) -> str:
    """Return the id of the slot that is played in place of `base` in a later generation."""
    return f"{base}~{generation}"


def base_of(slot: str) -> str:
    """Return the id of the first slot in the place of `slot`."""
    return slot.partition("~")[0]


def newcomer_id(place: str, generation: int) -> str:
    """Return the id of the slot in which a newcomer meets an answer that is stored in a place."""
    return f"{place}+{generation}"


def is_newcomer(slot: str) -> bool:
    """Return whether a newcomer meets a stored answer in this slot."""
    return "+" in slot


def place_of(slot: str) -> str:
    """Return the id of the first slot in the place from which a guest's question came."""
    return base_of(slot).partition("+")[0]


def joining_of(slot: str) -> int:
    """Return the generation that a guest slot was added in, whichever superseded it."""
    return int(base_of(slot).partition("+")[2])


def generation_of(slot: str) -> int:
    """Return in which generation a slot asks: 0 for the first in its place."""
    return int(slot.partition("~")[2] or 0)


@dataclass(frozen=True)
class Rules:
    """The choices of a run that change what follows what."""

    rounds: int
    """Battles in each lineage, from 1."""
    overall_only: bool = False
    """The gate looks at the overall grade alone (the paper's rule)."""
    share_analyses: bool = True
    """The evolver reads the judge's analyses."""
    seats_count: bool = False
    """Seats that disagree make a split; otherwise a second seating is an audit only."""


def _itself(slot: str) -> str:
    return slot


async def always(_slot: str) -> bool:
    """Say at once that a slot is to be played."""
    return True


@dataclass(frozen=True)
class Arena:
    """Everything a node may use that is not in its state."""

    prompter: Prompter
    examiner: Model
    """Plays examiner, persona, questioner, evolver and grader."""
    judges: tuple[Model, ...]
    cast: Mapping[str, Model]
    """Alias to contestant."""
    rules: Rules
    videos: Mapping[str, Video]
    prompts: Mapping[str, str]
    """Role to digest of its prompt file."""
    frames: Callable[[str], Awaitable[Frames]]
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
    current: Callable[[str], str] = _itself
    """Id of the first slot in a place to that of the one which counts there now."""

    def slot(self, video: str, persona: int, round_: int) -> str:
        """Return the id of the slot that counts in a place, which is also its battle's."""
        return self.current(slot_id(video, persona, round_))
