"""Videos of a bench that moved between two days, two processes at once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.small_benches import run_bench
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import read_results
from videoautoarena.runs.bench.play.calls import CALLS, begin_calls, load_prompts

MOLE = ("--model", "offline:mole")


@pytest.fixture
def bench(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "bench", tmp_path / "bench"))


def run(bench: Path, *typed: object) -> Result:
    """Play a bench; `return_value` is the exit code."""
    return run_bench(bench, *MOLE, *typed)


def rulings_of(bench: Path) -> list[dict[str, object]]:
    (result,) = read_results(open_bench(bench))
    return [ruling.model_dump() for ruling in result.rulings]


def test_a_bench_goes_on_with_videos_that_moved_meanwhile(
    ground: Path, bench: Path, tmp_path: Path
) -> None:
    whole = shutil.copytree(bench, tmp_path / "whole")
    run(whole, "--videos", ground / "videos", "--limit", 3)
    old = Path(shutil.copytree(ground / "videos", tmp_path / "old"))
    assert run(bench, "--videos", old, "--limit", 1).return_value == 0
    begun = calls(bench)
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    for place, file in enumerate(sorted(old.glob("*.mp4"))):
        file.rename(elsewhere / f"{place} renamed.mp4")
    old.rmdir()
    lost = run(bench, "--videos", old)
    assert "is no folder" in str(lost.exception)
    assert run(bench, "--videos", elsewhere.parent, "--limit", 3).return_value == 0
    assert rulings_of(bench) == rulings_of(whole)
    # Nothing was asked a second time.
    assert calls(bench)[: len(begun)] == begun
    assert len(calls(bench)) == len(calls(whole))


def calls(bench: Path) -> list[str]:
    with Store.open(bench / "results" / CALLS, write=False) as store:
        return [row.key for row in store.journal.calls()]


def test_whoever_comes_second_is_told_who_plays_the_bench_and_may_still_plan(
    ground: Path, bench: Path
) -> None:
    with begin_calls(open_bench(bench), load_prompts()):
        told = run(bench, "--videos", ground / "videos")
        said = f"{bench / 'results'} is being run by process {os.getpid()}; wait for it to end"
        assert said in str(told.exception)
        assert run(bench, "--videos", ground / "videos", "--plan").return_value == 0
    assert run(bench, "--videos", ground / "videos").return_value == 0
