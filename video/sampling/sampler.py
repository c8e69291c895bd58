"""The frames a run looks at: chosen by a policy, the very ones of their times, kept as JPEG."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Frame, Frames, Sampling
from videoautoarena.video.decode.decoders import decoder_named
from videoautoarena.video.decode.index import Index
from videoautoarena.video.decode.jpeg import Catch, fitted_size, on_black, scaled_size, to_jpeg
from videoautoarena.video.sampling.policies import Span, choose_ticks
from videoautoarena.video.sampling.scenes import find_scenes

SAMPLER = "4"
"""Goes up whenever the same video and Sampling would give other bytes, or other counts of what is
damaged, by this code."""
EARLIER = ("3",)
"""Of the versions before, those whose bytes are still good to whoever knows their digests."""

FindScenes = Callable[[Path, Index], Sequence[Span]]


class Sampled(NamedTuple):
    """The frames of one video and their JPEG bytes, in the same order."""

    frames: Frames
    jpegs: tuple[bytes, ...]


def sample(
    path: Path, *, sampling: Sampling, video: str = "", scenes_of: FindScenes = find_scenes
) -> Sampled:
    """Return up to `sampling.frames` frames, first and last among them. Blocks; CPU only.

    Times count from the first frame that is returned, which is the video's unless there are spans.

    A frame behind damage that was reported is counted in `damaged`, and so is one that cannot be
    decoded and shows the one before it; one that may not be that of its time is counted in
    `approximate`. That nothing was reported of a frame does not prove it whole. They are recorded
    under the id `video`; `scenes_of` finds the scenes where the sampling goes by them.

    Raises UnusableVideo where not one frame could be decoded, or the policy is not for this video;
    BadInput where the library that is to decode is not installed.
    """
    decoder = decoder_named(sampling.decoder)
    index = decoder.index(path)
    shape = decoder.shape(path)
    size = fitted_size(shape, sampling)
    scaled = scaled_size(shape, sampling)

    def develop(picture: Image.Image) -> bytes:
        return to_jpeg(on_black(picture, size), sampling.quality)

    scenes = scenes_of(path, index) if sampling.needs_scenes else ()
    ticks = choose_ticks(sampling, index, scenes)
    catch = decoder.pictures(path, index, wanted=ticks, size=scaled, develop=develop)
    if not catch.pictures:
        raise UnusableVideo(f"holds no frame that {decoder.name} can decode")
    jpegs = stand_in(ticks, catch)
    zero_s = index.seconds(ticks[0])
    frames = tuple(
        Frame(time_s=round(index.seconds(tick) - zero_s, 2), digest=digest(data))
        for tick, data in zip(ticks, jpegs, strict=True)
    )
    record = Frames(
        video=video,
        width_px=size[0],
        height_px=size[1],
        frames=frames,
        damaged=catch.damaged,
        approximate=catch.approximate,
    )
    return Sampled(record, jpegs)


def stand_in(ticks: Sequence[int], catch: Catch) -> tuple[bytes, ...]:
    """Return one picture a tick: its own, else the one before it, else the first there is."""
    had = catch.pictures
    known = sorted(had)
    return tuple(had[known[max(0, bisect_right(known, tick) - 1)]] for tick in ticks)
