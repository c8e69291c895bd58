"""A file leads nowhere that this machine's user has not agreed to."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.models.registry import build_chat_model, check_keys
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.schema import QUESTIONS
from videoautoarena.runs.run.config.agreement import (
    RunTrust,
    TrustAgreement,
    agreed,
    is_agreed_folder,
    remember,
)
from videoautoarena.runs.run.config.cast import Destination
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE

OWN = 'model = "openai:gpt-4o"'
AWAY: dict[str, str] = {
    "address": f'{OWN}\nbase_url = "http://away.example/v1"',
    "variable": f'{OWN}\nkey_env = "AWS_SECRET_ACCESS_KEY"',
    "loopback": f'{OWN}\nbase_url = "http://127.0.0.1:9/v1"',
    "class": 'model = "strange:m"',
    "price": f"{OWN}\nprice = {{ input_usd = 0.0, output_usd = 0.5 }}",
}
DECLARED = '[providers.strange]\nchat_model = "made_elsewhere.chat:Chat"\nheaders_parameter = "h"\n'


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a machine on which nothing was agreed to, and whose user works in an empty folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path / "state" / "videoautoarena" / "agreed.json"


@pytest.fixture
def received(tmp_path: Path) -> Callable[..., RunConfig]:
    """Return a way to the settings of a run that somebody else began with such a model."""

    def make(table: str = OWN, more: str = "") -> RunConfig:
        file = tmp_path / "theirs.toml"
        models = f"[models.one]\n{table}\n[models.two]\nmodel = 'openai:gpt-4.1'\n"
        file.write_text(f'[roles]\nmodels = ["one", "two"]\nexaminer = "openai:o3"\n{models}{more}')
        manifest = resolve(RunRequest(config=file)).config.manifest("0.1.0", {})
        return RunConfig.of_manifest(json.loads(json.dumps(manifest)))

    return make


Received = Callable[..., RunConfig]


def digest_in(refusal: str) -> str:
    return refusal.rpartition("trust='")[2].partition("'")[0]


def refusal(config: RunConfig, **more: Any) -> str:
    with pytest.raises(BadInput) as raised:
        agreed(config, config.cast, out=Path("run"), **more)
    return str(raised.value)


def test_no_model_of_a_file_can_be_called_before_it_was_agreed_to(received: Received) -> None:
    model = received().model_of("one")
    for ask in (lambda: check_keys([model]), lambda: build_chat_model(model)):
        with pytest.raises(BadInput, match="nobody here has agreed"):
            ask()


def test_a_file_cannot_say_of_itself_that_it_was_agreed_to(received: Received) -> None:
    manifest = received().manifest("0.1.0", {})
    for entry in manifest["cast"].values():
        entry["is_received"] = False
    assert all(entry.is_received for entry in RunConfig.of_manifest(manifest).cast.values())


def test_providers_own_addresses_with_their_own_keys_need_no_question(
    received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = agreed(received(), ["one", "two"], out=Path("run"))
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    check_keys([config.model_of("one"), config.model_of("two")])
    # Who is not called stays as it came.
    assert config.model_of("openai:o3").is_received


@pytest.mark.parametrize("kind", AWAY)
def test_whatever_leads_elsewhere_is_listed_and_refused(kind: str, received: Received) -> None:
    said = refusal(received(AWAY[kind], DECLARED if kind == "class" else ""))
    place = {
        "address": "one go through openai to http://away.example/v1, with no key",
        "variable": "one go through openai to its own address, with the value of AWS_SECRET",
        "loopback": "one go through openai to http://127.0.0.1:9/v1, with no key",
        "class": "one go through the class made_elsewhere.chat:Chat, which is imported, to its own",
        "price": "with its own key, for $0 and $0.5 a million tokens",
    }[kind]
    assert place in said
    assert "\n" not in said


def test_a_folder_that_the_file_alone_names_is_listed_with_where_its_frames_go(
    received: Received,
) -> None:
    said = refusal(received(), stored=Path("/home/somebody/clips"))
    assert "videos are read from /home/somebody/clips" in said
    assert "openai to its own address, with its own key" in said


def test_the_digest_of_the_list_agrees_to_it_and_to_nothing_else(received: Received) -> None:
    config = received(AWAY["address"])
    folder = Path("/clips")
    named = digest_in(refusal(config, stored=folder))
    free = agreed(config, config.cast, out=Path("run"), stored=folder, trust=RunTrust(digest=named))
    assert not any(entry.is_received for entry in free.cast.values())
    other = refusal(config, stored=Path("/others"), trust=RunTrust(digest=named))
    assert "is for something else" in other
    assert digest_in(other) != named


@pytest.mark.parametrize("kind", AWAY)
def test_what_this_machines_arena_toml_says_needs_no_question(
    kind: str, received: Received
) -> None:
    declared = DECLARED if kind == "class" else ""
    Path("arena.toml").write_text(f"[models.mine]\n{AWAY[kind]}\n{declared}")
    config = received(AWAY[kind], declared)
    assert not agreed(config, ["one"], out=Path("run")).model_of("one").is_received


def test_the_table_of_the_same_name_says_where_its_model_is_served(received: Received) -> None:
    Path("arena.toml").write_text(f'[models.one]\n{OWN}\nbase_url = "http://mine.example/v1"\n')
    model = agreed(received(AWAY["address"]), ["one"], out=Path("run")).model_of("one")
    assert model.base_url == "http://mine.example/v1"
    assert not model.is_received


def test_a_table_of_that_name_for_another_model_counts_for_nothing(received: Received) -> None:
    Path("arena.toml").write_text('[models.one]\nmodel = "openai:gpt-9"\n')
    assert "http://away.example/v1" in refusal(received(AWAY["address"]))


def test_an_arena_toml_that_came_with_the_run_counts_for_nothing(received: Received) -> None:
    Path("arena.toml").write_text(f"[models.one]\n{AWAY['address']}\n")
    config = received(AWAY["address"])
    for name in (RUN_FILE, QUESTIONS):
        Path(name).touch()
        with pytest.raises(BadInput, match=f"beside a {name} and may have come with it"):
            agreed(config, config.cast, out=Path())
        with pytest.raises(BadInput, match="pass config="):
            resolve(RunRequest())
        Path(name).unlink()
    named = RunTrust(config=Path("arena.toml"))
    Path(RUN_FILE).touch()
    assert not agreed(config, ["one"], out=Path(), trust=named).model_of("one").is_received


def test_what_was_called_once_asks_nothing_of_any_run(received: Received) -> None:
    config = received(AWAY["address"])
    folder = Path("clips")
    remember(config, folder)
    stored = folder.resolve()
    for name in ("run", "copy of it"):
        free = agreed(config, config.cast, out=Path(name), stored=stored)
        assert not free.model_of("one").is_received
    # A part of what was agreed to was agreed to, and more was not.
    agreed(config, ["one"], out=Path("run"))
    assert is_agreed_folder(stored)
    assert not is_agreed_folder(Path("/clips"))
    assert "AWS_SECRET" in refusal(received(AWAY["variable"]), stored=stored)


def test_what_was_agreed_to_is_kept_from_others_and_only_believed_where_it_was(
    received: Received, state: Path
) -> None:
    config = received(AWAY["address"])
    remember(config, None)
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    agreed(config, config.cast, out=Path("run"))
    state.chmod(0o622)
    assert "http://away.example" in refusal(config)
    state.chmod(0o600)
    state.write_text("{")
    assert "http://away.example" in refusal(config)
    remember(config, None)
    agreed(config, config.cast, out=Path("run"))


def test_where_nothing_can_be_kept_each_command_asks(
    received: Received, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    config = received(AWAY["address"])
    remember(config, Path("clips"))
    named = digest_in(refusal(config))
    for _ in range(2):
        free = agreed(config, config.cast, out=Path("run"), trust=RunTrust(digest=named))
        assert not any(entry.is_received for entry in free.cast.values())
        assert digest_in(refusal(config)) == named


def test_two_agreements_do_not_lose_each_other(received: Received, state: Path) -> None:
    remember(received(AWAY["address"]), None)
    remember(received(AWAY["variable"]), None)
    assert len(json.loads(state.read_text())["lists"]) == 2
    assert sorted(os.listdir(state.parent)) == ["agreed.json", "agreed.lock"]


def test_a_parameter_that_could_lead_elsewhere_is_refused_before_any_call(
    received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    config = received()
    for name in ("base_url", "default_headers", "openai_proxy", "http_client"):
        one = config.cast["one"].model_copy(update={"parameters": {name: "http://away.example"}})
        changed = config.model_copy(update={"cast": {**config.cast, "one": one}})
        model = agreed(changed, ["one"], out=Path("run")).model_of("one")
        with pytest.raises(BadInput, match=f"unknown parameter '{name}'"):
            check_keys([model])


def test_more_than_can_be_shown_cannot_be_agreed_to(received: Received) -> None:
    config = received(f'{OWN}\nbase_url = "http://away.example/{"v" * 4000}"')
    said = refusal(config)
    assert "more places than can be shown" in said
    assert "--trust-run" not in said
    assert len(said) < 300


def test_helpers_of_a_model_are_asked_about_with_it(received: Received) -> None:
    manifest = received().manifest("0.1.0", {})
    cast = manifest["cast"]
    cast["helper"] = {**cast["one"], "model": "embeddings:strange.package.Vectors:v"}
    cast["two"]["retrieval"] = {"model": "openai:gpt-4.1", "embeddings": "helper"}
    config = RunConfig.of_manifest(json.loads(json.dumps(manifest)))
    with pytest.raises(BadInput, match=r"helper go through the class strange\.package\.Vectors"):
        agreed(config, ["two"], out=Path("run"))


_PLACES = st.builds(
    Destination,
    through=st.sampled_from(["openai", "a.b:C", "google_genai"]),
    address=st.none() | st.sampled_from(["http://a/v1", "http://b/v1"]),
    key_env=st.none() | st.sampled_from(["A_KEY", "B_KEY"]),
)
_AGREEMENTS = st.builds(
    TrustAgreement,
    destinations=st.lists(_PLACES, max_size=4).map(tuple),
    videos=st.none() | st.sampled_from(["/a", "/b"]),
)


@given(_AGREEMENTS, _AGREEMENTS)
def test_an_agreement_covers_its_parts_and_nothing_that_it_lacks(
    one: TrustAgreement, other: TrustAgreement
) -> None:
    assert one.covers(one)
    assert one.covers(TrustAgreement(destinations=one.destinations[:1]))
    lacks = [place for place in other.destinations if place not in one.destinations]
    is_elsewhere = other.videos is not None and other.videos != one.videos
    assert one.covers(other) == (not lacks and not is_elsewhere)
    assert (one.digest == other.digest) == (one == other)


def test_what_was_agreed_to_by_its_digest_is_not_asked_again(received: Received) -> None:
    config = received(AWAY["variable"])
    named = digest_in(refusal(config))
    agreed(config, ["one"], out=Path("run"), trust=RunTrust(digest=named))
    assert not agreed(config, ["one"], out=Path("other")).model_of("one").is_received


def with_fields(config: RunConfig, **fields: Any) -> RunConfig:
    manifest = json.loads(json.dumps(config.manifest("0.1.0", {})))
    manifest["cast"]["one"] |= fields
    return RunConfig.of_manifest(manifest)


def test_an_address_that_names_another_host_first_is_never_agreed_to(received: Received) -> None:
    config = with_fields(received(), base_url="https://api.openai.com@away.example/v1")
    said = refusal(config)
    assert "base_url carries a key" in said
    assert "--trust-run" not in said


def test_letters_that_look_like_others_are_shown_as_what_they_are(received: Received) -> None:
    config = with_fields(received(), base_url="https://\u0430pi.openai.com/v1")
    assert r"https://\u0430pi.openai.com" in refusal(config)


def test_a_stand_in_is_none_the_less_here_whatever_a_file_says(received: Received) -> None:
    declared = {"chat_model": "made_elsewhere.chat:Chat", "key_env": "AWS_SECRET_ACCESS_KEY"}
    away = {"base_url": "http://away.example/v1", "key_env": "AWS_SECRET_ACCESS_KEY"}
    config = with_fields(received(), model="offline:hawk", declared=declared, **away)
    model = agreed(config, ["one"], out=Path("run")).model_of("one")
    assert (model.url, model.key_names, model.declared) == ("", (), None)
    check_keys([model])


def test_what_is_built_in_is_not_declared_anew(received: Received) -> None:
    config = with_fields(received(), declared={"chat_model": "made_elsewhere.chat:Chat"})
    trust = RunTrust(digest=digest_in(refusal(config)))
    model = agreed(config, ["one"], out=Path("run"), trust=trust).model_of("one")
    with pytest.raises(BadInput, match="this one is built in"):
        check_keys([model])


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("base_url", "https://away.example/v1, with no key; calls to two"),
        ("base_url", "https://away.example/\u2028v1"),
        ("key_env", "OPENAI_API_KEY; calls to two"),
    ],
)
def test_a_place_that_speaks_is_never_asked_about(
    field: str, text: str, received: Received
) -> None:
    said = refusal(with_fields(received(), **{field: text}))
    assert "--trust-run" not in said
    assert "away.example/v1, with" not in said


def test_names_and_folders_that_speak_stand_in_quotes(received: Received) -> None:
    manifest = json.loads(json.dumps(received(AWAY["address"]).manifest("0.1.0", {})))
    speaking = "two; calls to three"
    manifest["cast"][speaking] = manifest["cast"]["one"]
    config = RunConfig.of_manifest(manifest)
    said = refusal(config, stored=Path("/clips; calls to four"))
    assert "calls to one, 'two; calls to three' go through" in said
    assert "videos are read from '/clips; calls to four'" in said


def test_a_state_that_somebody_else_owns_is_not_believed(
    received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = received(AWAY["address"])
    remember(config, None)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert "http://away.example" in refusal(config)


def test_a_relative_state_folder_counts_for_nothing(
    received: Received, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    config = received(AWAY["address"])
    remember(config, None)
    assert not Path("state").exists()
    assert (home / ".local" / "state" / "videoautoarena" / "agreed.json").is_file()
    agreed(config, config.cast, out=Path("run"))


@pytest.mark.parametrize(
    ("through", "is_own"),
    [("openai", True), ("anthropic", True), ("bedrock", True), ("ollama", False), ("vllm", False)],
)
def test_a_server_on_this_machine_is_no_provider_s_own_address(through: str, is_own: bool) -> None:
    assert Destination(through=through).is_own is is_own
