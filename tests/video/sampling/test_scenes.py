"""Cuts of clips that were drawn with cuts at known frames, and those that PySceneDetect finds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Literal

import av
import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scenedetect.common import FrameTimecode, Timecode
from scenedetect.detectors import ContentDetector

from tests.support.clips import COLOURS
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.video.decode.index import read_index
from videoautoarena.video.sampling.scenes import (
    SHORTEST_S,
    SceneSpan,
    find_cuts,
    find_scenes,
    small_pictures,
    to_hsv,
)

REAL = Path(__file__).parents[3].parent / "shared" / "videos"


def draw(
    path: Path,
    lengths: Sequence[int],
    *,
    ticks: Sequence[int] = (),
    codec: Literal["mpeg4", "libx264"] = "mpeg4",
) -> Path:
    """Write scenes of so many frames each, 10 a second; `ticks` are their times in 1/100 s."""
    grounds = [COLOURS[n % 5] for n, length in enumerate(lengths) for _ in range(length)]
    with av.open(str(path), "w") as file:
        stream = file.add_stream(codec, rate=10)
        stream.width = 64
        stream.height = 48
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = Fraction(1, 100)
        for number, ground in enumerate(grounds):
            picture = np.full((48, 64, 3), ground, np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts = (ticks or range(0, 10**6, 10))[number]
            frame.time_base = Fraction(1, 100)
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return path


def scenes(path: Path) -> tuple[SceneSpan, ...]:
    return find_scenes(path, read_index(path))


def test_a_scene_begins_with_its_first_frame(tmp_path: Path) -> None:
    clip = draw(tmp_path / "c.mkv", [10, 15, 8])
    assert [scene.start_s for scene in scenes(clip)] == [0, 1.0, 2.5]


def test_scenes_are_told_in_the_time_they_are_shown_at(tmp_path: Path) -> None:
    slow = range(0, 500, 50)
    fast = range(500, 600, 10)
    clip = draw(tmp_path / "c.mkv", [10, 10], ticks=[*slow, *fast])
    assert [scene.start_s for scene in scenes(clip)] == [0, 5.0]


def test_a_file_that_tells_no_times_but_the_order_of_decoding_has_its_scenes_exactly(
    tmp_path: Path,
) -> None:
    clip = draw(tmp_path / "c.avi", [10, 13, 9, 8], codec="libx264")
    starts = [scene.start_s for scene in scenes(clip)]
    assert [later - starts[1] for later in starts[1:]] == pytest.approx([0, 1.3, 2.2])


def test_the_clock_begins_with_the_first_frame(tmp_path: Path) -> None:
    clip = draw(tmp_path / "c.mkv", [10, 10], ticks=range(300, 500, 10))
    assert [scene.start_s for scene in scenes(clip)] == [0, 1.0]


def test_a_flash_is_no_scene_of_its_own(tmp_path: Path) -> None:
    clip = draw(tmp_path / "c.mkv", [10, 12, 1, 10])
    assert all(scene.end_s - scene.start_s >= 0.6 for scene in scenes(clip))


@given(st.lists(st.integers(7, 14), min_size=1, max_size=4))
@settings(max_examples=4, deadline=None)
def test_every_cut_is_found_and_the_whole_video_is_covered(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int]
) -> None:
    clip = draw(tmp_path_factory.mktemp("cuts") / "c.mkv", lengths)
    found = scenes(clip)
    starts = [sum(lengths[:n]) / 10 for n in range(len(lengths))]
    assert [scene.start_s for scene in found] == pytest.approx(starts)
    assert all(one.end_s == other.start_s for one, other in pairwise(found))
    assert found[-1].end_s == read_index(clip).duration_s


def test_one_frame_is_one_scene(tmp_path: Path) -> None:
    (scene,) = scenes(draw(tmp_path / "c.mkv", [1]))
    assert scene.end_s == pytest.approx(0.1)


def test_a_file_cut_short_has_the_scenes_of_what_is_left(tmp_path: Path) -> None:
    whole = draw(tmp_path / "whole.mkv", [10, 10, 10])
    content = whole.read_bytes()
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(content[: len(content) * 2 // 3])
    found = scenes(cut)
    assert found[0].start_s == 0
    assert found[-1].end_s == read_index(cut).duration_s < read_index(whole).duration_s


def test_a_playlist_in_place_of_the_video_is_not_followed(tmp_path: Path) -> None:
    clip = draw(tmp_path / "c.mkv", [10])
    index = read_index(clip)
    playlist = tmp_path / "list.mp4"
    playlist.write_text("ffconcat version 1.0\nfile c.mkv\n")
    with pytest.raises(UnusableVideo):
        find_scenes(playlist, index)


Pictures = list[tuple[int, NDArray[np.uint8]]]


def oracle_cuts(pictures: Pictures, time_base: Fraction) -> list[int]:
    """Return the ticks at which PySceneDetect's own detector says that scenes begin."""
    detector = ContentDetector(min_scene_len=SHORTEST_S)
    first = pictures[0][0]
    found = []
    for tick, picture in pictures:
        time = FrameTimecode(Timecode(tick - first, time_base), Fraction(25))
        found += [cut.pts + first for cut in detector.process_frame(time, picture)]
    return found


@st.composite
def flickering(draw: st.DrawFn) -> tuple[Pictures, Fraction]:
    """Draw pictures at uneven times: flashes, bursts of cuts, changes near the threshold."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    base = Fraction(1, draw(st.sampled_from([30, 1000, 90_000])))
    grounds = random.integers(0, 256, (4, 6, 8, 3), dtype=np.uint8)
    # Mixed with the first by an eighth to all: some differ by about as much as makes a cut.
    share = random.integers(1, 9, (4, 1, 1, 1)) / 8
    grounds = (grounds * share + grounds[:1] * (1 - share)).astype(np.uint8)
    chosen = draw(st.lists(st.integers(0, 3), min_size=1, max_size=120))
    ticks = random.integers(-50, 50)
    pictures = []
    for ground in chosen:
        for _ in range(random.integers(1, 12)):
            pictures.append((int(ticks), grounds[ground]))
            ticks += max(1, round(random.choice([0.03, 0.04, 0.2, 0.6]) / base))
    return pictures, base


@given(flickering())
@settings(max_examples=15, deadline=None)
def test_cuts_are_those_of_pyscenedetect(shown: tuple[Pictures, Fraction]) -> None:
    assert list(find_cuts(*shown)) == oracle_cuts(*shown)


def test_a_burst_of_cuts_is_one_once_its_last_has_stood() -> None:
    pictures: Pictures = []
    for tick, ground in enumerate([0] * 10 + [1] * 10 + [2, 3, 2, 3, 2, 3, 2, 3] + [4] * 10):
        pictures.append((tick, np.full((4, 4, 3), COLOURS[ground], np.uint8)))
    assert list(find_cuts(pictures, Fraction(1, 10))) == [10, 20, 28]
    assert oracle_cuts(pictures, Fraction(1, 10)) == [10, 20, 28]


@pytest.mark.parametrize("red", [0, 97, 255])
def test_colours_are_turned_as_opencv_turns_them(red: int) -> None:
    blue, green = np.meshgrid(np.arange(256), np.arange(256))
    bgr = np.stack([blue, green, np.full_like(blue, red)], axis=-1).astype(np.uint8)
    expected = cv2.cvtColor(bgr, cv2.COLOR_BGR2HSV)
    assert np.array_equal(to_hsv(bgr).transpose(1, 2, 0), expected)


CLIPS = sorted(file.name for file in REAL.glob("*") if file.suffix != ".md")


@pytest.mark.slow
@pytest.mark.skipif(not CLIPS, reason="no folder of real clips beside the checkout")
@pytest.mark.parametrize("name", CLIPS)
def test_real_films_have_the_cuts_that_pyscenedetect_finds(name: str) -> None:
    index = read_index(REAL / name)
    pictures = list(small_pictures(REAL / name, index))
    expected = oracle_cuts(pictures, index.time_base)
    assert list(find_cuts(pictures, index.time_base)) == expected
    assert [scene.start_s for scene in scenes(REAL / name)[1:]] == list(
        map(index.seconds, expected)
    )


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="no folder of real clips beside the checkout")
@pytest.mark.parametrize(
    ("name", "count"), [("film_tears_of_steel.webm", 26), ("street_bikes.mp4", 6)]
)
def test_real_films_have_the_scenes_that_were_counted_before(name: str, count: int) -> None:
    assert len(scenes(REAL / name)) == count
