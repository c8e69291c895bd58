"""A video that is cut short is said to be; one that is whole never is."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import numpy as np
import pytest

from tests.support.stamped import RECIPES, read_stamp, stamp
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.decode.av import probe
from videoautoarena.video.decode.index import read_index
from videoautoarena.video.sampling.policies import sample

REAL = Path(__file__).parents[3].parent / "shared" / "videos"
REAL_CLIPS = sorted(path for path in REAL.glob("*") if path.suffix != ".md")
CONTAINERS = {
    # Container, codec and options of the writer.
    "mp4": ("libx264", {"movflags": "faststart"}),
    "mov": ("mpeg4", {"movflags": "faststart"}),
    "mkv": ("libx264", {}),
    "webm": ("libvpx", {}),
    "avi": ("mpeg4", {}),
    "flv": ("libx264", {}),
    "ivf": ("libvpx", {}),
    "mxf": ("mpeg2video", {}),
}
UNCLAIMED = {"ts": ("libx264", {}), "mpg": ("mpeg2video", {})}


def filmed(path: Path, *, sound_s: float = 0.0, late_s: float = 0.0, seconds: float = 2.0) -> Path:
    """Write a small video, with sound of another length and pictures that begin late on request."""
    codec, options = {**CONTAINERS, **UNCLAIMED}[path.suffix[1:]]
    with av.open(str(path), "w", options=options) as file:
        stream = file.add_stream(codec, rate=25, options={"g": "12", "threads": "1"})
        stream.width = 96
        stream.height = 64
        stream.pix_fmt = "yuv420p"
        sound = file.add_stream("aac", rate=16000) if sound_s else None
        for number in range(round(seconds * 25)):
            frame = av.VideoFrame.from_ndarray(stamp(number, (96, 64)), format="rgb24")
            frame.pts = number + round(late_s * 25)
            frame.time_base = Fraction(1, 25)
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
        if sound:
            silence = np.zeros((1, round(16000 * sound_s)), np.float32)
            heard = av.AudioFrame.from_ndarray(silence, format="fltp", layout="mono")
            heard.sample_rate = 16000
            file.mux(sound.encode(heard))
            file.mux(sound.encode())
    return path


def halved(path: Path, to: Path) -> Path:
    data = path.read_bytes()
    cut = to / f"cut{path.suffix}"
    cut.write_bytes(data[: len(data) * 6 // 10])
    return cut


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the video of each container, written once; copy, never change."""
    folder = tmp_path_factory.mktemp("whole")
    return cache(lambda suffix: filmed(folder / f"v.{suffix}"))


@pytest.mark.parametrize("suffix", [*CONTAINERS, *UNCLAIMED])
def test_a_whole_video_has_no_problem(whole: Callable[[str], Path], suffix: str) -> None:
    assert probe(whole(suffix)).problems == ()


@pytest.mark.parametrize("suffix", CONTAINERS)
def test_a_video_that_is_cut_off_says_how_much_is_left(
    whole: Callable[[str], Path], tmp_path: Path, suffix: str
) -> None:
    found = probe(halved(whole(suffix), tmp_path))
    assert 0.3 < found.duration_s < 1.7
    assert found.problems == (f"cut short: {found.duration_s:.1f} of 2.0 s are there",)


@pytest.mark.parametrize("suffix", ["mp4", "mkv", pytest.param("flv", marks=pytest.mark.slow)])
@pytest.mark.parametrize("more", [{"sound_s": 4.0}, {"sound_s": 0.5}, {"late_s": 1.0}])
def test_sound_of_another_length_and_a_late_start_are_no_cut(
    tmp_path: Path, suffix: str, more: dict[str, float]
) -> None:
    assert probe(filmed(tmp_path / f"v.{suffix}", **more)).problems == ()


def test_a_video_that_starts_late_and_is_cut_off_says_so(tmp_path: Path) -> None:
    (problem,) = probe(halved(filmed(tmp_path / "v.mkv", late_s=1.0), tmp_path)).problems
    assert problem.endswith("of 2.0 s are there")


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_no_ordinary_clip_of_any_codec_has_a_problem(clip, name: str) -> None:
    assert read_index(clip(name)).problems == ()


@pytest.mark.slow
@pytest.mark.parametrize("path", REAL_CLIPS, ids=lambda path: path.name)
def test_no_real_clip_has_a_problem(path: Path) -> None:
    assert read_index(path).problems == ()


def test_behind_a_clock_that_starts_again_nothing_is_looked_at(tmp_path: Path) -> None:
    path = filmed(tmp_path / "v.ts", seconds=2.0)
    path.write_bytes(path.read_bytes() + filmed(tmp_path / "w.ts", seconds=1.0).read_bytes())
    assert probe(path).problems == ("its clock starts again after 2.0 s: what follows is left out",)
    sampled = sample(path, sampling=Sampling(frames=128))
    assert [read_stamp(jpeg) for jpeg in sampled.jpegs] == list(range(50))
