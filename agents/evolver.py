"""The evolver: turns the faults of two answers into a harder question for the same persona."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from agents.contracts import EvolverReply
from agents.desk import Desk, Task
from agents.judge import Case
from agents.models import Model
from memory.digests import canonical_json
from memory.records import Analyses, Frames


@dataclass(frozen=True, slots=True)
class Refusal:
    """An evolved question that was not harder, with both overall grades."""

    question: str
    old: float
    new: float


async def evolve(
    desk: Desk,
    model: Model,
    *,
    frames: Frames,
    case: Case,
    analyses: Analyses | None,
    refused: Sequence[Refusal],
    slot: str,
) -> EvolverReply:
    """Return faults, the weaknesses behind them and a proposal. One model call.

    `case` is the battle whose faults are looked for, `slot` the one whose question is made. Each
    refusal makes a further ask of its own; without `analyses` the judge's words stay unknown.

    Raises:
        CallFailed: no usable reply; the slot is void.

    Source: VideoAutoArena, Fault-Driven Evolution (A.2); analyses and refusals are our own.
    """
    texts = case.texts() | {
        "analyses": canonical_json(analyses.model_dump()) if analyses else "",
        "refused": canonical_json([asdict(r) for r in refused]) if refused else "",
    }
    task = Task("evolver", frames, scope=slot, ask=len(refused), texts=texts)
    return await desk.ask_json(model, task, EvolverReply)
