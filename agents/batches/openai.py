"""OpenAI's batches: a file of requests, and our own id among their metadata."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from videoautoarena.agents.batches.service import (
    CLOCKS_APART_S,
    BatchLimits,
    BatchPosting,
    BatchResult,
    BatchService,
    BatchStanding,
    FoundBatch,
    as_answer,
    lacking_of,
    named,
    read_line,
    reading,
)
from videoautoarena.agents.models.registry import Model

if TYPE_CHECKING:
    from openai.types import Batch

_ENDED = frozenset({"completed", "expired", "cancelled", "failed"})
_MAY_PASS = ("limit", "timeout", "server_error", "unavailable")
"""Parts of the codes of errors by which a whole batch is refused for the time being."""
OUR_ID = "videoautoarena_batch"
"""Name of our own id in the metadata of a batch."""


class OpenAIBatches(BatchService):
    """Batches of chat completions."""

    LIMITS = BatchLimits(200_000_000, 50_000)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        self._client = AsyncOpenAI(**self._connection(DefaultAsyncHttpxClient))

    def line(self, key: str, body: Sequence[bytes]) -> list[bytes]:
        head = f'{{"custom_id":"{key}","method":"POST","url":"/v1/chat/completions","body":'
        return [head.encode(), *body, b"}\n"]

    async def upload(self, batch: str, file: Path) -> str:
        with file.open("rb") as lines, reading():
            kept = await self._client.files.create(
                file=(f"{batch}.jsonl", lines, "application/jsonl"), purpose="batch"
            )
            return named(kept.id)

    async def look_at(self, witness: str) -> None:
        with reading():
            found = await self._client.files.retrieve(witness)
            named(found.id)

    async def post(self, batch: str, uploaded: str, file: Path) -> str:  # noqa: ARG002
        with reading():
            taken = await self._client.batches.create(
                input_file_id=uploaded,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={OUR_ID: batch},
            )
            return named(taken.id)

    async def find(self, posting: BatchPosting) -> FoundBatch:
        with reading():
            pages = await self._client.batches.list(limit=100)
            async for page in pages.iter_pages():
                # An answer without a list says nothing of what was taken.
                for one in iter(page.data):
                    if (one.metadata or {}).get(OUR_ID) == posting.id:
                        return FoundBatch(named(one.id))
                    # The list begins with the latest.
                    if one.created_at < posting.began_at_s - CLOCKS_APART_S:
                        return FoundBatch(None)
        return FoundBatch(None)

    async def standing(self, server_id: str) -> BatchStanding:
        with reading():
            return _standing(await self._client.batches.retrieve(server_id))

    async def results(self, server_id: str) -> AsyncIterator[BatchResult]:
        with reading():
            batch: Batch = await self._client.batches.retrieve(server_id)
            named(batch.status)
            files = (batch.output_file_id, batch.error_file_id)
        # Calls that failed, or were not come to, stand in a file of their own.
        for file in filter(None, files):
            content = self._client.files.with_streaming_response.content(file)
            async with content as response:
                async for line in response.iter_lines():
                    found = result_of(read_line(line))
                    if found is not None:
                        yield found

    async def cancel(self, server_id: str) -> None:
        await self._client.batches.cancel(server_id)

    async def aclose(self) -> None:
        await self._client.close()


def _standing(batch: Batch) -> BatchStanding:
    counts = batch.request_counts
    answered = counts.completed + counts.failed if counts else None
    state = named(batch.status)
    if state != "failed":
        return BatchStanding(state in _ENDED, answered, lacking=lacking_of(state))
    errors = [one for one in (batch.errors.data if batch.errors else None) or [] if one]
    words = "; ".join(f"{one.code}: {one.message}" for one in errors[:3])
    codes = [one.code or "" for one in errors]
    may_pass = any(part in code for code in codes for part in _MAY_PASS)
    return BatchStanding(True, answered, words or "no reason was given", may_pass)


def result_of(line: Any) -> BatchResult | None:
    """Return what a line of results says of a call; None where it names none."""
    key = line.get("custom_id") if line else None
    if not isinstance(key, str):
        return None
    response = line.get("response")
    error = line.get("error")
    status = response.get("status_code") if isinstance(response, dict) else None
    if isinstance(status, int):
        return BatchResult(key, "answered", as_answer(status, response.get("body")))
    code = str(error.get("code")) if isinstance(error, dict) else ""
    if "expired" in code:
        return BatchResult(key, "expired")
    if "cancel" in code:
        return BatchResult(key, "cancelled")
    return BatchResult(key, "answered", as_answer(500, {"error": error}))
