"""Spliced clips show what their parts say, when they say it; unclear ones are refused."""

from __future__ import annotations

import asyncio
from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.support.clips import draw_clip
from tests.support.stamped import RECIPES, encode, read_stamp
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.decode.container import sha256_of
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.sampling.policies import Sampled
from videoautoarena.video.synth.splice import (
    COLOURS,
    Splice,
    SplicePart,
    draw,
    instants,
    sample_splice,
)
from videoautoarena.video.workers.decoders import Decoders

SAMPLING = Sampling(frames=29)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_clip(tmp_path_factory.mktemp("other") / "other.mp4", 3)


def spliced(ground: Path, *parts: Path | str, at_s: float = 0.8, seconds: float = 0.4) -> Splice:
    """Return two seconds of the ground with each part set in at the same place."""
    sha256 = sha256_of(ground)
    set_in = [
        SplicePart(seconds=seconds, card=part)  # type: ignore[arg-type]
        if isinstance(part, str)
        else SplicePart(seconds=seconds, video=sha256_of(part), start_s=0.5)
        for part in parts
    ]
    rest = SplicePart(seconds=2.0 - at_s, video=sha256, start_s=at_s)
    return Splice(parts=(SplicePart(seconds=at_s, video=sha256), *set_in, rest))


def sampled(splice: Splice, *paths: Path, sampling: Sampling = SAMPLING) -> Sampled:
    return sample_splice(splice, {sha256_of(p): p for p in paths}, sampling=sampling)


def pixels(jpeg: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(jpeg)).convert("RGB"), np.float64)


def is_colour(jpeg: bytes, name: str) -> bool:
    return bool(np.abs(pixels(jpeg) - COLOURS[name]).max() < 12)


def test_the_piece_is_where_the_parts_say_and_the_ground_goes_on_behind_it(clip, other) -> None:
    ground = clip("two seconds")
    splice = spliced(ground, other)
    frames, jpegs = sampled(splice, ground, other)
    assert (splice.duration_s, len(jpegs)) == (pytest.approx(2.4), 29)
    for frame, jpeg in zip(frames.frames, jpegs, strict=True):
        ground_s = frame.time_s if frame.time_s < 0.8 else frame.time_s - 0.4
        if 0.81 < frame.time_s < 1.19:
            assert np.ptp(pixels(jpeg), axis=2).max() > 60
        else:
            assert abs(read_stamp(jpeg) - min(49, ground_s * 25)) <= 1
    assert frames.frames[0].time_s == 0
    assert frames.frames[-1].time_s == pytest.approx(2.4)


def test_a_card_fills_the_picture_for_its_time_and_no_longer(clip) -> None:
    ground = clip("two seconds")
    frames, jpegs = sampled(spliced(ground, "red"), ground)
    red = [f.time_s for f, j in zip(frames.frames, jpegs, strict=True) if is_colour(j, "red")]
    assert (min(red), max(red)) == (pytest.approx(0.86, abs=0.08), pytest.approx(1.12, abs=0.08))
    assert len({f.digest for f in frames.frames if f.time_s in red}) == 1


def test_equal_parts_give_equal_bytes_and_every_part_counts_for_the_name(clip, other) -> None:
    ground = clip("two seconds")
    splice = spliced(ground, other)
    assert sampled(splice, ground, other) == sampled(splice, ground, other)
    assert len({s.sha256 for s in (splice, spliced(ground, other, at_s=0.9))}) == 2
    assert Splice.model_validate_json(splice.model_dump_json()).sha256 == splice.sha256


def test_a_piece_of_another_shape_stands_upright_and_whole_on_black(
    other: Path, tmp_path: Path
) -> None:
    upright = encode(tmp_path / "upright.mp4", RECIPES["upright"], quarter_turn=True)
    foreign = sampled(spliced(other, upright), other, upright).jpegs[12]
    shown = Image.open(BytesIO(foreign))
    assert shown.size == (160, 120)
    inner = shown.crop((46, 0, 114, 120))
    out = BytesIO()
    inner.save(out, "PNG")
    assert 12 <= read_stamp(out.getvalue()) <= 20
    assert pixels(foreign)[:, :40].max() < 12
    assert pixels(foreign)[:, 120:].max() < 12


def test_a_stretched_run_stretches_pieces_too(other: Path, clip) -> None:
    stretched = Sampling(frames=16, size_px=64, fit="stretch")
    frames, jpegs = sampled(
        spliced(other, clip("odd size")), other, clip("odd size"), sampling=stretched
    )
    assert (frames.width_px, frames.height_px) == (64, 64)
    assert {Image.open(BytesIO(jpeg)).size for jpeg in jpegs} == {(64, 64)}


def test_a_piece_of_the_same_pictures_is_refused(clip) -> None:
    with pytest.raises(UnusableVideo, match="too much like the piece"):
        sampled(
            spliced(clip("h264 in matroska"), clip("two seconds")),
            clip("h264 in matroska"),
            clip("two seconds"),
        )


def test_a_ground_that_looks_like_a_card_is_refused(tmp_path: Path) -> None:
    blank = _blank(tmp_path / "blank.mp4")
    with pytest.raises(UnusableVideo, match="one flat colour itself"):
        sampled(spliced(blank, "red"), blank)


def test_a_piece_with_nothing_in_it_is_refused(tmp_path: Path, other: Path) -> None:
    blank = _blank(tmp_path / "blank.mp4")
    with pytest.raises(UnusableVideo, match="nothing but one flat colour"):
        sampled(spliced(other, blank), other, blank)


def _blank(path: Path) -> Path:
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=5)
        stream.width = 64
        stream.height = 48
        stream.pix_fmt = "yuv420p"
        for _ in range(20):
            grey = np.full((48, 64, 3), 90, np.uint8)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        file.mux(stream.encode())
    return path


def test_a_still_can_be_ground_and_ends_where_its_frames_do(clip) -> None:
    still = clip("one frame")
    _, jpegs = sampled(spliced(still, "blue"), still)
    assert {read_stamp(jpeg) for jpeg in jpegs if not is_colour(jpeg, "blue")} == {0}


def test_the_chequered_card_is_more_crowded_than_footage(clip) -> None:
    out = BytesIO()
    draw("chequered", (320, 180)).save(out, "JPEG")
    run_frames = sampled(spliced(clip("two seconds"), "red"), clip("two seconds")).jpegs[0]
    assert _crowd(out.getvalue()) > 3 * _crowd(run_frames)


def _crowd(jpeg: bytes) -> float:
    grey = pixels(jpeg).mean(axis=2)
    return float(np.abs(np.diff(grey, axis=1)).mean() + np.abs(np.diff(grey, axis=0)).mean())


@given(
    seconds=st.lists(st.floats(0.1, 40), min_size=1, max_size=9),
    count=st.integers(2, 200),
)
def test_instants_are_uniform_and_within_their_parts(seconds: list[float], count: int) -> None:
    splice = Splice(parts=tuple(SplicePart(seconds=s, video="0" * 64) for s in seconds))
    shown = instants(splice, count)
    assert np.allclose(np.diff([s.time_s for s in shown]), splice.duration_s / (count - 1))
    assert all(0 <= s.offset_s < s.part.seconds for s in shown)
    starts = [end - part.seconds for end, part in zip(splice.ends, splice.parts, strict=True)]
    for s in shown[:-1]:
        assert any(
            s.time_s == pytest.approx(start + s.offset_s, abs=1e-2 * s.part.seconds)
            for start, part in zip(starts, splice.parts, strict=True)
            if part == s.part
        )


def test_a_worker_splices_as_this_process_does_and_lost_pictures_are_made_again(
    clip, other: Path, tmp_path: Path
) -> None:
    ground = clip("two seconds")
    cache = FrameCache(tmp_path)
    splice = spliced(ground, other)
    files = {sha256_of(path): path for path in (ground, other)}
    expected = sampled(splice, ground, other)

    async def look() -> list[bytes]:
        async with Decoders(cache, workers=1) as decoders:
            assert await decoders.splice(splice, files, SAMPLING) == expected.frames
            for entry in tmp_path.glob("spliced/*/*.frames"):
                entry.unlink()
            digests = [frame.digest for frame in expected.frames.frames]
            return await decoders.spliced_jpegs(splice, files, sampling=SAMPLING, digests=digests)

    assert asyncio.run(look()) == list(expected.jpegs)


def test_a_video_that_has_changed_since_is_not_spliced(clip, other: Path, tmp_path: Path) -> None:
    splice = spliced(clip("two seconds"), other)
    files = dict.fromkeys(splice.videos, other)

    async def look() -> None:
        async with Decoders(FrameCache(tmp_path), workers=1) as decoders:
            await decoders.splice(splice, files, SAMPLING)

    with pytest.raises(UnusableVideo, match="has changed since it was found"):
        asyncio.run(look())
