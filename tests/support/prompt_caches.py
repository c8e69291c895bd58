"""A server of OpenAI's protocol with a prompt cache, which counts prefixes and states tokens."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from unittest.mock import patch

from tests.support import wire
from tests.support.bodies import HttpReply, Kept, keeping
from tests.support.canned import Brain, canned
from videoautoarena.agents.providers.openai import OPENAI
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Price, Usage

LEAST_TOKENS = 1024
"""Tokens of the shortest prefix that is kept."""
IMAGE = b"data:image/jpeg;base64,"
MARK = b'"prompt_cache_breakpoint"'
Matching = Literal["beginnings", "marks"]
"""What a cache looks for: any beginning of a prompt, or one that ends at a mark, as OpenAI's does
from GPT-5.6 on; a prompt without a mark is kept whole there."""


class PromptPart(NamedTuple):
    """A part of a prompt that a cache may keep, from its beginning on."""

    digest: str
    tokens: int


@dataclass
class PromptCache:
    """A cache that is read from once the reply to a call which wrote into it has begun."""

    matching: Matching = "beginnings"
    frame_tokens: int = 255
    latency_s: float = 0.0
    """How long the server works on each call."""
    brain: Brain = canned
    calls: Counter[str] = field(default_factory=Counter)
    """Calls by their prefix: all of the body from the messages to the end of the last frame."""
    misses: Counter[str] = field(default_factory=Counter)
    """Those of them that read nothing."""
    usages: list[Usage] = field(default_factory=list)
    _readable: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Kept) -> HttpReply:
        """Answer a request, its tokens stated as OpenAI states them."""
        asked = wire.read(request.target, json.loads(request.body))
        prefix, whole = self._parts(request.body, asked)
        keeps_whole = self.matching == "marks" and MARK not in request.body
        part = whole if keeps_whole else prefix
        is_long = part.tokens >= LEAST_TOKENS
        with self._lock:
            is_read = is_long and part.digest in self._readable
            if prefix.tokens >= LEAST_TOKENS:
                self.calls[prefix.digest] += 1
                self.misses[prefix.digest] += not is_read
        time.sleep(self.latency_s)
        reply = self.brain(asked.model, asked.messages)
        is_written = is_long and not is_read and self.matching == "marks"
        usage = Usage(
            input_tokens=whole.tokens,
            output_tokens=len(str(reply.text)) // 4,
            cached_tokens=part.tokens if is_read else 0,
            written_tokens=part.tokens if is_written else 0,
        )
        body = json.loads(wire.reply(asked, reply)) | {"usage": _stated(usage)}
        with self._lock:
            self.usages.append(usage)
            self._readable.add(part.digest)
        return HttpReply(json.dumps(body).encode())

    def _parts(self, body: bytes, asked: wire.Request) -> tuple[PromptPart, PromptPart]:
        """Return a prompt up to the end of its last frame, and all of it."""
        start = body.index(b'"messages"')
        last = body.rfind(IMAGE)
        end = body.index(b'"', last) if last >= 0 else start
        texts = [
            len(block["text"])
            for message in asked.messages
            for block in wire.blocks(message)
            if block["type"] == "text"
        ]
        shown = asked.images * self.frame_tokens
        name = asked.model.encode()
        return (
            PromptPart(digest(name + body[start:end]), shown + sum(texts[:-1]) // 4),
            PromptPart(digest(name + body[start:]), shown + sum(texts) // 4),
        )


def bill_usd(usages: list[Usage], price: Price) -> float:
    """Return what the tokens cost."""
    total = 0.0
    for usage in usages:
        read = usage.cached_tokens or 0
        written = usage.written_tokens or 0
        total += ((usage.input_tokens or 0) - read - written) * price.input_usd
        total += read * (price.input_usd if price.cached_usd is None else price.cached_usd)
        total += written * (price.input_usd if price.written_usd is None else price.written_usd)
        total += (usage.output_tokens or 0) * price.output_usd
    return total / 1e6


@contextmanager
def openai_at(url: str) -> Iterator[None]:
    """Let an address be OpenAI's own for as long as the block lasts."""
    named = {name: "" for name in OPENAI.base_names} | {"OPENAI_API_KEY": "loopback-key"}
    with patch.dict(vars(OPENAI), home=f"{url}/v1"), patch.dict(os.environ, named):
        yield


@contextmanager
def serving_openai(cache: PromptCache) -> Iterator[None]:
    """Serve as OpenAI with such a cache for as long as the block lasts."""

    def answer(request: Kept) -> HttpReply:
        # Kept by the server, a run's bodies would be hundreds of megabytes.
        book.requests.clear()
        return cache(request)

    with keeping(script=answer) as book, openai_at(book.url):
        yield


def _stated(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": (usage.input_tokens or 0) + (usage.output_tokens or 0),
        "prompt_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.written_tokens,
        },
    }


def main() -> None:
    """Run `simulate` with what follows an address, which is OpenAI's own for it."""
    from videoautoarena.runs.cli.program.main import simulate_main

    url = sys.argv.pop(1)
    with openai_at(url):
        simulate_main()


if __name__ == "__main__":
    main()
