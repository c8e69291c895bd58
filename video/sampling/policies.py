"""Which frames stand for a video: evenly in time, by rate, by scene or by key frame.

The first and the last frame are among them by any policy, and a still that lasts counts once. Each
is the very frame of its time, kept as JPEG.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heapreplace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.frame_policies import FPS, PolicyName
from videoautoarena.memory.records.records import Frame, Sampling, VideoFrames
from videoautoarena.video.decode.decoders import decoder_named
from videoautoarena.video.decode.index import Index, choose
from videoautoarena.video.decode.jpeg import (
    DecodedPictures,
    fitted_size,
    on_black,
    scaled_size,
    to_jpeg,
)
from videoautoarena.video.sampling.scenes import find_scenes

FEWEST_KEYS = 16
"""With fewer key frames than this, models that look at 16 and at 128 frames would see the same: the
policy would take away what makes them differ."""
WIDEST_GAP = 0.25
"""Largest share of a video between two chosen key frames: beyond it a part would go unseen."""

Span = tuple[float, float]
"""Start and end of a scene, in seconds from the first frame."""


def choose_ticks(sampling: Sampling, index: Index, scenes: Sequence[Span] = ()) -> list[int]:
    """Return the ticks of at most `sampling.frames` frames, ascending, first and last among them.

    `scenes`, ascending, are needed by the policy "scenes" alone. Raises UnusableVideo where the
    policy is "keyframes", and they are too few or too far apart; and where a stretch of
    `sampling.spans` lies outside the video.
    """
    if sampling.spans is not None:
        return within(index, sampling)
    return CHOICES[sampling.policy](index, sampling, scenes)


def so_many_a_second(index: Index, fps: float, most: int) -> list[int]:
    """Return the frames on screen every 1/fps seconds, thinned evenly to `most`, and the last."""
    first = index.shown[0]
    last = index.shown[-1]
    count = int(index.seconds(last) * fps) + 1
    places: Sequence[int] = range(count)
    if count >= most:
        # One fewer, since the last frame of the video takes a place of its own.
        places = sorted({i * (count - 1) // (most - 1) for i in range(most - 1)})
    step = 1 / (fps * float(index.time_base))
    return _on_screen(index, [*(first + round(place * step) for place in places), last])


def within(index: Index, sampling: Sampling) -> list[int]:
    """Return frames spread evenly over stretches as if they followed each other.

    A frame belongs to the stretch that it begins in; a stretch in which none begins has the frame
    on screen at its start. The policy "fps" takes so many per second, any other as many as allowed.
    """
    parts = [_shown_in(index, span) for span in sampling.spans or ()]
    lasting = [max(1, part[-1] - part[0]) for part in parts]
    total = sum(lasting)
    count = sampling.frames
    if sampling.policy == "fps":
        seconds = total * float(index.time_base)
        count = max(2, min(count, int(seconds * (sampling.fps or FPS)) + 1))
    if sum(map(len, parts)) <= count:
        return sorted({tick for part in parts for tick in part})
    chosen = set()
    for at in (total * i // (count - 1) for i in range(count)):
        place = 0
        while at > lasting[place] and place < len(parts) - 1:
            at -= lasting[place]
            place += 1
        part = parts[place]
        chosen.add(part[max(0, bisect_right(part, part[0] + at) - 1)])
    return sorted(chosen)


def _shown_in(index: Index, span: Span) -> Sequence[int]:
    start_s = span[0]
    end_s = min(span[1], index.duration_s)
    if not 0 <= start_s < end_s:
        raise UnusableVideo(f"has no stretch from {span[0]:g} s to {span[1]:g} s")
    start = index.tick(start_s)
    end = index.tick(end_s)
    part = index.shown[bisect_left(index.shown, start) : bisect_left(index.shown, end)]
    return part or [index.shown[bisect_right(index.shown, start) - 1]]


def over_scenes(index: Index, scenes: Sequence[Span], most: int) -> list[int]:
    """Return frames spread over scenes, each from the middle of an equal part of its scene.

    With fewer scenes than frames each has at least one, and the rest go by the square root of the
    length: four times as long is twice as many. For a scene of a single tick the frame behind it
    may stand. With more scenes than frames, scenes are left out
    evenly. The ends of the video take the place of the outermost frames.
    """
    if len(scenes) < 2:
        return choose(index.shown, most)
    if len(scenes) > most:
        scenes = [scenes[i * (len(scenes) - 1) // (most - 1)] for i in range(most)]
    instants = []
    for (start_s, end_s), count in zip(scenes, _dealt(index, scenes, most), strict=True):
        part_s = (end_s - start_s) / count
        instants += [index.tick(start_s + part_s * (i + 0.5)) for i in range(count)]
    inner = _on_screen(index, instants)[1:-1]
    return sorted({index.shown[0], *inner, index.shown[-1]})


def at_keys(index: Index, most: int) -> list[int]:
    """Return frames at which decoding can start, and the last; UnusableVideo if too few."""
    # A clip of 30 s with a key frame every 250 frames gave four, up to 5 s from the instants
    # wanted.
    chosen = choose(sorted({index.shown[0], *index.keys, index.shown[-1]}), most)
    fewest = min(FEWEST_KEYS, most, len(index.shown))
    span = index.shown[-1] - index.shown[0]
    widest = max((later - earlier for earlier, later in pairwise(chosen)), default=0)
    if len(chosen) >= fewest and (len(index.shown) <= fewest or widest <= WIDEST_GAP * span):
        return chosen
    raise UnusableVideo(
        f"has too few key frames to go by ({len(index.keys)} in {index.duration_s:.0f} s); "
        f"the policy uniform goes without"
    )


Choice = Callable[[Index, Sampling, Sequence[Span]], list[int]]
CHOICES: Mapping[PolicyName, Choice] = {
    "uniform": lambda index, sampling, _: choose(index.shown, sampling.frames),
    "fps": lambda index, sampling, _: so_many_a_second(index, sampling.fps or FPS, sampling.frames),
    "scenes": lambda index, sampling, scenes: over_scenes(index, scenes, sampling.frames),
    "keyframes": lambda index, sampling, _: at_keys(index, sampling.frames),
}
"""Which frames each policy takes of a whole video, as ticks."""


def _dealt(index: Index, scenes: Sequence[Span], most: int) -> list[int]:
    """Return how many frames each scene gets: one, and the rest by Sainte-Laguë's divisors."""
    places = [[bisect_left(index.shown, index.tick(end)) for end in scene] for scene in scenes]
    room = [last - first for first, last in places]
    weights = [max(0.0, end_s - start_s) ** 0.5 for start_s, end_s in scenes]
    dealt = [1] * len(scenes)
    # The one that each scene has stands for the divisor 1; the next is 3.
    claims = [(-weight / 3, place) for place, weight in enumerate(weights)]
    heapify(claims)
    for _ in range(most - len(scenes)):
        # A scene with no further frame to give drops out, and its share goes to the others.
        while claims[0][0] < 0 and dealt[claims[0][1]] >= room[claims[0][1]]:
            heapreplace(claims, (0.0, claims[0][1]))
        claim, place = claims[0]
        if claim >= 0:
            break
        dealt[place] += 1
        heapreplace(claims, (-weights[place] / (2 * dealt[place] + 1), place))
    return dealt


def _on_screen(index: Index, instants: Sequence[int]) -> list[int]:
    """Return the frames shown at these ticks, ascending, each once."""
    return sorted({index.shown[max(0, bisect_right(index.shown, at) - 1)] for at in instants})


SAMPLER = "4"
"""To be raised whenever this code would give other bytes, or other counts of damage, for the same
video and Sampling."""
EARLIER = ("3",)
"""Earlier versions whose cached bytes still serve a run that recorded their digests."""

FindScenes = Callable[[Path, Index], Sequence[Span]]


class Sampled(NamedTuple):
    """The frames of one video and their JPEG bytes, in the same order."""

    frames: VideoFrames
    jpegs: tuple[bytes, ...]

    @classmethod
    def of(
        cls,
        video: str,
        size: tuple[int, int],
        times_s: Iterable[float],
        jpegs: tuple[bytes, ...],
        *,
        damaged: int = 0,
        approximate: int = 0,
    ) -> Sampled:
        """Return JPEGs of one size with the record of them under the id `video`."""
        frames = tuple(
            # Two decimals, as prompts write times: t=12.50s.
            Frame(time_s=round(time_s, 2), digest=digest(data))
            for time_s, data in zip(times_s, jpegs, strict=True)
        )
        record = VideoFrames(
            video=video,
            width_px=size[0],
            height_px=size[1],
            frames=frames,
            damaged=damaged,
            approximate=approximate,
        )
        return cls(record, jpegs)


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
    times_s = (index.seconds(tick) - zero_s for tick in ticks)
    return Sampled.of(
        video, size, times_s, jpegs, damaged=catch.damaged, approximate=catch.approximate
    )


def stand_in(ticks: Sequence[int], catch: DecodedPictures) -> tuple[bytes, ...]:
    """Return one picture per tick: its own, else the one before it, else the first there is."""
    had = catch.pictures
    known = sorted(had)
    return tuple(had[known[max(0, bisect_right(known, tick) - 1)]] for tick in ticks)
