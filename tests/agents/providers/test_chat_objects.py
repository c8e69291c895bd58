"""Chat models that a program passes: what stands in their names, and what is kept out of texts."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI

import videoautoarena as va
from videoautoarena.agents.limits.estimates import OUTPUT_AT_MOST, limit_of
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.providers.chat_objects import OBJECTS, hold
from videoautoarena.agents.transport import redaction
from videoautoarena.agents.transport.redaction import redacted, reply_without_keys
from videoautoarena.runs.api.models import refuse_two_of_one_name

KEY = "7f-A-key-that-no-variable-holds"


@pytest.fixture(autouse=True)
def _forgetting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_VALUES", set())
    monkeypatch.setattr("videoautoarena.agents.providers.chat_objects._HELD", {})


def openai(**settings: Any) -> ChatOpenAI:
    return ChatOpenAI(model="some", **{"api_key": KEY, "base_url": "http://a.test/v1", **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"api_key": "other", "default_headers": {"Authorization": f"Bearer {KEY}"}},
        {"api_key": "other", "default_headers": {"x-own-token": KEY}},
        {"api_key": "other", "default_query": {"sig": KEY}},
    ],
)
def test_a_key_that_no_variable_holds_is_in_no_name_and_is_taken_out_of_what_servers_say(
    settings: dict[str, Any],
) -> None:
    assert KEY not in hold(openai(**settings))
    assert redacted(f"wrong: {KEY}") == "wrong: [key]"
    assert reply_without_keys(f"It says {KEY}.") == "It says [key]."


def test_other_headers_stay_in_replies() -> None:
    hold(openai(default_headers={"HTTP-Referer": "https://site.test/videos"}))
    assert reply_without_keys("See https://site.test/videos") == "See https://site.test/videos"


def test_a_chat_model_behind_a_proxy_is_built_with_it() -> None:
    name = hold(openai(openai_proxy="http://proxy.test:8080"))
    model = Model.model_construct(alias="some", model=name)
    built = OBJECTS.build(model)
    assert isinstance(built, ChatOpenAI)
    assert built.openai_proxy == "http://proxy.test:8080"


def test_connections_that_would_be_lost_are_refused() -> None:
    with pytest.raises(va.BadInput, match="http_async_client of its own"):
        hold(openai(http_async_client=httpx.AsyncClient()))


def test_two_servers_under_one_name_are_refused() -> None:
    refuse_two_of_one_name([openai(), "offline:hawk", openai()])
    with pytest.raises(va.BadInput, match="different servers"):
        refuse_two_of_one_name([openai(), openai(base_url="http://b.test/v1")])


def test_its_own_limit_of_output_is_what_a_cap_reckons_with() -> None:
    large = Model.model_construct(alias="some", model=hold(openai(max_tokens=100_000)))
    assert limit_of(large, "contestant") == (100_000, True)
    plain = Model.model_construct(alias="some", model=hold(openai()))
    assert limit_of(plain, "contestant") == (OUTPUT_AT_MOST, False)


def test_two_servers_of_objects_have_two_endpoints_that_name_neither() -> None:
    def endpoint(**settings: Any) -> str:
        model = Model.model_construct(alias="some", model=hold(openai(**settings)))
        return model.endpoint

    mine = endpoint(base_url="http://user:pass@a.test/v1")
    assert mine == endpoint(base_url="http://a.test/v1", temperature=0.5)
    assert mine != endpoint(base_url="http://b.test/v1", temperature=0.7)
    assert mine != endpoint(base_url="http://a.test:81/v1", temperature=0.9)
    assert not {"a.test", "pass"} & set(mine.split("-"))
    gone = Model.model_construct(alias="some", model="object:an.Other()")
    assert gone.endpoint == "object"


def known(chat: Any) -> Model:
    return Model.model_construct(alias=hold(chat), model=hold(chat))


@pytest.mark.parametrize(
    ("settings", "host"),
    [
        ({}, "a.test"),
        ({"base_url": f"http://user:{KEY}@b.test:8000/v1?key={KEY}"}, "b.test:8000"),
        ({"base_url": None}, "api.openai.com"),
    ],
)
def test_a_person_is_told_class_and_model_of_an_object_and_the_host_that_it_calls(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], host: str
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model = known(openai(temperature=0.5, **settings))
    assert (model.title, model.host) == ("ChatOpenAI some", host)
    # What is kept of its server names it as little as before.
    assert model.endpoint.startswith("object-")


def test_gemini_s_host_is_told_and_a_name_with_quotes_stands_as_it_is() -> None:
    gemini = known(ChatGoogleGenerativeAI(model="gemini-2.5-flash", google_api_key=KEY))
    assert gemini.host == "generativelanguage.googleapis.com"
    quoted = known(ChatOpenAI(model='a "b"', api_key=KEY, base_url="http://a.test/v1"))
    assert quoted.title == 'ChatOpenAI a "b"'


def test_of_an_object_that_is_gone_the_name_and_the_stand_in_for_its_server_are_told() -> None:
    name = 'object:langchain_openai.ChatOpenAI(model_name="some", temperature=0.5)'
    gone = Model.model_construct(alias=name, model=name)
    assert (gone.title, gone.host) == ("ChatOpenAI some", "object")
