"""The persona writer: invents the three users who might watch a video."""

from __future__ import annotations

from agents.contracts import PersonaReply
from agents.desk import Desk, Task
from agents.models import Model
from memory.digests import canonical_json
from memory.records import Brief, Frames, Persona


async def invent_personas(
    desk: Desk, model: Model, *, frames: Frames, brief: Brief
) -> tuple[Persona, Persona, Persona]:
    """Return three users, from close to the content to unrelated. One model call.

    Raises:
        CallFailed: no usable reply; the video cannot be played.

    Source: VideoAutoArena, User Simulation (A.1).
    """
    texts = {"brief": canonical_json(brief.model_dump())}
    task = Task("persona", frames, scope=frames.video, texts=texts)
    near, interested, far = (await desk.ask_json(model, task, PersonaReply)).personas
    return (
        Persona(index=1, text=near),
        Persona(index=2, text=interested),
        Persona(index=3, text=far),
    )
