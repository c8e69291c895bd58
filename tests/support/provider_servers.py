"""Servers on 127.0.0.1 for every provider of the table: what each is sent, and its answers."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.asking import Pages, frames_of, load_bytes, no_pause, request_of, run
from tests.support.bodies import Book, HttpReply, Kept, keeping
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.models.registry import Model, check_keys, parse_model
from videoautoarena.agents.providers.base import Provider
from videoautoarena.memory.records.records import CallRow

HUSH = "hushA1b2C3d4E5f6G7h8"
"""Stands for every key; no text of ours may hold it."""
ACCESS_TOKEN = "ya29.hush-of-the-metadata-server"
AWS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": HUSH,
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}
CLAUDE = "claude-haiku-4-5"
MODELS = {
    "anthropic": CLAUDE,
    "bedrock": "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "vertex": "gemini-2.5-pro",
    "openrouter": "anthropic/claude-sonnet-4.5",
}
"""A model by its provider, where it matters which."""

CHAT = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "A heron."},
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 90,
        "completion_tokens": 17,
        "total_tokens": 107,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 10},
    },
}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": CLAUDE,
    "content": [
        {"type": "thinking", "thinking": "A long beak. Said: stork?", "signature": "s"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "A heron."},
    ],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 10,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 20,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 17,
        "output_tokens_details": {"thinking_tokens": 10},
    },
}
CONVERSE = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "A long beak.", "signature": "s"}}},
                {"text": "A heron."},
            ],
        }
    },
    "stopReason": "end_turn",
    "usage": {
        "inputTokens": 10,
        "outputTokens": 17,
        "totalTokens": 107,
        "cacheReadInputTokens": 60,
        "cacheWriteInputTokens": 20,
        "cacheDetails": [{"ttl": "5m", "inputTokens": 20}],
    },
    "additionalModelResponseFields": {"usage": {"output_tokens_details": {"thinking_tokens": 10}}},
    "metrics": {"latencyMs": 3},
}
GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [{"text": "A long beak.", "thought": True}, {"text": "A heron."}],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 90,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 10,
        "totalTokenCount": 107,
        "cachedContentTokenCount": 60,
    },
    "modelVersion": "gemini-2.5-pro",
}
ANSWERS = {
    "/chat/completions": CHAT,
    "/v1/messages": MESSAGE,
    "/converse": CONVERSE,
    ":generateContent": GEMINI,
}
"""End of a path to the answer there."""
TOKENS = "/computeMetadata/v1/instance/service-accounts/default/token"


def answer(request: Kept) -> HttpReply | None:
    """Answer a call of any of the four protocols, or Google's client at its metadata server."""
    path = unquote(urlsplit(request.target).path)
    if "computeMetadata" in path or path == "/":
        return _metadata(path)
    body = next((said for end, said in ANSWERS.items() if path.endswith(end)), None)
    return None if body is None else HttpReply(json.dumps(body).encode())


def _metadata(path: str) -> HttpReply:
    """Answer as the metadata server of a machine of Google's does."""
    flavour = {"Metadata-Flavor": "Google"}
    if path == TOKENS:
        token = {"access_token": ACCESS_TOKEN, "expires_in": 3600, "token_type": "Bearer"}
        return HttpReply(json.dumps(token).encode(), headers=flavour)
    if path.endswith("/universe/universe-domain"):
        return HttpReply(b"googleapis.com", kind="application/text", headers=flavour)
    if path.endswith("/project/project-id"):
        return HttpReply(b"birds-42", kind="application/text", headers=flavour)
    if "service-accounts" in path:
        account = {"email": "a@b.invalid", "scopes": ["cloud"], "aliases": ["default"]}
        return HttpReply(json.dumps(account).encode(), headers=flavour)
    return HttpReply(b"ok", kind="application/text", headers=flavour)


@contextmanager
def reached(
    row: Provider, monkeypatch: pytest.MonkeyPatch, **settings: Any
) -> Iterator[tuple[Model, Book]]:
    """Yield a model of a row that is served here, let in as it is at home, and what is sent."""
    script = settings.pop("script", answer)
    with keeping(script=script) as book:
        name = f"{row.name}:{settings.pop('model', MODELS.get(row.name, 'm-1'))}"
        for key_name in row.key_names:
            monkeypatch.setenv(key_name, HUSH)
        _let_in(row, book, monkeypatch)
        if not any(map(_is_set, row.base_names)):
            key_env = {"key_env": row.key_names[0]} if row.key_names else {}
            path = urlsplit(row.home).path
            settings = {"base_url": f"{book.url}{path}", **key_env, **settings}
        model = parse_model(name, {"alias": "mine", **settings})
        check_keys([model])
        yield model, book


def _is_set(name: str) -> bool:
    return bool(os.environ.get(name))


def _let_in(row: Provider, book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    if row.base_names:
        monkeypatch.setenv(row.base_names[0], book.url)
    if row.name == "bedrock":
        for name, value in AWS.items():
            monkeypatch.setenv(name, value)
    if row.name == "vertex":
        for name in ("GCE_METADATA_HOST", "GCE_METADATA_IP"):
            monkeypatch.setenv(name, f"127.0.0.1:{book.port}")
        # It reads where its server is when it is imported.
        from google.auth.compute_engine import _metadata

        importlib.reload(_metadata)
        monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "birds-42")
        monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west4")
        # What must not be sent in place of a token.
        monkeypatch.setenv("GOOGLE_API_KEY", HUSH)


def ask(model: Model, *, frames: int = 3, **how: Any) -> CallRow:
    """Return the row of one call with frames, as a run makes it."""

    async def once() -> CallRow:
        asker = Asker(Pages(), load_bytes, pause=no_pause, **how)
        try:
            return await asker.ask_row(model, request_of("Why?", frames=frames_of(frames)))
        finally:
            await asker.aclose()

    return run(once())


def calls_of(book: Book) -> list[tuple[Kept, Mapping[str, Any]]]:
    """Return the calls of a model that came, with their bodies as JSON."""
    return [(one, json.loads(one.body)) for one in book.requests if one.body]
