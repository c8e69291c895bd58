"""How many tokens a call may take, told before it is sent: at most, and typically.

A server counts tokens by rules of its own, so figures for frames are stated here, may be set in
arena.toml (`frame_tokens`), and give way to what a run has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from videoautoarena.agents.limits.prices import BATCH_SHARE, most_usd
from videoautoarena.agents.limits.server_limits import OutputLimit, ServerLimits
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.agents.providers.base import FrameTokens
from videoautoarena.agents.transport.faults import STOPPED
from videoautoarena.memory.records.records import CHARACTERS, Role, Usage, VideoFrames

OUTPUT_AT_MOST = 16_384
"""Output tokens of a call for which no parameter sets a limit."""
OUTPUT_LIMITS = (
    *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    "max_tokens_to_sample",
)
_REPLIES = ("n", "best_of")
"""Parameters for how many replies a call draws and pays for; only one is read."""
LABEL_TOKENS = 12
"""Most tokens of the time above a frame, such as `t=3599.96s`."""
MESSAGE_TOKENS = 64
"""Tokens of what messages and parts are wrapped in."""
UNCHARGED = frozenset(
    {
        "frames",
        "unreachable",
        "http-503",
        "http-529",
        "quota",
        "content-filter",
        "too-large",
        "no-images",
        "expired",
        "cancelled",
    }
)
"""Faults of a try that was not sent, or that the server says it could not take up."""
_APART = frozenset({STOPPED, "missing"})
"""Faults of a try whose intent stays: a stop cut it off, or the results of its batch lack it."""
_SYSTEM_BYTES = len(SYSTEM.encode())
SEEN_FRAMES = 4
"""Fewest frames of a call that shows what a frame costs; with them its text weighs little."""


_USUAL_FRAME = FrameTokens(400, 1_536)
"""Tokens of a frame for models of which nothing is known."""


def frame_tokens(model: Model) -> FrameTokens:
    """Return the tokens of one frame for a model, by its own setting or what is known of it."""
    if model.frame_tokens is not None:
        return FrameTokens(model.frame_tokens, model.frame_tokens)
    # Behind an address of one's own stands any model, which counts as it likes.
    known = () if model.base_url else model.maker.frame_tokens
    fitting = (
        tokens
        for name, detail, tokens in known
        if model.name.startswith(name) and detail in (None, model.detail)
    )
    return next(fitting, _USUAL_FRAME)


def expected_input(model: Model, frames: float, chars: float = 0) -> float:
    """Return how many tokens a call is expected to take in, before any such call was made.

    Those are the system text, so many frames with their times, and `chars` of further text.
    """
    text = (len(SYSTEM) + chars) / CHARACTERS
    return text + frames * (frame_tokens(model).expected + LABEL_TOKENS / 2)


def limit_of(model: Model, role: Role) -> OutputLimit:
    """Return the most output tokens of a call: what is asked for, else `OUTPUT_AT_MOST`.

    What stands in `extra_body` counts as well: of several limits the highest, times the replies
    that one call draws.
    """
    asked = {**model.maker.made_with(model), **model.sampling(role)}

    def whole(names: Iterable[str]) -> list[int]:
        found = [table.get(name) for table in (asked, extra_body(asked)) for name in names]
        return [int(value) for value in found if isinstance(value, int) and value >= 1]

    limits = whole(OUTPUT_LIMITS)
    most = max(limits, default=OUTPUT_AT_MOST) * max(whole(_REPLIES), default=1)
    return OutputLimit(most, is_sent=bool(limits))


def output_limit(model: Model, role: Role) -> int:
    """Return the tokens of `limit_of`."""
    return limit_of(model, role).tokens


def extra_body(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the `extra_body` of parameters: what they put into a body under unknown names."""
    more = asked.get("extra_body")
    return more if isinstance(more, Mapping) else {}


def may_be_charged(kind: str) -> bool:
    """Return whether a try that ended in this fault may be on the bill.

    Providers charge for no answer of 4xx. After a time-out (408 among them), a broken connection,
    a 500 or a gateway's word, a model may have done its work.
    """
    is_refused = kind.startswith("http-4") and kind != "http-408"
    return not is_refused and kind not in UNCHARGED


def stands_apart(kind: str) -> bool:
    """Return whether a try's possible cost is counted with its intent, not with its call's row."""
    return kind in _APART


class CallBound(NamedTuple):
    """The most that one try of a call may take and cost."""

    tokens: int
    usd: float | None
    """US dollars; None if no price is known."""


@dataclass
class Estimates:
    """What calls may cost, as far as known; learns from every call that comes back.

    A frame counts as `Model.frame_tokens`; else as the most seen of that model in frames of that
    size; else twice the most seen of it in any size; else what `frame_tokens` says.
    """

    seen: dict[str, float] = field(default_factory=dict)
    """`provider:model` to the most input tokens for each frame of a call."""
    limits: ServerLimits = field(default_factory=ServerLimits)
    """Limits that servers turned out to have, and how far replies go past limits of output."""
    _sized: dict[tuple[str, int, int], float] = field(default_factory=dict, repr=False)
    _limits: dict[tuple[Model, Role], OutputLimit] = field(default_factory=dict, repr=False)

    is_batched: bool = False
    """Whether calls go out in batches, and cost what these cost."""

    def most(self, model: Model, request: Request) -> CallBound:
        """Return the most that one try may take and cost."""
        if model.is_offline:
            return CallBound(0, 0.0)
        # No token is shorter than a byte, so that bytes of text are a true upper bound.
        text = _SYSTEM_BYTES + len(request.text.encode())
        if request.frames is not None and request.frames.subtitles is not None:
            # Around each stretch stand fences and times, too.
            text += sum(len(cue.text.encode()) + 80 for cue in request.frames.subtitles.cues)
        input_tokens = MESSAGE_TOKENS + text + self._frames(model, request.frames)
        limit = self.limit_of(model, request.role).tokens
        output_tokens = max(limit, self.limits.output_tokens(model))
        usd = most_usd(model, input_tokens=input_tokens, output_tokens=output_tokens)
        share = BATCH_SHARE if self.is_batched else 1.0
        return CallBound(input_tokens + output_tokens, None if usd is None else usd * share)

    def is_overrun(self, model: Model, request: Request) -> bool:
        """Return whether a model's server is known not to keep to the limit of such a call."""
        limit = self.limit_of(model, request.role).tokens
        return self.limits.output_tokens(model) > limit

    def limit_of(self, model: Model, role: Role) -> OutputLimit:
        """Return what `limit_of` does, which is looked for once: each call asks several times."""
        found = self._limits.get((model, role))
        if found is None:
            found = self._limits[model, role] = limit_of(model, role)
        return found

    def risk_usd(self, model: Model, request: Request, kind: str) -> float | None:
        """Return the most that a try which ended in this fault has cost; None: unknown."""
        return self.most(model, request).usd if may_be_charged(kind) else 0.0

    def learn(self, model: Model, frames: VideoFrames | None, usage: Usage) -> None:
        """Take in how many tokens the frames of a call took."""
        count = len(frames.frames) if frames else 0
        if frames is None or count < SEEN_FRAMES or usage.input_tokens is None:
            return
        # The call's text is counted with its frames, which errs to the safe side.
        each = usage.input_tokens / count
        size = (model.resolved, frames.width_px, frames.height_px)
        self._sized[size] = max(each, self._sized.get(size, 0.0))
        self.seen[model.resolved] = max(each, self.seen.get(model.resolved, 0.0))

    def _frames(self, model: Model, frames: VideoFrames | None) -> int:
        if frames is None:
            return 0
        each = float(frame_tokens(model).most + LABEL_TOKENS)
        if model.frame_tokens is None and model.resolved in self.seen:
            size = (model.resolved, frames.width_px, frames.height_px)
            each = self._sized.get(size, 2 * self.seen[model.resolved])
        return int(len(frames.frames) * each) + 1
