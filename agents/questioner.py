"""The questioner: asks what one user would really ask while watching."""

from __future__ import annotations

from collections.abc import Sequence

from agents.contracts import QuestionerReply
from agents.desk import Desk, Task
from agents.models import Model
from memory.digests import canonical_json
from memory.records import Brief, Frames, Persona


async def put_question(
    desk: Desk,
    model: Model,
    *,
    frames: Frames,
    persona: Persona,
    brief: Brief,
    asked: Sequence[str],
    slot: str,
) -> str:
    """Return a question unlike those already `asked` of this persona. One model call.

    Raises:
        CallFailed: no usable reply; the slot is void.

    Source: VideoAutoArena, User Simulation (A.1); `asked` is our own.
    """
    texts = {
        "brief": canonical_json(brief.model_dump()),
        "persona": persona.text,
        "asked": canonical_json(list(asked)) if asked else "",
    }
    task = Task("questioner", frames, scope=slot, texts=texts)
    return (await desk.ask_json(model, task, QuestionerReply)).question
