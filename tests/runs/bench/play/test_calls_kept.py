"""What the playing of a bench leaves as it was: all, if it is refused; results that decide more."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.small_benches import results_of
from tests.support.small_benches import run_bench as run
from tests.support.small_runs import play
from tests.support.titles import cue, write_titles
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.bench.play.calls import CALLS
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS, kept_caps


@pytest.fixture
def bench(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "bench", tmp_path / "bench"))


@pytest.fixture
def videos(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "videos", tmp_path / "videos"))


def test_a_folder_with_none_of_the_videos_is_refused_and_a_result_stays(
    bench: Path, videos: Path, tmp_path: Path
) -> None:
    typed = ("--model", "offline:mole", "--swap", 0, "--limit", 2)
    run(bench, "--videos", videos, *typed)
    run(bench, "--videos", videos, *typed, "--max-tokens", 10**9)
    before = {file: file.read_bytes() for file in (bench / "results").iterdir()}
    assert len(before) > 1
    other = draw_folder(tmp_path / "other", 2, seconds=2)
    capped = ("--max-tokens", 5, "--retry-failed")
    for more in ((), ("--plan",), ("--limit", 1), capped):
        told = run(bench, "--videos", other, *typed, *more)
        assert isinstance(told.exception, BadInput)
        assert "holds none of the " in str(told.exception)
        assert "pass their folder with --videos" in str(told.exception)
    assert {file: file.read_bytes() for file in (bench / "results").iterdir()} == before


def test_a_refused_folder_begins_nothing(bench: Path, videos: Path, tmp_path: Path) -> None:
    other = draw_folder(tmp_path / "other", 2, seconds=2)
    typed = ("--model", "offline:mole", "--limit", 1)
    told = run(bench, "--videos", other, *typed, "--max-usd", 0.01)
    assert "holds none of the " in str(told.exception)
    misspelt = run(bench, "--videos", tmp_path / "vidoes", *typed)
    assert "did you mean " in str(misspelt.exception)
    assert not (bench / "results").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "contestant.txt").write_text("Answer what follows.")
    assert run(bench, "--videos", videos, *typed, "--prompts", tmp_path / "mine").return_value == 0
    with Store.open(bench / "results" / CALLS, write=False) as store:
        assert kept_caps(store) == NO_CAPS


@pytest.mark.slow
def test_videos_that_have_lost_their_subtitles_are_as_good_as_lost(tmp_path: Path) -> None:
    videos = draw_folder(tmp_path / "videos", 2, seconds=3)
    for name in ("clip00.srt", "clip01.srt"):
        write_titles(videos / name, cue(0.2, 0.6, f"Hello, {name}."))
    play(videos, tmp_path / "out", rounds=1)
    freeze(tmp_path / "out", tmp_path / "bench")
    bench = tmp_path / "bench"
    typed = ("--videos", videos, "--model", "offline:mole")
    spoken = (videos / "clip00.srt").read_bytes()
    (videos / "clip00.srt").unlink()
    write_titles(videos / "clip01.srt", cue(0.2, 0.6, "Something else."))
    for more in ((), ("--plan",)):
        told = run(bench, *typed, *more)
        assert "holds none of the 2 videos asked about (clip0" in str(told.exception)
        assert not (bench / "results").exists()
    (videos / "clip00.srt").write_bytes(spoken)
    lost = "video clip01.mp4 has other subtitles than were frozen; its questions are void"
    assert lost in run(bench, *typed, "--allow-missing", "--plan").stdout
    assert lost in run(bench, *typed, "--allow-missing").stderr
    # What was found wrong was not kept: the right ones count as soon as they are back.
    write_titles(videos / "clip01.srt", cue(0.2, 0.6, "Hello, clip01.srt."))
    assert run(bench, *typed).return_value == 0
    assert {r.verdict for r in results_of(bench)["offline:mole"].rulings} != {"void"}
    assert not [r for r in results_of(bench)["offline:mole"].rulings if r.response is None]


def test_a_result_is_replaced_only_by_one_that_decides_all_that_it_does(
    bench: Path, videos: Path
) -> None:
    typed = ("--videos", videos, "--model", "offline:mole", "--swap", 0)
    part = run(bench, *typed, "--limit", 2, "--json")
    assert len(results_of(bench)["offline:mole"].rulings) == 4
    whole = run(bench, *typed, "--json")
    assert (json.loads(part.stdout)["kept"], json.loads(whole.stdout)["kept"]) == ([], [])
    before = results_of(bench)
    again = run(bench, *typed, "--limit", 2, "--json")
    told = json.loads(again.stdout)
    assert (again.return_value, told["results"]) == (0, [])
    (why,) = told["kept"]
    questions = 2 * len(open_bench(bench).items)
    assert f"was kept: {questions - 4} of the {questions} it decides" in why
    assert why in again.stderr
    (file,) = json.loads(whole.stdout)["results"]
    assert f" in {file} was kept" in why
    assert why.endswith("; delete it to replace it")
    assert told["scores"]["models"][0]["decided"]["n"] == 2
    (videos / (next(iter(open_bench(bench).manifest.videos.values())).path or "")).unlink()
    assert "was kept" in run(bench, *typed, "--allow-missing").stderr
    assert results_of(bench) == before
    (bench / file).unlink()
    assert json.loads(run(bench, *typed, "--allow-missing", "--json").stdout)["results"] == [file]


def test_a_damaged_result_against_an_anchor_stops_no_other(bench: Path, videos: Path) -> None:
    typed = ("--videos", videos, "--model", "offline:mole", "--limit", 2)
    run(bench, *typed, "--anchor", "offline:terse")
    (anchored,) = (bench / "results").glob("*.jsonl")
    anchored.write_text(f"{anchored.read_text()}{{}}\n")
    told = run(bench, *typed, "--json")
    assert told.return_value == 0, told.output
    (file,) = json.loads(told.stdout)["results"]
    assert (bench / file).is_file()
    assert bench / file != anchored
