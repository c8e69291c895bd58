"""Over real sockets: to what replies in JSON are held, what servers refuse of it, and what is kept.

Free text is held to nothing, and what was learnt of a server is no part of a call's key.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import Pages, load_bytes, no_pause, request_of
from tests.support.loopback import Loopback, always, serving
from tests.support.manners import Limits, Manners
from videoautoarena.agents.calls.ask import Asker, CallEvent, journal_key
from videoautoarena.agents.calls.replies import read_reply
from videoautoarena.agents.limits.estimates import Estimates
from videoautoarena.agents.limits.server_limits import ServerLimits
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.prompting.contracts import (
    ClassifierReply,
    DialogistReply,
    GraderReply,
    PersonaReply,
    QuestionerReply,
    checklist_validator_reply,
    reply_schema,
)
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.classify import classify
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.agents.transport.faults import refuses_response_format
from videoautoarena.memory.records.errors import BadInput, JournalMiss, ProviderFailed
from videoautoarena.memory.records.records import Learnt

PROVIDERS = ("openai", "google_genai")
ANSWER = '{"question": "Which colour is the lamp?"}'
SCHEMA = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "any-word")


def model_at(server: Loopback, provider: str, structured: str | None) -> Model:
    url = server.openai_url if provider == "openai" else server.gemini_url
    settings = {"base_url": url, "key_env": "TEST_KEY", "structured": structured}
    return parse_model(f"{provider}:m", settings)


def task(number: int = 0) -> Task:
    texts = {"brief": "A lamp.", "persona": "A nurse.", "asked": ""}
    return Task("questioner", None, scope=f"0123456789ab-p{number}-r0", texts=texts)


class Run:
    """What a run keeps between its processes, and what it said."""

    def __init__(self) -> None:
        self.journal = Pages()
        self.learnt: list[Learnt] = []
        self.said: list[str] = []

    def _hear(self, event: CallEvent) -> None:
        if event.kind == "learnt":
            self.said.append(event.text)

    def _keep(self, learnt: list[Learnt]) -> None:
        self.learnt = learnt

    def ask(self, model: Model, *tasks: Task, is_replay: bool = False) -> list[str]:
        """Ask one task after the other in a process of its own."""

        async def ask_all() -> list[str]:
            estimates = Estimates(limits=ServerLimits.of(self.learnt, self._keep))
            asker = Asker(
                self.journal,
                load_bytes,
                pause=no_pause,
                estimates=estimates,
                on_event=self._hear,
                is_replay=is_replay,
            )
            prompter = Prompter(asker, PromptSet.load())
            try:
                return [
                    (await prompter.ask_json(model, one, QuestionerReply)).question for one in tasks
                ]
            finally:
                await asker.aclose()

        return asyncio.run(ask_all())

    @property
    def sent(self) -> list[str | None]:
        """What stands in the rows of having been asked for."""
        return [row.structured for row in self.journal.rows.values()]


def asked_for(server: Loopback) -> list[str | None]:
    """Return what each request asked its reply to be held to."""
    found: list[str | None] = []
    for event in server.events("arrived"):
        sampling = event["sampling"]
        wish = sampling.get("response_format", {}).get("type")
        if "responseMimeType" in sampling:
            wish = "json_schema" if "responseJsonSchema" in sampling else "json_object"
        found.append(wish)
    return found


def test_a_role_that_replies_in_json_sends_its_schema_to_openais_protocol(tmp_path: Path) -> None:
    with serving(tmp_path / "log", brain=always(ANSWER)) as server:
        Run().ask(model_at(server, "openai", "json_schema"), task())
        (sent,) = server.events("arrived")
    told = {"name": "QuestionerReply", "strict": True, "schema": SCHEMA}
    assert sent["sampling"]["response_format"] == {"type": "json_schema", "json_schema": told}


def test_a_role_that_replies_in_json_sends_its_schema_to_gemini(tmp_path: Path) -> None:
    with serving(tmp_path / "log", brain=always(ANSWER)) as server:
        Run().ask(model_at(server, "google_genai", "json_schema"), task())
        (sent,) = server.events("arrived")
    assert sent["sampling"]["responseJsonSchema"] == SCHEMA
    assert sent["sampling"]["responseMimeType"] == "application/json"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("setting", [None, "off", "json_object", "json_schema", "auto"])
def test_what_is_set_is_sent_and_stands_in_the_row(
    provider: str, setting: str | None, tmp_path: Path
) -> None:
    wish = {"auto": "json_schema", "off": None}.get(setting or "off", setting)
    run = Run()
    with serving(tmp_path / "log", brain=always(ANSWER)) as server:
        assert run.ask(model_at(server, provider, setting), task()) == ["Which colour is the lamp?"]
        assert asked_for(server) == [wish]
    assert run.sent == [wish]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("taken", "tries", "learnt"),
    [
        (("json_schema",), ["json_schema"] * 3, None),
        (("json_object",), ["json_schema", *["json_object"] * 3], "json_object"),
        ((), ["json_schema", "json_object", None, None, None], "off"),
    ],
)
def test_auto_learns_once_what_a_server_refuses(
    provider: str, taken: Any, tries: list[str | None], learnt: Any, tmp_path: Path
) -> None:
    run = Run()
    manners = Manners(limits=Limits(formats=taken))
    with serving(tmp_path / "log", manners, brain=always(ANSWER)) as server:
        model = model_at(server, provider, "auto")
        run.ask(model, task(0), task(1))
        # Another process goes on with the run.
        run.ask(model, task(2))
        assert asked_for(server) == tries
    assert run.sent == tries[-3:]
    assert [one.structured for one in run.learnt] == ([learnt] if learnt else [])
    assert len(run.said) == len(tries) - 3


def test_calls_under_way_learn_a_refusal_as_well(tmp_path: Path) -> None:
    manners = Manners(limits=Limits(formats=()))

    async def ask_at_once(model: Model) -> list[str]:
        asker = Asker(Pages(), load_bytes, pause=no_pause)
        prompter = Prompter(asker, PromptSet.load())
        asks = (prompter.ask_json(model, task(number), QuestionerReply) for number in range(6))
        try:
            return [reply.question for reply in await asyncio.gather(*asks)]
        finally:
            await asker.aclose()

    with serving(tmp_path / "log", manners, brain=always(ANSWER)) as server:
        assert len(asyncio.run(ask_at_once(model_at(server, "openai", "auto")))) == 6


@pytest.mark.parametrize("setting", ["json_schema", "json_object"])
def test_a_format_that_is_set_and_refused_fails_in_the_servers_words(
    setting: str, tmp_path: Path
) -> None:
    manners = Manners(limits=Limits(formats=()))
    with serving(tmp_path / "log", manners, brain=always(ANSWER)) as server:
        with pytest.raises(ProviderFailed, match=f"'{setting}' is not supported"):
            Run().ask(model_at(server, "openai", setting), task())
        assert asked_for(server) == [setting]


def test_a_replay_finds_each_call_whatever_was_learnt_of_its_server(tmp_path: Path) -> None:
    run = Run()
    manners = Manners(limits=Limits(formats=("json_object",)))
    with serving(tmp_path / "log", manners, brain=always(ANSWER)) as server:
        model = model_at(server, "openai", "auto")
        first = run.ask(model, task())
        run.learnt = []
        assert run.ask(model, task(), is_replay=True) == first
        with pytest.raises(JournalMiss):
            run.ask(model.with_settings(structured="json_schema"), task(), is_replay=True)
        assert len(asked_for(server)) == 2


def test_the_setting_makes_a_call_another_one_where_its_role_replies_in_json() -> None:
    plain = parse_model("openai:m", {"base_url": "http://h/v1"})
    off = parse_model("openai:m", {"base_url": "http://h/v1", "structured": "off"})
    chosen = {
        setting: parse_model("openai:m", {"base_url": "http://h/v1", "structured": setting})
        for setting in ("auto", "json_schema", "json_object")
    }
    free = request_of()
    judged = replace(free, role="judge", nonce=free.nonce.model_copy(update={"role": "judge"}))
    assert {journal_key(model, free) for model in (plain, off, *chosen.values())} == {
        journal_key(plain, free)
    }
    assert journal_key(off, judged) == journal_key(plain, judged)
    assert len({journal_key(model, judged) for model in (plain, *chosen.values())}) == 4
    # As it was before there was such a setting.
    assert plain.keyed("judge") == {}


def test_an_answer_in_free_words_is_held_to_nothing(tmp_path: Path) -> None:
    run = Run()

    async def answer(model: Model) -> None:
        asker = Asker(run.journal, load_bytes)
        try:
            await asker.ask_row(model, request_of())
        finally:
            await asker.aclose()

    with serving(tmp_path / "log", brain=always("The lamp is red.")) as server:
        asyncio.run(answer(model_at(server, "openai", "json_schema")))
        assert asked_for(server) == [None]
    assert run.sent == [None]


def test_a_classifier_is_held_to_its_categories(tmp_path: Path) -> None:
    async def ask(model: Model) -> None:
        asker = Asker(Pages(), load_bytes)
        try:
            prompter = Prompter(asker, PromptSet.load(categories=True))
            await classify(prompter, model, frames=None, question="How many?", scope="s")
        finally:
            await asker.aclose()

    with serving(tmp_path / "log", brain=always('{"counting": "yes"}')) as server:
        asyncio.run(ask(model_at(server, "google_genai", "auto")))
        (sent,) = server.events("arrived")
    schema = sent["sampling"]["responseJsonSchema"]
    assert schema["properties"].keys() == ClassifierReply.model_fields.keys()
    assert schema["properties"]["counting"] == {"type": "string", "enum": ["yes", "no", "unknown"]}


def test_what_stands_in_the_extra_body_goes_out_beside_the_schema(tmp_path: Path) -> None:
    with serving(tmp_path / "log", brain=always(ANSWER)) as server:
        parameters = {"extra_body": {"min_p": 0.5}, "max_tokens": 9}
        Run().ask(model_at(server, "openai", "auto").with_settings(parameters=parameters), task())
        (sent,) = server.events("arrived")
    sampling = sent["sampling"]
    assert (sampling["min_p"], sampling["max_tokens"]) == (0.5, 9)
    assert sampling["response_format"]["type"] == "json_schema"


def test_a_reply_that_a_server_held_to_nothing_is_read_as_strictly_as_ever(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "log", brain=always('{"question": 3, "why": "x"}')) as server,
        pytest.raises(Exception, match="gave no usable reply twice"),
    ):
        Run().ask(model_at(server, "openai", "json_schema"), task())


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("offline:hawk", {}, "offline is not known to have any; leave structured out"),
        ("openai:m", {"structured": "yaml"}, "there are auto, json_schema, json_object, off"),
        (
            "openai:m",
            {"parameters": {"extra_body": {"response_format": {"type": "json_object"}}}},
            "leave one out",
        ),
    ],
)
def test_a_wish_that_could_not_be_granted_is_refused_by_name(
    name: str, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        parse_model(name, {"structured": "auto", **settings})


@pytest.mark.parametrize(
    "kind",
    [PersonaReply, GraderReply, DialogistReply, ClassifierReply, checklist_validator_reply(4)],
)
def test_a_schema_says_nothing_that_a_server_might_not_know(kind: Any) -> None:
    words = {
        *("type", "enum", "anyOf", "items", "minItems", "maxItems"),
        *("properties", "required", "additionalProperties"),
    }

    def check(part: dict[str, Any]) -> None:
        assert part.keys() <= words
        if part.get("type") == "object":
            assert part["required"] == list(part["properties"])
            assert part["additionalProperties"] is False
        for inner in (*part.get("properties", {}).values(), *part.get("anyOf", ())):
            check(inner)
        if "items" in part:
            check(part["items"])

    check(reply_schema(kind))
    assert "$ref" not in json.dumps(reply_schema(kind))


def test_a_list_of_a_known_length_has_that_length() -> None:
    assert reply_schema(PersonaReply)["properties"]["personas"] == {
        "type": "array",
        "minItems": 3,
        "maxItems": 3,
        "items": {"type": "string"},
    }
    assert reply_schema(checklist_validator_reply(4))["properties"]["items"]["maxItems"] == 4


def test_what_keeps_to_a_schema_with_values_in_bounds_is_read() -> None:
    one = {name: 2.5 for name in GraderReply.model_fields["question_1"].annotation.model_fields}  # type: ignore[union-attr]
    reply = read_reply(json.dumps({"question_1": one, "question_2": one}), GraderReply)
    assert reply.question_1.overall == reply.question_2.accuracy == 2.5


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "This response_format type is unavailable now"),
        (400, "'response_format.type' must be 'json_schema' or 'text'"),
        (400, "This model does not support response format `json_schema`."),
        (400, 'Unknown name "responseJsonSchema" at generation_config: Cannot find field.'),
        (400, "JSON mode is not enabled for models/gemma-3-27b-it"),
        (400, "failed to parse grammar"),
        (422, "[{'type': 'extra_forbidden', 'loc': ['body', 'response_format'], 'input': 1}]"),
        (500, "structured output is not supported by this backend"),
    ],
)
def test_a_refusal_to_hold_a_reply_is_known_by_its_words(status: int, words: str) -> None:
    assert refuses_response_format(status, words)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "max_tokens: 100000 > 8192"),
        (422, "[{'loc': ['body', 'top_k'], 'input': {'response_format': {}}}]"),
        (429, "response_format: too many requests"),
        (400, "model not found"),
    ],
)
def test_no_other_error_is_taken_for_one(status: int, words: str) -> None:
    assert not refuses_response_format(status, words)
