"""A folder of videos as it is listed: every file is told of once, whatever it is called."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.support.clips import draw_clip
from tests.support.stamped import RECIPES, encode
from tests.support.titles import cue, write_titles
from videoautoarena.runs.cli.program.main import arena
from videoautoarena.runs.formats.words import length


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips, the first of three scenes, subtitles of one, a copy, and a file that is none."""
    folder = tmp_path_factory.mktemp("clips")
    clip = draw_clip(folder / "b.mp4", seed=3)
    (folder / "copy.mp4").write_bytes(clip.read_bytes())
    (folder / "deep").mkdir()
    encode(folder / "deep" / "upright.mp4", RECIPES["upright"], quarter_turn=True)
    write_titles(folder / "b.srt", cue(0.2, 0.6, "Hello."))
    (folder / "broken.mp4").write_text("no video")
    (folder / "notes.txt").write_text("no word of this")
    return folder


def videos(*args: object, env: dict[str, str] | None = None) -> Result:
    return CliRunner(env=env).invoke(arena, ["videos", *map(str, args)])


def told(*args: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(videos(*args, "--json").stdout)
    return found


def test_every_file_is_a_video_a_copy_or_told_why_not(clips: Path) -> None:
    found = told(clips)
    assert [video["path"] for video in found["videos"]] == ["b.mp4", "deep/upright.mp4"]
    assert found["duplicates"] == [{"path": "copy.mp4", "same_as": "b.mp4"}]
    (skipped,) = found["skipped"]
    assert skipped["path"] == "broken.mp4"
    assert found["totals"]["videos"] == 2
    assert sum(found["totals"]["buckets"].values()) == 2


def test_a_video_has_the_shape_a_player_shows(clips: Path) -> None:
    flat, upright = told(clips)["videos"]
    assert (flat["duration_s"], flat["width_px"], flat["height_px"]) == (6.0, 160, 120)
    assert (flat["fps"], flat["codec"], flat["rotation"]) == (6.0, "mpeg4", 0)
    assert upright["rotation"] in (90, 270)
    assert upright["width_px"] < upright["height_px"]
    assert (flat["subtitles"], upright["subtitles"]) == ("b.srt", None)
    assert flat["bucket"] == "up to 8 s"


def test_scenes_are_counted_only_when_asked_for(clips: Path) -> None:
    assert [video["scenes"] for video in told(clips)["videos"]] == [None, None]
    done = videos(clips, "--scenes", "--json")
    assert json.loads(done.stdout)["videos"][0]["scenes"] == 3
    assert "[2/2] searched for scenes" in done.stderr


def test_in_a_pipe_each_video_is_one_plain_line(clips: Path) -> None:
    done = videos(clips, env={"COLUMNS": "20"})
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "video length size fps codec turned subtitles bucket" in lines
    assert "b.mp4 6.0 s 160x120 6 mpeg4 yes up to 8 s" in lines
    assert "copy.mp4 is the same video as b.mp4; it is used once" in lines
    assert any(line.startswith("skipped broken.mp4: ") for line in lines)
    assert lines[-1].startswith("2 videos, ")


def test_what_is_wrong_with_a_video_that_can_be_used_is_said(clips: Path, tmp_path: Path) -> None:
    whole = (clips / "b.mp4").read_bytes()
    write_titles(tmp_path / "b.srt")
    (tmp_path / "b.mp4").write_bytes(whole)
    (video,) = told(tmp_path)["videos"]
    assert [problem.split()[0] for problem in video["problems"]] == ["b.srt"]
    lines = videos(tmp_path).stdout.splitlines()
    assert any(line.startswith("b.mp4 !") for line in lines)
    assert any(line.startswith("! b.mp4: b.srt ") for line in lines)


def test_a_folder_without_a_video_is_no_failure(tmp_path: Path) -> None:
    done = videos(tmp_path)
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path} contains no usable video\n")
    assert told(tmp_path)["totals"] == {
        "videos": 0,
        "duration_s": 0,
        "size_bytes": 0,
        "buckets": {},
    }


def test_no_name_reaches_a_terminal(clips: Path, tmp_path: Path) -> None:
    for name in ("\x1b[2J\u202e[red]x.mp4", os.fsdecode(b"\xff.mp4")):
        (tmp_path / name).write_bytes((clips / "b.mp4").read_bytes())
    (tmp_path / "\x07.mp4").write_text("no video")
    done = videos(tmp_path)
    assert done.exit_code == 0, done.output
    assert not {"\x1b", "\u202e", "\x07"} & set(done.output)
    assert "[red]x.mp4" in done.stdout
    assert len(told(tmp_path)["duplicates"]) == 1


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.04, "0.0 s"), (59.94, "59.9 s"), (60, "1:00"), (200.4, "3:20"), (3723, "1:02:03")],
)
def test_a_length_is_as_short_as_it_can_be(seconds: float, shown: str) -> None:
    assert length(seconds) == shown


def test_a_damaged_video_is_marked_and_a_whole_one_is_only_not_reported(
    clips: Path, tmp_path: Path
) -> None:
    whole = encode(tmp_path / "whole.mp4", RECIPES["h264, short groups"]).read_bytes()
    assert "no damage reported" in videos(tmp_path).stdout.splitlines()
    start = len(whole) * 4 // 10
    (tmp_path / "hurt.mp4").write_bytes(whole[:start] + b"\0" * 200 + whole[start + 200 :])
    hurt, sound = told(tmp_path)["videos"]
    assert hurt["damaged"] > 1
    assert hurt["problems"][-1] == f"{hurt['damaged']} of the 75 frames checked are damaged"
    assert (sound["damaged"], sound["problems"]) == (0, [])
    assert "no damage" not in videos(tmp_path).stdout


def test_asked_to_be_quick_nothing_is_decoded_and_nothing_claimed(clips: Path) -> None:
    done = videos(clips, "--quick")
    assert "no damage" not in done.stdout
    assert "decoded" not in done.stderr
    assert [video["damaged"] for video in told(clips, "--quick")["videos"]] == [None, None]


def test_where_frames_cannot_be_kept_that_is_said_and_the_folder_is_listed(
    clips: Path, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("no folder")
    done = videos(clips, env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert done.exit_code == 0
    assert "not checked for damage: the frame cache " in done.stderr
    assert "no damage" not in done.stdout
