"""A call without a connection: its body is kept instead of sent, or its answer is one from before.

So a batch holds the very bodies that ordinary calls send, and its results are read as ordinary
answers are: LangChain and the SDKs make the one and read the other, and notice no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


class BodyKept(RuntimeError):
    """Raised where a request would have been sent; the clients report it as they like."""


@dataclass(slots=True)
class KeptBody:
    """The body of the one call that was made in the block, in pieces."""

    pieces: Sequence[bytes] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer that came by another way."""

    status: int
    body: bytes


_KEEPING: ContextVar[KeptBody | None] = ContextVar("keeping", default=None)
_ANSWERING: ContextVar[RecordedAnswer | None] = ContextVar("answering", default=None)


@contextmanager
def keeping_body() -> Iterator[KeptBody]:
    """Keep the body of the one call that is made in the block; nothing is sent.

    The call fails in whatever way its client reports `BodyKept`, which ends here.
    """
    kept = KeptBody()
    token = _KEEPING.set(kept)
    try:
        yield kept
    except Exception:
        if not kept.pieces:
            raise
    finally:
        _KEEPING.reset(token)


@contextmanager
def answering(answer: RecordedAnswer) -> Iterator[None]:
    """Answer the one call that is made in the block with this; nothing is sent."""
    token = _ANSWERING.set(answer)
    try:
        yield
    finally:
        _ANSWERING.reset(token)


def is_kept_back() -> bool:
    """Return whether nothing that is called now may be sent."""
    return _KEEPING.get() is not None or _ANSWERING.get() is not None


def keep(pieces: Sequence[bytes]) -> None:
    """Keep the body of the call under way, and raise BodyKept, where bodies are kept."""
    kept = _KEEPING.get()
    if kept is not None:
        kept.pieces = pieces
        raise BodyKept("the call is handed over in a batch")


def stored_answer(request: Any, library: Any) -> Any:
    """Return the stored answer to the call under way as a response; None if there is none."""
    answer = _ANSWERING.get()
    if answer is None:
        return None
    headers = {"content-type": "application/json"}
    return library.Response(answer.status, content=answer.body, headers=headers, request=request)
