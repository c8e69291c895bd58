"""Parameters are written down for good, so no key and no client setting is one."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.support.provider_servers import AWS
from videoautoarena.agents.models.registry import build_chat_model, parse_model
from videoautoarena.agents.providers.catalogue import BUILT_IN
from videoautoarena.memory.records.errors import BadInput

KNOWN = {name: provider.parameters for name, provider in BUILT_IN.items()}
CLAUDE = "global.anthropic.claude-opus-4-6-v1"
PLACES = {
    "stream": ("streaming",),
    "stop": ("stop_sequences",),
    "thinking": ("additional_model_request_fields",),
}
"""Where a client keeps a parameter, unless under its own name."""
RECORDS = Path(__file__).parents[3] / "docs" / "records.md"
SAID: dict[str, Any] = {
    "stream": True,
    "stop": ["END"],
    "logit_bias": {"5": 1},
    "extra_body": {"min_p": 0.1},
}
SAID |= {"thinking": {"type": "enabled", "budget_tokens": 2000}}
SAID |= {"additional_model_request_fields": {"thinking": SAID["thinking"]}}
SAID |= {"reasoning_effort": "low", "verbosity": "low", "thinking_level": "low"}
SAID |= {"media_resolution": "MEDIA_RESOLUTION_LOW", "temperature": 0.5, "top_p": 0.5}


def parse(provider: str = "openai", **parameters: Any) -> Any:
    return parse_model(f"{provider}:m", {"parameters": parameters, "alias": "mine"})


@pytest.mark.parametrize(
    ("provider", "name"),
    [(provider, name) for provider, names in KNOWN.items() for name in names],
)
def test_a_known_parameter_reaches_the_client(
    provider: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key_name in BUILT_IN[provider].key_names:
        monkeypatch.setenv(key_name, "k")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "birds-42")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://birds.openai.azure.com")
    for variable, value in AWS.items():
        monkeypatch.setenv(variable, value)
    served = CLAUDE if provider == "bedrock" else "m"
    model = parse_model(
        f"{provider}:{served}", {"parameters": {name: SAID.get(name, 1)}, "alias": "mine"}
    )
    chat = build_chat_model(model)
    # Each call says its limit of tokens itself.
    known = (name, *PLACES.get(name, ()))
    assert any(getattr(chat, place, None) for place in known) or name == "max_tokens"
    assert model.sampling("judge")[name] == SAID.get(name, 1)


@pytest.mark.parametrize(
    "parameters",
    [
        {"api_key": "hush-1"},
        {"openai_api_key": "hush-1"},
        {"default_headers": {"Authorization": "hush-1"}},
        {"extra_body": {"auth": [{"x-api-key": "hush-1"}]}},
        {"extra_body": {"access_token": "hush-1"}},
        {"base_url": "hush-1"},
        {"max_retries": "hush-1"},
        {"max_completion_tokens": "hush-1"},
    ],
)
def test_a_key_or_a_setting_of_the_client_is_refused_and_not_repeated(
    parameters: dict[str, Any],
) -> None:
    with pytest.raises(BadInput, match="parameter") as caught:
        parse(**parameters)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), date(2026, 1, 2), {1: {2}}])
def test_what_cannot_be_written_down_is_no_parameter(value: Any) -> None:
    with pytest.raises(BadInput, match="no JSON value"):
        parse(temperature=value)


def test_stand_ins_take_none() -> None:
    with pytest.raises(BadInput, match="take none"):
        parse_model("offline:hawk", {"parameters": {"temperature": 1.0}})


@pytest.mark.parametrize("key", ["sk-hush-hush", "AIzaSyHushHush", "", "two words"])
def test_a_key_in_place_of_its_variable_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(BadInput, match="name of a variable") as caught:
        parse_model("openai:m", {"key_env": key})
    assert not key or key not in str(caught.value)


def test_every_parameter_is_written_down() -> None:
    page = RECORDS.read_text()
    assert [name for names in KNOWN.values() for name in names if f"`{name}`" not in page] == []
