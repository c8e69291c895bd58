"""How much of an answer is read: a server that goes on and on fills no memory and no run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

from agents.faults import Garbled

MOST_BYTES = 32_000_000
"""Of one answer, whatever it was compressed to."""
LONGEST_REPLY = 200_000
"""Characters of a model's words; no role is asked for a hundredth of it."""


def bounded(response: Any, library: Any) -> Any:
    """Return a response of httpx or httpx2, unread, that is read so far and no further.

    Reading more raises Garbled. What is compressed is counted as it comes out.
    """
    headers = response.headers.copy()
    if "Content-Encoding" in headers:
        for name in ("Content-Encoding", "Content-Length"):
            headers.pop(name, None)
    return library.Response(
        response.status_code,
        headers=headers,
        stream=_stream_class(library)(response),
        extensions=response.extensions,
        request=response.request,
    )


class _Counter:
    """Adds up what was read of one answer."""

    def __init__(self) -> None:
        self._read = 0

    def passed(self, chunk: bytes) -> bytes:
        """Return a chunk; raises Garbled where it is too much."""
        self._read += len(chunk)
        if self._read > MOST_BYTES:
            raise Garbled(f"the answer is longer than {MOST_BYTES // 10**6} MB")
        return chunk


class _Stream:
    """A response's bytes, for sync and async clients."""

    def __init__(self, response: Any) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return map(_Counter().passed, self._response.iter_bytes())

    async def __aiter__(self) -> AsyncIterator[bytes]:
        counter = _Counter()
        async for chunk in self._response.aiter_bytes():
            yield counter.passed(chunk)

    def close(self) -> None:
        """Close the response."""
        self._response.close()

    async def aclose(self) -> None:
        """Close the response."""
        await self._response.aclose()


@cache
def _stream_class(library: Any) -> type[_Stream]:
    """Return what clients of one library take for a stream."""
    return type("Bounded", (_Stream, library.SyncByteStream, library.AsyncByteStream), {})
