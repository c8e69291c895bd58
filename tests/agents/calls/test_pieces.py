"""Replies in pieces over real sockets: words are added up, counts, endings and names are read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from tests.support.asking import Pages, load_bytes, no_pause, request_of, run
from tests.support.bodies import HttpReply, Kept, keeping
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import PieceCount, together
from videoautoarena.agents.models.registry import parse_model
from videoautoarena.memory.records.records import CallRow, Price, Usage

Tokens = tuple[int, int]


def usage(tokens: Tokens, **more: Any) -> dict[str, Any]:
    read, said = tokens
    counts = {"prompt_tokens": read, "completion_tokens": said, "total_tokens": read + said}
    return {**counts, **more}


def event(
    words: str | None, counted: Any = None, ending: str | None = None, name: str = "M"
) -> dict[str, Any]:
    choices = [{"index": 0, "delta": {"content": words}, "finish_reason": ending}]
    told = {"choices": [] if words is None else choices, "usage": counted}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": name, **told}


def stream(events: Iterable[dict[str, Any]]) -> HttpReply:
    lines = [*map(json.dumps, events), "[DONE]"]
    body = "".join(f"data: {line}\n\n" for line in lines).encode()
    return HttpReply(body, kind="text/event-stream", headers={})


def asked(said: HttpReply, **settings: Any) -> CallRow:
    """Return the row of a call that a server answers so."""
    chosen = {"parameters": {"stream": True}, **settings}
    with keeping(script=lambda _request: said) as book:
        model = parse_model("openai:m", {"base_url": f"{book.url}/v1", **chosen})
        return run(once(model))


async def once(model: Any) -> CallRow:
    asker = Asker(Pages(), load_bytes, pause=no_pause)
    try:
        return await asker.ask_row(model, request_of())
    finally:
        await asker.aclose()


def read(pieces: Iterable[tuple[str | None, Tokens | None]]) -> tuple[int | None, int | None]:
    """Return input and output of a reply whose pieces bring words and count so."""
    told = [event(words, counted and usage(counted)) for words, counted in pieces]
    row = asked(stream([*told, event("", ending="stop")]))
    assert row.reply == "".join(words for words, _ in pieces if words)
    return row.usage.input_tokens, row.usage.output_tokens


SO_FAR = [("a", (90, 3)), ("b", (90, 7)), ("c", (90, 7))]
SINCE = [("a", (90, 3)), ("b", (0, 4)), ("c", (0, 2))]


@pytest.mark.parametrize(
    ("pieces", "tokens"),
    [
        (SO_FAR, (90, 7)),
        ([("a", None), ("b", None), (None, (90, 7))], (90, 7)),
        ([("a", (0, 0)), ("b", (0, 0)), (None, (90, 7))], (90, 7)),
        ([("a", (90, 7)), (None, (90, 7))], (90, 7)),
        (SINCE, (90, 9)),
        ([("a", (90, 1)), ("b", (0, 1)), ("c", (0, 1))], (90, 3)),
        # What was read is said in each piece, what was written since the last one.
        ([("a", (90, 5)), ("b", (90, 3)), ("c", (90, 4))], (90, 12)),
        ([("a", (90, 1)), ("b", (90, 1)), ("c", (90, 1))], (90, 3)),
        ([("a" * 40, (90, 9)), ("b" * 200, (90, 9)), ("c" * 90, (90, 9))], (90, 27)),
        # Since the last one, and then the whole.
        ([*SINCE, (None, (90, 9))], (90, 9)),
        ([("a", (90, 7)), (None, (0, 0))], (90, 7)),
        ([("a", (0, 3)), ("b", (0, 4)), (None, (90, 0))], (90, 7)),
    ],
)
def test_counts_so_far_are_not_added_and_counts_since_the_last_piece_are(
    pieces: list[tuple[str | None, Tokens | None]], tokens: Tokens
) -> None:
    assert read(pieces) == tokens


def test_many_pieces_are_read_as_few() -> None:
    so_far = [("w ", (812, number + 1)) for number in range(150)]
    assert read(so_far) == (812, 150)
    since = [("w ", (812 if number == 0 else 0, 1)) for number in range(150)]
    assert read(since) == (812, 150)


def test_the_last_ending_and_the_last_name_count() -> None:
    row = asked(
        stream(
            [
                event("So", usage((90, 1)), "stop", "first"),
                event(".", usage((90, 2)), "length", "M"),
                event(None, usage((90, 2)), None, ""),
            ]
        )
    )
    assert (row.ending, row.served_by, row.reply) == ("length", "M", "So.")


def test_what_was_cached_and_thought_is_read_like_the_rest() -> None:
    details = [
        {
            "prompt_tokens_details": {"cached_tokens": 60},
            "completion_tokens_details": {"reasoning_tokens": thought},
        }
        for thought in (2, 5)
    ]
    counts = [usage((90, 4), **details[0]), usage((90, 9), **details[1])]
    row = asked(stream([event("a", counts[0]), event("b", counts[1], "stop")]))
    assert row.usage == Usage(
        input_tokens=90, output_tokens=9, cached_tokens=60, reasoning_tokens=5
    )


@pytest.mark.parametrize(
    ("costs", "pieces", "cost"),
    [
        ((None, None, 0.03), SO_FAR, 0.03),
        ((0.01, 0.02, 0.03), SO_FAR, 0.03),
        ((0.25, 0.5, 0.125), SINCE, 0.875),
        ((None, "free", -1), SO_FAR, None),
    ],
)
def test_a_cost_beside_the_counts_is_read_of_pieces_too(
    costs: tuple[Any, ...], pieces: list[tuple[str, Tokens]], cost: float | None
) -> None:
    told = [
        event(words, usage(tokens, cost=cost))
        for (words, tokens), cost in zip(pieces, costs, strict=True)
    ]
    row = asked(stream([*told, event("", ending="stop")]))
    assert (row.cost_usd, row.cost_from) == (cost, None if cost is None else "provider")


@pytest.mark.parametrize("said", [True, "7", None, -7, 10**400])
def test_a_count_that_is_none_spoils_no_reply(said: Any) -> None:
    odd = {"prompt_tokens": 90, "completion_tokens": said, "total_tokens": 97}
    row = asked(stream([event("So.", odd, "stop")]))
    assert row.reply == "So."
    assert row.usage.input_tokens == 90


@pytest.mark.parametrize("factor", [2, 7])
def test_ten_times_as_many_pieces_that_repeat_themselves_count_the_same(factor: int) -> None:
    counts = [PieceCount(90, said, 90 + said, {}, {}, has_text=True) for said in (3, 7, 11)]
    repeated = [count for count in counts for _ in range(factor)]
    assert together(repeated, characters=40) == together(counts, characters=40)._replace(
        has_text=False
    )


HEADER = "x-litellm-response-cost"
WHOLE = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "So."}, "finish_reason": "stop"}
    ],
    "usage": usage((90, 7)),
}


@pytest.mark.parametrize(
    ("headers", "cost"),
    [
        ({HEADER: "0.00325"}, 0.00325),
        ({HEADER: "3.45e-05"}, 3.45e-05),
        ({f"llm_provider-{HEADER}": "0.5"}, 0.5),
        ({HEADER.upper(): "0.5", f"llm_provider-{HEADER}": "0.25"}, 0.5),
        # A gateway says so of what it has no price for.
        ({HEADER: "0.0"}, None),
        ({HEADER: "None"}, None),
        ({HEADER: "-1"}, None),
        ({HEADER: "nan"}, None),
        ({HEADER: "1e300"}, None),
        ({"x-litellm-key-spend": "12.5"}, None),
    ],
)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_what_a_gateway_says_in_a_header_is_the_cost(
    headers: dict[str, str], cost: float | None, is_streamed: bool
) -> None:
    whole = HttpReply(json.dumps(WHOLE).encode())
    said = stream([event("So.", usage((90, 7)), "stop")]) if is_streamed else whole
    row = asked(
        HttpReply(said.body, kind=said.kind, headers=headers), parameters={"stream": is_streamed}
    )
    assert (row.reply, row.cost_usd) == ("So.", cost)
    assert row.cost_from == (None if cost is None else "provider")


def test_a_cost_in_the_body_beats_one_in_a_header_and_either_beats_a_price() -> None:
    priced = {"price": Price(input_usd=1.0, output_usd=1.0), "parameters": {}}
    body = json.dumps({**WHOLE, "usage": usage((90, 7), cost=0.25)}).encode()
    assert asked(HttpReply(body, headers={HEADER: "0.5"}), **priced).cost_usd == 0.25
    body = json.dumps({**WHOLE, "usage": usage((90, 7), cost_usd_total=0.125)}).encode()
    assert asked(HttpReply(body), **priced).cost_usd == 0.125
    told = HttpReply(json.dumps(WHOLE).encode(), headers={HEADER: "0.5"})
    assert asked(told, **priced).cost_usd == 0.5


def test_the_answer_of_one_call_says_nothing_of_the_next_one() -> None:
    costs = iter(["0.5", ""])

    def script(_request: Kept) -> HttpReply:
        return HttpReply(json.dumps(WHOLE).encode(), headers={HEADER: next(costs)})

    async def ask_twice(model: Any) -> list[float | None]:
        asker = Asker(Pages(), load_bytes)
        requests = [request_of(ordinal=ordinal) for ordinal in (0, 2)]
        try:
            return [(await asker.ask_row(model, one)).cost_usd for one in requests]
        finally:
            await asker.aclose()

    with keeping(script=script) as book:
        model = parse_model("openai:m", {"base_url": f"{book.url}/v1"})
        assert run(ask_twice(model)) == [0.5, None]
