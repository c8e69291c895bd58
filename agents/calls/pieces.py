"""A reply that came in pieces, read as one: its words added up, what is said of it only read.

LangChain adds whatever stands in two pieces: counts of tokens, but also names and endings. Servers
that count in every piece mean either "so many so far" or "so many more", and do not say which.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from videoautoarena.agents.transport.costs import COSTS, usd
from videoautoarena.agents.transport.faults import Garbled

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_core.messages.ai import UsageMetadata

MOST_TOKENS = 10**9
"""What one call cannot come to; a server that says more has said nothing."""
LONGEST_TOKEN = 16
"""Characters a token: no text of some length has so many on average."""


class Count(NamedTuple):
    """What one piece says of tokens."""

    input: float
    output: float
    total: float
    read: Mapping[str, float]
    """Of the input, by kind."""
    written: Mapping[str, float]
    """Of the output, by kind."""
    cost_usd: float | None = None
    has_text: bool = False
    """Whether the piece brings words as well."""


async def whole_of(pieces: AsyncIterator[AIMessage]) -> AIMessage:
    """Return the message that pieces make; Garbled where there are none.

    Of endings, names and other words about the reply the last one counts.
    """
    from langchain_core.messages import AIMessageChunk

    parts = [piece async for piece in pieces]
    chunks = [piece for piece in parts if isinstance(piece, AIMessageChunk)]
    if not chunks:
        if parts:
            return parts[-1]
        raise Garbled("the reply came in pieces, and there was none")
    # Copies: LangChain goes on to add up the pieces that it gave out.
    bare = [piece.model_copy(update=_NOTHING_SAID) for piece in chunks]
    whole: AIMessageChunk = bare[0] + bare[1:] if len(bare) > 1 else bare[0]
    whole.response_metadata = _said_last(piece.response_metadata for piece in chunks)
    counts = _counts(chunks)
    if counts:
        count = together(counts, characters=len(whole.text))
        whole.usage_metadata = _usage_of(count)
        whole.response_metadata["token_usage"] = {"cost": count.cost_usd}
    return whole


_NOTHING_SAID: dict[str, Any] = {"response_metadata": {}, "usage_metadata": None}


def _said_last(said: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    last: dict[str, Any] = {}
    for metadata in said:
        last |= {name: value for name, value in metadata.items() if value not in (None, "")}
    last.pop(COSTS, None)
    return last


def _counts(pieces: Iterable[AIMessageChunk]) -> list[Count]:
    """Return what pieces count; those that count nothing are left out."""
    found = []
    for piece in pieces:
        said: Mapping[str, Any] = piece.usage_metadata or {}
        costs = piece.response_metadata.get(COSTS) or [None]
        count = Count(
            input=_number(said.get("input_tokens")),
            output=_number(said.get("output_tokens")),
            total=_number(said.get("total_tokens")),
            read=_numbers(said.get("input_token_details")),
            written=_numbers(said.get("output_token_details")),
            cost_usd=usd(costs[-1]),
            has_text=bool(piece.text),
        )
        if count.input or count.output or count.total or count.cost_usd is not None:
            found.append(count)
    return found


def together(counts: Sequence[Count], *, characters: int) -> Count:
    """Return what all pieces of a reply of so many characters count together.

    Counts so far repeat the input, and those of the output never fall: the largest holds. Any other
    are counts of what came since the last one: they are summed, the input once where it is repeated
    in each, unless the last one is the sum of all before it.
    """
    *before, last = counts
    summed = sum(count.output for count in before)
    is_closed = len(before) > 1 and last.output == summed > 0
    if is_closed and last.input >= max(count.input for count in before):
        return last
    if _are_so_far(counts, characters):
        return _largest(counts)
    inputs = [count.input for count in counts]
    is_repeated = len(set(inputs)) == 1
    given = inputs[0] if is_repeated else sum(inputs)
    details = [count.read for count in counts]
    return Count(
        input=given,
        output=sum(count.output for count in counts),
        total=sum(count.total for count in counts) - sum(inputs) + given,
        read=_each(details, max if is_repeated else sum),
        written=_each([count.written for count in counts], sum),
        cost_usd=_cost(counts, sum),
    )


def _are_so_far(counts: Sequence[Count], characters: int) -> bool:
    inputs = [count.input for count in counts]
    outputs = [count.output for count in counts]
    if inputs != sorted(inputs) or outputs != sorted(outputs):
        return False
    if outputs[0] < outputs[-1] or sum(count.has_text for count in counts) < 2:
        return True
    # One number over and over: of the whole reply, unless it is too small for its length.
    return outputs[0] != 1 and characters <= LONGEST_TOKEN * outputs[0]


def _largest(counts: Sequence[Count]) -> Count:
    return Count(
        input=max(count.input for count in counts),
        output=max(count.output for count in counts),
        total=max(count.total for count in counts),
        read=_each([count.read for count in counts], max),
        written=_each([count.written for count in counts], max),
        cost_usd=_cost(counts, max),
    )


def _cost(counts: Sequence[Count], of: Any) -> float | None:
    known = [count.cost_usd for count in counts if count.cost_usd is not None]
    return of(known) if known else None


def _each(details: Sequence[Mapping[str, float]], of: Any) -> dict[str, float]:
    names = dict.fromkeys(name for detail in details for name in detail)
    return {name: of(detail.get(name, 0) for detail in details) for name in names}


def _usage_of(whole: Count) -> UsageMetadata:
    said: dict[str, Any] = {
        "input_tokens": whole.input,
        "output_tokens": whole.output,
        "total_tokens": whole.total,
        "input_token_details": dict(whole.read),
        "output_token_details": dict(whole.written),
    }
    return cast("UsageMetadata", said)


def _number(said: object) -> float:
    """Return a count; 0 where it is none."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return 0
    return said if 0 <= said <= MOST_TOKENS else 0


def _numbers(said: object) -> dict[str, float]:
    if not isinstance(said, Mapping):
        return {}
    return {str(name): _number(value) for name, value in said.items() if value is not None}
