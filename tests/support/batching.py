"""Calls in batches for tests: models of each protocol, askers over a file, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import load_bytes, request_of
from videoautoarena.agents.calls import batch_queue
from videoautoarena.agents.calls.batched import BatchAsker
from videoautoarena.agents.calls.clients import Load
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.memory.records.errors import CallFailed
from videoautoarena.memory.records.records import CallRow, Price
from videoautoarena.memory.store.store import Store

PROTOCOLS = ("openai", "gemini", "anthropic")
LONGEST_S = 30.0
PRICE = Price(input_usd=10, output_usd=50, source="arena.toml")


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
