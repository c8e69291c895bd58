"""Errors that come in an answer of status 200 count as the status would, streamed or not."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.agents.calls.test_mishaps import SAID, Told, model_at
from tests.support.asking import Pages, frames_of, load_bytes, no_pause, request_of
from tests.support.loopback import always, serving
from tests.support.manners import Limits, Manners, Mishap
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.errors import CallFailed


def suffer(
    place: Path, *mishaps: Mishap, limits: Limits | None = None, is_streamed: bool = False
) -> Told:
    """Make one call of a server with these manners."""
    journal = Pages()

    async def ask(model: Model) -> None:
        asker = Asker(journal, load_bytes, pause=no_pause)
        with suppress(CallFailed):
            await asker.ask(model, request_of("Well?", frames=frames_of(8)))
        await asker.aclose()

    manners = Manners(mishaps=mishaps, limits=limits or Limits())
    with serving(place / "log", manners, brain=always(SAID)) as server:
        model = model_at("openai", server)
        asyncio.run(ask(model.with_settings(parameters={"stream": True}) if is_streamed else model))
        (row,) = journal.rows.values()
        arrived = [e for e in server.after(len(row.attempts) + 1) if e["event"] == "arrived"]
    return Told(row, arrived)


def error(**facts: Any) -> str:
    return json.dumps({"error": {"message": "Provider returned error", **facts}})


def mishaps(body: str, times: int = 1) -> dict[str, Mishap]:
    whole = json.dumps({"id": "c", "object": "chat.completion.chunk", **json.loads(body)})
    return {
        "whole": Mishap("body", status=200, body=body, times=times),
        "streamed": Mishap("mid-stream", body=whole, times=times),
    }


@pytest.mark.parametrize("way", ["whole", "streamed"])
@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"code": 429}, "http-429"),
        ({"code": "429"}, "http-429"),
        ({"code": 502}, "http-502"),
        ({"code": 529}, "http-529"),
        ({"code": "rate_limit_exceeded"}, "http-429"),
        ({"type": "overloaded_error"}, "http-529"),
        ({"type": "server_error", "code": None}, "http-500"),
        ({"status": "UNAVAILABLE"}, "http-503"),
    ],
)
def test_an_error_in_an_answer_is_as_transient_as_its_code(
    facts: dict[str, Any], kind: str, way: str, tmp_path: Path
) -> None:
    told = suffer(tmp_path, mishaps(error(**facts))[way], is_streamed=way == "streamed")
    assert (told.row.reply, told.tried) == (SAID, [kind])


@pytest.mark.parametrize("way", ["whole", "streamed"])
@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"code": 401}, "http-401"),
        ({"code": 403}, "http-403"),
        ({"code": 402}, "quota"),
        ({"code": "insufficient_quota"}, "quota"),
        ({"code": 400, "type": "content_filter"}, "content-filter"),
        ({"code": 400}, "http-400"),
    ],
)
def test_an_error_in_an_answer_that_no_patience_helps_is_met_once(
    facts: dict[str, Any], kind: str, way: str, tmp_path: Path
) -> None:
    told = suffer(tmp_path, mishaps(error(**facts), times=9)[way], is_streamed=way == "streamed")
    assert (told.row.reply, told.row.failure_kind, len(told.arrived)) == (None, kind, 1)


def test_a_full_server_that_says_so_with_status_200_is_given_its_patience(tmp_path: Path) -> None:
    raw = {"raw": "error code: 1015", "provider_name": "Upstream"}
    told = suffer(tmp_path, mishaps(error(code=429, metadata=raw), times=3)["whole"])
    # What cannot be read is given up after three tries.
    assert (told.row.reply, told.tried) == (SAID, ["http-429"] * 3)
    assert {attempt.reason for attempt in told.row.attempts} == {
        "error 429 in an answer: Provider returned error: error code: 1015"
    }


def test_an_error_in_a_choice_is_what_its_code_says(tmp_path: Path) -> None:
    choice = {"index": 0, "finish_reason": "error", "message": {"role": "assistant", "content": ""}}
    choice["error"] = {"code": 502, "message": "Upstream went away"}
    body = {"id": "c", "object": "chat.completion", "model": "M", "choices": [choice]}
    told = suffer(tmp_path, Mishap("body", status=200, body=json.dumps(body), times=99))
    assert (told.row.failure_kind, len(told.arrived)) == ("http-502", 6)
    assert told.row.failure == "error 502 in an answer: Upstream went away"


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"object": "error", "message": "Engine is overloaded", "code": 503}, "http-503"),
        ({"detail": "Too many requests"}, "http-429"),
        ({"code": 429, "msg": "busy"}, "http-429"),
    ],
)
def test_an_answer_that_is_an_error_by_itself_is_read(
    body: dict[str, Any], kind: str, is_streamed: bool, tmp_path: Path
) -> None:
    mishap = Mishap("body", status=200, body=json.dumps(body))
    told = suffer(tmp_path, mishap, is_streamed=is_streamed)
    assert (told.row.reply, told.tried) == (SAID, [kind])


def test_a_page_instead_of_a_reply_is_told_by_its_title(tmp_path: Path) -> None:
    page = "<html><head><title>Sign in to the proxy</title></head><body>x</body></html>"
    told = suffer(tmp_path, Mishap("body", status=200, body=page, times=9))
    assert told.row.failure_kind == "malformed"
    assert told.row.failure == "an HTML page instead of a reply: Sign in to the proxy"


@pytest.mark.parametrize(
    "mishap",
    [
        Mishap("stream-cut"),
        Mishap("mid-stream", body='{"id": "c", "choices": [{"del'),
        Mishap("mid-stream", body='{"error": "worker died"}'),
        Mishap("mid-stream", body='{"error": {"message": "Stream ended", "code": null}}'),
    ],
    ids=["connection", "half a piece", "a word", "no code"],
)
def test_a_stream_that_breaks_is_tried_again(mishap: Mishap, tmp_path: Path) -> None:
    told = suffer(tmp_path, mishap, is_streamed=True)
    assert (told.row.reply, len(told.arrived)) == (SAID, 2)
    assert told.tried[0] in ("connection", "malformed")


def test_a_streams_error_over_the_context_is_met_with_fewer_frames(tmp_path: Path) -> None:
    words = "Your input exceeds the context window of this model."
    told = suffer(tmp_path, Mishap("mid-stream", body=error(message=words)), is_streamed=True)
    assert (told.row.reply, told.tried, told.row.frames) == (SAID, ["too-large"], 4)


def test_a_streams_last_piece_that_is_an_error_by_itself_is_read(tmp_path: Path) -> None:
    words = "prompt is too long: 9000 tokens > 8000"
    body = json.dumps({"object": "error", "message": words, "code": 400})
    told = suffer(tmp_path, Mishap("mid-stream", body=body), is_streamed=True)
    assert (told.row.reply, told.tried) == (SAID, ["too-large"])


@pytest.mark.parametrize("ending", [None, "error"])
def test_an_error_in_a_choice_behind_words_counts_as_its_code(
    ending: str | None, tmp_path: Path
) -> None:
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": ending}
    choice["error"] = {"message": "up", "code": 502}
    body = json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [choice]})
    told = suffer(tmp_path, Mishap("mid-stream", body=body), is_streamed=True)
    assert (told.row.reply, told.tried) == (SAID, ["http-502"])


def test_a_minutes_tokens_that_are_too_few_cost_three_requests(tmp_path: Path) -> None:
    limits = Limits(tokens=30_000, image_tokens=5_000, text_tokens=5_210)
    told = suffer(tmp_path, limits=limits)
    assert (told.row.reply, told.row.frames) == (SAID, 4)
    assert [event["images"] for event in told.arrived] == [8, 5, 4]


@pytest.mark.parametrize("status", [200, 400, 429])
def test_a_spent_budget_is_met_once(status: int, tmp_path: Path) -> None:
    words = "No deployments available - crossed budget: Exceeded budget for model: 0.36 >= 0.1"
    body = json.dumps({"error": {"message": words, "type": "None", "code": "429"}})
    told = suffer(tmp_path, Mishap("body", status=status, body=body, times=99))
    assert (told.row.failure_kind, len(told.arrived)) == ("quota", 1)
    assert words in (told.row.failure or "")


def test_a_model_without_eyes_is_told_what_to_set(tmp_path: Path) -> None:
    words = "image input is not supported - hint: you may need to provide the mmproj"
    body = json.dumps({"error": {"code": 500, "message": words, "type": "server_error"}})
    told = suffer(tmp_path, Mishap("body", status=500, body=body, times=99))
    assert (told.row.failure_kind, len(told.arrived)) == ("no-images", 1)
    assert told.row.failure == (
        f"HTTP 500: {words}; it takes no images: set max_frames = 0 for this model"
    )
