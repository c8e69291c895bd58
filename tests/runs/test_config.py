"""Settings: flag beats preset beats file beats default, and what cannot be is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.errors import BadInput
from runs.config import Flags, RunConfig, resolve

TOML = """
[models.near]
model = "openai:some/vlm:7b"
base_url = "http://127.0.0.1:8000/v1"
max_frames = 32
[models.near.parameters]
temperature = 0.2
[models.far]
model = "google_genai:gemini-2.5-flash"
[roles]
models = ["near", "far"]
examiner = "openai:gpt-4.1"
[run]
seed = 7
rounds = 5
swap = "all"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "arena.toml"
    path.write_text(TOML)
    return path


def test_with_nothing_named_the_offline_cast_plays_three_rounds_on_seed_0() -> None:
    settings = resolve(Flags())
    assert settings.assumed_cast
    assert settings.config.models[0] == "offline:hawk"
    assert (settings.config.rounds, settings.config.seed, settings.config.offline) == (3, 0, True)


def test_a_file_gives_models_names_of_their_own(file: Path) -> None:
    config = resolve(Flags(config=file)).config
    near = config.model_of("near")
    assert (near.name, near.max_frames, near.parameters) == (
        "some/vlm:7b",
        32,
        {"temperature": 0.2},
    )
    assert (config.examiner, config.judges) == ("openai:gpt-4.1", ("openai:gpt-4.1",))


def test_a_flag_beats_the_preset_and_the_preset_beats_the_file(file: Path) -> None:
    paper = resolve(Flags(config=file, preset="paper", rounds=2)).config
    assert (paper.rounds, paper.seed, paper.swap, paper.pairing) == (2, 7, 0.0, "keep-pair")
    assert resolve(Flags(config=file, preset="paper", swap=0.5)).config.swap == 0.5


def test_the_paper_preset_turns_every_choice_back() -> None:
    config = resolve(Flags(preset="paper")).config
    assert config.sampling.fit == "stretch"
    assert config.rules.model_dump() == {
        "overall_only": True,
        "share_analyses": False,
        "fixed_seats": True,
    }


def test_a_file_in_the_working_folder_is_used_when_nobody_names_models(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    assert resolve(Flags()).config.models == ("near", "far")


def test_a_configuration_comes_back_from_its_manifest(file: Path) -> None:
    config = resolve(Flags(config=file)).config
    assert RunConfig.of_manifest(config.manifest("0.1.0", {"judge": "f" * 64})) == config


def test_a_moved_server_is_the_same_run_and_another_temperature_is_not(file: Path) -> None:
    here = resolve(Flags(config=file)).config
    file.write_text(TOML.replace(":8000", ":9000"))
    moved = resolve(Flags(config=file)).config
    file.write_text(TOML.replace("0.2", "0.3"))
    warmer = resolve(Flags(config=file)).config
    assert here.identity() == moved.identity() != warmer.identity()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (Flags(models=("offline:hawk",)), "one model"),
        (Flags(models=("offline:hawk", "offline:hawk")), "twice"),
        (Flags(models=("gpt", "offline:owl")), "provider:model"),
        (Flags(models=("offline:eagle", "offline:owl")), "hawk"),
        (Flags(rounds=0), "--rounds is 0"),
        (Flags(limit=0), "--limit is 0"),
        (Flags(concurrency=0), "--concurrency is 0"),
        (Flags(swap=1.5), "--swap is 1.5"),
        (Flags(judge=("offline:hawk",)), "offline:judge"),
        (Flags(models=("openai:a", "openai:b")), "--examiner"),
        (Flags(models=("openai:a", "openai:b"), examiner="openai:a"), "--allow-self-judging"),
        (Flags(models=("offline:hawk", "offline:judge")), "compete"),
        (
            Flags(models=("openai:a", "openai:b"), examiner="openai:c", judge=("offline:judge",)),
            "--allow-offline-judge",
        ),
        (Flags(models=("offline:hawk", "offline:\x1b[2J")), "no offline model"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(flags: Flags, words: str) -> None:
    with pytest.raises(BadInput) as refusal:
        resolve(flags)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_judge_that_competes_under_another_name_is_found(file: Path) -> None:
    file.write_text(TOML.replace('examiner = "openai:gpt-4.1"', 'examiner = "openai:some/vlm:7b"'))
    with pytest.raises(BadInput, match="own battles"):
        resolve(Flags(config=file))


def test_self_judging_that_was_asked_for_marks_the_run() -> None:
    flags = Flags(models=("openai:a", "openai:b"), examiner="openai:a", allow_self_judging=True)
    assert resolve(flags).config.self_judging


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[run]\nrounds = 'many'", "run.rounds"),
        ("[models.x]\nmodle = 'openai:a'", "models.x"),
        ("[run", "no valid TOML"),
        (
            "[models.x]\nmodel='openai:a'\nbase_url='http://u:secret@h/v1'\n[roles]\nmodels=['x','offline:owl']\nexaminer='openai:e'",
            "key_env",
        ),
        (
            "[models.x]\nmodel='openai:a'\nbase_url='ftp://h'\n[roles]\nmodels=['x','offline:owl']\nexaminer='openai:e'",
            "http",
        ),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_its_place(
    tmp_path: Path, toml: str, words: str
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(toml)
    with pytest.raises(BadInput) as refusal:
        resolve(Flags(config=path))
    assert words in str(refusal.value)
    assert "secret" not in str(refusal.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        resolve(Flags(config=tmp_path / "none.toml"))


@pytest.mark.parametrize("part", ["models", "examiner", "judge"])
def test_a_name_that_would_move_a_terminal_is_refused_in_any_part(
    part: str, tmp_path: Path
) -> None:
    path, name = tmp_path / "arena.toml", "far\x1b[2J"
    path.write_text('[models."far\\u001b[2J"]\nmodel = "openai:m"\n')
    parts = {"models": ("offline:hawk", "offline:mole"), "examiner": "openai:e", "judge": ("far",)}
    chosen = {"models": (name, "offline:mole"), "examiner": name, "judge": (name,)}[part]
    with pytest.raises(BadInput, match="cannot be shown") as caught:
        resolve(Flags(**{**parts, part: chosen, "config": path}))  # type: ignore[arg-type]
    assert str(caught.value).isprintable()
