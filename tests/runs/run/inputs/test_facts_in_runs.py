"""Facts in whole runs: copied at the beginning, never read again, gone without a trace."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.clips import draw_clip, draw_folder
from tests.support.small_runs import battles_of, play, play_again
from tests.support.typed import Terminal
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir import opener
from videoautoarena.runs.run.rundir.reader import open_run

CONTENT = "path,title,category,licence,site\nclip00.mp4,Rain,Sport,CC0,north\nclip01.mp4,,,,south\n"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Return a folder with videos and a run over them, and what was said at its beginning."""
    root = tmp_path_factory.mktemp("begun")
    said = list[str]()
    folder = draw_folder(root / "videos", 2, seconds=2)
    (folder / "videos.csv").write_text(CONTENT)
    play(folder, root / "out", said=said, rounds=1)
    return root, said


@pytest.fixture
def videos(begun: tuple[Path, list[str]], tmp_path: Path) -> Path:
    return shutil.copytree(begun[0] / "videos", tmp_path / "videos")


@pytest.fixture
def out(begun: tuple[Path, list[str]], tmp_path: Path) -> Path:
    return shutil.copytree(begun[0] / "out", tmp_path / "out")


def sites(out: Path) -> dict[str, str | None]:
    """Return the cell of each video's own column, by the video's path."""
    with open_run(out) as run:
        cells = run.facts()
        return {
            v.path: cells[v.id].columns.get("site") for v in run.store.videos() if v.id in cells
        }


def test_a_run_keeps_what_the_file_says_and_the_stated_category(
    begun: tuple[Path, list[str]],
) -> None:
    root, said = begun
    assert sites(root / "out") == {"clip00.mp4": "north", "clip01.mp4": "south"}
    assert "facts on 2 of the videos: title, category, licence, site; 1 own category" in said
    with open_run(root / "out") as run:
        paths = {video.id: video.path for video in run.store.videos()}
        categories = {paths[b.video]: b.category for b in run.battles}
    assert categories == {"clip00.mp4": "Sport", "clip01.mp4": "other"}


def test_a_run_goes_on_without_the_file_and_says_so_once(
    videos: Path, out: Path, terminal: Terminal
) -> None:
    again = ("resume", out, "--videos", videos)
    (videos / "videos.csv").unlink()
    assert terminal.arena(*again).err.count("videos.csv is gone") == 1
    (videos / "videos.csv").write_text("nonsense")
    assert terminal.arena(*again).err.count("videos.csv differs from the one") == 1
    said: list[str] = []
    play(videos, out, rounds=2, said=said)
    assert sum("videos.csv" in line for line in said) == 1
    assert sites(out) == {"clip00.mp4": "north", "clip01.mp4": "south"}
    replayed = play_again(out)
    assert (replayed.others, replayed.differences) == (0, [])


def test_a_run_that_is_cut_off_at_its_first_step_has_its_facts(
    videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(opener, "_bound", cut_off)
        with pytest.raises(KeyboardInterrupt):
            play(videos, tmp_path / "out", rounds=1)
    (videos / "videos.csv").unlink()
    play(videos, tmp_path / "out", rounds=1)
    assert sites(tmp_path / "out") == {"clip00.mp4": "north", "clip01.mp4": "south"}


def test_another_file_for_a_run_that_goes_on_is_said_to_be_unused(
    videos: Path, out: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    other.write_text("path,site\nclip00.mp4,west\n")
    for asked, why in {
        str(other): f"{other} differs from the one this run began with",
        "none": "the facts this run began with stay",
        str(videos / "videos.csv"): "",
    }.items():
        said: list[str] = []
        play(videos, out, rounds=1, facts=asked, said=said)
        lines = [line for line in said if "this run began with" in line]
        assert len(lines) == bool(why)
        assert all(why in line for line in lines)
    assert sites(out)["clip00.mp4"] == "north"


def test_what_is_said_of_a_new_video_is_taken_in_and_nothing_else(videos: Path, out: Path) -> None:
    draw_clip(videos / "new.mp4", 77, seconds=3)
    changed = CONTENT.replace("north", "west") + "new.mp4,,sport,,east\n"
    (videos / "videos.csv").write_text(changed)
    play(videos, out, rounds=1)
    assert sites(out) == {"clip00.mp4": "north", "clip01.mp4": "south", "new.mp4": "east"}
    with open_run(out) as run:
        assert {one.category for one in run.facts().values()} == {"Sport", None}


def test_a_wrong_row_leaves_nothing_written(
    videos: Path, tmp_path: Path, terminal: Terminal
) -> None:
    (videos / "videos.csv").write_text("path\nno.mp4\n")
    for more in ((), ("--plan",)):
        said = terminal.simulate("--videos", videos, "--out", tmp_path / "out", *more)
        assert said.code == 1
        assert said.err.splitlines()[-1].startswith("arena: ")
        assert '"no.mp4" is no video of the folder' in said.err
        assert not (tmp_path / "out").exists()


def test_the_configuration_file_can_name_the_file_and_a_flag_beats_it(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text('[run]\nfacts = "none"\n')
    assert resolve(RunRequest(config=file)).facts == "none"
    assert resolve(RunRequest(config=file, facts="own.csv")).facts == "own.csv"


def test_the_list_of_videos_shows_and_checks_the_file(videos: Path, terminal: Terminal) -> None:
    said = terminal.arena("videos", videos, "--quick")
    assert said.code == 0
    for line in ("facts on 2 of 2 videos", "category: 1 Sport, 1 without", "from: Sport, other"):
        assert line in said.out
    (videos / "videos.csv").write_text("path,site\nno.mp4,north\n")
    wrong = terminal.arena("videos", videos, "--quick", "--json")
    assert wrong.code == 1
    found = json.loads(wrong.out)
    assert "no.mp4" in found["facts"]["problem"]
    assert [one["facts"] for one in found["videos"]] == [None, None]
    assert terminal.arena("videos", videos, "--quick", "--facts", "none").code == 0


@pytest.mark.slow
def test_battles_are_the_same_bytes_where_the_file_says_nothing_to_the_examiner(
    videos: Path, tmp_path: Path
) -> None:
    play(videos, tmp_path / "none", rounds=1, facts="none")
    (videos / "videos.csv").write_text("path,licence,site\nclip00.mp4,CC0,north\n")
    play(videos, tmp_path / "some", rounds=1)
    assert battles_of(tmp_path / "none") == battles_of(tmp_path / "some")
