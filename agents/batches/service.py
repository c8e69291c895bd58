"""What every provider's batches come down to: one file in, a batch in a list, one result a call."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.providers.base import NO_KEY
from videoautoarena.agents.transport.exchange import RecordedAnswer
from videoautoarena.agents.transport.faults import GarbledAnswer
from videoautoarena.agents.transport.transport import SplicingTransport

MOST_RESULTS_BYTES = 500_000_000
"""Most bytes that are read of the results of one batch."""
UPLOAD_S = 1_800.0
"""Longest that the upload of one file, or reading one of results, may take."""
CLOCKS_APART_S = 300.0
"""How far the clock of a provider may be from ours."""


class BatchLimits(NamedTuple):
    """How much one batch may hold."""

    bytes: int
    calls: int


@dataclass(frozen=True)
class BatchPosting:
    """A batch as it is looked for in a provider's list."""

    id: str
    """Our own."""
    began_at_s: float
    """Seconds since 1970, before it was posted."""
    keys: frozenset[str]
    """Its calls, each by the key that it was posted under."""
    known: frozenset[str]
    """What providers call our other batches."""


class FoundBatch(NamedTuple):
    """What a provider's list says of a batch whose POST was not answered."""

    server_id: str | None
    """What the provider calls it; None where it is not in the list."""
    is_sure: bool = True
    """Whether another reading of the list would say nothing else."""


class BatchStanding(NamedTuple):
    """How far a batch is."""

    is_ended: bool
    answered: int | None = None
    """Calls that have ended; None where the provider does not say."""
    failure: str = ""
    """Why the whole of it was refused after it had been taken; in the provider's words."""
    may_pass: bool = False
    """Whether the same batch may be taken later."""
    lacking: Literal["missing", "expired", "cancelled"] = "missing"
    """What became of the calls that have no result, once it has ended."""


class BatchResult(NamedTuple):
    """What came of one call of a batch."""

    key: str
    end: Literal["answered", "expired", "cancelled"]
    answer: RecordedAnswer | None = None
    """What an ordinary call would have been answered, an error included."""


class BatchService(ABC):
    """The batches of one model at its provider; errors are those of its client."""

    LIMITS: ClassVar[BatchLimits]

    def __init__(self, model: Model) -> None:
        self._model = model

    def _transport(self) -> SplicingTransport:
        return SplicingTransport(self._model.url, most_bytes=MOST_RESULTS_BYTES)

    def _connection(self, http_client: Callable[..., Any]) -> dict[str, Any]:
        """Return the arguments that the SDKs of OpenAI and Anthropic share, with their client."""
        return {
            "api_key": self._model.key() or NO_KEY,
            "base_url": self._model.url,
            "timeout": UPLOAD_S,
            "max_retries": 0,
            "http_client": http_client(timeout=UPLOAD_S, transport=self._transport()),
        }

    @abstractmethod
    def line(self, key: str, body: Sequence[bytes]) -> list[bytes]:
        """Return a call as a line of the file, in pieces; `body` is what would have been sent."""

    @abstractmethod
    async def upload(self, batch: str, file: Path) -> str:
        """Return the provider's name for a file of lines that it has now; nothing is paid yet."""

    async def witness(self, uploaded: str) -> str:
        """Return the name of something that is there for this account's keys alone.

        A key that can look at it sees the account's whole list of batches. Empty where the account
        has nothing yet.
        """
        return uploaded

    @abstractmethod
    async def look_at(self, witness: str) -> None:
        """Return if a witness is there for this key; else its client's error of 403 or 404."""

    @abstractmethod
    async def post(self, batch: str, uploaded: str, file: Path) -> str:
        """Have a batch begun that the provider can be asked for by our id; return its own."""

    @abstractmethod
    async def find(self, posting: BatchPosting) -> FoundBatch:
        """Return what the provider's list says of a batch."""

    @abstractmethod
    async def standing(self, server_id: str) -> BatchStanding:
        """Return how far a batch is."""

    @abstractmethod
    def results(self, server_id: str) -> AsyncIterator[BatchResult]:
        """Yield what came of the calls of a batch that has ended, in any order."""

    @abstractmethod
    async def cancel(self, server_id: str) -> None:
        """Have no further call of a batch begun."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close its connections."""


@contextmanager
def reading() -> Iterator[None]:
    """Raise GarbledAnswer where an answer has not the shape that its client takes for granted."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as odd:
        raise GarbledAnswer(f"{type(odd).__name__}: {odd}") from None


def named(value: object) -> str:
    """Return what a provider calls something; GarbledAnswer where it says no such name."""
    if isinstance(value, str) and value:
        return value
    raise GarbledAnswer("the answer names nothing")


def lacking_of(state: str) -> Literal["missing", "expired", "cancelled"]:
    """Return what became of calls that a batch in this state has no result of."""
    match state.lower():
        case "expired":
            return "expired"
        case "cancelled":
            return "cancelled"
    return "missing"


def read_line(line: str | bytes) -> Mapping[str, Any] | None:
    """Return a line of results; None for a blank one, GarbledAnswer for what is no JSON object."""
    if not line.strip():
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as odd:
        # What cannot be read is not missing: it is there, and may be paid for.
        raise GarbledAnswer(f"a line of results is no JSON: {odd}") from None
    if isinstance(found, Mapping):
        return found
    raise GarbledAnswer("a line of results is no JSON object")


def as_answer(status: int, body: object) -> RecordedAnswer:
    """Return what a provider put into a line as the answer to a call."""
    return RecordedAnswer(status, json.dumps(body).encode())
