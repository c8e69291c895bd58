"""Fourteen providers by name: what each is sent through its real package, by its SDK's types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from pydantic import TypeAdapter

from tests.support.asking import frames_of, load_bytes, run
from tests.support.bodies import HttpReply, Kept, keeping
from tests.support.provider_servers import (
    ACCESS_TOKEN,
    HUSH,
    MESSAGE,
    TOKENS,
    answer,
    ask,
    calls_of,
    reached,
)
from videoautoarena.agents.calls.ask import journal_key
from videoautoarena.agents.calls.clients import ChatClient, OutgoingCall, ReceivedReply
from videoautoarena.agents.limits.estimates import limit_of
from videoautoarena.agents.models.registry import (
    Model,
    build_chat_model,
    check_keys,
    lacks_of_keys,
    parse_model,
)
from videoautoarena.agents.providers.base import Provider, ReplyForm
from videoautoarena.agents.providers.catalogue import BUILT_IN, find_provider
from videoautoarena.agents.providers.claude import AnthropicProtocol, ConverseProtocol
from videoautoarena.agents.providers.declared import Declaration, DeclaredProvider
from videoautoarena.agents.providers.google_genai import VertexProtocol
from videoautoarena.agents.providers.openai import OpenAIProtocol
from videoautoarena.agents.providers.table import TABLE
from videoautoarena.agents.transport.faults import GarbledAnswer
from videoautoarena.memory.records.errors import ArenaError, BadInput, ProviderFailed
from videoautoarena.memory.records.records import Role

ROWS = {row.name: row for row in TABLE}
CHATS = [row for row in TABLE if isinstance(row, OpenAIProtocol)]
MARKED = ["anthropic", "bedrock", "openrouter"]


@pytest.fixture(params=TABLE, ids=lambda row: row.name)
def row(request: pytest.FixtureRequest) -> Provider:
    found: Provider = request.param
    return found


def test_the_fourteen_are_there() -> None:
    names = "anthropic bedrock vertex azure mistral xai groq together fireworks openrouter"
    assert [*ROWS] == [*names.split(), "dashscope", "deepseek", "ollama", "vllm"]


def test_each_is_sent_what_the_types_of_its_sdk_allow_and_is_read_whole(
    row: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reached(row, monkeypatch) as (model, book):
        told = ask(model)
    ((request, body),) = calls_of(book)
    held_against_types(row, request, body)
    assert (told.reply, told.frames) == ("A heron.", 3)
    assert told.usage is not None
    used = told.usage
    # Of 90 tokens of input 60 were read from a cache, whatever an API counts as its input.
    assert (used.input_tokens, used.cached_tokens, used.output_tokens) == (90, 60, 17)
    assert used.reasoning_tokens == 10
    assert used.written_tokens == (None if row.name == "vertex" else 20)


def held_against_types(row: Provider, request: Kept, body: Mapping[str, Any]) -> None:
    """Return if the SDK's own types take a body, and know every field of it."""
    match row:
        case AnthropicProtocol():
            from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

            assert through(MessageCreateParamsNonStreaming, body) == body
        case ConverseProtocol():
            held_against_botocore(request, body)
        case VertexProtocol():
            held_against_genai(body)
        case _:
            held_against_openai(without_marks(body))


def through(kind: Any, body: Mapping[str, Any]) -> Any:
    """Return what a type keeps of a body: fields that it does not know are dropped."""
    adapter = TypeAdapter(kind)
    return json.loads(adapter.dump_json(adapter.validate_python(body), warnings=False))


def held_against_openai(body: Mapping[str, Any]) -> None:
    from openai.types.chat import ChatCompletionContentPartParam, completion_create_params

    kind = completion_create_params.CompletionCreateParamsNonStreaming
    *before, last = body["messages"]
    # Parts by themselves: pydantic reads an Iterable within a Union only in part.
    bare = {**body, "messages": [*before, {**last, "content": "Why?"}]}
    assert through(kind, bare) == bare
    adapter = TypeAdapter[Any](ChatCompletionContentPartParam)
    assert [adapter.validate_python(part) for part in last["content"]] == last["content"]


def without_marks(body: Any) -> Any:
    """Return a body without what is OpenRouter's own."""
    if isinstance(body, dict):
        return {name: without_marks(of) for name, of in body.items() if name != "cache_control"}
    return [without_marks(one) for one in body] if isinstance(body, list) else body


def held_against_botocore(request: Kept, body: Mapping[str, Any]) -> None:
    from botocore.loaders import Loader
    from botocore.model import ServiceModel
    from botocore.validate import ParamValidator

    model = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
    shape = model.operation_model("Converse").input_shape
    model_id = unquote(request.target.split("/")[2])
    wrong = ParamValidator().validate({**body, "modelId": model_id}, shape)
    assert not wrong.has_errors(), wrong.generate_report()


def held_against_genai(body: Mapping[str, Any]) -> None:
    from google.genai import types

    kinds = {
        "contents": list[types.Content],
        "systemInstruction": types.Content,
        "safetySettings": list[types.SafetySetting],
        "generationConfig": types.GenerationConfig,
    }
    for name, value in body.items():
        # Its models refuse fields that they do not know.
        TypeAdapter(kinds[name]).validate_python(value)


@pytest.mark.parametrize("row", CHATS, ids=lambda row: row.name)
def test_who_speaks_openai_is_let_in_by_a_bearer_and_told_the_key_of_the_call(
    row: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reached(row, monkeypatch) as (model, book):
        ask(model)
    ((request, _),) = calls_of(book)
    sent = {name.lower(): value for name, value in request.headers.items()}
    assert sent["authorization"] == f"Bearer {HUSH if row.key_names else 'none'}"
    assert len(sent["idempotency-key"]) == 64
    assert request.target.endswith("/chat/completions")


def test_anthropic_is_let_in_by_its_own_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another")
    with reached(ROWS["anthropic"], monkeypatch) as (model, book):
        ask(model)
    ((request, body),) = calls_of(book)
    sent = {name.lower(): value for name, value in request.headers.items()}
    # Older versions of its SDK send the first of these, newer ones the other.
    keys = {sent.get("x-api-key", HUSH), sent.get("authorization", f"Bearer {HUSH}")}
    assert keys == {HUSH, f"Bearer {HUSH}"}
    assert "x-api-key" in sent or "authorization" in sent
    assert len(sent["idempotency-key"]) == 64
    assert sent["anthropic-version"]
    assert body["max_tokens"] == 4096


def test_bedrock_is_let_in_by_a_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    with reached(ROWS["bedrock"], monkeypatch) as (model, book):
        ask(model)
    ((request, body),) = calls_of(book)
    signature = request.headers["Authorization"]
    assert signature.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-west-1/bedrock/aws4_request" in signature
    assert body["inferenceConfig"] == {"maxTokens": 4096}


def test_vertex_is_let_in_by_the_token_of_the_machine_it_runs_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with reached(ROWS["vertex"], monkeypatch) as (model, book):
        ask(model)
    ((request, _),) = calls_of(book)
    assert [one for one in book.requests if one.target.startswith(TOKENS)]
    assert request.headers["Authorization"] == f"Bearer {ACCESS_TOKEN}"
    assert "x-goog-api-key" not in {name.lower() for name in request.headers}
    place = "/projects/birds-42/locations/europe-west4/publishers/google/models/"
    assert place in request.target


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("", "aiplatform.googleapis.com"),
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
    ],
)
def test_vertex_is_asked_where_googles_own_client_would_ask(
    location: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from google.genai import Client
    from google.oauth2.credentials import Credentials

    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", location)
    own = Client(
        vertexai=True, project="p", location=location or None, credentials=Credentials(token="t")
    )
    model = parse_model("vertex:gemini-2.5-pro")
    assert own._api_client._http_options.base_url == f"https://{host}/"
    assert (model.url, model.endpoint) == (f"https://{host}", host)
    assert model.maker.is_home(model.url)
    own.close()


def test_vertex_without_a_project_is_one_line() -> None:
    with pytest.raises(BadInput, match="set GOOGLE_CLOUD_PROJECT"):
        check_keys([parse_model("vertex:gemini-2.5-pro")])


def test_azure_without_an_endpoint_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", HUSH)
    with pytest.raises(BadInput, match="AZURE_OPENAI_ENDPOINT"):
        check_keys([parse_model("azure:my-deployment")])


@pytest.mark.parametrize(
    ("base_url", "keys"),
    [
        ("https://birds.openai.azure.com", ("AZURE_OPENAI_API_KEY",)),
        ("https://birds.services.ai.azure.com/openai/v1", ("AZURE_OPENAI_API_KEY",)),
        ("http://birds.openai.azure.com", ()),
        ("https://birds.cloudapp.azure.com", ()),
        ("https://openai.azure.com.invalid", ()),
    ],
)
def test_a_key_of_azure_goes_to_resources_of_azure_alone(
    base_url: str, keys: tuple[str, ...]
) -> None:
    model = parse_model("azure:gpt", {"base_url": base_url})
    assert model.key_names == keys
    assert model.url.endswith("/openai/v1")


@pytest.mark.parametrize("thinks", [True, False])
@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
def test_claude_thinks_as_it_is_told_to(
    name: str, thinks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"type": "enabled", "budget_tokens": 4000}
    parameters = {"parameters": {"thinking": said}} if thinks else {}
    with reached(ROWS[name], monkeypatch, **parameters) as (model, book):
        told = ask(model)
    ((request, body),) = calls_of(book)
    held_against_types(ROWS[name], request, body)
    more = body if name == "anthropic" else body.get("additionalModelRequestFields", {})
    limit = body["max_tokens"] if name == "anthropic" else body["inferenceConfig"]["maxTokens"]
    assert more.get("thinking") == (said if thinks else None)
    if name == "bedrock":
        paths = body.get("additionalModelResponseFieldPaths")
        assert paths == (["/usage"] if thinks else None)
    # What it may think comes on top of what it may say.
    assert limit == 4096 + (4000 if thinks else 0)
    assert told.reply == "A heron."


@pytest.mark.parametrize(
    ("name", "parameters", "place", "value"),
    [
        ("vertex", {"thinking_budget": 4000}, "generationConfig", 4000),
        ("openrouter", {"extra_body": {"reasoning": {"max_tokens": 9}}}, "reasoning", 9),
        ("dashscope", {"extra_body": {"enable_thinking": True}}, "enable_thinking", True),
        ("xai", {"reasoning_effort": "high"}, "reasoning_effort", "high"),
    ],
)
def test_others_think_by_words_of_their_own(
    name: str, parameters: Any, place: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reached(ROWS[name], monkeypatch, parameters=parameters) as (model, book):
        assert ask(model).reply == "A heron."
    ((_, body),) = calls_of(book)
    assert str(value) in str(body[place])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"temperature": 0.7}, "temperature of 1 alone"),
        ({"top_k": 40}, "no top_k"),
        ({"top_p": 0.5}, "from 0.95"),
        ({"max_tokens": 2000}, "counts what it thinks"),
        ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "from 1,024"),
        ({"thinking": "yes"}, "thinking is a table"),
    ],
)
@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
def test_what_a_claude_that_thinks_would_refuse_is_told_before_a_call(
    name: str, more: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = {"thinking": {"type": "enabled", "budget_tokens": 4000}, **more}
    with (
        pytest.raises(BadInput, match=words),
        reached(ROWS[name], monkeypatch, parameters=parameters),
    ):
        raise AssertionError("it was not refused")


@pytest.mark.parametrize("parameters", [{"top_p": "much"}, {"max_tokens": "many"}])
def test_what_is_no_number_is_told_before_a_call(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"thinking": {"type": "enabled", "budget_tokens": 4000}, **parameters}
    with (
        pytest.raises(BadInput, match="cannot be set up") as caught,
        reached(ROWS["anthropic"], monkeypatch, parameters=said),
    ):
        raise AssertionError("it was not refused")
    assert HUSH not in str(caught.value)


def test_what_one_claude_does_not_take_is_told_before_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = {"thinking": {"type": "enabled", "budget_tokens": 4000}}
    with (
        pytest.raises(BadInput, match="use adaptive thinking"),
        reached(ROWS["anthropic"], monkeypatch, model="claude-opus-5", parameters=said),
    ):
        raise AssertionError("it was not refused")


@pytest.mark.parametrize(
    ("name", "parameters", "most"),
    [
        ("anthropic:claude-haiku-4-5", {}, 4096),
        ("anthropic:claude-3-5-sonnet-20241022", {}, 4096),
        ("anthropic:claude-opus-5", {}, 16_384),
        ("anthropic:claude-opus-5", {"thinking": {"type": "disabled"}}, 4096),
        ("anthropic:claude-opus-4-6", {"thinking": {"type": "adaptive"}}, 16_384),
        ("anthropic:claude-opus-4-6", {"reasoning_effort": "high"}, 16_384),
        ("bedrock:eu.anthropic.claude-opus-5", {"max_tokens": 700}, 700),
        (
            "bedrock:eu.anthropic.claude-opus-4-6-v1",
            {"additional_model_request_fields": {"thinking": {"type": "adaptive"}}},
            16_384,
        ),
        ("bedrock:amazon.nova-pro-v1:0", {}, 4096),
    ],
)
def test_an_answer_has_room_beside_what_a_model_thinks(
    name: str, parameters: dict[str, Any], most: int
) -> None:
    model = parse_model(name, {"parameters": parameters})
    assert limit_of(model, "contestant") == (most, True)


@pytest.mark.parametrize("is_marked", [True, False])
@pytest.mark.parametrize("name", MARKED)
def test_one_mark_stands_at_the_last_frame_unless_it_is_turned_off(
    name: str, is_marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = {} if is_marked else {"cache_breakpoint": False}
    with reached(ROWS[name], monkeypatch, **off) as (model, book):
        ask(model)
    ((request, body),) = calls_of(book)
    assert request.body.count(b"ephemeral") + request.body.count(b"cachePoint") == is_marked
    held_against_types(ROWS[name], request, body)
    if is_marked:
        parts = body["messages"][-1]["content"]
        (place,) = (n for n, part in enumerate(parts) if {"cache_control", "cachePoint"} & {*part})
        # Label and image of three frames, and the task: OpenRouter lets texts alone be marked.
        assert place == {"anthropic": 5, "bedrock": 6, "openrouter": 4}[name]
        assert parts[-1]["text"] == "Why?"


@pytest.mark.parametrize("name", MARKED)
def test_the_mark_makes_no_call_another_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with reached(ROWS[name], monkeypatch) as (model, _):
        keys = {
            journal_key(model.with_settings(cache_breakpoint=marked), request())
            for marked in (True, False)
        }
    assert len(keys) == 1


def request() -> Any:
    from tests.support.asking import request_of

    return request_of("Why?", frames=frames_of(3))


@pytest.mark.parametrize(
    ("name", "is_marked"),
    [
        ("anthropic:claude-haiku-4-5", True),
        ("bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("bedrock:anthropic.claude-3-sonnet-20240229-v1:0", False),
        ("bedrock:amazon.nova-pro-v1:0", False),
        ("openrouter:anthropic/claude-sonnet-4.5", True),
        ("openrouter:google/gemini-2.5-pro", False),
        ("vertex:gemini-2.5-pro", False),
        ("mistral:pixtral-large-latest", False),
    ],
)
def test_caches_that_keep_nothing_unasked_are_asked(name: str, is_marked: bool) -> None:
    assert parse_model(name).cache_breakpoint is is_marked


def test_no_error_holds_a_key(row: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: Kept) -> HttpReply | None:
        if not request.body:
            return answer(request)
        lets_in = HUSH if row.key_names or row.secret_names else ACCESS_TOKEN
        said = {"message": f"no key {lets_in}; {request.headers}"}
        return HttpReply(json.dumps({"type": "error", "error": said, **said}).encode(), status=401)

    with (
        reached(row, monkeypatch, script=refuse) as (model, _),
        pytest.raises(ArenaError) as caught,
    ):
        ask(model)
    said = f"{caught.value} {caught.value!r}"
    assert "http-401" in said or "401" in said
    assert HUSH not in said
    assert ACCESS_TOKEN not in said


@pytest.mark.parametrize("name", ["anthropic", "bedrock", "azure", "vllm"])
def test_a_server_that_is_not_there_is_a_fault_and_no_bug(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reached(ROWS[name], monkeypatch) as (model, _):
        pass
    with pytest.raises(ProviderFailed, match=r"(?i)connect"):
        ask(model, most_tries=1)


@pytest.mark.parametrize("status", [400, 429, 529])
@pytest.mark.parametrize("name", ["anthropic", "bedrock", "vertex", "mistral"])
def test_a_refusal_is_read_by_its_status(
    name: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(request: Kept) -> HttpReply | None:
        if not request.body:
            return answer(request)
        words = {"message": "not like this", "type": "overloaded_error"}
        return HttpReply(json.dumps({"type": "error", "error": words, **words}).encode(), status)

    with (
        reached(ROWS[name], monkeypatch, script=refuse) as (model, book),
        pytest.raises(ProviderFailed, match=f"{status}.*not like this"),
    ):
        ask(model, most_tries=1)
    # Tries are counted and paid for here: no client makes one of its own.
    assert len(calls_of(book)) == 1


def test_what_anthropic_is_sent_is_what_langchain_would_have_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bodies = []
    for splices in (True, False):
        way = replace(ROWS["anthropic"], can_splice=splices)
        monkeypatch.setitem(BUILT_IN, "anthropic", way)
        with reached(way, monkeypatch) as (model, book):
            ask(model)
        bodies.append(calls_of(book)[0][1])
    assert bodies[0] == bodies[1]


FORM = {
    "type": "object",
    "properties": {"bird": {"type": "string"}},
    "required": ["bird"],
    "additionalProperties": False,
}


def sent_by(model: Model, **sending: Any) -> ReceivedReply:
    """Return the reply to one call that is sent otherwise than contestants' are."""

    async def once() -> ReceivedReply:
        client = ChatClient(model, load_bytes)
        try:
            return await client.send(
                OutgoingCall("k" * 64, "judge", "Why?", frames_of(3), **sending)
            )
        finally:
            await client.aclose()

    return run(once())


def test_a_form_of_reply_is_asked_for_as_each_protocol_has_it(
    row: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = ReplyForm(row.reply_formats[0], "Bird", FORM)
    with reached(row, monkeypatch) as (model, book):
        assert sent_by(model, reply_form=form).text == "A heron."
    ((request, body),) = calls_of(book)
    held_against_types(row, request, body)
    asked = json.dumps(body)
    assert ("bird" in asked) == (form.format == "json_schema")
    assert re.search("json_?(?:schema|object)|responseJsonSchema|jsonSchema", asked)


STARTED = {**MESSAGE["usage"], "output_tokens": 1, "output_tokens_details": None}
EVENTS: tuple[dict[str, Any], ...] = (
    {
        "type": "message_start",
        "message": {**MESSAGE, "content": [], "stop_reason": None, "usage": STARTED},
    },
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "thinking", "thinking": "", "signature": ""},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "thinking_delta", "thinking": "A long beak."},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "A her"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "on."}},
    {"type": "content_block_stop", "index": 1},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        # Sums so far, of the input as well.
        "usage": {**MESSAGE["usage"], "cache_creation": None},
    },
    {"type": "message_stop"},
)


def test_claude_in_pieces_is_counted_once_and_its_thoughts_are_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in EVENTS)
    stream = HttpReply(lines.encode(), kind="text/event-stream")
    said = {"thinking": {"type": "enabled", "budget_tokens": 4000}}
    with reached(
        ROWS["anthropic"], monkeypatch, script=lambda _request: stream, parameters=said
    ) as (model, _):
        told = sent_by(model, is_streamed=True)
    assert (told.text, told.ending) == ("A heron.", "end_turn")
    used = told.usage
    assert (used.input_tokens, used.cached_tokens, used.written_tokens) == (90, 60, 20)
    assert (used.output_tokens, used.reasoning_tokens) == (17, 10)


def test_claude_that_breaks_off_in_the_middle_is_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in EVENTS[:6])
    stream = HttpReply(lines.encode(), kind="text/event-stream")
    with (
        reached(ROWS["anthropic"], monkeypatch, script=lambda _request: stream) as (model, _),
        pytest.raises(GarbledAnswer),
    ):
        sent_by(model, is_streamed=True)


def test_a_declaration_beats_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Declaration(chat_model="langchain_anthropic:ChatAnthropic", key_env="MY_KEY")
    model = parse_model("anthropic:claude-haiku-4-5", {"declared": said})
    assert (model.is_foreign, model.key_names, model.url) == (True, ("MY_KEY",), "")
    # Its calls have the keys that they had before there was a row.
    assert model.keyed("contestant") == {}
    assert not model.cache_breakpoint
    monkeypatch.setenv("MY_KEY", HUSH)
    check_keys([model])


def test_a_declared_class_takes_fields_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", HUSH)
    said = Declaration(chat_model="langchain_anthropic:ChatAnthropic", key_env="MY_KEY")
    thinking = {"type": "enabled", "budget_tokens": 2000}
    parameters = {"thinking": thinking, "effort": "low", "max_tokens": 4000}
    model = parse_model("mine:claude-opus-4-5", {"declared": said, "parameters": parameters})
    chat: Any = build_chat_model(model)
    assert (chat.thinking, chat.reasoning_effort, chat.max_tokens) == (thinking, "low", 4000)
    assert model.sampling("judge") == parameters


@pytest.mark.parametrize(
    ("role", "set_", "most"),
    [
        ("contestant", {}, 4_096),
        ("judge", {}, 8_192),
        ("judge", {"thinking": {"type": "enabled", "budget_tokens": 2_000}}, 10_192),
        ("judge", {"max_tokens": 300}, 300),
    ],
)
def test_a_declared_claude_asks_for_no_more_tokens_than_plans_and_caps_reckon_with(
    role: Role, set_: dict[str, Any], most: int
) -> None:
    with keeping(script=answer) as book:
        said = Declaration(chat_model="langchain_anthropic:ChatAnthropic", base_url=book.url)
        model = parse_model("mine:claude-haiku-4-5", {"declared": said, "parameters": set_})

        async def call() -> ReceivedReply:
            client = ChatClient(model, load_bytes)
            told = await client.send(OutgoingCall("k" * 64, role, "Well?", None))
            # LangChain shares it among all models of one address, and never closes it.
            chat: Any = client._chat
            await chat._async_client.close()
            return told

        assert run(call()).text == "A heron."
        (kept,) = book.requests
    assert json.loads(kept.body)["max_tokens"] == most == limit_of(model, role).tokens
    # What was asked before it was sent is known by the same key.
    assert model.keyed(role) == set_


@pytest.mark.parametrize("name", [*ROWS])
def test_each_name_may_still_be_declared(name: str) -> None:
    said = Declaration(chat_model="langchain_openai:ChatOpenAI")
    model = parse_model(f"{name}:m", {"declared": said})
    assert type(model.maker).__name__ == "DeclaredProvider"


def test_a_row_is_found_by_its_name(row: Provider) -> None:
    assert find_provider(row.name) is row is BUILT_IN[row.name]


@pytest.mark.parametrize(
    ("name", "most"), [("groq", 5), ("bedrock", 20), ("anthropic", 64), ("vllm", 64)]
)
def test_no_more_images_are_sent_than_a_provider_takes(name: str, most: int) -> None:
    assert parse_model(f"{name}:m").frame_limit("contestant") == most
    more = {"limits": {"images_per_request": 64}}
    from videoautoarena.memory.records.records import CallLimits

    own = parse_model(f"{name}:m", {"limits": CallLimits(**more["limits"])})
    assert own.frame_limit("contestant") == 64


@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
@pytest.mark.parametrize(
    "parameter",
    [
        *("default_headers", "base_url", "endpoint_url", "mcp_servers", "anthropic_proxy"),
        *("aws_secret_access_key", "model_kwargs", "credentials_profile_name", "region_name"),
        *("config", "client", "timeout", "model"),
    ],
)
def test_no_parameter_leads_elsewhere_or_lets_anybody_in(name: str, parameter: str) -> None:
    with pytest.raises(BadInput, match="parameter"):
        parse_model(f"{name}:m", {"parameters": {parameter: "hush"}})


def test_no_part_of_a_parameter_leads_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = {"output_config": {"task": [{"server_url": "https://x.invalid"}]}}
    with (
        pytest.raises(BadInput, match="'server_url' is no parameter"),
        reached(ROWS["anthropic"], monkeypatch, parameters=parameters),
    ):
        raise AssertionError("it was not refused")


def test_a_package_that_is_missing_is_one_line_with_its_pip_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, row in ROWS.items():
        if isinstance(row, DeclaredProvider):
            away = replace(row, declaration=Declaration(chat_model="langchain_nowhere:Chat"))
            monkeypatch.setitem(BUILT_IN, name, away)
            for variable in row.key_names:
                monkeypatch.setenv(variable, HUSH)
            with pytest.raises(BadInput, match=f"pip install {row.pip}$"):
                check_keys([parse_model(f"{name}:m")])


def test_a_package_that_offers_a_name_of_the_table_beats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "house-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house\nVersion: 1\n")
    points = "[videoautoarena.providers]\nmistral = langchain_openai:ChatOpenAI\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(tmp_path)
    model = parse_model("mistral:m")
    assert (model.is_foreign, model.url, model.sampling("contestant")) == (True, "", {})
    assert not parse_model("xai:m").is_foreign


@pytest.mark.parametrize("name", ["vertex", "bedrock"])
def test_who_finds_no_credentials_is_told_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # No metadata server answers so.
    with reached(ROWS[name], monkeypatch, script=lambda _: HttpReply(b"", 404)) as (model, book):
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(variable, raising=False)
        with pytest.raises(ArenaError, match=r"(?i)credentials"):
            ask(model, most_tries=1)
    assert not calls_of(book)


def test_a_plan_names_a_project_and_an_endpoint_that_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GOOGLE_CLOUD_PROJECT", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    vertex, azure = lacks_of_keys([parse_model("vertex:gemini-2.5-pro"), parse_model("azure:own")])
    assert "set GOOGLE_CLOUD_PROJECT" in vertex
    assert "set AZURE_OPENAI_ENDPOINT" in azure
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://name.openai.azure.com")
    assert lacks_of_keys([parse_model("azure:own")]) == (
        "'azure:own' needs a key; set AZURE_OPENAI_API_KEY",
    )
