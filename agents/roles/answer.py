"""The role that answers, and the one small question that shows whether a model can.

The frame of that question shows three colours in an order of its own for each model, so that
guessing helps little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Literal, NamedTuple

from videoautoarena.agents.calls.replies import BadReply, read_reply
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import Reply
from videoautoarena.agents.prompting.fences import Turn
from videoautoarena.agents.prompting.layout import Request, thinned
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.agents.roles.retrieve import share_of
from videoautoarena.memory.records.digests import digest, unit_interval
from videoautoarena.memory.records.errors import EmptyReply
from videoautoarena.memory.records.records import Answer, CallRow, Frame, Nonce, VideoFrames
from videoautoarena.video.synth.splice import COLOURS, HEIGHT_PX, WIDTH_PX, draw_card


class ContestantAnswer(NamedTuple):
    """An answer, and the call that gave it: its cost and how its reply ended."""

    answer: Answer
    row: CallRow


async def answer(
    prompter: Prompter,
    model: Model,
    *,
    frames: VideoFrames,
    question: str,
    slot: str,
    seat: Literal[0, 1],
    history: Sequence[Turn] = (),
) -> ContestantAnswer:
    """Return what `model` says from its own share of the frames. One model call; or CallFailed.

    Where it is sent the best clips, those cost calls of their own. Source: VideoAutoArena, Peer
    Battles: no persona, no rival, no brief, no word of a battle. In a dialogue `history` is what
    was said in the rounds before, which it is sent behind the frames (MT-Video-Bench, evaluation).
    """
    seen = await share_of(prompter, model, frames=frames, question=question, slot=slot)
    task = Task("contestant", seen, scope=slot, ask=seat, question=question, history=history)
    row = await prompter.ask_row(model, task)
    text = prompter.answer_in(row)
    if not text.strip():
        raise EmptyReply("the reply holds reasoning and no answer")
    # Where the server found the request too large, it was sent with fewer of them.
    shown = seen if row.frames is None else thinned(seen, row.frames)
    times = tuple(frame.time_s for frame in shown.frames)
    return ContestantAnswer(Answer(model=model.alias, text=text, frames=times), row)


STRIPES = 3
ENOUGH = 2
"""Stripes that have to be named right, since a small model may take one for another."""
SCOPE = "doctor"
_ORDERS = tuple(permutations(COLOURS, STRIPES))
_TEXT = (
    f"The picture shows {STRIPES} upright stripes of equal width. Name their colours from left to "
    f"right; each is one of {', '.join(COLOURS)}. Reply with one JSON object and nothing else, in "
    'this form: {"stripes": ["...", "...", "..."]}'
)
_BLIND_TEXT = 'Reply with one JSON object and nothing else: {"stripes": ["red", "green", "blue"]}'
_COLOUR = re.compile("|".join(COLOURS))


class _Stripes(Reply):
    stripes: tuple[str, ...]


@dataclass(frozen=True)
class EyeTest:
    """What one model is shown and asked."""

    model: Model

    @property
    def is_blind(self) -> bool:
        """Whether the model is to be sent no frames, and so is shown none."""
        return self.model.frame_limit("contestant") == 0

    @cached_property
    def colours(self) -> tuple[str, ...]:
        """The stripes it is shown, from left to right."""
        return _ORDERS[int(unit_interval(0, "card", self.model.resolved) * len(_ORDERS))]

    @cached_property
    def jpeg(self) -> bytes:
        """The frame it is shown."""
        return draw_card(self.colours)

    @cached_property
    def request(self) -> Request:
        return self.with_frames(1)

    def with_frames(self, count: int) -> Request:
        """Return the question with so many copies of the frame."""
        shown = digest(self.jpeg)
        copies = tuple(Frame(time_s=float(time_s), digest=shown) for time_s in range(count))
        # The name says whose frame it is, so that clients which share frames keep them apart.
        video = digest(self.model.resolved)[:12]
        frames = VideoFrames(video=video, width_px=WIDTH_PX, height_px=HEIGHT_PX, frames=copies)
        nonce = Nonce(scope=f"{SCOPE} {self.model.alias}", role="contestant", ordinal=count - 1)
        if self.is_blind:
            return Request("contestant", _BLIND_TEXT, None, nonce)
        return Request("contestant", _TEXT, frames, nonce)

    def is_seen(self, reply: str) -> bool | None:
        """Return whether a reply names enough of the stripes; None if none were shown."""
        if self.is_blind:
            return None
        named = _COLOUR.findall(" ".join(stripes_of(reply) or [reply]).lower())[-STRIPES:]
        pairs = zip(named, self.colours, strict=False)
        return len([said for said, shown in pairs if said == shown]) >= ENOUGH


def stripes_of(reply: str) -> list[str] | None:
    """Return what stands in a reply that has the asked form; None if it has another."""
    try:
        return list(read_reply(reply, _Stripes).stripes)
    except BadReply:
        return None
