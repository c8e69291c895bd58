"""The frames a run looks at: chosen uniformly in time, decoded exactly, kept as JPEG."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from av import VideoFrame

from memory.digests import digest
from memory.errors import UnusableVideo
from memory.records import Frame, Frames, Sampling
from video.decode import Catch, decode, first_frame
from video.index import choose, read_index
from video.pictures import displayed_size, fitted_size, jpeg

SAMPLER = "1"
"""Goes up whenever the same video and Sampling would give other bytes by this code."""


class Sampled(NamedTuple):
    """The frames of one video and their JPEG bytes, in the same order."""

    frames: Frames
    jpegs: tuple[bytes, ...]


def sample(path: Path, *, sampling: Sampling, video: str = "") -> Sampled:
    """Return up to `sampling.frames` frames, first and last among them. Blocks; CPU only.

    A frame that cannot be decoded shows its nearest neighbour and is counted in `damaged`.

    Args:
        path: the file.
        sampling: how many frames, how large, how well.
        video: id the frames are recorded under.

    Raises:
        UnusableVideo: not one frame could be decoded.
    """
    index = read_index(path)
    first = first_frame(path)
    if first is None:
        raise UnusableVideo("holds no frame that can be decoded")
    size = fitted_size(displayed_size(*first), sampling)

    def develop(frame: VideoFrame) -> bytes:
        return jpeg(frame, size, sampling.quality)

    ticks = choose(index.shown, sampling.frames)
    catch = decode(path, index, wanted=ticks, develop=develop)
    if not catch.exact and not catch.rough:
        catch.rough[ticks[0]] = develop(first[0])
    jpegs = _with_stand_ins(ticks, catch)
    frames = tuple(
        Frame(time_s=round(index.seconds(tick), 2), digest=digest(data))
        for tick, data in zip(ticks, jpegs, strict=True)
    )
    damaged = len(catch.missing)
    record = Frames(
        video=video, width_px=size[0], height_px=size[1], frames=frames, damaged=damaged
    )
    return Sampled(record, jpegs)


def thin(frames: Frames, count: int) -> Frames:
    """Return `count` of the frames, evenly spaced, both ends kept; all where there are fewer."""
    total = len(frames.frames)
    if count <= 1:
        return frames.model_copy(update={"frames": frames.frames[: max(0, count)]})
    kept = sorted({round(i * (total - 1) / (count - 1)) for i in range(count)}) if total else []
    return frames.model_copy(update={"frames": tuple(frames.frames[i] for i in kept)})


def _with_stand_ins(ticks: Sequence[int], catch: Catch) -> tuple[bytes, ...]:
    """Return one picture a tick: its own, else the one before it, else the first there is."""
    had = {**catch.rough, **catch.exact}
    known = sorted(had)
    return tuple(had[known[max(0, bisect_right(known, tick) - 1)]] for tick in ticks)
