"""The contract of decoders: the picture at a time is the frame of that time, whatever the file.

Every decoder goes through every clip. What a library is known to get wrong is written down here, as
a failure that is expected: the day it gets it right, this fails, and the line is taken out.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from shutil import copyfile

import numpy as np
import pytest
from PIL import Image

from tests.support.coded import KINDS, QUICK, each
from tests.support.stamped import Recipe, read_stamp
from videoautoarena.memory.records.errors import (
    BadInput,
    DecoderLost,
    UnusableVideo,
    install_command,
)
from videoautoarena.memory.records.records import Sampling, Video
from videoautoarena.video.decode.container import sha256_of
from videoautoarena.video.decode.decoders import DECODERS, decoder_named
from videoautoarena.video.decode.index import read_index
from videoautoarena.video.decode.jpeg import to_jpeg
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.sampling.policies import Sampled, choose_ticks, sample
from videoautoarena.video.workers.decoders import Decoders

SAMPLINGS = (
    Sampling(frames=4),
    Sampling(frames=64, size_px=64),
    Sampling(frames=64, policy="fps", fps=7),
)
IMPATIENT_S = 1.5
QUICK_BY = {
    "av": QUICK,
    "decord": ("hevc in mkv", "uneven times in mkv", "turned, wide pixels", "start cut off"),
}

NEEDS_DECORD = pytest.mark.skipif(find_spec("decord") is None, reason="decord is not installed")
SHIFTED = "leaves out the first group of a transport stream, or never answers"
OPEN = "gives a frame from behind the key frame after seeking into an open group"
TIMELESS = "knows no times there, and goes wrong as soon as it seeks"
WRONG_BY_DECORD = {
    "h264, open groups": OPEN,
    "h264, open groups and pyramid": OPEN,
    "h264, intra refresh": OPEN,
    "h264 in avi": TIMELESS,
    "h264 in avi, no b-frames": TIMELESS,
    "h264 in ts": SHIFTED,
    "h264 in ts, open groups": SHIFTED,
    "h264 in ts, long groups": SHIFTED,
    "hevc, open groups": OPEN,
    "hevc in mkv": OPEN,
    "hevc in ts": SHIFTED,
    "hevc, ten bits, hdr": OPEN,
    "vp8, hidden frames": "counts frames that are never shown",
    "av1": "has no AV1",
    "av1 in webm": "has no AV1",
    "av1, ten bits, hdr": "has no AV1",
    "mpeg4 in avi": TIMELESS,
    "mpeg4 in avi, packed": TIMELESS,
    "mpeg4 in avi, packed, two between": TIMELESS,
    "mpeg4 in avi, packed, four between": TIMELESS,
    "mpeg4 in mp4": OPEN,
    "mpeg2 in ts": SHIFTED,
    "mpeg2 in mpg": TIMELESS,
    "mpeg2 in ts, fields": SHIFTED,
    "narrow pixels": SHIFTED,
    "turned by 90 in mkv": "leaves a turned Matroska lying",
    "start cut off": "leaves out frames, but counts them",
    "no table to seek by": "cannot seek there, and does not read through",
    "clock that turns over": SHIFTED,
}

Coded = Callable[[str], Path]


def on_screen(recipe: Recipe, time_s: float) -> int:
    """Return which frame is shown at a time, which is known to a hundredth of a second."""
    place = np.searchsorted(recipe.shown, time_s * float(recipe.rate) + 0.4, "right")
    return recipe.numbers[place - 1]


def asked_for(recipe: Recipe, count: int) -> list[int]:
    """Return the places of the frames on screen at `count` uniform instants, the plain way."""
    if len(recipe.shown) <= count:
        return list(range(len(recipe.shown)))
    instants = np.linspace(0, recipe.shown[-1], count)
    return sorted({int(np.searchsorted(recipe.shown, at + 1e-9, "right")) - 1 for at in instants})


def cut_out(jpeg: bytes, shape: tuple[int, int]) -> bytes:
    """Return what stands in the middle of a black square and has this shape."""
    image = Image.open(BytesIO(jpeg))
    out = BytesIO()
    wide, high = (round(side * image.width / max(shape) / 2) for side in shape)
    middle = image.width // 2
    image.crop((middle - wide, middle - high, middle + wide, middle + high)).save(out, "JPEG")
    return out.getvalue()


def numbers(sampled: Sampled) -> list[int]:
    return [read_stamp(jpeg) for jpeg in sampled.jpegs]


def with_decoder(sampling: Sampling, decoder: str) -> Sampling:
    return sampling.model_copy(update={"decoder": decoder})


def in_worker(path: Path, sampling: Sampling, folder: Path, *, deadline_s: float = 60.0) -> Sampled:
    """Return what a run gets: decoded by a worker, read from the cache."""
    sha256 = sha256_of(path)
    shape = {"duration_s": 1.0, "width_px": 96, "height_px": 64, "fps": 25.0, "codec": "h264"}
    video = Video(id=sha256[:12], sha256=sha256, path=path.name, size_bytes=1, **shape)

    async def look() -> Sampled:
        async with Decoders(FrameCache(folder), workers=1, deadline_s=deadline_s) as decoders:
            frames = await decoders.frames(path, video, sampling)
            digests = [frame.digest for frame in frames.frames]
            jpegs = await decoders.jpegs(path, video, sampling=sampling, digests=digests)
            return Sampled(frames, tuple(jpegs))

    return asyncio.run(look())


def marks(decoder: str, kind: str) -> list[pytest.MarkDecorator]:
    slow = [] if kind in QUICK_BY[decoder] else [pytest.mark.slow]
    if decoder == "av":
        return slow
    if kind not in WRONG_BY_DECORD:
        return [*slow, NEEDS_DECORD]
    lost = (AssertionError, UnusableVideo, DecoderLost)
    wrong = pytest.mark.xfail(strict=True, reason=WRONG_BY_DECORD[kind], raises=lost)
    return [*slow, NEEDS_DECORD, wrong]


PAIRS = [
    pytest.param(decoder, kind, marks=marks(decoder, kind), id=f"{decoder}, {kind}")
    for decoder in DECODERS
    for kind in KINDS
]


def look(path: Path, sampling: Sampling, folder: Path) -> Sampled:
    """Return what a decoder gives; all but the exact one are kept where they can be ended."""
    if sampling.decoder == "av":
        return sample(path, sampling=sampling)
    is_patient = path.suffix != ".ts"
    return in_worker(path, sampling, folder, deadline_s=60.0 if is_patient else IMPATIENT_S)


@pytest.mark.parametrize(("decoder", "kind"), PAIRS)
def test_each_picture_is_the_frame_of_its_time(
    coded: Coded, tmp_path: Path, decoder: str, kind: str
) -> None:
    for sampling in SAMPLINGS:
        sampled = look(coded(kind), with_decoder(sampling, decoder), tmp_path)
        times = [frame.time_s for frame in sampled.frames.frames]
        assert numbers(sampled) == [on_screen(KINDS[kind], time_s) for time_s in times]
        assert sampled.frames.damaged == 0


@pytest.mark.parametrize("kind", each())
def test_frames_are_those_on_screen_at_even_instants(coded: Coded, kind: str) -> None:
    recipe = KINDS[kind]
    index = read_index(coded(kind))
    assert (index.problems, index.hurt) == ((), frozenset())
    for count in (2, 5, 16, 128):
        places = asked_for(recipe, count)
        expected = [recipe.shown[place] / float(recipe.rate) for place in places]
        chosen = choose_ticks(Sampling(frames=count), index)
        assert [index.seconds(tick) for tick in chosen] == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize("kind", each())
def test_pictures_have_the_shape_that_a_player_shows(coded: Coded, kind: str) -> None:
    # Rounding what is stored costs a pixel.
    assert decoder_named("av").shape(coded(kind)) == pytest.approx(KINDS[kind].size, abs=1)


@pytest.mark.parametrize("kind", ["h264, key frames only", "h264 in avi"])
def test_key_frames_are_those_of_their_times(coded: Coded, kind: str) -> None:
    path = coded(kind)
    index = read_index(coded(kind))
    catch = decoder_named("av").pictures(
        path, index, wanted=index.keys, size=(96, 64), develop=lambda shot: to_jpeg(shot, 85)
    )
    shown = {tick: read_stamp(jpeg) for tick, jpeg in catch.exact.items()}
    assert shown == {tick: index.shown.index(tick) for tick in index.keys}


@pytest.mark.parametrize("fit", ["stretch", "pad"])
@pytest.mark.parametrize("kind", ["turned, wide pixels", "odd size"])
def test_numbers_survive_being_fitted_into_a_square(coded: Coded, kind: str, fit: str) -> None:
    how = Sampling.model_validate({"frames": 5, "size_px": 64, "fit": fit})
    sampled = sample(coded(kind), sampling=how)
    jpegs = [cut_out(jpeg, KINDS[kind].size) if fit == "pad" else jpeg for jpeg in sampled.jpegs]
    assert [read_stamp(jpeg) for jpeg in jpegs] == asked_for(KINDS[kind], 5)


@pytest.mark.parametrize("kind", ["h264 in ts, open groups", "start cut off"])
def test_a_worker_gives_what_sampling_gives(coded: Coded, tmp_path: Path, kind: str) -> None:
    sampled = in_worker(coded(kind), Sampling(frames=5), tmp_path)
    assert sampled.jpegs == sample(coded(kind), sampling=Sampling(frames=5)).jpegs


@NEEDS_DECORD
def test_no_picture_of_decord_is_called_exact(coded: Coded, tmp_path: Path) -> None:
    how = Sampling(frames=5, decoder="decord")
    assert in_worker(coded("start cut off"), how, tmp_path).frames.approximate == 5


@NEEDS_DECORD
@pytest.mark.parametrize("name", ["concat:a|b%d.mp4", "http:x.mp4", "line\nbreak", "\udcff.mp4"])
def test_decord_takes_no_name_for_anything_but_a_name(
    coded: Coded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    copyfile(coded("two frames"), name)
    how = Sampling(frames=2, decoder="decord")
    assert numbers(in_worker(Path(name), how, tmp_path / "cache")) == [0, 1]


@NEEDS_DECORD
def test_decord_opens_nothing_that_libav_would_not(coded: Coded, tmp_path: Path) -> None:
    copyfile(coded("two frames"), tmp_path / "inner.mp4")
    path = tmp_path / "list.mp4"
    path.write_text("ffconcat version 1.0\nfile inner.mp4\n")
    index = read_index(tmp_path / "inner.mp4")
    wanted = list(index.shown)
    with pytest.raises(UnusableVideo, match="is a playlist"):
        decoder_named("decord").pictures(
            path, index, wanted=wanted, size=(96, 64), develop=lambda _: b""
        )


def test_a_decoder_that_is_not_installed_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "decord", None)
    with pytest.raises(BadInput, match=re.escape(install_command("decord"))):
        decoder_named("decord")
