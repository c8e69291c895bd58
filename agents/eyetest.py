"""One small question with one frame: does a model answer, see, and keep to a form?

The frame shows three colours in an order of its own for each model, so that guessing helps little.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from agents.contracts import Reply
from agents.layout import Request
from agents.models import Model
from agents.replies import BadReply, read_reply
from memory.digests import digest, unit_interval
from memory.records import Frame, Frames, Nonce
from video.card import COLOURS, HEIGHT_PX, WIDTH_PX, draw_card

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
        """The question as a contestant is asked it."""
        return self.with_frames(1)

    def with_frames(self, count: int) -> Request:
        """Return the question with so many copies of the frame."""
        shown = digest(self.jpeg)
        copies = tuple(Frame(time_s=float(time_s), digest=shown) for time_s in range(count))
        # The name says whose frame it is, so that clients which share frames tell them apart.
        video = digest(self.model.resolved)[:12]
        frames = Frames(video=video, width_px=WIDTH_PX, height_px=HEIGHT_PX, frames=copies)
        nonce = Nonce(scope=f"{SCOPE} {self.model.alias}", role="contestant", ordinal=count - 1)
        if self.is_blind:
            return Request("contestant", _BLIND_TEXT, None, nonce)
        return Request("contestant", _TEXT, frames, nonce)

    def is_seen(self, reply: str) -> bool | None:
        """Return whether a reply names enough of the stripes; None where none were shown."""
        if self.is_blind:
            return None
        named = _COLOUR.findall(" ".join(stripes_of(reply) or [reply]).lower())[-STRIPES:]
        pairs = zip(named, self.colours, strict=False)
        return len([said for said, shown in pairs if said == shown]) >= ENOUGH


def stripes_of(reply: str) -> list[str] | None:
    """Return what stands in a reply that has the asked form; None where it has another."""
    try:
        return list(read_reply(reply, _Stripes).stripes)
    except BadReply:
        return None
