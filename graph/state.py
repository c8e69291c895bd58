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
