"""What a server says that a call cost, beside its counts of tokens or in an answer's headers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

MOST_USD = 10**6
"""More dollars than any call costs; a server that states more is taken to have stated none."""
COSTS = "costs_usd"
"""Where a piece of a reply keeps what its server says beside its counts: a list of one number."""
_FIELDS = ("cost", "cost_usd_total")
"""Fields beside the counts of tokens: of OpenRouter and LiteLLM, and of LLM Gateway."""
_HEADERS = ("x-litellm-response-cost", "llm_provider-x-litellm-response-cost")
"""Headers with a cost: LiteLLM's own, and that of another LiteLLM behind it."""


@dataclass(slots=True)
class HeardCost:
    """The cost that the headers of the last answer state."""

    cost_usd: float | None = None


# Context variables, since nothing else leads through LangChain and SDK from a call to its answer.
_HEARD: ContextVar[HeardCost | None] = ContextVar("heard", default=None)


@contextmanager
def hearing() -> Iterator[HeardCost]:
    """Yield what takes the cost from the headers of the one call that is made in the block."""
    heard = HeardCost()
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


def hear(headers: Mapping[str, str]) -> None:
    """Take the headers of an answer to the call under way, if anybody listens."""
    heard = _HEARD.get()
    if heard is not None:
        heard.cost_usd = cost_in_headers(headers)


def cost_in_headers(headers: Mapping[str, str]) -> float | None:
    """Return the cost that headers state; None if they state none.

    A gateway says 0 of models that it has no price for, so that 0 states nothing here.
    """
    for name in _HEADERS:
        value = headers.get(name)
        if value:
            try:
                return usd(float(value)) or None
            except ValueError:
                return None
    return None


def cost_in_counts(counted: object) -> float | None:
    """Return the cost that stands beside counts of tokens."""
    if not isinstance(counted, Mapping):
        return None
    said = (usd(counted.get(name)) for name in _FIELDS)
    return next((cost for cost in said if cost is not None), None)


def usd(said: object) -> float | None:
    """Return a number of dollars that a call can cost; None if something else was said."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return said if 0 <= said <= MOST_USD else None


FILTERED = frozenset({
    "content_filter", "content_filtered", "refusal", "guardrail_intervened", "safety",
    "image_safety", "prohibited_content", "image_prohibited_content", "blocklist", "recitation",
    "image_recitation", "spii", "jailbreak",
})  # fmt: skip
"""Words of OpenAI, Anthropic, Bedrock and Gemini for the end of a reply that a filter took."""
CUT_ENDINGS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"}
)
"""Words of providers for the end of a reply that was cut off."""


def is_filtered(ending: str) -> bool:
    """Return whether an ending means that a filter kept the reply back."""
    return ending_word(ending) in FILTERED


def was_cut(ending: str | None) -> bool:
    """Return whether a provider's word for a reply's end means that there should be more."""
    return ending_word(ending or "") in CUT_ENDINGS


def ending_word(ending: str) -> str:
    """Return why a reply ended in lower case, without the enumeration that some clients name."""
    return ending.rpartition(".")[2].strip().lower()


HEAD_BYTES = 64 * 1024
TAIL_BYTES = 64 * 1024
"""Bytes that are kept of an answer's end: a stream says last what went wrong."""


class RawAnswer:
    """The beginning and the end of one answer."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget what came before: the last of several answers is the one that counts."""
        self._head: list[bytes] = []
        self._tail: deque[bytes] = deque()
        self._in_head = 0
        self._in_tail = 0

    def take(self, chunk: bytes) -> None:
        """Keep a chunk while there is room; chunks are not copied."""
        if self._in_head < HEAD_BYTES:
            self._head.append(chunk)
            self._in_head += len(chunk)
            return
        self._tail.append(chunk)
        self._in_tail += len(chunk)
        while self._in_tail - len(self._tail[0]) >= TAIL_BYTES:
            self._in_tail -= len(self._tail.popleft())

    @property
    def text(self) -> str:
        """What was kept; empty if the answer came another way than through our transport."""
        kept = b"".join(self._head)[: 2 * HEAD_BYTES] + b"".join(self._tail)[-2 * TAIL_BYTES :]
        return kept.decode("utf-8", "replace")


_KEPT: ContextVar[RawAnswer | None] = ContextVar("kept", default=None)


@contextmanager
def keeping_answer() -> Iterator[RawAnswer]:
    """Keep the answer to the one call that is made in the block."""
    answer = RawAnswer()
    token = _KEPT.set(answer)
    try:
        yield answer
    finally:
        _KEPT.reset(token)


def kept_answer() -> RawAnswer | None:
    """Return where the answer to the call under way is kept, if it is."""
    answer = _KEPT.get()
    if answer is not None:
        answer.begin()
    return answer
