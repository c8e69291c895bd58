"""A first `arena.toml` is one that a run takes as it stands, whatever models are called."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.clips import draw_folder
from tests.support.typed import Terminal
from videoautoarena.agents.providers.base import Provider
from videoautoarena.agents.providers.table import TABLE
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.run.config.arena_file import ArenaFile
from videoautoarena.runs.run.config.first_file import NamedCast, first_file, named_cast
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest

SERVED = NamedCast(
    ("openai:Qwen/Qwen2.5-VL-7B-Instruct", "openai:gpt-4o", "google_genai:gemini-2.5-flash"),
    "openai:gpt-4.1",
)


def uncommented(text: str) -> str:
    """Return a file in which each setting that stands there as a comment is set."""
    lines = []
    for line in text.splitlines():
        bare = line.removeprefix("# ")
        lines.append(bare if line.startswith("# ") and " = " in bare else line)
    return "\n".join(lines)


def test_a_run_takes_the_file_as_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text(first_file(SERVED))
    config = resolve(RunRequest(config=file)).config
    assert config.models == ("qwen2-5-vl-7b-instruct", "gpt-4o", "gemini-2-5-flash")
    assert config.examiner == "gpt-4-1"
    assert config.judges == ("gpt-4-1",)
    assert [config.cast[name].model for name in config.models] == list(SERVED.models)


def test_every_setting_that_is_shown_as_a_comment_may_be_set() -> None:
    text = uncommented(first_file(SERVED)).replace('judge = "another"', 'judge = "gpt-4-1"')
    found = ArenaFile.model_validate(tomllib.loads(text))
    assert found.run.max_usd == 20.0
    assert found.sampling.frames == 128
    assert all(table.price is not None for table in found.models.values())


def test_a_server_of_ones_own_is_that_of_openai_models_alone() -> None:
    cast = named_cast(SERVED.models, SERVED.examiner, base_urls=["http://127.0.0.1:8000/v1"])
    tables = tomllib.loads(first_file(cast))["models"]
    served = {name: table["max_frames"] for name, table in tables.items() if "base_url" in table}
    assert served == {"qwen2-5-vl-7b-instruct": 16, "gpt-4o": 16, "gpt-4-1": 64}


A = "http://127.0.0.1:8000/v1"
B = "http://127.0.0.1:8001/v1"


def test_each_model_may_be_served_elsewhere_and_have_a_key_of_its_own() -> None:
    cast = named_cast(
        ("hawk", "mole"),
        "owl",
        base_urls=[A, f"mole={B}"],
        key_envs=["mole=MOLE_KEY"],
        max_frames=["8", "owl=32"],
    )
    tables = tomllib.loads(first_file(cast))["models"]
    assert {name: table["base_url"] for name, table in tables.items()} == {
        "hawk": A,
        "mole": B,
        "owl": A,
    }
    assert tables["hawk"]["model"] == "openai:hawk"
    assert {name: table["max_frames"] for name, table in tables.items()} == {
        "hawk": 8,
        "mole": 8,
        "owl": 32,
    }
    assert {name: table.get("key_env") for name, table in tables.items()} == {
        "hawk": None,
        "mole": "MOLE_KEY",
        "owl": None,
    }


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, "'hawk' is no model.*--base-url hawk=http://HOST/v1"),
        ({"base_urls": ["moel=" + A]}, "did you mean mole"),
        ({"base_urls": [A, B]}, "given twice without a name"),
        ({"base_urls": ["hawk=127.0.0.1:8000"]}, "of hawk: base_url is not an http"),
        ({"base_urls": [A], "key_envs": ["AIza-secret="]}, "before = is nobody who plays"),
        ({"base_urls": [A], "key_envs": ["AIzaSecret"]}, "not a key"),
        ({"base_urls": [A], "max_frames": ["1025"]}, "whole number from 0 to 1024"),
    ],
)
def test_an_address_or_key_that_cannot_be_is_refused_and_no_key_repeated(
    said: dict[str, list[str]], why: str
) -> None:
    with pytest.raises(BadInput, match=why) as refused:
        first_file(named_cast(("hawk", "mole"), "owl", **said))  # type: ignore[arg-type]
    assert "ecret" not in str(refused.value)


@given(st.lists(st.text(min_size=1, max_size=30), min_size=3, max_size=6, unique=True))
def test_whatever_models_are_called_each_has_a_table_of_its_own(names: list[str]) -> None:
    *models, examiner = (f"openai:{name}" for name in names)
    tables = tomllib.loads(first_file(NamedCast(tuple(models), examiner)))
    called = [table["model"] for table in tables["models"].values()]
    assert called == [*models, examiner]
    assert len(set(tables["roles"]["models"])) == len(models)


@pytest.mark.parametrize(
    ("cast", "why"),
    [
        (NamedCast(("openai:a",), "openai:b"), "needs two contestants"),
        (NamedCast(("openai:a", "openai:b"), "openai:a"), "cannot compete and judge"),
        (NamedCast(("openai:a", "openai:b"), "openai:c", ("openai:b",)), "cannot compete"),
        (NamedCast(("a", "openai:b"), "openai:c"), "'a' is no model"),
    ],
)
def test_a_cast_that_cannot_play_is_refused(cast: NamedCast, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        first_file(cast)


NAMED = ("--models", "offline:hawk,offline:mole", "--examiner", "offline:examiner")


def test_the_command_writes_the_file_estimates_a_first_try_and_says_what_is_next(
    terminal: Terminal, tmp_path: Path
) -> None:
    draw_folder(tmp_path / "clips", 3, seconds=2)
    said = terminal.arena("init", *NAMED, "--videos", "clips")
    assert said.code == 0
    assert "6 battles left, 2 videos" in said.out
    last = said.out.splitlines()[-1].strip()
    assert last == "simulate --videos clips --limit 2 --rounds 1 --out first-run"
    assert terminal.simulate(*last.split()[1:], "--plan", "--json").code == 0
    again = terminal.arena("init", *NAMED)
    assert again.code == 1
    assert "already exists" in again.err
    told = json.loads(terminal.arena("init", *NAMED, "--force", "--json").out)
    assert told == {"schema": 1, "file": "arena.toml", "plan": None}


def test_a_folder_without_videos_leaves_no_file_behind(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    said = terminal.arena("init", *NAMED, "--videos", "empty")
    assert said.code == 1
    assert "contains no usable video" in said.err
    assert not (tmp_path / "arena.toml").exists()


def test_who_is_not_named_where_nobody_answers_is_a_matter_of_usage(
    terminal: Terminal, tmp_path: Path
) -> None:
    said = terminal.arena("init", "--models", "offline:hawk,offline:mole")
    assert said.code == 2
    assert "--examiner is missing" in said.err
    assert not (tmp_path / "arena.toml").exists()


def answer_with(answers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a terminal at which somebody gives these answers, and then leaves."""

    def answer(_question: str, *_more: object, **_how: object) -> str:
        if not answers:
            raise EOFError
        return answers.pop(0)

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", answer)


def test_a_terminal_asks_for_a_server_its_key_and_its_images_and_repeats_only_what_failed(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["hawk", "hawk, mole"]
    answers += ["", "127.0.0.1:8000", A, "", "many", "8"]
    answers += [B, "sk secret", "MOLE_KEY", ""]
    answers += ["mole", "owl", "openai:gpt-4.1"]
    answer_with(answers, monkeypatch)
    said = terminal.arena("init")
    assert (said.code, answers) == (0, []), said.err
    for why in (
        "name at least two models",
        "'hawk' has no provider, so that it needs an address",
        "hawk: base_url is not an http(s) address",
        "images per call are a whole number from 0 to 1024",
        "'mole': key_env is the name of a variable",
        "cannot compete and judge",
    ):
        assert said.err.count(why) == 1
    tables = tomllib.loads((tmp_path / "arena.toml").read_text())["models"]
    assert tables == {
        "hawk": {"model": "openai:hawk", "base_url": A, "max_frames": 8},
        "mole": {
            "model": "openai:mole",
            "base_url": B,
            "max_frames": 16,
            "key_env": "MOLE_KEY",
        },
        "gpt-4-1": {"model": "openai:gpt-4.1"},
    }
    after = said.out.partition("next:\n")[2].splitlines()
    assert after[0] == "  export MOLE_KEY=..."


def test_a_dialogue_that_is_left_says_that_nothing_was_written(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_with(["hawk, mole"], monkeypatch)
    said = terminal.arena("init")
    assert said.code == 130
    assert said.err.splitlines()[-1] == "arena: interrupted; nothing was written"
    assert not (tmp_path / "arena.toml").exists()


def test_help_and_refusals_name_all_of_them(terminal: Terminal) -> None:
    told = terminal.arena("init", "--help").out
    refused = terminal.arena("init", "--models", "a:b,c:d", "--examiner", "openai:e").err
    for name in (row.name for row in TABLE):
        assert name in told
        assert name in refused


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_it_says_what_lets_each_provider_in(row: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://birds.openai.azure.com")
    named = f"{row.name}:m"
    text = first_file(named_cast([named, "openai:gpt-4o"], "openai:gpt-4.1"))
    (table,) = (part for part in text.split("[models.") if part.startswith("m]"))
    for told in (*row.key_names, row.credentials):
        assert told in table
    assert f"max_frames = {row.images or 32}" in table
