"""What a person is shown of a video is what a model is sent, to the byte."""

from __future__ import annotations

import asyncio
import json
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from PIL import Image

from tests.support.clips import draw_clip
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Sampling
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cli.program.main import EXIT_USAGE, arena, guarded
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.opener import FOLDER_FILE
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.video.folder.find import read_video
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.sampling.thinning import thin

HAWK = "offline:hawk"
MOLE = "offline:mole"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_clip(tmp_path_factory.mktemp("clips") / "clip.mp4", seed=3)


@pytest.fixture(scope="module")
def out(clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has looked at the clip, and of whose two models one sees more than the other."""
    out = tmp_path_factory.mktemp("runs") / "out"
    out.mkdir()
    config = resolve(RunRequest(models=(HAWK, MOLE), frames=20)).config
    video = read_video(clip.parent, clip.name)
    shown = sample(clip, sampling=config.sampling, video=video.id).frames
    with Store.create(out / RUN_FILE, config.manifest("0.1.0", {})) as store:
        store.add_videos([video])
        store.put_file(FOLDER_FILE, str(clip.parent))
        asyncio.run(store.put_frames(shown))
    return out


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def frames(*args: object) -> Result:
    return CliRunner().invoke(arena, ["frames", *map(os.fspath, map(str, args))])


def told(*args: object) -> dict[str, Any]:
    done = frames(*args, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def refusal(capsys: pytest.CaptureFixture[str], *args: object, code: int = 1) -> str:
    """Return the one line in which these arguments are refused."""
    typed = ["frames", *map(str, args)]
    assert guarded(lambda: arena.main(typed, "arena", standalone_mode=False)) == code
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_the_frames_are_those_that_a_run_samples(clip: Path) -> None:
    asked = Sampling(frames=9, size_px=96, fit="pad", quality=70)
    expected = sample(clip, sampling=asked).frames
    found = told(clip, "--frames", 9, "--size", 96, "--fit", "pad", "--quality", 70)
    assert found["sampling"] == asked.model_dump()
    assert [frame["digest"] for frame in found["frames"]] == [f.digest for f in expected.frames]
    assert [frame["time_s"] for frame in found["frames"]] == [f.time_s for f in expected.frames]
    assert (found["width_px"], found["height_px"]) == (96, 96)


def test_a_model_of_few_frames_is_shown_those_that_it_would_be_sent(clip: Path) -> None:
    whole = told(clip, "--frames", 20)
    few = told(clip, "--frames", 20, "--seen", 5)
    expected = thin(sample(clip, sampling=Sampling(frames=20)).frames, 5)
    assert [frame["digest"] for frame in few["frames"]] == [f.digest for f in expected.frames]
    assert (whole["total"], few["total"], len(few["frames"])) == (20, 20, 5)


def test_the_picture_shows_every_frame_and_lies_in_the_current_folder(
    clip: Path, here: Path
) -> None:
    done = frames(clip, "--frames", 6, "--columns", 3)
    assert done.exit_code == 0
    assert done.stdout.startswith("clip-frames.png: 6 frames at 160 x 120, evenly in time, ")
    assert "frames of a video are in clip-frames.png: before others get them," in done.stderr
    assert [path.name for path in here.iterdir()] == ["clip-frames.png"]
    with Image.open(here / "clip-frames.png") as image:
        assert image.size[0] > 3 * 160
        assert image.size[1] > 2 * 120


def test_with_json_a_picture_is_made_only_where_it_is_named(clip: Path, here: Path) -> None:
    assert told(clip)["sheet"] is None
    assert list(here.iterdir()) == []
    assert told(clip, "--to", "sheet.PNG")["sheet"] == "sheet.PNG"
    assert (here / "sheet.PNG").is_file()


def test_scenes_are_told_where_they_decide_the_frames(clip: Path) -> None:
    found = told(clip, "--policy", "scenes", "--frames", 8)
    assert len(found["scenes"]) == 3
    assert found["scenes"][0]["start_s"] == 0
    assert "over 3 scenes" in frames(clip, "--policy", "scenes", "--frames", 8).stdout
    assert told(clip)["scenes"] == []


def test_what_the_file_says_of_all_videos_holds_for_this_one(clip: Path, here: Path) -> None:
    (here / "arena.toml").write_text('[sampling]\npolicy = "fps"\nfps = 2.0\n')
    assert [frame["time_s"] for frame in told(clip)["frames"]][:3] == [0, 0.5, 1.0]
    assert told(clip, "--policy", "uniform")["sampling"]["fps"] is None


def test_a_run_shows_what_it_has_shown_to_all_and_to_one(clip: Path, out: Path) -> None:
    with Store.open(out / RUN_FILE, write=False) as store:
        (video,) = store.videos()
        shown = store.frames(video.id)
    assert shown is not None
    for name in (clip, "clip.mp4", video.id, video.id[:4]):
        found = told(name, "--run", out)
        assert [frame["digest"] for frame in found["frames"]] == [f.digest for f in shown.frames]
        assert found["run"] == str(out)
    assert len(told(clip, "--run", out, "--model", HAWK)["frames"]) == 20
    mole = told(clip, "--run", out, "--model", MOLE)
    assert [f["digest"] for f in mole["frames"]] == [f.digest for f in thin(shown, 4).frames]
    assert (
        f"4 of 20 frames, as seen by {MOLE}," in frames(clip, "--run", out, "--model", MOLE).stdout
    )


def test_a_run_says_when_its_video_has_other_frames_now(
    out: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Store.open(out / RUN_FILE, write=False) as store:
        (video,) = store.videos()
    monkeypatch.setattr(
        "videoautoarena.runs.console.media.frames.videos_folder", lambda _store: tmp_path
    )
    draw_clip(tmp_path / "clip.mp4", seed=4)
    assert "clip.mp4 has changed" in refusal(capsys, video.id, "--run", out)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nothing.mp4"], "there is no file nothing.mp4"),
        (["."], "is a folder"),
        (["text.mp4"], "text.mp4 is a text, not a video"),
        (["text.mp4", "--to", "sheet.jpg"], "ends in .png"),
        (["text.mp4", "--to", "there.png"], "--force"),
        (["text.mp4", "--run", "nowhere"], "nowhere is no folder"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    capsys: pytest.CaptureFixture[str], here: Path, args: list[str], words: str
) -> None:
    (here / "text.mp4").write_text("no video")
    (here / "there.png").write_text("mine")
    assert words in refusal(capsys, *args)
    assert (here / "there.png").read_text() == "mine"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["text.mp4", "--policy", "scenes", "--fps", "2"], "--fps is for --policy fps"),
        (["text.mp4", "--frames", "1"], "--frames is 1"),
    ],
)
def test_what_can_never_be_asked_for_is_a_wrong_argument(
    capsys: pytest.CaptureFixture[str], here: Path, args: list[str], words: str
) -> None:
    (here / "text.mp4").write_text("no video")
    assert words in refusal(capsys, *args, code=2)


def test_a_run_names_what_it_has(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there are clip.mp4" in refusal(capsys, "other.mp4", "--run", out)
    assert f"choose from {HAWK}, {MOLE}" in refusal(
        capsys, "clip.mp4", "--run", out, "--model", "nobody"
    )


@pytest.mark.parametrize(
    "args",
    [
        ("--run", "out", "--frames", "5"),
        ("--model", "hawk"),
        ("--run", "out", "--model", "hawk", "--seen", "2"),
        ("--columns", "0"),
    ],
)
def test_flags_that_contradict_each_other_are_refused(args: tuple[str, ...]) -> None:
    assert frames("clip.mp4", *args).exit_code == EXIT_USAGE


def test_a_picture_is_replaced_only_when_told(clip: Path, here: Path) -> None:
    (here / "clip-frames.png").write_bytes(b"mine")
    assert frames(clip).exit_code == 1
    assert (here / "clip-frames.png").read_bytes() == b"mine"
    assert frames(clip, "--force").exit_code == 0
    assert Image.open(BytesIO((here / "clip-frames.png").read_bytes())).format == "PNG"


@pytest.mark.parametrize(
    ("name", "sheet"),
    [
        ("\x1b[2J\u202egnp.mp4", "2J_gnp-frames.png"),
        ("-rf.mp4", "rf-frames.png"),
        ("..mp4", "video-frames.png"),
        (b"bytes\xff.mp4", "bytes-frames.png"),
        ("a;b`c$d.mp4", "a_b_c_d-frames.png"),
        ("\u4e2d" * 80 + ".mp4", "\u4e2d" * 60 + "-frames.png"),
        ("Gr\u00f6\u00dfe 2.mp4", "Gr\u00f6\u00dfe 2-frames.png"),
    ],
    ids=["escapes", "dash", "dots", "no UTF-8", "shell", "long", "accents"],
)
def test_no_name_of_a_file_reaches_a_terminal_or_leaves_the_folder(
    clip: Path, here: Path, tmp_path: Path, name: str | bytes, sheet: str
) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    hostile = folder / os.fsdecode(name)
    hostile.write_bytes(clip.read_bytes())
    done = frames(hostile, "--frames", 2)
    assert done.exit_code == 0, done.output
    assert [path.name for path in here.iterdir()] == [sheet]
    assert "\x1b" not in done.output
    assert "\u202e" not in done.output


def test_the_video_is_left_as_it_was(clip: Path) -> None:
    before = digest(clip.read_bytes())
    told(clip, "--policy", "scenes")
    assert digest(clip.read_bytes()) == before
    assert [path.name for path in clip.parent.iterdir()] == ["clip.mp4"]
