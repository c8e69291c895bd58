"""The paper's preset: what it names beats the file, a flag beats it, and the rest is the file's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from videoautoarena.memory.records.records import Sampling
from videoautoarena.runs.config import run_config, sampling
from videoautoarena.runs.config.run_config import Flags, RunConfig, resolve
from videoautoarena.runs.media.frames import asked_sampling
from videoautoarena.runs.tournament.add import AddRequest, _with_newcomer

OTHERWISE: dict[str, Any] = {
    **{"pairing": "uniform", "swap": 0.5, "subtitles": False},
    **{"policy": "keyframes", "frames": 8, "size_px": 64, "fit": "pad", "quality": 30},
}
"""Each setting that the preset names, as it is not in the paper."""
PAPER = {
    **{"pairing": "keep-pair", "swap": 0.0, "subtitles": True},
    **{"policy": "uniform", "frames": 128, "size_px": 512, "fit": "stretch", "quality": 85},
}


def said(run: RunConfig) -> dict[str, Any]:
    return {**run.model_dump(), **run.sampling.model_dump()}


@pytest.mark.parametrize("name", PAPER)
def test_each_setting_that_the_preset_names_beats_the_file_and_a_flag_beats_it(
    name: str, tmp_path: Path
) -> None:
    table = "sampling" if name in Sampling.model_fields else "run"
    path, other = tmp_path / "arena.toml", OTHERWISE[name]
    path.write_text(f"[{table}]\n{name.removesuffix('_px')} = {json.dumps(other)}\n")
    assert said(resolve(Flags(config=path)).config)[name] == other
    assert said(resolve(Flags(config=path, preset="paper")).config)[name] == PAPER[name]
    typed = Flags(config=path, preset="paper", **{name: other})
    assert said(resolve(typed).config)[name] == other


@pytest.mark.parametrize("where", ["flag", "file"])
def test_a_file_that_says_all_otherwise_plays_the_paper_where_the_paper_speaks(
    where: str, tmp_path: Path
) -> None:
    path = tmp_path / "arena.toml"
    path.write_text(
        "[run]\nrounds = 2\nswap = 'all'\npairing = 'mix'\nsubtitles = false\n"
        + ("preset = 'paper'\n" if where == "file" else "")
        + "[sampling]\npolicy = 'fps'\nfps = 2.0\nframes = 8\nsize = 64\nfit = 'keep'\n"
        "quality = 30\ndecoder = 'decord'\n"
    )
    found = resolve(Flags(config=path, preset="paper" if where == "flag" else None)).config
    assert {name: said(found)[name] for name in PAPER} == PAPER
    assert (found.rounds, found.sampling.decoder) == (2, "decord")
    assert found.sampling.fps is None


def test_the_preset_names_what_is_tested_here() -> None:
    assert {**run_config.PAPER, **sampling.PAPER_SAMPLING} == PAPER


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
    allowed = Flags(config=path, preset="paper", allow_self_judging=True)
    cast = resolve(allowed).config.cast
    assert (cast["one"].max_frames, cast["judge"].max_frames) == (gets, has)


def test_what_a_file_with_the_preset_shows_is_what_it_plays(tmp_path: Path) -> None:
    path = tmp_path / "arena.toml"
    path.write_text("[run]\npreset = 'paper'\n[sampling]\nsize = 64\nfit = 'keep'\n")
    assert asked_sampling({"config": path}) == resolve(Flags(config=path)).config.sampling


@pytest.mark.parametrize(("preset", "gets"), [("paper", 64), (None, 100)])
def test_a_newcomer_to_a_run_by_the_paper_is_sent_no_more_either(
    preset: Any, gets: int, tmp_path: Path
) -> None:
    path = tmp_path / "arena.toml"
    path.write_text("[models.new]\nmodel = 'offline:owl'\nmax_frames = 100\n")
    run = resolve(Flags(config=path, preset=preset)).config
    joined = _with_newcomer(run, AddRequest("new", 3, config=path), generation=1)
    assert joined.cast["new"].max_frames == gets
