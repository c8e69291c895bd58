"""Names that lead to models, keys that stay where they are."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import Any

import pytest

from tests.support.asking import request_of
from videoautoarena.agents.calls.ask import journal_key
from videoautoarena.agents.models.registry import Model, build_chat_model, check_keys, parse_model
from videoautoarena.agents.models.spec import CONTESTANT_FRAMES
from videoautoarena.agents.offline import KINDS
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA, CallLimits


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("offline:hawk", "offline", "hawk"),
        ("openai:gpt-4o", "openai", "gpt-4o"),
        ("openai:my/vlm:7b", "openai", "my/vlm:7b"),
        ("google_genai:gemini-2.5-pro", "google_genai", "gemini-2.5-pro"),
    ],
)
def test_a_name_is_split_at_its_first_colon(name: str, provider: str, model: str) -> None:
    found = parse_model(name)
    assert (found.provider, found.name, found.alias, found.resolved) == (
        provider,
        model,
        name,
        name,
    )


@pytest.mark.parametrize("name", ["", "hawk", "gpt-4o", "openai:", ":x", "claude:x", "\x1b[2J:x"])
def test_what_is_no_model_is_refused_printably(name: str) -> None:
    with pytest.raises(BadInput, match="provider:model") as caught:
        parse_model(name)
    assert str(caught.value).isprintable()


def test_an_unknown_offline_model_gets_the_list() -> None:
    with pytest.raises(BadInput, match=r"hawk, owl, mole"):
        parse_model("offline:eagle")


@pytest.mark.parametrize("kind", KINDS)
def test_an_offline_model_is_sent_what_the_cast_says(kind: str) -> None:
    model = parse_model(f"offline:{kind}")
    assert model.frame_limit("contestant") == model.frame_limit("judge") == KINDS[kind]


def test_a_remote_model_is_sent_what_its_role_needs() -> None:
    model = parse_model("openai:gpt-4o")
    assert model.frame_limit("contestant") == CONTESTANT_FRAMES
    assert model.frame_limit("judge") >= 128


def test_a_limit_of_ones_own_holds_in_every_role() -> None:
    model = parse_model("openai:gpt-4o", {"max_frames": 8, "alias": "small"})
    assert (model.frame_limit("contestant"), model.frame_limit("judge"), model.alias) == (
        8,
        8,
        "small",
    )


@pytest.mark.parametrize(
    ("max_frames", "images", "contestant", "judge"),
    [(None, 16, 16, 16), (None, 100, 64, 100), (32, 16, 16, 16), (8, 16, 8, 8), (8, 0, 0, 0)],
)
def test_no_request_carries_more_images_than_the_server_takes(
    max_frames: int | None, images: int, contestant: int, judge: int
) -> None:
    limits = CallLimits(images_per_request=images)
    model = Model(alias="m", model="openai:x", max_frames=max_frames, limits=limits)
    assert (model.frame_limit("contestant"), model.frame_limit("judge")) == (contestant, judge)


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(BadInput, match="temprature"):
        parse_model("openai:gpt-4o", {"temprature": 1})


@pytest.mark.parametrize(
    ("name", "role", "sampling"),
    [
        ("openai:gpt-4o", "contestant", {"max_tokens": 4096}),
        ("openai:gpt-4o", "judge", {}),
        ("google_genai:gemini-2.5-pro", "judge", {}),
        ("google_genai:models/gemini-3-pro", "judge", {}),
        ("offline:hawk", "contestant", {}),
    ],
)
def test_what_is_sampled_with_is_known(name: str, role: Any, sampling: dict[str, Any]) -> None:
    assert parse_model(name).sampling(role) == sampling


@pytest.mark.parametrize(
    ("name", "detail", "keyed", "in_parts"),
    [
        ("openai:gpt-4o", None, {}, None),
        ("openai:gpt-4o", "low", {"detail": "low"}, "low"),
        ("google_genai:gemini-3-pro", None, {}, None),
        (
            "google_genai:gemini-3-pro",
            "low",
            {"media_resolution": "MEDIA_RESOLUTION_LOW"},
            None,
        ),
    ],
)
def test_how_closely_a_provider_looks_is_keyed_where_it_is_set(
    name: str, detail: str | None, keyed: dict[str, Any], in_parts: str | None
) -> None:
    model = parse_model(name, {"detail": detail})
    assert (model.sampling("judge"), model.part_detail) == (keyed, in_parts)


def test_how_closely_gemini_looks_reaches_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "k" * 20)
    chat: Any = build_chat_model(parse_model("google_genai:gemini-2.5-pro", {"detail": "high"}))
    assert chat.media_resolution == "MEDIA_RESOLUTION_HIGH"


def test_a_model_is_set_otherwise_in_settings_that_it_has() -> None:
    model = parse_model("openai:gpt-4o")
    assert model.with_settings(max_frames=7).max_frames == 7
    with pytest.raises(TypeError, match=r"a model has no max_frame$"):
        model.with_settings(max_frame=7)


def test_a_detail_is_not_said_twice() -> None:
    twice = {"detail": "low", "parameters": {"media_resolution": "MEDIA_RESOLUTION_LOW"}}
    with pytest.raises(BadInput, match="leave one out"):
        parse_model("google_genai:gemini-2.5-pro", twice)


@pytest.mark.parametrize(
    ("name", "keyed"),
    [
        ("google_genai:gemini-2.5-flash", {"temperature": 0.7, "max_tokens": 4096}),
        ("google_genai:gemini-3-pro", {"max_tokens": 4096}),
        ("openai:gpt-4o", {"max_tokens": 4096}),
    ],
)
def test_a_key_stays_the_one_of_calls_that_were_paid_for(name: str, keyed: dict[str, Any]) -> None:
    provider, _, model = name.partition(":")
    nonce = ["0123456789ab-p1-r0", "contestant", 0, 0]
    parts = [SCHEMA, provider, model, keyed, SYSTEM, [], "Look.", nonce]
    expected = hashlib.sha256(canonical_json(parts).encode()).hexdigest()
    assert journal_key(parse_model(name), request_of("Look.")) == expected


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("https://user:secret@example.org/v1?key=secret", "example.org"),
        (None, "api.openai.com"),
    ],
)
def test_an_endpoint_is_a_host_without_credentials(url: str | None, endpoint: str) -> None:
    assert Model(alias="m", model="openai:x", base_url=url).endpoint == endpoint


def test_an_offline_model_stays_in_the_process() -> None:
    model = parse_model("offline:owl")
    assert (model.endpoint, model.is_offline, model.url) == ("in-process", True, "")


def test_a_base_url_in_the_environment_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy.example:81/v1")
    assert parse_model("openai:gpt-4o").endpoint == "proxy.example:81"


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        (Model(alias="m", model="openai:x"), "OPENAI_API_KEY"),
        (Model(alias="m", model="google_genai:x"), "GOOGLE_API_KEY or GEMINI_API_KEY"),
        (Model(alias="m", model="openai:x", base_url="http://h/v1", key_env="MY_KEY"), "MY_KEY"),
    ],
)
def test_a_missing_key_is_named_by_its_variable(model: Model, variable: str) -> None:
    with pytest.raises(BadInput, match=variable):
        check_keys([model])


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel"])
def test_a_key_that_can_be_none_is_refused_and_not_shown(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(BadInput, match="OPENAI_API_KEY") as caught:
        check_keys([parse_model("openai:gpt-4o")])
    assert key not in str(caught.value)


def test_a_server_of_ones_own_and_offline_models_need_no_key() -> None:
    models = [
        Model(alias="m", model="openai:x", base_url="http://h/v1"),
        parse_model("offline:hawk"),
    ]
    check_keys(models)
    assert [model.key() for model in models] == [None, None]


def test_either_of_geminis_variables_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", " key \n")
    assert parse_model("google_genai:gemini-2.5-pro").key() == "key"


def test_a_switch_to_another_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    with pytest.raises(BadInput, match="GOOGLE_GENAI_USE_VERTEXAI is set"):
        check_keys([parse_model("google_genai:gemini-2.5-pro")])


def test_an_offline_model_is_built_from_its_kind() -> None:
    chat: Any = build_chat_model(parse_model("offline:mole"))
    assert chat.kind == "mole"


@pytest.mark.parametrize("name", ["openai:gpt-4o", "google_genai:gemini-2.5-pro"])
def test_a_setting_the_client_refuses_is_told_without_the_key(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "q7" * 12)
    settings = {"parameters": {"temperature": "hot"}, "key_env": "MY_KEY"}
    with pytest.raises(BadInput, match="temperature") as caught:
        build_chat_model(parse_model(name, settings))
    assert "q7q7" not in str(caught.value)


def test_names_can_be_read_without_a_providers_package() -> None:
    program = (
        "import sys, videoautoarena.agents.models.registry, videoautoarena.agents.roles.judge;"
        "import videoautoarena.agents.calls.ask;"
        "slow = {'openai', 'langchain_core', 'langchain_openai', 'google.genai'};"
        "sys.exit(', '.join(slow & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
