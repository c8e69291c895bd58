"""Frames that cannot be had cost their own video's slots, and nobody a forfeit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_clip, draw_folder
from tests.support.small_runs import TRIO, alter, battles_of, play, play_again
from tests.support.typed import Terminal
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.run.config.run_config import Flags
from videoautoarena.runs.run.rundir.opener import OpenOptions
from videoautoarena.runs.tournament.simulate import simulate
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import default_folder
from videoautoarena.video.workers.pool import DecodingWorker

FLAGS = Flags(models=TRIO, rounds=2)
SMALL = ("--rounds", "2", "--models", "offline:hawk,offline:mole,offline:parrot")


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    return draw_folder(tmp_path / "videos", 2, seconds=3)


class Saboteur(list[str]):
    """Hears what a run says, and takes a video away as soon as the run has begun."""

    def __init__(self, victim: Path, cue: str = "starting") -> None:
        super().__init__()
        self._victim = victim
        self._cue = cue

    def append(self, line: str) -> None:
        """Hear one line."""
        super().append(line)
        if self._cue in line:
            self._victim.unlink()


def test_a_video_without_a_frame_is_void_and_the_others_are_played(
    terminal: Terminal, videos: Path, tmp_path: Path
) -> None:
    [lost] = [v.id for v in find_videos(videos).videos if v.path == "clip00.mp4"]
    ended = play(videos, tmp_path / "out", said=Saboteur(videos / "clip00.mp4"))
    assert (ended.settled, ended.voids, ended.too_many_voids) == (12, 6, True)
    found = battles_of(tmp_path / "out")
    assert {b.video for b in found if b.verdict == "void"} == {lost}
    status = terminal.arena("status", tmp_path / "out").out
    assert "void, 6: the video could not be examined: is not there any more" in status
    assert play_again(tmp_path / "out").battles == 12


def test_too_many_voids_are_one_line_and_exit_code_3(
    terminal: Terminal, videos: Path, tmp_path: Path
) -> None:
    play(videos, tmp_path / "out", said=Saboteur(videos / "clip00.mp4"))
    said = terminal.arena("resume", tmp_path / "out")
    assert (said.code, "0 of 12 battles left" in said.err) == (3, True)
    assert "50% of the slots are void" in said.err.splitlines()[-1]
    assert terminal.arena("resume", tmp_path / "out", "--max-void", "0.5").code == 0


def test_other_frames_than_the_run_has_seen_make_voids_and_no_forfeit(
    videos: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    play(videos, out, rounds=1)
    changed = find_videos(videos).videos[0].id
    alter(
        out,
        'UPDATE frames SET body = replace(body, \'"digest":"\', \'"digest":"f00d\')'
        " WHERE video = :video",
        video=changed,
    )
    shutil.rmtree(default_folder())
    play(videos, out, rounds=2)
    added = [b for b in battles_of(out) if b.round == 1]
    assert {b.verdict for b in added if b.video == changed} == {"void"}
    assert all(
        "no longer gives the frames" in (b.reason or "") for b in added if b.video == changed
    )
    assert not {b.verdict for b in added} & {"forfeit_a", "forfeit_b"}
    assert any(b.verdict != "void" for b in added)


def test_a_cache_that_was_deleted_costs_nothing_but_time(videos: Path, tmp_path: Path) -> None:
    play(videos, tmp_path / "out", rounds=1)
    shutil.rmtree(default_folder())
    play(videos, tmp_path / "out", rounds=2)
    assert "void" not in {b.verdict for b in battles_of(tmp_path / "out")}


def test_a_second_run_over_the_same_videos_decodes_nothing(
    videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    ask = DecodingWorker.ask

    def heard(worker: DecodingWorker, want: str, *rest: Any, **more: Any) -> dict[str, Any]:
        asked.append(want)
        return ask(worker, want, *rest, **more)

    monkeypatch.setattr(DecodingWorker, "ask", heard)
    play(videos, tmp_path / "first", rounds=1)
    assert asked.count("frames") == 2
    play(videos, tmp_path / "second", rounds=1)
    assert asked.count("frames") == 2
    draw_clip(videos / "clip00.mp4", 55, seconds=3)
    play(videos, tmp_path / "third", rounds=1)
    assert asked.count("frames") == 3


def test_a_video_that_was_renamed_is_still_found(videos: Path, tmp_path: Path) -> None:
    play(videos, tmp_path / "out", rounds=1)
    shutil.rmtree(default_folder())
    (videos / "deep").mkdir()
    (videos / "clip00.mp4").rename(videos / "deep" / "other name.mp4")
    play(videos, tmp_path / "out", rounds=2)
    assert "void" not in {b.verdict for b in battles_of(tmp_path / "out")}


def test_another_version_of_a_video_is_not_taken_for_the_one_that_was_seen(
    terminal: Terminal, videos: Path, tmp_path: Path
) -> None:
    play(videos, tmp_path / "out", rounds=1)
    draw_clip(videos / "clip00.mp4", 55, seconds=3)
    said = terminal.simulate("--videos", videos, "--out", tmp_path / "out", *SMALL)
    assert said.code == 1
    assert "lacks 1 of this run's videos (clip00.mp4 is another video now)" in said.err
    assert play(videos, tmp_path / "out", rounds=1).total == 9


def test_a_cache_that_cannot_be_written_is_told_in_one_line(
    terminal: Terminal, videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    said = terminal.simulate("--videos", videos, "--out", tmp_path / "out", *SMALL)
    assert said.code == 1
    assert "set XDG_CACHE_HOME" in said.err.splitlines()[-1]
    assert "Traceback" not in said.err


def test_a_video_without_frames_is_tried_again_only_when_asked(
    terminal: Terminal, videos: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    victim = videos / "clip00.mp4"
    kept = victim.read_bytes()
    play(videos, out, said=Saboteur(victim))
    victim.write_bytes(kept)
    shutil.rmtree(default_folder(), ignore_errors=True)
    assert terminal.arena("resume", out, "--max-void", "1").code == 0
    assert sum(b.verdict == "void" for b in battles_of(out)) == 6

    status = terminal.arena("status", out)
    assert "no frames of clip00.mp4: is not there any more" in status.out
    (told,) = json.loads(terminal.arena("status", out, "--json").out)["quarantine"]
    assert (told["path"], told["when"]) == ("clip00.mp4", "decoded")
    assert told["reason"] == "is not there any more"

    again = terminal.arena("resume", out, "--retry-failed")
    assert "6 battles that failed for a call are played again; 1 video without frames" in again.err
    assert again.code == 0
    status = terminal.arena("status", out)
    assert "no frames of" not in status.out
    assert play_again(out).others == 0


def test_a_second_failure_is_written_down_and_both_are_replayed(
    terminal: Terminal, videos: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    victim = videos / "clip00.mp4"
    kept = victim.read_bytes()
    play(videos, out, said=Saboteur(victim))
    for _ in range(2):
        victim.write_bytes(kept)
        shutil.rmtree(default_folder(), ignore_errors=True)
        said = Saboteur(victim, "tried again")
        open_options = OpenOptions(retry_failed=True)
        run_async(simulate(videos, out, flags=FLAGS, say=said.append, open_options=open_options))
    assert len(json.loads(terminal.arena("status", out, "--json").out)["quarantine"]) == 1
    assert len(battles_of(out)) == 24
    assert play_again(out).others == 0
