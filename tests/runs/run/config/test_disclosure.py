"""What is said before frames leave the machine holds: no run makes more calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.loopback import serving
from tests.support.small_runs import play, toml
from videoautoarena.runs.run.config.disclosure import calls_at_most, remote_notice
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.tournament.forecast import plan_ahead
from videoautoarena.runs.tournament.plan import most_calls


@pytest.fixture
def arena_toml(tmp_path: Path) -> Path:
    path = tmp_path / "arena.toml"
    near = "http://127.0.0.1:9/v1"
    far = "http://127.0.0.2:9/v1"
    path.write_text(
        toml(
            {
                "a": {"model": "openai:a", "base_url": near, "max_frames": 8},
                "b": {"model": "openai:b", "base_url": far},
                "judge": {"model": "openai:j", "base_url": far},
            }
        )
    )
    return path


def flags(config: Path, **more: object) -> RunRequest:
    return RunRequest(models=("a", "b"), examiner="judge", config=config, **more)  # type: ignore[arg-type]


def told_of(config: RunConfig) -> list[str]:
    calls = calls_at_most(config, videos=1, first=3, later=0)
    return list(remote_notice(config, lambda names: sum(calls[of] for of in names), videos=1))


def test_each_host_is_told_with_its_models_and_the_frames_of_a_call(arena_toml: Path) -> None:
    config = resolve(flags(arena_toml, swap=0.0)).config
    near, far = told_of(config)
    assert near == ("frames of 1 video (up to 8 per call) go to 127.0.0.1:9 for a: at most 3 calls")
    assert far == (
        "frames of 1 video (up to 128 per call) go to 127.0.0.2:9 for b, judge: at most 19 calls"
    )


def test_an_offline_cast_tells_nothing() -> None:
    config = resolve(RunRequest()).config
    assert told_of(config) == []


def test_a_finished_run_tells_of_no_call(arena_toml: Path) -> None:
    calls = calls_at_most(resolve(flags(arena_toml)).config, videos=0, first=0, later=0)
    assert set(calls.values()) == {0}


@pytest.mark.parametrize("swap", [0.0, pytest.param("all", marks=pytest.mark.slow)])
def test_no_run_sends_more_than_was_said_and_planned(tmp_path: Path, swap: object) -> None:
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    said = list[str]()
    with serving(tmp_path / "log") as server:
        table = {"base_url": server.openai_url, "timeout_s": 30}
        names = {"hawk": "hawk", "mole": "mole", "examiner": "examiner", "judge": "judge"}
        (tmp_path / "arena.toml").write_text(
            toml({a: {"model": f"openai:{n}", **table} for a, n in names.items()})
        )
        typed: dict[str, Any] = {
            "models": ("hawk", "mole"),
            "examiner": "examiner",
            "judge": ("judge",),
            "rounds": 2,
            "swap": swap,
            "config": tmp_path / "arena.toml",
        }
        plan, _ = plan_ahead(
            RunRequest(videos=videos, out=tmp_path / "out", **typed), say=said.append
        )
        play(videos, tmp_path / "out", said=said, **typed)
        sent = len(server.events("arrived"))
    [line] = [line for line in said if "go to" in line]
    most = int(line.split("at most ")[1].split()[0].replace(",", ""))
    assert 0 < sent <= most
    assert most == most_calls(plan)


def test_the_host_is_the_one_that_calls_go_to_now(
    arena_toml: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy:81/v1")
    config = resolve(
        RunRequest(models=("a", "openai:x"), examiner="judge", config=arena_toml)
    ).config
    monkeypatch.delenv("OPENAI_BASE_URL")
    begun = config.model_validate(config.model_dump())
    assert begun.cast["openai:x"].endpoint == "proxy:81"
    told = [line for line in told_of(begun) if "openai:x" in line]
    assert [line.partition(" for ")[0].split()[-1] for line in told] == ["api.openai.com"]
