"""The contestant: sees its frames and a question, knows of nothing else, and answers."""

from __future__ import annotations

from typing import Literal

from agents.desk import Desk, Task
from agents.layout import thinned
from agents.models import Model
from agents.replies import without_reasoning
from memory.errors import EmptyReply
from memory.records import Answer, Frames


async def answer(
    desk: Desk, model: Model, *, frames: Frames, question: str, slot: str, seat: Literal[0, 1]
) -> Answer:
    """Return what `model` says from its own share of the frames. One model call.

    Raises:
        EmptyReply: it said nothing, or only thought aloud.
        CallFailed: the call failed for good; either way the contestant forfeits.

    Source: VideoAutoArena, Peer Battles: no persona, no rival, no brief, no word of a battle.
    """
    seen = thinned(frames, model.frame_limit("contestant"))
    task = Task("contestant", seen, scope=slot, ask=seat, question=question)
    row = await desk.ask_row(model, task)
    text = without_reasoning(row.reply or "")
    if not text.strip():
        raise EmptyReply("the reply holds reasoning and no answer")
    # Where the server found the request too large, it was sent with fewer of them.
    shown = seen if row.frames is None else thinned(seen, row.frames)
    times = tuple(frame.time_s for frame in shown.frames)
    return Answer(model=model.alias, text=text, frames=times)
