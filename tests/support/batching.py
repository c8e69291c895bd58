"""Calls in batches for tests: models of each protocol, askers over a file, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.support.asking import load_bytes, request_of
from videoautoarena.agents.calls import batch_queue
from videoautoarena.agents.calls.batched import BatchAsker
from videoautoarena.agents.calls.clients import Load
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.agents.providers.base import ModelSettings, Provider
from videoautoarena.agents.providers.catalogue import BUILT_IN
from videoautoarena.agents.transport.transport import SplicingTransport
from videoautoarena.memory.records.errors import CallFailed
from videoautoarena.memory.records.records import CallRow, Price, Role
from videoautoarena.memory.store.store import Store

PROTOCOLS = ("openai", "gemini", "anthropic")
LONGEST_S = 30.0
PRICE = Price(input_usd=10, output_usd=50, source="arena.toml")


class PlainAnthropic(Provider):
    """LangChain's class of Anthropic's protocol over our transport, and nothing more."""

    def build(self, model: ModelSettings) -> Any:
        """Return a chat model."""
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
        from langchain_anthropic import ChatAnthropic

        key = model.key() or "none"
        chat: Any = ChatAnthropic(
            model=model.name, max_tokens=100, base_url=model.url, api_key=key, max_retries=0
        )
        way: dict[str, Any] = {"transport": SplicingTransport(model.url)}
        client = AsyncAnthropic(
            api_key=key,
            base_url=model.url,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(**way),
        )
        chat.__dict__["_async_client"] = client
        return chat

    def options(self, model: ModelSettings, role: Role, *, key: str) -> dict[str, Any]:  # noqa: ARG002
        """Return nothing."""
        return {}

    async def close(self, chat: Any) -> None:
        """Close its connections."""
        await chat._async_client.close()


ANTHROPIC = PlainAnthropic(
    "anthropic",
    home="https://api.anthropic.com",
    key_names=("ANTHROPIC_API_KEY",),
    batches="anthropic",
    packages=("anthropic", "langchain_anthropic"),
)


@contextmanager
def anthropic_known() -> Iterator[None]:
    """Have Anthropic among the providers, where it is not by itself."""
    with patch.dict(BUILT_IN, {"anthropic": BUILT_IN.get("anthropic", ANTHROPIC)}):
        yield


def model_of(protocol: str, port: int, **settings: Any) -> Model:
    """Return a model of that protocol behind the port."""
    names = {"openai": "openai:gpt-4o", "gemini": "google_genai:gemini-2.0-flash"}
    settings = {"price": PRICE, **settings}
    return Model(
        alias="m",
        model=names.get(protocol, "anthropic:claude-test"),
        base_url=f"http://127.0.0.1:{port}{'/v1' if protocol == 'openai' else ''}",
        **settings,
    )


@dataclass
class BatchedRound:
    """What one process got of its calls."""

    rows: dict[int, CallRow] = field(default_factory=dict)
    failed: dict[int, CallFailed] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)


def requests_of(count: int) -> list[Request]:
    """Return as many calls, of which no two are alike."""
    return [request_of(f"Look at {k}.", scope=f"0123456789ab-p1-r{k}") for k in range(count)]


async def quick(_seconds: float) -> None:
    """Let a breath pass in place of any pause."""
    await asyncio.sleep(0.002)


def asked_in_batches(
    path: Path,
    model: Model,
    requests: Sequence[Request],
    *,
    is_batching: bool = True,
    load: Load = load_bytes,
    until: Callable[[BatchAsker], bool] = lambda _asker: False,
    **settings: Any,
) -> BatchedRound:
    """Ask all at once, as a job of one process does; drain once `until` is so."""
    found = BatchedRound()

    async def one(asker: BatchAsker, k: int) -> None:
        try:
            found.rows[k] = await asker.ask_row(model, requests[k])
        except CallFailed as why:
            found.failed[k] = why

    async def watch(asker: BatchAsker) -> None:
        while not until(asker):
            await asyncio.sleep(0.002)
        asker.drain()
        await asker.drained.wait()

    async def whole() -> None:
        with Store.open(path, write=True) as store:
            asker = BatchAsker(
                store.journal,
                load,
                batches=store.journal.batches,
                is_batching=is_batching,
                say=found.said.append,
                pause=quick,
                **settings,
            )
            calls = [asyncio.ensure_future(one(asker, k)) for k in range(len(requests))]
            watching = asyncio.ensure_future(watch(asker))
            work = asyncio.gather(*calls)
            try:
                # A queue that waits for ever would hang the suite.
                async with asyncio.timeout(LONGEST_S):
                    await asyncio.wait({work, watching}, return_when=asyncio.FIRST_COMPLETED)
                if work.done():
                    await work
            finally:
                for task in (*calls, watching):
                    task.cancel()
                await asyncio.wait({*calls, watching})
                await asyncio.gather(work, return_exceptions=True)
                await asker.aclose()

    asyncio.run(whole())
    return found


@pytest.fixture
def prompt_telling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe a provider's list after a moment."""
    monkeypatch.setattr(batch_queue, "TELLING_S", 0.02)
