"""The comparer: reads two anonymous answers and says in five degrees which is how much better."""

from __future__ import annotations

from typing import NamedTuple

from agents.contracts import ComparerReply
from agents.desk import Desk, Task
from agents.judge import Case, Place
from agents.models import Model
from memory.errors import CallFailed
from memory.records import Frames

LEADS = {"A>>B": -2, "A>B": -1, "A=B": 0, "B>A": 1, "B>>A": 2}
"""Of the answer that is read second."""


class Compared(NamedTuple):
    """What came of one comparison."""

    lead: int | None
    """Of the case's second answer, -2 to 2, wherever it was seated; None where nothing is said."""
    reply: ComparerReply | None
    reason: str | None = None
    """Why there is no lead."""
    is_failed: bool = False
    """The call failed for good, so that it may be made again."""


async def compare_once(
    desk: Desk, model: Model, *, frames: Frames, case: Case, place: Place
) -> Compared:
    """Return by how much one answer is better, read from one seating.

    One model call, two where the first reply must be mended. A call that fails is no lead.

    Source: VisionArena and arena-hard for the five degrees and the answer of one's own.
    """
    ask = 2 * place.panel + (place.seats == "ba")
    task = Task("comparer", frames, scope=place.scope, ask=ask, texts=case.texts(place.seats))
    try:
        reply = await desk.ask_json(model, task, ComparerReply)
    except CallFailed as failure:
        return Compared(None, None, str(failure), is_failed=True)
    lead = LEADS.get(reply.verdict)
    if lead is None:
        return Compared(None, reply, "the judge could not tell")
    return Compared(lead if place.seats == "ab" else -lead, reply)
