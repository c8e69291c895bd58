"""The paper's preset: what it names beats the file, a flag beats it, and the rest is the file's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.records import Sampling
from videoautoarena.runs.api.add import AddRequest, _with_newcomer
from videoautoarena.runs.cli.program.main import load
from videoautoarena.runs.console.media.frames import asked_sampling
from videoautoarena.runs.run.config.arena_file import ArenaFile
from videoautoarena.runs.run.config.cast import as_begun, as_in_paper, entry_of
from videoautoarena.runs.run.config.preset import (
    LEFT,
    PAPER,
    PAPER_SAMPLING,
    TURNED,
    left_by_preset,
)
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import configured

OTHERWISE: dict[str, Any] = {
    **{"pairing": "uniform", "swap": 0.5, "subtitles": False, "diverse": True},
    "languages": ("de", "en"),
    **{"policy": "keyframes", "frames": 8, "size_px": 64, "fit": "pad", "quality": 30},
}
"""Each setting that the preset names, as it is not in the paper."""
NAMED: dict[str, Any] = {
    **{"pairing": "keep-pair", "swap": 0.0, "subtitles": True, "diverse": False, "languages": ()},
    **{"policy": "uniform", "frames": 128, "size_px": 512, "fit": "stretch", "quality": 85},
}


def said(run: RunConfig) -> dict[str, Any]:
    return {**run.model_dump(), **run.sampling.model_dump()}


@pytest.mark.parametrize("name", NAMED)
def test_each_setting_that_the_preset_names_beats_the_file_and_a_flag_beats_it(
    name: str, tmp_path: Path
) -> None:
    table = "sampling" if name in Sampling.model_fields else "run"
    path = tmp_path / "arena.toml"
    other = OTHERWISE[name]
    path.write_text(f"[{table}]\n{name.removesuffix('_px')} = {json.dumps(other)}\n")
    assert said(resolve(RunRequest(config=path)).config)[name] == other
    assert said(resolve(RunRequest(config=path, preset="paper")).config)[name] == NAMED[name]
    typed = RunRequest(config=path, preset="paper", **{name: other})
    assert said(resolve(typed).config)[name] == other


@pytest.mark.parametrize("where", ["flag", "file"])
def test_a_file_that_says_all_otherwise_plays_the_paper_where_the_paper_speaks(
    where: str, tmp_path: Path
) -> None:
    path = tmp_path / "arena.toml"
    path.write_text(
        "[run]\nrounds = 2\nswap = 'all'\npairing = 'mix'\nsubtitles = false\ndiverse = true\n"
        "languages = ['de']\n"
        + ("preset = 'paper'\n" if where == "file" else "")
        + "[sampling]\npolicy = 'fps'\nfps = 2.0\nframes = 8\nsize = 64\nfit = 'keep'\n"
        "quality = 30\ndecoder = 'decord'\n"
    )
    found = resolve(RunRequest(config=path, preset="paper" if where == "flag" else None)).config
    assert {name: said(found)[name] for name in NAMED} == NAMED
    assert (found.rounds, found.sampling.decoder) == (2, "decord")
    assert found.sampling.fps is None


def test_the_preset_names_what_is_tested_here() -> None:
    assert {**PAPER, **PAPER_SAMPLING} == NAMED


def flat(of: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in of.items():
        if isinstance(value, dict) and name in ("rules", "sampling", "prompts"):
            yield from flat(value, f"{name}.")
        else:
            yield f"{before}{name}", value


def manifest(path: Path, preset: Any) -> dict[str, Any]:
    """What a run of one contestant of an own server would keep, that one's entry flat."""
    config = resolve(RunRequest(config=path, preset=preset)).config
    prompts = PromptSet.load(paper=preset == "paper")
    kept = config.manifest("1", prompts.digests, contracts=prompts.contracts)
    entry = kept.pop("cast")["one"]
    return dict(flat(kept)) | {f"cast.{name}": value for name, value in entry.items()}


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A file with two contestants behind addresses of one's own."""
    path = tmp_path / "arena.toml"
    table = "model = 'openai:some/vlm'\nmax_frames = 100\nbase_url = 'http://127.0.0.1:1/v1'\n"
    path.write_text(
        f"[models.one]\n{table}[models.judge]\n{table.replace('some', 'other')}"
        "[roles]\nmodels = ['one', 'offline:owl']\nexaminer = 'judge'\n"
    )
    return path


def test_whatever_the_preset_changes_stands_in_its_table_and_the_other_way_round(
    served: Path,
) -> None:
    usual = manifest(served, None)
    paper = manifest(served, "paper")
    changed = {name for name in paper if paper[name] != usual[name]} - {"preset"}
    listed = {name for one in TURNED for name in one.settings}
    same = {f"sampling.{name}" if name in PAPER_SAMPLING else name for name in NAMED} - changed
    assert listed - {"fit"} == changed | same
    assert listed - {"fit"} <= set(usual)


def test_what_is_left_is_told_of_an_earlier_run_with_what_was_left_then() -> None:
    left = left_by_preset()
    assert left == tuple(one.choice for one in LEFT)
    later = [one.choice for one in TURNED if one.is_later]
    assert left_by_preset(is_early=True) == (*later, *left)


def test_help_says_what_is_left() -> None:
    (option,) = [one for one in load("simulate").params if one.name == "preset"]
    assert isinstance(option, click.Option)
    assert all(choice in (option.help or "") for choice in left_by_preset())


@pytest.mark.parametrize(("has", "gets"), [(8, 8), (64, 64), (100, 64), (None, None)])
def test_a_contestant_is_sent_no_more_frames_than_in_the_paper(
    has: int | None, gets: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "arena.toml"
    most = "" if has is None else f"max_frames = {has}\n"
    table = f"model = 'openai:some/vlm'\nbase_url = 'http://127.0.0.1:1/v1'\n{most}"
    path.write_text(
        f"[models.one]\n{table}[models.judge]\n{table}"
        "[roles]\nmodels = ['one', 'offline:owl']\nexaminer = 'judge'\n"
    )
    allowed = RunRequest(config=path, preset="paper", allow_self_judging=True)
    cast = resolve(allowed).config.cast
    assert (cast["one"].max_frames, cast["judge"].max_frames) == (gets, has)


def test_a_contestant_that_also_examines_plays_as_in_the_paper(tmp_path: Path) -> None:
    path = tmp_path / "arena.toml"
    path.write_text(
        "[models.one]\nmodel = 'openai:some/vlm'\nbase_url = 'http://127.0.0.1:1/v1'\n"
        "max_frames = 128\n"
        "[roles]\nmodels = ['one', 'offline:owl']\nexaminer = 'one'\n"
    )
    allowed = RunRequest(config=path, preset="paper", allow_self_judging=True)
    one = resolve(allowed).config.cast["one"]
    assert (one.max_frames, one.parameters) == (64, OPEN)


OPEN = {"temperature": 0.7, "max_tokens": 2048}
OWN = "base_url = 'http://127.0.0.1:1/v1'"


@pytest.mark.parametrize(
    ("table", "variable", "gets"),
    [
        (f"model = 'openai:vlm'\n{OWN}", None, OPEN),
        ("model = 'openai:vlm'", "http://127.0.0.1:1/v1", OPEN),
        ("model = 'openai:vlm'", None, {}),
        ("model = 'google_genai:vlm'", None, {}),
        ("model = 'own:vlm'", None, OPEN),
        ("model = 'offline:owl'", None, {}),
        (
            f"model = 'openai:vlm'\n{OWN}\nparameters = {{ temperature = 0.0, seed = 1 }}",
            None,
            {"temperature": 0.0, "seed": 1, "max_tokens": 2048},
        ),
    ],
)
def test_an_open_contestant_answers_as_in_the_paper_unless_its_table_says_otherwise(
    table: str,
    variable: str | None,
    gets: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv("OPENAI_BASE_URL", variable)
    path = tmp_path / "arena.toml"
    path.write_text(
        f"[providers.own]\nchat_model = 'langchain_openai:ChatOpenAI'\n{OWN}\n"
        f"[models.one]\n{table}\n[models.judge]\nmodel = 'openai:judge'\n{OWN}\n"
        "[roles]\nmodels = ['one', 'offline:mole']\nexaminer = 'judge'\n"
    )
    cast = resolve(RunRequest(config=path, preset="paper")).config.cast
    assert cast["one"].parameters == gets
    assert cast["judge"].parameters == {}
    usual = resolve(RunRequest(config=path)).config.cast["one"].parameters
    assert usual == {name: value for name, value in gets.items() if name in table}


def test_a_contestant_goes_on_with_the_parameters_that_its_run_began_with(served: Path) -> None:
    now = resolve(RunRequest(config=served, preset="paper")).config.cast["one"]
    before = resolve(RunRequest(config=served)).config.cast["one"]
    assert as_begun(now, before).parameters == {}
    assert as_begun(before, now).parameters == OPEN
    other = before.model_copy(update={"parameters": {"temperature": 0.2}})
    assert as_begun(other, now) == other


def test_a_run_that_the_preset_began_without_parameters_is_continued_without_them(
    served: Path,
) -> None:
    asked = resolve(RunRequest(config=served, preset="paper"))
    one = asked.config.cast["one"].model_copy(update={"parameters": {}})
    kept = asked.config.model_copy(update={"cast": {**asked.config.cast, "one": one}})
    assert configured(Path("out"), kept, asked, generation=0) == kept


def test_what_a_file_with_the_preset_shows_is_what_it_plays(tmp_path: Path) -> None:
    path = tmp_path / "arena.toml"
    path.write_text("[run]\npreset = 'paper'\n[sampling]\nsize = 64\nfit = 'keep'\n")
    assert asked_sampling({"config": path}) == resolve(RunRequest(config=path)).config.sampling


@pytest.mark.parametrize(("preset", "gets"), [("paper", 64), (None, 100)])
def test_a_newcomer_to_a_run_by_the_paper_is_sent_no_more_either(
    preset: Any, gets: int, tmp_path: Path
) -> None:
    path = tmp_path / "arena.toml"
    path.write_text("[models.new]\nmodel = 'offline:owl'\nmax_frames = 100\n")
    run = resolve(RunRequest(config=path, preset=preset)).config
    joined = _with_newcomer(run, AddRequest(model="new", battles=3, config=path), generation=1)
    assert joined.cast["new"].max_frames == gets


@pytest.mark.parametrize(
    ("name", "is_open"),
    [
        ("anthropic:claude-haiku-4-5", False),
        ("bedrock:amazon.nova-pro-v1:0", False),
        ("vertex:gemini-2.5-pro", False),
        ("azure:gpt-4o", False),
        ("groq:llama", False),
        ("ollama:llava", True),
        ("vllm:qwen", True),
    ],
)
def test_who_is_served_at_home_is_open_on_a_server_of_ones_own_alone(
    name: str, is_open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://birds.openai.azure.com")
    assert as_in_paper(entry_of(name, ArenaFile())).parameters == (OPEN if is_open else {})
