"""Sampling a file: sizes, damage, thinning. Whether frames are the right ones: test_decoders.py."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pytest
from av import VideoFrame
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.support.stamped import RECIPES, read_stamp
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Frame, Sampling, VideoFrames
from videoautoarena.video.decode.index import choose
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.sampling.thinning import thin

REAL = Path(__file__).parents[3].parent / "shared" / "videos"
REAL_CLIPS = sorted(path for path in REAL.glob("*") if path.suffix != ".md")


@pytest.mark.parametrize(
    ("name", "sampling", "size"),
    [
        ("larger than asked", Sampling(frames=2), (512, 288)),
        ("larger than asked", Sampling(frames=2, fit="stretch"), (512, 512)),
        ("larger than asked", Sampling(frames=2, size_px=100), (100, 56)),
        ("two seconds", Sampling(frames=2), (320, 180)),
        ("odd size", Sampling(frames=2), (321, 181)),
    ],
)
def test_the_longer_side_is_cut_to_size_and_nothing_is_blown_up(clip, name, sampling, size) -> None:
    sampled = sample(clip(name), sampling=sampling)
    assert (sampled.frames.width_px, sampled.frames.height_px) == size
    assert Image.open(BytesIO(sampled.jpegs[0])).size == size


@pytest.mark.parametrize("name", ["h264 in ts"])
def test_a_transport_stream_is_not_read_twice(
    clip, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("videoautoarena.video.decode.av._decode_through", None)
    sampled = sample(clip(name), sampling=Sampling(frames=3))
    last = RECIPES[name].count - 1
    assert [read_stamp(jpeg) for jpeg in sampled.jpegs] == [0, last // 2, last]


def test_a_padded_picture_stands_in_the_middle_of_a_black_square(clip) -> None:
    sampled = sample(clip("two seconds"), sampling=Sampling(frames=2, fit="pad", size_px=160))
    picture = np.asarray(Image.open(BytesIO(sampled.jpegs[-1])).convert("L"))
    assert picture.shape == (160, 160)
    assert (sampled.frames.width_px, sampled.frames.height_px) == (160, 160)
    assert picture[:33].max() < 12
    assert picture[-33:].max() < 12
    assert np.ptp(picture[40:120].astype(int)) > 100


def test_no_frame_is_kept_longer_than_it_takes_to_scale_it(clip) -> None:
    path = clip("two seconds")
    gc.collect()
    gc.disable()
    try:
        sample(path, sampling=Sampling(frames=30))
        held = sum(isinstance(thing, VideoFrame) for thing in gc.get_objects())
    finally:
        gc.enable()
    assert held <= 3


def test_digests_are_those_of_the_bytes_and_the_same_every_time(clip) -> None:
    once, again = (sample(clip("vp9"), sampling=Sampling(frames=8)) for _ in range(2))
    assert once == again
    assert [frame.digest for frame in once.frames.frames] == [digest(j) for j in once.jpegs]


def test_a_cut_off_tail_costs_only_itself(clip, tmp_path: Path) -> None:
    path = tmp_path / "cut.mkv"
    whole = clip("h264 in matroska").read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    sampled = sample(path, sampling=Sampling(frames=128))
    numbers = [read_stamp(jpeg) for jpeg in sampled.jpegs]
    sound = len(numbers) - sampled.frames.damaged
    assert 20 < len(numbers) < 60
    assert numbers[: sound - 3] == list(range(sound - 3))


def test_a_damaged_middle_is_bridged_and_counted(clip, tmp_path: Path) -> None:
    path = tmp_path / "hurt.ts"
    data = bytearray(clip("h264 in ts").read_bytes())
    third = len(data) // 3
    data[third : 2 * third] = bytes(third)
    path.write_bytes(data)
    sampled = sample(path, sampling=Sampling(frames=128))
    assert len(sampled.jpegs) == len(sampled.frames.frames) > 20
    assert read_stamp(sampled.jpegs[-1]) == RECIPES["h264 in ts"].count - 1


def test_nothing_decodable_is_no_video(clip, tmp_path: Path) -> None:
    path = tmp_path / "hollow.mp4"
    data = bytearray(clip("two seconds").read_bytes())
    start = data.index(b"mdat") + 4
    end = data.index(b"moov") - 4
    data[start:end] = bytes(end - start)
    path.write_bytes(data)
    with pytest.raises(UnusableVideo, match="no frame"):
        sample(path, sampling=Sampling())


@pytest.mark.slow
@pytest.mark.parametrize("path", REAL_CLIPS, ids=lambda path: path.name)
def test_real_clips_give_all_their_frames_in_order(path: Path) -> None:
    frames = sample(path, sampling=Sampling()).frames
    times = [frame.time_s for frame in frames.frames]
    assert len(times) == 128
    assert frames.damaged == 0
    assert times == sorted(times)


def some_frames(count: int) -> VideoFrames:
    frames = tuple(Frame(time_s=float(i), digest=str(i)) for i in range(count))
    return VideoFrames(video="v", width_px=1, height_px=1, frames=frames)


def times(frames: VideoFrames) -> list[float]:
    return [frame.time_s for frame in frames.frames]


def test_four_of_ten_frames() -> None:
    assert times(thin(some_frames(10), 4)) == [0.0, 3.0, 6.0, 9.0]


@given(st.integers(0, 200), st.integers(2, 200))
def test_thinning_keeps_both_ends_and_the_numbers_asked_for(total: int, count: int) -> None:
    kept = times(thin(some_frames(total), count))
    assert len(kept) == min(total, count)
    assert kept[:1] + kept[-1:] == ([0.0, total - 1.0] if total else [])


@pytest.mark.parametrize(("count", "kept"), [(0, []), (1, [0.0])])
def test_no_frame_and_one_frame(count: int, kept: Sequence[float]) -> None:
    assert times(thin(some_frames(5), count)) == kept


@given(st.sets(st.integers(0, 10_000), min_size=1, max_size=300), st.integers(2, 128))
def test_chosen_instants_are_frames_and_hold_both_ends(shown: set[int], count: int) -> None:
    ticks = sorted(shown)
    chosen = choose(ticks, count)
    assert set(chosen) <= shown
    assert chosen == sorted(set(chosen))
    assert (chosen[0], chosen[-1]) == (ticks[0], ticks[-1])
    assert len(chosen) <= count


def test_a_still_that_stands_before_the_film_is_not_taken_for_it(tmp_path: Path) -> None:
    path = tmp_path / "still first.mkv"
    with av.open(str(path), "w") as output:
        still = output.add_stream("mjpeg", rate=1)
        still.width = 32
        still.height = 32
        still.pix_fmt = "yuvj420p"
        film = output.add_stream("libx264", rate=25)
        film.width = 64
        film.height = 48
        film.pix_fmt = "yuv420p"
        for stream, frames in ((still, 1), (film, 10)):
            for number in range(frames):
                picture = np.full((stream.height, stream.width, 3), 20 * number, np.uint8)
                output.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "rgb24")))
            output.mux(stream.encode())
    seen = sample(path, sampling=Sampling()).frames
    assert (seen.width_px, seen.height_px, len(seen.frames)) == (64, 48, 10)
