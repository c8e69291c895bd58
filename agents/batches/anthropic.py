"""Anthropic's batches: requests in one body, and no word of ours but each call's key.

So a batch whose POST was not answered is told by its time and number of calls, and then, once it
has ended, by the keys of its results. Until then it may be anybody's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from videoautoarena.agents.batches.service import (
    CLOCKS_APART_S,
    BatchLimits,
    BatchPosting,
    BatchResult,
    BatchService,
    BatchStanding,
    FoundBatch,
    as_answer,
    named,
    reading,
)
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.transport.faults import GarbledAnswer
from videoautoarena.agents.transport.transport import CHUNK

_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
_HEAD = b'{"requests":['
_TAIL = b"]}"


class AnthropicBatches(BatchService):
    """Batches of messages."""

    LIMITS = BatchLimits(256_000_000 - len(_HEAD) - len(_TAIL), 100_000)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        self._client = AsyncAnthropic(**self._connection(DefaultAsyncHttpxClient))

    def line(self, key: str, body: Sequence[bytes]) -> list[bytes]:
        return [f'{{"custom_id":"{key}","params":'.encode(), *body, b"}\n"]

    async def upload(self, batch: str, file: Path) -> str:  # noqa: ARG002
        return ""

    async def witness(self, uploaded: str) -> str:  # noqa: ARG002
        with reading():
            latest = iter((await self._client.messages.batches.list(limit=1)).data)
            return next((named(one.id) for one in latest), "")

    async def look_at(self, witness: str) -> None:
        with reading():
            found = await self._client.messages.batches.retrieve(witness)
            named(found.id)

    async def post(self, batch: str, uploaded: str, file: Path) -> str:  # noqa: ARG002
        from anthropic.types.messages import MessageBatch

        with reading():
            taken = await self._client.post(
                "/v1/messages/batches",
                content=_Requests(file),
                cast_to=MessageBatch,
                options={
                    "headers": {
                        "content-type": "application/json",
                        "content-length": str(_Requests(file).size),
                    }
                },
            )
            return named(taken.id)

    async def find(self, posting: BatchPosting) -> FoundBatch:
        is_sure = True
        since_s = posting.began_at_s - CLOCKS_APART_S
        with reading():
            pages = await self._client.messages.batches.list(limit=100)
            async for page in pages.iter_pages():
                # An answer without a list says nothing of what was taken.
                for one in iter(page.data):
                    # The list begins with the latest.
                    if one.created_at.timestamp() < since_s:
                        return FoundBatch(None, is_sure)
                    count = sum(one.request_counts.model_dump().values())
                    if one.id in posting.known or count != len(posting.keys):
                        continue
                    if one.processing_status != "ended":
                        is_sure = False
                        continue
                    keys = frozenset([result.key async for result in self.results(one.id)])
                    if keys and keys <= posting.keys:
                        return FoundBatch(named(one.id))
        return FoundBatch(None, is_sure)

    async def standing(self, server_id: str) -> BatchStanding:
        with reading():
            batch = await self._client.messages.batches.retrieve(server_id)
            counts = batch.request_counts
            answered = counts.succeeded + counts.errored + counts.expired + counts.canceled
            return BatchStanding(named(batch.processing_status) == "ended", answered)

    async def results(self, server_id: str) -> AsyncIterator[BatchResult]:
        from anthropic import AnthropicError

        try:
            with reading():
                lines = await self._client.messages.batches.results(server_id)
        except AnthropicError as lack:
            # The client's error where an answer does not say where the results are.
            if type(lack) is AnthropicError:
                raise GarbledAnswer(str(lack)) from None
            raise
        with reading():
            async for line in lines:
                yield _result(line.to_dict(mode="json"))

    async def cancel(self, server_id: str) -> None:
        await self._client.messages.batches.cancel(server_id)

    async def aclose(self) -> None:
        await self._client.close()


class _Requests:
    """A file of lines as one body, read while it is sent."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def size(self) -> int:
        """Its bytes; the last line ends without a comma, as every other does with one."""
        return len(_HEAD) + self._file.stat().st_size - 1 + len(_TAIL)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield _HEAD
        left = self._file.stat().st_size - 1
        with self._file.open("rb") as lines:
            while left:
                chunk = lines.read(min(CHUNK, left))
                left -= len(chunk)
                # JSON as the clients write it holds no line break of its own.
                yield chunk.replace(b"\n", b",")
        yield _TAIL


def _result(line: dict[str, Any]) -> BatchResult:
    key = str(line.get("custom_id"))
    found = line.get("result") or {}
    match found.get("type"):
        case "succeeded":
            return BatchResult(key, "answered", as_answer(200, found.get("message")))
        case "expired":
            return BatchResult(key, "expired")
        case "canceled":
            return BatchResult(key, "cancelled")
    error = found.get("error") or {}
    kind = str((error.get("error") or {}).get("type"))
    return BatchResult(key, "answered", as_answer(_STATUS.get(kind, 500), error))
