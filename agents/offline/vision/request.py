"""What one message held: stamped pictures and the text of the task."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langchain_core.messages import BaseMessage

from videoautoarena.agents.prompting.contracts import (
    CONTRACTS,
    FORMAT_LINE,
    QUESTION_LINE,
    number_of,
)
from videoautoarena.agents.prompting.fences import open_fences

_STAMP = re.compile(r"t=(\d+(?:\.\d+)?)s")
_CONTRACT = re.compile(rf"^{FORMAT_LINE}(?P<role>\w+)(?: \(\d+\))?\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Picture:
    """One JPEG as it came: base64 text, known by the digest of that text."""

    time_s: float
    base64: str
    digest: bytes


@dataclass(frozen=True)
class Sent:
    """Everything an offline model gets to know."""

    pictures: tuple[Picture, ...]
    text: str
    """The role text: the last text block."""
    words: int
    """How many words the call held, system text and stamps included."""

    @property
    def question(self) -> str:
        """What a contestant is asked: everything after the first line that reads `Question:`."""
        _, found, question = f"\n{self.text}".partition(f"\n{QUESTION_LINE}\n")
        return question.strip() if found else self.text

    @property
    def role(self) -> str | None:
        """The role named by the last contract line outside the fences; None where there is none."""
        return self._contract["role"] if self._contract else None

    @property
    def contracts(self) -> int:
        """The number of the contract that binds."""
        return number_of(self._contract[0]) if self._contract else CONTRACTS

    @cached_property
    def _contract(self) -> re.Match[str] | None:
        return max(
            _CONTRACT.finditer(open_fences(self.text)[0]),
            key=lambda found: found.start(),
            default=None,
        )


def picture(time_s: float, base64: str) -> Picture:
    """Return a picture known by its digest; nothing is decoded yet."""
    return Picture(time_s, base64, hashlib.sha256(base64.encode()).digest())


def read(messages: Iterable[BaseMessage]) -> Sent:
    """Return what the messages hold. An image without a stamp is one second after the last."""
    pictures: list[Picture] = []
    text, words = "", 0
    stamped: float | None = None
    for human, block in _blocks(messages):
        if block["type"] == "image":
            usual = pictures[-1].time_s + 1 if pictures else 0.0
            pictures.append(picture(usual if stamped is None else stamped, block["base64"]))
            stamped = None
            continue
        words += len(block["text"].split())
        stamp = _STAMP.fullmatch(block["text"].strip())
        if stamp:
            stamped = float(stamp[1])
        elif human:
            text = block["text"]
    return Sent(tuple(pictures), text, words)


def _blocks(messages: Iterable[BaseMessage]) -> Iterator[tuple[bool, dict[str, Any]]]:
    for message in messages:
        content = message.content
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            entry = {"type": "text", "text": block} if isinstance(block, str) else block
            if entry.get("type") in ("text", "image"):
                yield message.type == "human", entry
