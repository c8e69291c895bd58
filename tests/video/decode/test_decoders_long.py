"""Exactness where it takes minutes to see: an hour, long groups, pictures of some size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import av
import pytest
from av.video.stream import VideoStream

from tests.support.coded import KINDS, QUICK, h264
from tests.support.stamped import Recipe, encode, read_stamp
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.decode.decoders import DECODERS
from videoautoarena.video.sampling.policies import Sampled, sample

pytestmark = pytest.mark.slow

HOUR = h264(gop=100, rate=2, count=7_200)
FIVE_MINUTES = h264(gop=250, rate=10, count=3_000)
EVEN = [kind for kind in QUICK if not (KINDS[kind].ticks or KINDS[kind].hidden)]
UNIFORM = Sampling(frames=128)
ONE_A_MINUTE = Sampling(frames=128, policy="fps", fps=1 / 60)
KEYS = Sampling(frames=128, policy="keyframes")


def wrong(sampled: Sampled, rate: int) -> list[tuple[int, float]]:
    """Return the numbers that do not stand at their time, each with that time in frames."""
    shown = zip(sampled.frames.frames, sampled.jpegs, strict=True)
    read = [(read_stamp(jpeg), frame.time_s * rate) for frame, jpeg in shown]
    return [(number, at) for number, at in read if abs(number - at) > 0.26]


def into(path: Path, source: Path) -> Path:
    """Write what a file holds into another container, untouched."""
    with av.open(str(source)) as old, av.open(str(path), "w") as new:
        stream = old.streams.video[0]
        copy = new.add_stream_from_template(stream)
        assert isinstance(copy, VideoStream)
        for packet in old.demux(stream):
            if packet.size:
                packet.stream = copy
                new.mux(packet)
    return path


@pytest.fixture(scope="module")
def hour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encode(tmp_path_factory.mktemp("hour") / "hour.mp4", HOUR)


@pytest.fixture(scope="module")
def five_minutes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encode(tmp_path_factory.mktemp("minutes") / "minutes.mp4", FIVE_MINUTES)


@pytest.mark.parametrize("sampling", [UNIFORM, ONE_A_MINUTE, KEYS], ids=lambda s: s.policy)
@pytest.mark.parametrize("suffix", ["mp4", "mkv", "ts", "mov", "flv"])
def test_an_hour_has_no_wrong_frame(
    hour: Path, tmp_path: Path, suffix: str, sampling: Sampling
) -> None:
    path = hour if suffix == "mp4" else into(tmp_path / f"hour.{suffix}", hour)
    sampled = sample(path, sampling=sampling)
    assert len(sampled.jpegs) >= 61
    assert wrong(sampled, HOUR.rate) == []
    assert sampled.frames.damaged == 0


@pytest.mark.parametrize("decoder", DECODERS)
def test_five_minutes_of_long_groups_have_no_wrong_frame(five_minutes: Path, decoder: str) -> None:
    if decoder == "decord":
        pytest.importorskip("decord")
    sampled = sample(five_minutes, sampling=Sampling.model_validate({"decoder": decoder}))
    assert len(sampled.jpegs) == 128
    assert wrong(sampled, FIVE_MINUTES.rate) == []


def test_large_vp9_has_no_wrong_frame_by_decord(tmp_path: Path) -> None:
    pytest.importorskip("decord")
    fast = {"deadline": "realtime", "cpu-used": "8", "row-mt": "1", "b": "1M", "g": "100"}
    recipe = Recipe("webm", "libvpx-vp9", fast, (1280, 720), count=100)
    how = Sampling(frames=43, decoder="decord")
    sampled = sample(encode(tmp_path / "large.webm", recipe), sampling=how)
    assert wrong(sampled, recipe.rate) == []


@pytest.mark.parametrize("kind", EVEN)
def test_larger_and_longer_clips_have_no_wrong_frame(tmp_path: Path, kind: str) -> None:
    width, height = KINDS[kind].size
    recipe = replace(KINDS[kind], size=(4 * width, 4 * height), count=100)
    sampled = sample(encode(tmp_path / f"clip.{recipe.suffix}", recipe), sampling=UNIFORM)
    assert [read_stamp(jpeg) - recipe.cut for jpeg in sampled.jpegs] == [
        round(frame.time_s * float(recipe.rate)) for frame in sampled.frames.frames
    ]
    assert sampled.frames.damaged == 0
