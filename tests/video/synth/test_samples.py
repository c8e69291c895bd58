"""The sample clips: the same for everybody, whole or absent, with enough in them to see."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.support.clips import copy_but_one
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video import synth
from videoautoarena.video.decode.container import sha256_of
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.synth.samples import CLIPS, make_samples, write_script


@pytest.fixture(scope="module")
def samples(sample_clips: Path) -> list[Path]:
    return make_samples(sample_clips)


def test_a_clip_is_made_as_promised_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = CLIPS[1]._replace(seconds=2, shots=2)
    monkeypatch.setattr(synth.samples, "CLIPS", (short,))
    (path,) = make_samples(tmp_path)
    made = path.stat().st_mtime_ns
    assert make_samples(tmp_path) == [path] == list(tmp_path.iterdir())
    assert path.stat().st_mtime_ns == made
    (video,) = find_videos(tmp_path).videos
    assert (video.width_px, video.height_px, video.codec) == (432, 240, "h264")
    assert (video.duration_s, video.fps) == (pytest.approx(2), 30)


@pytest.mark.slow
def test_twelve_different_videos_and_nothing_else(samples: list[Path]) -> None:
    found = find_videos(samples[0].parent)
    assert len(found.videos) == len(samples) == 12
    assert (found.skipped, found.duplicates) == ([], [])
    assert len(list(samples[0].parent.iterdir())) == 12


@pytest.mark.slow
def test_lengths_sizes_and_rates_are_those_promised(samples: list[Path]) -> None:
    videos = find_videos(samples[0].parent).videos
    assert all(8 <= video.duration_s <= 60 for video in videos)
    assert sum(video.duration_s for video in videos) <= 240
    assert {video.codec for video in videos} == {"h264"}
    assert all(24 <= video.fps <= 30 for video in videos)
    sizes = {(video.width_px, video.height_px) for video in videos}
    assert (1280, 720) in sizes
    assert len(sizes) >= 5


@pytest.mark.slow
def test_what_is_missing_is_made_and_has_the_same_bytes(
    samples: list[Path], tmp_path: Path
) -> None:
    done: list[Path] = []
    folder = copy_but_one(samples[0].parent, tmp_path / "samples")
    (missing,) = (path for path in samples if not (folder / path.name).exists())
    made = make_samples(folder, done.append)
    assert sorted(done) == sorted(made) == sorted(folder.iterdir())
    assert done[-1].name == missing.name
    assert sha256_of(folder / missing.name) == sha256_of(missing)


@pytest.mark.slow
def test_what_is_there_already_is_kept(samples: list[Path]) -> None:
    before = [path.stat().st_mtime_ns for path in samples]
    done: list[Path] = []
    assert make_samples(samples[0].parent, done.append) == done == samples
    assert [path.stat().st_mtime_ns for path in samples] == before


@pytest.mark.parametrize("content", [b"", b"somebody's notes"])
def test_another_file_by_a_samples_name_is_never_replaced(tmp_path: Path, content: bytes) -> None:
    foreign = tmp_path / f"{CLIPS[3].name}.mp4"
    foreign.write_bytes(content)
    with pytest.raises(BadInput, match="is there already"):
        make_samples(tmp_path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [content]


def test_another_video_by_a_samples_name_is_never_replaced(clip, tmp_path: Path) -> None:
    foreign = tmp_path / f"{CLIPS[0].name}.mp4"
    foreign.write_bytes(clip("two seconds").read_bytes())
    with pytest.raises(BadInput, match="pass an empty folder"):
        make_samples(tmp_path)


def test_a_folder_that_cannot_be_made_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="samples cannot be written"):
        make_samples(tmp_path / "file" / "below")


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.name)
def test_shots_fill_a_clip_and_neighbours_differ(clip) -> None:
    shots = write_script(clip)
    assert len(shots) == clip.shots
    assert (shots[0].start_s, shots[-1].end_s) == (0.0, pytest.approx(clip.seconds))
    for one, next_one in pairwise(shots):
        assert one.end_s == next_one.start_s > one.start_s
        assert (one.scene, one.colour) != (next_one.scene, next_one.colour)


def test_places_come_back_light_drifts_and_words_are_shown() -> None:
    scripts = [write_script(clip) for clip in CLIPS]
    assert sum(len({shot.scene for shot in shots}) < len(shots) for shots in scripts) >= 6
    everything = [shot for shots in scripts for shot in shots]
    assert sum(shot.light[0] != shot.light[1] for shot in everything) >= 10
    assert sum(shot.tint != (0, 0) for shot in everything) >= 10
    assert sum(shot.dip is not None for shot in everything) >= 5
    assert len({shot.caption for shot in everything}) >= 8


def light(jpeg: bytes) -> float:
    return float(np.asarray(Image.open(BytesIO(jpeg)).convert("L")).mean())


def cuts_seen(path: Path, frames: int) -> int:
    """Return after how many of so many frames the picture is a quite different one."""
    jpegs = sample(path, sampling=Sampling(frames=frames, size_px=64)).jpegs
    small = [np.asarray(Image.open(BytesIO(j)).resize((8, 8)), np.float64) for j in jpegs]
    return sum(float(np.abs(a - b).mean()) > 18 for a, b in pairwise(small))


@pytest.mark.slow
def test_more_frames_see_more_cuts(samples: list[Path]) -> None:
    seen = {count: sum(cuts_seen(path, count) for path in samples) for count in (4, 16, 64)}
    assert seen[64] > 1.3 * seen[16] > 1.3 * 1.3 * seen[4]


@pytest.mark.slow
def test_the_darkest_moment_is_too_short_for_four_frames(samples: list[Path]) -> None:
    missed = 0
    for path in samples:
        curve = [light(j) for j in sample(path, sampling=Sampling(frames=64, size_px=64)).jpegs]
        few = [light(j) for j in sample(path, sampling=Sampling(frames=4, size_px=64)).jpegs]
        missed += min(few) > min(curve) + 4
    assert missed >= 8
