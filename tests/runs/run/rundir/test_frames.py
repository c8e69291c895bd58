"""Frames that cannot be had cost their own video's slots, and nobody a forfeit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.clips import draw_clip, draw_folder
from tests.support.small_runs import TRIO, alter, battles_of, play, play_again
from tests.support.typed import Terminal
from videoautoarena.runs.api.simulate import Finished, simulate
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import default_folder
from videoautoarena.video.workers.pool import DecodingWorker

FLAGS = RunRequest(models=TRIO, rounds=1)
SMALL = ("--rounds", "1", "--models", "offline:hawk,offline:mole,offline:parrot")


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


class Ground(NamedTuple):
    """Two videos, a round over them, and one in which the first was taken away."""

    videos: Path
    whole: Path
    lost: Path
    ended: Finished


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    root = tmp_path_factory.mktemp("ground")
    videos = draw_folder(root / "videos", 2, seconds=3)
    play(videos, root / "whole", rounds=1)
    # The frames of the first are not taken out of what is kept of them.
    robbed = shutil.copytree(videos, root / "robbed")
    with pytest.MonkeyPatch.context() as env:
        env.setenv("XDG_CACHE_HOME", str(root / "cache"))
        ended = play(robbed, root / "lost", rounds=1, said=Saboteur(robbed / "clip00.mp4"))
    return Ground(videos, root / "whole", root / "lost", ended)


@pytest.fixture
def videos(ground: Ground, tmp_path: Path) -> Path:
    return shutil.copytree(ground.videos, tmp_path / "videos")


@pytest.fixture
def out(ground: Ground, tmp_path: Path) -> Path:
    """A round over both videos; of its frames nothing is kept in this test's home."""
    return shutil.copytree(ground.whole, tmp_path / "out")


@pytest.fixture
def lost(ground: Ground, tmp_path: Path) -> Path:
    """A round in which the first video was taken away."""
    return shutil.copytree(ground.lost, tmp_path / "lost")


def test_a_video_without_a_frame_is_void_and_the_others_are_played(
    terminal: Terminal, ground: Ground
) -> None:
    [gone] = [v.id for v in find_videos(ground.videos).videos if v.path == "clip00.mp4"]
    ended = ground.ended
    assert (ended.settled, ended.voids, ended.too_many_voids) == (6, 3, True)
    found = battles_of(ground.lost)
    assert {b.video for b in found if b.verdict == "void"} == {gone}
    status = terminal.arena("status", ground.lost).out
    assert "void, 3: the video could not be examined: is not there any more" in status
    assert play_again(ground.lost).battles == 6


def test_too_many_voids_are_one_line_and_exit_code_3(terminal: Terminal, lost: Path) -> None:
    said = terminal.arena("resume", lost)
    assert (said.code, "0 of 6 battles left" in said.err) == (3, True)
    assert "50% of the slots are void" in said.err.splitlines()[-1]
    assert terminal.arena("resume", lost, "--max-void", "0.5").code == 0


def test_other_frames_than_the_run_has_seen_make_voids_and_no_forfeit(
    videos: Path, out: Path
) -> None:
    changed = find_videos(videos).videos[0].id
    alter(
        out,
        'UPDATE frames SET body = replace(body, \'"digest":"\', \'"digest":"f00d\')'
        " WHERE video = :video",
        video=changed,
    )
    play(videos, out, rounds=2)
    added = [b for b in battles_of(out) if b.round == 1]
    assert {b.verdict for b in added if b.video == changed} == {"void"}
    assert all(
        "no longer gives the frames" in (b.reason or "") for b in added if b.video == changed
    )
    assert not {b.verdict for b in added} & {"forfeit_a", "forfeit_b"}
    assert any(b.verdict != "void" for b in added)


def test_a_second_run_over_the_same_videos_decodes_nothing(
    videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    ask = DecodingWorker.ask

    def heard(worker: DecodingWorker, want: str, *rest: Any, **more: Any) -> dict[str, Any]:
        asked.append(want)
        return ask(worker, want, *rest, **more)

    monkeypatch.setattr(DecodingWorker, "ask", heard)
    (videos / "clip01.mp4").unlink()
    play(videos, tmp_path / "first", rounds=1)
    assert asked.count("frames") == 1
    play(videos, tmp_path / "second", rounds=1)
    assert asked.count("frames") == 1
    draw_clip(videos / "clip00.mp4", 55, seconds=3)
    play(videos, tmp_path / "third", rounds=1)
    assert asked.count("frames") == 2


def test_a_video_that_was_renamed_is_still_found_without_any_frame_kept(
    videos: Path, out: Path
) -> None:
    (videos / "deep").mkdir()
    (videos / "clip00.mp4").rename(videos / "deep" / "other name.mp4")
    assert not default_folder().exists()
    play(videos, out, rounds=2)
    assert "void" not in {b.verdict for b in battles_of(out)}


def test_another_version_of_a_video_is_not_taken_for_the_one_that_was_seen(
    terminal: Terminal, videos: Path, out: Path
) -> None:
    draw_clip(videos / "clip00.mp4", 55, seconds=3)
    said = terminal.simulate("--videos", videos, "--out", out, "--rounds", "2", *SMALL[2:])
    assert said.code == 1
    assert "lacks 1 of this run's videos (clip00.mp4 is another video now)" in said.err
    assert play(videos, out, rounds=1).total == 9


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
    terminal: Terminal, videos: Path, lost: Path
) -> None:
    assert terminal.arena("resume", lost, "--max-void", "1", "--videos", videos).code == 0
    assert sum(b.verdict == "void" for b in battles_of(lost)) == 3

    status = terminal.arena("status", lost)
    assert "no frames of clip00.mp4: is not there any more" in status.out
    (told,) = json.loads(terminal.arena("status", lost, "--json").out)["quarantine"]
    assert (told["path"], told["when"]) == ("clip00.mp4", "decoded")
    assert told["reason"] == "is not there any more"

    again = terminal.arena("resume", lost, "--retry-failed")
    assert "3 battles that failed for a call are played again; 1 video without frames" in again.err
    assert again.code == 0
    status = terminal.arena("status", lost)
    assert "no frames of" not in status.out
    assert play_again(lost).others == 0


def test_a_second_failure_is_written_down_and_both_are_replayed(
    terminal: Terminal, videos: Path, lost: Path
) -> None:
    victim = videos / "clip00.mp4"
    kept = victim.read_bytes()
    for _ in range(2):
        victim.write_bytes(kept)
        shutil.rmtree(default_folder(), ignore_errors=True)
        said = Saboteur(victim, "tried again")
        run_async(
            simulate(
                FLAGS.model_copy(update={"videos": videos, "out": lost, "retry_failed": True}),
                say=said.append,
            )
        )
    assert len(json.loads(terminal.arena("status", lost, "--json").out)["quarantine"]) == 1
    assert len(battles_of(lost)) == 12
    assert play_again(lost).others == 0
