"""A server of OpenAI's or Anthropic's protocol whose prompt cache counts prefixes and tokens."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from unittest.mock import patch
from urllib.parse import urlsplit

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from tests.support import wire
from tests.support.bodies import HttpReply, Kept, keeping
from tests.support.canned import Brain, canned
from videoautoarena.agents.providers.base import Provider
from videoautoarena.agents.providers.openai import OPENAI
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Price, Usage

LEAST_TOKENS = 1024
"""Tokens of the shortest prefix that is kept."""
LIFE_S = 300.0
"""How long a prefix is kept after its last use."""
IMAGES = (b'"data:image/jpeg;base64,', b'"media_type":"image/jpeg","data":"')
"""What stands before an image's base64: in OpenAI's protocol, in Anthropic's."""
Matching = Literal["beginnings", "marks", "cache_control"]
"""What a cache looks for: any beginning of a prompt, or one that ends at a mark, as OpenAI's does
from GPT-5.6 on and Claude's ever did. Without a mark the first of these two keeps a prompt whole,
and the other nothing."""
MARKS: dict[Matching, str] = {"marks": "prompt_cache_breakpoint", "cache_control": "cache_control"}
"""Field of the part that a prefix ends with."""
SETTINGS = ("tools", "system", "output_config", "thinking", "response_format")
"""Fields that a prompt begins with, wherever they stand in a body."""


class PromptPart(NamedTuple):
    """A part of a prompt that a cache may keep, from its beginning on."""

    digest: str
    tokens: int


class _Prompt(NamedTuple):
    prefix: PromptPart
    """Up to the last mark, else to the end of the last frame."""
    whole: PromptPart
    is_marked: bool


@dataclass
class PromptCache:
    """A cache that is read from once the reply to a call which wrote into it has begun."""

    matching: Matching = "beginnings"
    frame_tokens: int = 255
    latency_s: float = 0.0
    """How long the server works on each call."""
    brain: Brain = canned
    clock: Callable[[], float] = time.monotonic
    calls: Counter[str] = field(default_factory=Counter)
    """Calls by their prefix: all of the body from the messages to a mark or the last frame."""
    misses: Counter[str] = field(default_factory=Counter)
    """Those of them that read nothing."""
    usages: dict[str, list[Usage]] = field(default_factory=lambda: defaultdict(list))
    """What calls took, by their model's name."""
    _used_s: dict[str, float] = field(default_factory=dict)
    """When each prefix that was written was used last."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Kept) -> HttpReply:
        """Answer a request, its tokens stated as its protocol states them."""
        body = json.loads(request.body)
        prompt = self._prompt(request.body, body)
        part = self._kept(prompt)
        with self._lock:
            is_read = part is not None and self._is_readable(part)
            if prompt.prefix.tokens >= LEAST_TOKENS:
                self.calls[prompt.prefix.digest] += 1
                self.misses[prompt.prefix.digest] += not is_read
        time.sleep(self.latency_s)
        tokens = part.tokens if part is not None else 0
        is_written = not is_read and self.matching != "beginnings"
        reply = self.brain(body["model"], _messages(request.target, body))
        usage = Usage(
            input_tokens=prompt.whole.tokens,
            output_tokens=len(str(reply.text)) // 4,
            cached_tokens=tokens if is_read else 0,
            written_tokens=tokens if is_written else 0,
        )
        with self._lock:
            self.usages[body["model"]].append(usage)
            if part is not None:
                self._used_s[part.digest] = self.clock()
        write = _anthropic_reply if _is_anthropic(request.target) else _openai_reply
        return HttpReply(json.dumps(write(body["model"], reply, usage)).encode())

    def _kept(self, prompt: _Prompt) -> PromptPart | None:
        """Return the part of a prompt that the cache looks for and keeps; None if there is none."""
        part = prompt.prefix
        if not prompt.is_marked and self.matching != "beginnings":
            if self.matching == "cache_control":
                return None
            part = prompt.whole
        return part if part.tokens >= LEAST_TOKENS else None

    def _is_readable(self, part: PromptPart) -> bool:
        used_s = self._used_s.get(part.digest)
        if used_s is None or self.clock() - used_s >= LIFE_S:
            return False
        self._used_s[part.digest] = self.clock()
        return True

    def _prompt(self, sent: bytes, body: Mapping[str, Any]) -> _Prompt:
        mark = MARKS.get(self.matching, "")
        blocks = list(_blocks(body))
        marked = [place for place, block in enumerate(blocks) if mark in block]
        shown = [place for place, block in enumerate(blocks) if "image" in block["type"]]
        last = max(marked or shown, default=-1)
        start = sent.index(b'"messages"')
        end = sent.rfind(f'"{mark}"'.encode()) if marked else _end_of_images(sent, start)
        settings = {name: body[name] for name in SETTINGS if name in body}
        head = json.dumps([body["model"], settings]).encode()
        return _Prompt(
            PromptPart(digest(head + sent[start:end]), self._tokens(blocks[: last + 1])),
            PromptPart(digest(head + sent[start:]), self._tokens(blocks)),
            bool(marked),
        )

    def _tokens(self, blocks: Iterable[Mapping[str, Any]]) -> int:
        characters = 0
        images = 0
        for block in blocks:
            characters += len(block.get("text", ""))
            images += "image" in block["type"]
        return images * self.frame_tokens + characters // 4


def _blocks(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the blocks of a prompt in the order in which they are read, the system's first."""
    for content in (body.get("system", ""), *(said["content"] for said in body["messages"])):
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _end_of_images(sent: bytes, start: int) -> int:
    """Return where the last image of a body ends, or `start` if it has none."""
    ends = [sent.rfind(image) + len(image) for image in IMAGES if image in sent]
    return sent.index(b'"', max(ends)) if ends else start


def _is_anthropic(target: str) -> bool:
    return urlsplit(target).path == "/v1/messages"


def _messages(target: str, body: dict[str, Any]) -> Sequence[BaseMessage]:
    """Return the messages of a call; of Anthropic's protocol the last one's texts alone."""
    if not _is_anthropic(target):
        # OpenRouter has another path before it.
        return wire.read(target.removeprefix("/api"), body).messages
    parts = body["messages"][-1]["content"]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    return [HumanMessage([{"type": "text", "text": text} for text in texts])]


def bill_usd(usages: Iterable[Usage], price: Price) -> float:
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
def provider_at(provider: Provider, url: str) -> Iterator[None]:
    """Let an address be a provider's own for as long as the block lasts."""
    named = dict.fromkeys(provider.base_names, "") | {provider.key_names[0]: "loopback-key"}
    home = f"{url}{urlsplit(provider.home).path}"
    with patch.dict(vars(provider), home=home), patch.dict(os.environ, named):
        yield


@contextmanager
def serving_as(provider: Provider, cache: PromptCache) -> Iterator[None]:
    """Serve as a provider with such a cache for as long as the block lasts."""

    def answer(request: Kept) -> HttpReply:
        # Kept by the server, a run's bodies would be hundreds of megabytes.
        book.requests.clear()
        return cache(request)

    with keeping(script=answer) as book, provider_at(provider, book.url):
        yield


def _openai_reply(model: str, reply: AIMessage, usage: Usage) -> dict[str, Any]:
    stated = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": (usage.input_tokens or 0) + (usage.output_tokens or 0),
        "prompt_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.written_tokens,
        },
    }
    whole = json.loads(wire.reply(wire.Request("openai", model, ()), reply))
    return {**whole, "usage": stated}


def _anthropic_reply(model: str, reply: AIMessage, usage: Usage) -> dict[str, Any]:
    """Return a reply as Anthropic writes it: its input tokens are those of no cache."""
    read = usage.cached_tokens or 0
    written = usage.written_tokens or 0
    return {
        "id": "msg_loopback",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": str(reply.text)}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": (usage.input_tokens or 0) - read - written,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": usage.output_tokens,
        },
    }


def main() -> None:
    """Run `simulate` with what follows an address, which is OpenAI's own for it."""
    from videoautoarena.runs.cli.program.main import simulate_main

    url = sys.argv.pop(1)
    with provider_at(OPENAI, url):
        simulate_main()


if __name__ == "__main__":
    main()
