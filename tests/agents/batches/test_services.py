"""Each provider's batches by themselves: lists, odd lines of results, whole failures."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.support.batch_servers import BatchBook, batch_server
from tests.support.batching import PROTOCOLS, model_of
from videoautoarena.agents.batches.gemini import result_of as gemini_result
from videoautoarena.agents.batches.openai import result_of as openai_result
from videoautoarena.agents.batches.service import (
    BatchPosting,
    BatchResult,
    BatchService,
)
from videoautoarena.agents.batches.services import service_of
from videoautoarena.agents.transport.exchange import RecordedAnswer

T = TypeVar("T")
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


def served(book: BatchBook, protocol: str, ask: Callable[[BatchService], Awaitable[T]]) -> T:
    """Return what a service says of a server with this book."""

    async def whole() -> T:
        service = service_of(model_of(protocol, port))
        try:
            return await ask(service)
        finally:
            await service.aclose()

    with batch_server(book) as port:
        return asyncio.run(whole())


def posting(*keys: str, known: frozenset[str] = frozenset()) -> BatchPosting:
    return BatchPosting("ours", time.time(), frozenset(keys), known)


@each_protocol
def test_a_batch_is_told_from_others_of_as_many_calls(protocol: str) -> None:
    book = BatchBook(looks=0)
    book.take(protocol, "theirs", [("x", {}), ("y", {})])
    ours = book.take(protocol, "ours", [("a", {}), ("b", {})])
    book.take(protocol, "later", [("p", {}), ("q", {})])
    found = served(book, protocol, lambda service: service.find(posting("a", "b")))
    assert (found.server_id, found.is_sure) == (ours.id, True)


@each_protocol
def test_a_list_without_the_batch_says_that_it_was_not_taken(protocol: str) -> None:
    book = BatchBook(looks=0)
    book.take(protocol, "theirs", [("x", {}), ("y", {})])
    found = served(book, protocol, lambda service: service.find(posting("a", "b")))
    assert (found.server_id, found.is_sure) == (None, True)


def test_a_batch_of_anthropic_that_has_not_ended_may_be_ours() -> None:
    book = BatchBook(looks=9)
    theirs = book.take("anthropic", None, [("x", {}), ("y", {})])
    found = served(book, "anthropic", lambda service: service.find(posting("a", "b")))
    assert (found.server_id, found.is_sure) == (None, False)
    known = posting("a", "b", known=frozenset({theirs.id}))
    found = served(book, "anthropic", lambda service: service.find(known))
    assert (found.server_id, found.is_sure) == (None, True)


def test_batches_from_before_ours_are_not_looked_at() -> None:
    book = BatchBook(looks=0)
    old = book.take("openai", "ours", [("a", {})])
    old.created_s -= 10_000
    book.take("openai", "older", []).created_s -= 9_000
    found = served(book, "openai", lambda service: service.find(posting("a")))
    assert found.server_id is None


def test_a_whole_file_goes_out_as_one_list_of_requests(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    bodies = [{"model": "m", "text": "a line\nand another"}, {"model": "m"}]
    book = BatchBook()

    async def post(service: BatchService) -> str:
        lines = [
            service.line(key, [json.dumps(b).encode()]) for key, b in zip("ab", bodies, strict=True)
        ]
        file.write_bytes(b"".join(piece for line in lines for piece in line))
        return await service.post("ours", "", file)

    served(book, "anthropic", post)
    assert book.batches[0].lines == list(zip("ab", bodies, strict=True))


@pytest.mark.parametrize("line", [None, {}, {"custom_id": 3, "key": 3}, {"custom_id": None}])
def test_a_line_that_names_no_call_is_no_result(line: object) -> None:
    assert openai_result(line) is None
    assert gemini_result(line) is None


def test_errors_of_lines_are_answers_of_servers() -> None:
    said = openai_result({"custom_id": "k", "error": {"code": "odd", "message": "no"}})
    assert said is not None
    assert said.answer is not None
    assert (said.end, said.answer.status) == ("answered", 500)
    for code, status in ((3, 400), (8, 429), (13, 500), (404, 404), ("x", 500)):
        found = gemini_result({"key": "k", "error": {"code": code, "message": "no"}})
        assert found is not None
        assert found.answer is not None
        assert found.answer.status == status
    assert gemini_result({"key": "k", "error": {"code": 1}}) == BatchResult("k", "cancelled")


def test_a_batch_that_was_refused_as_a_whole_says_why_and_whether_it_may_pass() -> None:
    for code, may_pass in (("token_limit_exceeded", True), ("model_not_found", False)):
        book = BatchBook(looks=0, fail=lambda _number, code=code: code)
        name = book.take("openai", "ours", [("a", {})]).id
        found = served(book, "openai", lambda service, name=name: service.standing(name))
        assert (found.is_ended, found.may_pass) == (True, may_pass)
        assert found.failure.startswith(code)


def test_a_line_without_a_body_is_an_answer_that_says_nothing() -> None:
    line = {"custom_id": "k", "response": {"status_code": 200}, "error": None}
    assert openai_result(line) == BatchResult("k", "answered", RecordedAnswer(200, b"null"))
