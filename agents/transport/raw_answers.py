"""An answer as it came, kept while it is read, so that what no client reads can still be told."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

HEAD_BYTES = 64 * 1024
TAIL_BYTES = 64 * 1024
"""A stream says last what went wrong."""


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
        """What was kept; empty where the answer came another way than through our transport."""
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
