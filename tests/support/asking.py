"""A desk for tests: a journal in memory, frames by name, and models that follow a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import CallRow, Frame, Intent, Nonce, Usage, VideoFrames

T = TypeVar("T")
Line = str | ReceivedReply | Exception
MODEL = Model(alias="m", model="offline:hawk", max_frames=64)
REMOTE = Model(alias="r", model="openai:gpt-4o", base_url="http://127.0.0.1:9/v1")


class Status(Exception):
    """What an SDK raises for a status."""

    def __init__(
        self,
        status_code: int,
        headers: dict[str, str] | None = None,
        body: dict[str, str] | None = None,
    ) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code
        self.body = body
        self.response = type("Response", (), {"headers": headers or {}})()


@dataclass
class Pages:
    """A journal without a file."""

    rows: dict[str, CallRow] = field(default_factory=dict)
    intents: list[Intent] = field(default_factory=list)
    """Of tries that have no reply."""

    def find(self, key: str, _scope: str) -> CallRow | None:
        """Return the row of a finished call."""
        return self.rows.get(key)

    async def record(self, row: CallRow) -> None:
        """Keep a row."""
        assert row.key not in self.rows
        self.rows[row.key] = row
        self.intents = [i for i in self.intents if i.key != row.key or i.is_left_over]

    async def intend(self, intent: Intent) -> None:
        """Keep that a try is about to be sent."""
        self.intents.append(intent)

    def has_answered(self, endpoint: str) -> bool:
        """Return whether any row has a reply from an address."""
        return any(row.endpoint == endpoint and row.reply for row in self.rows.values())

    def withdraw(self, key: str, attempt: int) -> None:
        """Take back the intent of a try."""
        gone = (key, attempt)
        self.intents = [i for i in self.intents if (i.key, i.attempt) != gone]

    def leave_over(self, key: str, attempt: int) -> None:
        """Let the intent of a try stand for ever."""
        self.intents = [
            i._replace(is_left_over=True) if (i.key, i.attempt) == (key, attempt) else i
            for i in self.intents
        ]


class Script:
    """Clients that say one line after the other, whatever they are sent, and keep what they saw."""

    def __init__(self, lines: Iterable[Line] | Callable[[OutgoingCall], Line]) -> None:
        self._speak = lines if callable(lines) else None
        self._lines = iter(()) if callable(lines) else iter(lines)
        self.seen: list[OutgoingCall] = []
        self.busy = self.most_busy = 0

    def __call__(self, _model: Model, _load: object) -> Script:
        """Play every model's client."""
        return self

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        """Say the next line; an exception is raised."""
        self.seen.append(sending)
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        await asyncio.sleep(0)
        self.busy -= 1
        line = self._speak(sending) if self._speak else next(self._lines)
        if isinstance(line, Exception):
            raise line
        return (
            line if isinstance(line, ReceivedReply) else ReceivedReply(line, Usage(input_tokens=3))
        )

    async def aclose(self) -> None:
        """Have nothing to close."""


async def load_bytes(_video: str, digests: list[str]) -> list[bytes]:
    """Return made-up bytes for each frame."""
    return [bytes.fromhex(name) for name in digests]


def frames_of(count: int, *, video: str = "0123456789ab", step_s: float = 0.5) -> VideoFrames:
    """Return `count` frames whose bytes are the digests of their numbers."""
    found = (Frame(time_s=i * step_s, digest=digest(f"{video} {i}")) for i in range(count))
    return VideoFrames(video=video, width_px=64, height_px=36, frames=tuple(found))


def request_of(
    text: str = "Look.",
    *,
    frames: VideoFrames | None = None,
    ordinal: int = 0,
    scope: str = "0123456789ab-p1-r0",
) -> Request:
    """Return a contestant's request."""
    nonce = Nonce(scope=scope, role="contestant", ordinal=ordinal)
    return Request("contestant", text, frames, nonce, prompt="p" * 64)


async def no_pause(_seconds: float) -> None:
    """Wait for nothing."""


def prompter_of(script: Script, *, journal: Pages | None = None, **settings: Any) -> Prompter:
    """Return a desk whose models follow the script."""
    settings = {"pause": no_pause, **settings}
    asker = Asker(journal or Pages(), load_bytes, make_client=script, **settings)
    return Prompter(asker, PromptSet.load())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run one test's loop."""
    return asyncio.run(work)
