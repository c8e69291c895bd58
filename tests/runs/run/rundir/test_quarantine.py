"""Videos that gave no frames: listed with reasons, bound by generation, tried again when asked."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from tests.support.clips import draw_folder
from tests.support.small_runs import play
from videoautoarena.memory.records.records import SkippedFile
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import read_results
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.bench.play.calls import CALLS
from videoautoarena.runs.cli.program.main import arena
from videoautoarena.runs.run.rundir.failures import condemn, pardon, quarantine, verdict_on
from videoautoarena.runs.run.rundir.reader import RUN_FILE


def store_in(folder: Path) -> Store:
    return Store.create(folder / RUN_FILE, {})


def test_a_verdict_binds_until_the_generation_in_which_it_is_lifted(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        assert verdict_on(store, "v") is None
        condemn(store, "v", "first")
        assert pardon(store, {"v", "innocent"}, 1) == ["v"]
        assert verdict_on(store, "v") is None
        condemn(store, "v", "second")
        assert pardon(store, {"v"}, 4) == ["v"]
        told = [verdict_on(store, "v", generation) for generation in range(6)]
    assert told == ["first", "second", "second", "second", None, None]


def test_a_second_lifting_before_anything_was_played_changes_nothing(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        condemn(store, "v", "first")
        assert pardon(store, {"v"}, 1) == ["v"]
        assert pardon(store, {"v"}, 1) == []
        assert verdict_on(store, "v", 0) == "first"


def test_files_refused_when_found_are_listed_too(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.add_skipped([SkippedFile(path="a.mp4", reason="is empty")])
        assert quarantine(store) == [("a.mp4", None, "found", "is empty")]


def test_a_bench_asks_about_a_video_that_failed_to_decode_only_once_it_may_be_tried_again(
    tmp_path: Path,
) -> None:
    play(draw_folder(tmp_path / "videos", 1, seconds=3), tmp_path / "out", rounds=1)
    bench = tmp_path / "bench"
    freeze(tmp_path / "out", bench)
    cast = ("--model", "offline:hawk", "--judge", "offline:judge")
    typed = ("bench", "run", str(bench), "--videos", str(tmp_path / "videos"), *cast)
    assert ends(bench, *typed) == {"judged"}
    with Store.open(bench / "results" / CALLS, write=True) as store:
        (video,) = (one.id for one in store.videos())
        condemn(store, video, "brought the decoder down")
    assert "judged" not in ends(bench, *typed)
    assert "judged" not in ends(bench, *typed)
    assert ends(bench, *typed, "--retry-failed") == {"judged"}


def ends(bench: Path, *typed: str) -> set[str]:
    """Play a bench and return how its questions ended now, whatever was written before."""
    told = CliRunner().invoke(arena, [*typed, "--json"], standalone_mode=False)
    (result,) = read_results(open_bench(bench))
    assert "void" not in {one.verdict for one in result.rulings}
    said = json.loads(told.stdout)
    return ({"void"} if said["voids"] else set()) | (
        {"judged"} if said["voids"] < said["settled"] else set()
    )
