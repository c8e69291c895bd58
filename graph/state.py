"""What changes while a video is played: ids, digests and short text. Never frames, never base64."""

from __future__ import annotations

from operator import add
from typing import Annotated

from typing_extensions import TypedDict

from videoautoarena.agents.prompting.contracts import EvolverReply
from videoautoarena.memory.records.records import (
    Answer,
    Battle,
    Brief,
    Draw,
    Evolution,
    Forfeit,
    Persona,
    Question,
)

PERSONAS = (1, 2, 3)
"""Every video gets three users."""
DIVERSE_ASKS = 3
"""How often users are invented for one video at most, where those that repeat others count."""


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
