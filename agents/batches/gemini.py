"""Gemini's batches: a file of requests by their keys, and our own id as the name that is shown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from videoautoarena.agents.batches.service import (
    CLOCKS_APART_S,
    UPLOAD_S,
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
from videoautoarena.agents.providers.base import NO_KEY

if TYPE_CHECKING:
    from google.genai.types import BatchJob

_ENDED = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"})
_STATUS = {1: 499, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 13: 500, 14: 503, 16: 401}
"""Codes of gRPC, by which lines name their errors, as statuses of HTTP."""
_CANCELLED = 1
_RESOURCE_EXHAUSTED = (8, 14)


class GeminiBatches(BatchService):
    """Batches of one model over the Gemini API."""

    LIMITS = BatchLimits(2_000_000_000, 100_000)

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        from google.genai import Client
        from google.genai.types import HttpOptions, HttpRetryOptions

        way = {"transport": self._transport()}
        self._client = Client(
            vertexai=False,
            api_key=model.key() or NO_KEY,
            http_options=HttpOptions(
                base_url=model.url,
                timeout=int(UPLOAD_S * 1000),
                client_args=dict(way),
                # With a transport of ours it stays with httpx where aiohttp is there.
                async_client_args=dict(way),
                retry_options=HttpRetryOptions(attempts=1),
            ),
        ).aio

    def line(self, key: str, body: Sequence[bytes]) -> list[bytes]:
        return [f'{{"key":"{key}","request":'.encode(), *body, b"}\n"]

    async def upload(self, batch: str, file: Path) -> str:
        with reading():
            kept = await self._client.files.upload(
                file=str(file), config={"display_name": batch, "mime_type": "application/jsonl"}
            )
            return named(kept.name)

    async def look_at(self, witness: str) -> None:
        with reading():
            found = await self._client.files.get(name=witness)
            named(found.name)

    async def post(self, batch: str, uploaded: str, file: Path) -> str:  # noqa: ARG002
        with reading():
            taken = await self._client.batches.create(
                model=self._model.name, src=uploaded, config={"display_name": batch}
            )
            return named(taken.name)

    async def find(self, posting: BatchPosting) -> FoundBatch:
        since = datetime.fromtimestamp(posting.began_at_s - CLOCKS_APART_S, UTC)
        with reading():
            # The list begins with the latest.
            async for one in await self._client.batches.list(config={"page_size": 100}):
                if one.display_name == posting.id:
                    return FoundBatch(named(one.name))
                if one.create_time is not None and one.create_time < since:
                    break
        return FoundBatch(None)

    async def standing(self, server_id: str) -> BatchStanding:
        job = await self._job(server_id)
        state = _state(job)
        if state != "FAILED" or _file(job):
            lacking = lacking_of(state)
            return BatchStanding(state in _ENDED, lacking=lacking)
        error = job.error
        words = (error.message if error else None) or "no reason was given"
        code = error.code if error else None
        return BatchStanding(True, None, words, code in _RESOURCE_EXHAUSTED)

    async def results(self, server_id: str) -> AsyncIterator[BatchResult]:
        file = _file(await self._job(server_id))
        if not file:
            return
        with reading():
            whole = await self._client.files.download(file=file)
        for line in whole.split(b"\n"):
            found = result_of(read_line(line))
            if found is not None:
                yield found

    async def _job(self, server_id: str) -> BatchJob:
        with reading():
            job = await self._client.batches.get(name=server_id)
            named(job.name)
            return job

    async def cancel(self, server_id: str) -> None:
        await self._client.batches.cancel(name=server_id)

    async def aclose(self) -> None:
        await self._client.aclose()


def _state(job: BatchJob) -> str:
    name = job.state.name if job.state is not None else ""
    return name.removeprefix("JOB_STATE_")


def _file(job: BatchJob) -> str:
    return (job.dest.file_name if job.dest else None) or ""


def result_of(line: Any) -> BatchResult | None:
    """Return what a line of results says of a call; None where it names none."""
    key = line.get("key") if line else None
    if not isinstance(key, str):
        return None
    if isinstance(line.get("response"), dict):
        return BatchResult(key, "answered", as_answer(200, line["response"]))
    error = line.get("error")
    said = dict(error) if isinstance(error, dict) else {}
    stated = said.get("code")
    code = stated if isinstance(stated, int) else 13
    if code == _CANCELLED:
        return BatchResult(key, "cancelled")
    status = _STATUS.get(code, code if 400 <= code < 600 else 500)
    return BatchResult(key, "answered", as_answer(status, {"error": {**said, "code": status}}))
