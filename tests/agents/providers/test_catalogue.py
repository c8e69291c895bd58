"""Whatever is asked of providers is asked of all that are built in."""

from __future__ import annotations

import re

import pytest

from tests.support.asking import frames_of
from tests.support.provider_servers import AWS
from videoautoarena.agents.calls.retry import fault_of
from videoautoarena.agents.limits.estimates import frame_tokens
from videoautoarena.agents.limits.prices import is_providers
from videoautoarena.agents.models.registry import build_chat_model, parse_model
from videoautoarena.agents.providers.base import OFFLINE, Provider
from videoautoarena.agents.providers.catalogue import BUILT_IN
from videoautoarena.agents.providers.embeddings import embeddings_class
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.agents.transport.transport import splices

REMOTE = [provider for provider in BUILT_IN.values() if provider is not OFFLINE]
LOCAL = {"ollama", "vllm"}
LOOKLESS = {"azure", "mistral", *LOCAL}
"""Those whose keys look like any other row of letters and digits, or that have none."""


@pytest.fixture(params=REMOTE, ids=lambda provider: provider.name)
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Provider:
    found: Provider = request.param
    for name in (*found.key_names, *found.base_names):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "birds-42")
    for name, value in AWS.items():
        monkeypatch.setenv(name, value)
    if found.name == "azure":
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://birds.openai.azure.com")
    return found


def secrets_of(provider: Provider) -> tuple[str, ...]:
    return (*provider.key_names, *provider.secret_names)


def test_a_provider_says_where_it_is_and_what_lets_calls_in(provider: Provider) -> None:
    way = "http://localhost" if provider.name in LOCAL else "https://"
    url = parse_model(f"{provider.name}:m").url
    # Where Bedrock is, its client reads from AWS's own files.
    assert url.startswith(way) or provider.name == "bedrock"
    assert provider.key_names or provider.credentials or provider.name in LOCAL
    assert bool(provider.credentials) == (provider.auth == "own")


def test_its_client_is_built_without_retries_and_with_a_time_out(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in provider.key_names:
        monkeypatch.setenv(name, "a-key-of-the-house-4711")
    model = parse_model(f"{provider.name}:{'amazon.m' if provider.name == 'bedrock' else 'm'}")
    chat = build_chat_model(model)
    assert getattr(chat, "max_retries", 0) in (0, 1)
    assert splices(chat) == provider.can_splice
    assert model.maker.options(model, "judge", key="k")


def test_its_key_is_taken_out_of_every_text(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in secrets_of(provider):
        monkeypatch.setenv(name, "Hush4711HushHush")
        assert redacted("it said Hush4711HushHush twice") == "it said [key] twice"
        monkeypatch.delenv(name)


def test_a_key_of_its_look_is_taken_out_of_every_text(provider: Provider) -> None:
    begins = re.match(r"(?:\\b)?([\w-]+)", provider.key_look)
    if provider.name in LOOKLESS:
        assert not provider.key_look
        return
    assert begins, "say how its keys look"
    assert redacted(f"it said {begins[1]}abcdEFGH12345678") == "it said [key]"


def test_what_its_client_raises_is_no_bug_of_ours(provider: Provider) -> None:
    assert provider.packages
    for package in provider.packages:
        kind = type("Odd", (Exception,), {"__module__": f"{package}.errors"})
        assert fault_of(kind("no idea")) is not None


def test_its_prices_hold_at_its_own_address_alone(provider: Provider) -> None:
    model = parse_model(f"{provider.name}:m")
    assert is_providers(model.endpoint) == bool(provider.price_list)


def test_a_frame_of_its_models_counts_as_something(provider: Provider) -> None:
    expected, most = frame_tokens(parse_model(f"{provider.name}:m"))
    assert 0 < expected <= most


def test_its_settings_go_with_its_protocol(provider: Provider) -> None:
    model = parse_model(f"{provider.name}:m", {"parameters": {}})
    assert (model.token_field is not None) == provider.speaks_openai
    assert isinstance(provider.cache_options(model, frames_of(3)), dict)


def test_its_class_of_embeddings_is_there(provider: Provider) -> None:
    if provider.embeddings:
        assert embeddings_class(f"{provider.name}:m").__name__ in provider.embeddings
