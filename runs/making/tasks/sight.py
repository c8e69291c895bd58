"""What every video of a folder looks like over time, in each shape of picture it may be set into.

The files are opened by the confined workers. Here only JPEG pictures are measured, cut to the shape
of the film that they would be part of: what is said of a picture is said of what will be seen.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from videoautoarena.agents.offline.vision.frame_features import (
    FrameChange,
    FrameMeasurement,
    compare,
    seen_in,
)
from videoautoarena.agents.offline.vision.looks import Values
from videoautoarena.agents.offline.vision.sequence import find_cuts
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Sampling, Video
from videoautoarena.video.decode.jpeg import cropped
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.synth.timeline import Excerpt, FilmPlan
from videoautoarena.video.workers.decoders import Decoders

LOOKS_A_SECOND = 4
"""Looks a second at a video; stretches begin and end with a look."""
MOST_SHAPES = 4
"""The most shapes of picture that films have: the commonest of the folder."""
LONGEST_LOOK_S = 240.0
"""Longer videos are looked at in parts: a sampling has at most 1024 frames."""
SHORTEST_S = 2.0
"""The shortest video of which a film is cut."""
SPARED_S = 0.1
"""Left out at the end of a video, where clocks may disagree on what is still shown."""
# At this size stand-ins look at frames, and makers have to measure alike.
SIDE_PX = 128
CHUNK = 128
# Times of frames are kept to a hundredth, so a frame may seem to begin half of that too late.
ROUNDED_S = 0.0051
SAMPLING = Sampling(frames=1024, size_px=256, policy="fps", fps=LOOKS_A_SECOND)

Shape = float
"""Width over height, to two digits."""


class Seen(NamedTuple):
    """What one video looks like in pictures of one shape: a row every 1/LOOKS_A_SECOND seconds."""

    luma: Values
    shares: Values
    """shape (rows, 12)."""
    histograms: Values
    """shape (rows, 64)."""


@dataclass(frozen=True)
class Footage:
    """A video that can be used, and what it looks like."""

    video: Video
    seen: Mapping[Shape, Seen]
    cuts: NDArray[np.bool_]
    """Whether another scene begins between a row and the next, shape (rows - 1,)."""
    rate: Fraction
    """Exact frames a second of a film with its rate; a video's `fps` is rounded."""

    @property
    def shape(self) -> Shape:
        """The shape of its own picture."""
        return shape_of(self.video)

    @property
    def seconds(self) -> float:
        """How many seconds of it may be used."""
        return len(self.cuts) / LOOKS_A_SECOND


class Looked(NamedTuple):
    """A folder that was looked at."""

    footage: list[Footage]
    unusable: list[tuple[str, str]]
    """Path, and why it cannot be used."""


def shape_of(video: Video) -> Shape:
    """Return the shape of a video's picture."""
    return round(video.width_px / video.height_px, 2)


async def look(
    folder: Path, videos: Sequence[Video], *, on_progress: Callable[[int, int, str], None]
) -> Looked:
    """Return what the videos of a folder look like, in the order they came in. Decodes each once.

    One that is damaged or too short cannot be used.
    """
    shapes = commonest_shapes(videos)
    done = 0
    async with Decoders(FrameCache()) as decoders:

        async def look_at(video: Video) -> Footage | str:
            nonlocal done
            try:
                found: Footage | str = await _footage(decoders, folder, video, shapes)
            except UnusableVideo as failure:
                # The message begins with the name of the file, which is printed before it anyway.
                found = str(failure).removeprefix(f"{Path(video.path).name!a} ")
            done += 1
            on_progress(done, len(videos), "looked at")
            return found

        every = await asyncio.gather(*map(look_at, videos))
    pairs = list(zip(videos, every, strict=True))
    return Looked(
        [found for _, found in pairs if not isinstance(found, str)],
        [(video.path, found) for video, found in pairs if isinstance(found, str)],
    )


def commonest_shapes(videos: Sequence[Video]) -> list[Shape]:
    """Return the shapes that a film may have, the commonest first."""
    counts = Counter(map(shape_of, videos))
    return sorted(counts, key=lambda shape: (-counts[shape], shape))[:MOST_SHAPES]


async def _footage(
    decoders: Decoders, folder: Path, video: Video, shapes: Sequence[Shape]
) -> Footage:
    usable_s = video.duration_s - SPARED_S
    if usable_s < SHORTEST_S:
        raise UnusableVideo(f"is shorter than {SHORTEST_S:g} s")
    measuring = _Measuring(shape_of(video), shapes)
    files = {video.sha256: folder / video.path}
    least = FilmPlan(ground=(Excerpt(video=video.sha256, seconds=SHORTEST_S),))
    rate = Fraction((await decoders.film(least, files)).rate)
    for start_s in np.arange(0.0, usable_s, LONGEST_LOOK_S).tolist():
        part_s = min(LONGEST_LOOK_S, usable_s - start_s)
        plan = FilmPlan(ground=(Excerpt(video=video.sha256, start_s=start_s, seconds=part_s),))
        frames = await decoders.splice(plan, files, SAMPLING)
        is_last = start_s + part_s >= usable_s
        # The look at the end of a part is the first of the next one, if there is one.
        rows = int(part_s * LOOKS_A_SECOND) + is_last
        shown = on_screen([frame.time_s for frame in frames.frames], rows)
        # In chunks, or all pictures of a part would be in memory at once.
        for at in range(0, rows, CHUNK):
            digests = [frames.frames[place].digest for place in shown[at : at + CHUNK]]
            jpegs = await decoders.spliced_jpegs(plan, files, sampling=SAMPLING, digests=digests)
            await asyncio.to_thread(measuring.take, jpegs)
    return measuring.footage(video, rate)


def on_screen(times: Sequence[float], rows: int) -> list[int]:
    """Return which of the frames is shown at each row's instant."""
    instants = np.arange(rows) / LOOKS_A_SECOND + ROUNDED_S
    places = np.searchsorted(np.asarray(times), instants, side="right") - 1
    return [max(0, int(place)) for place in places]


class _Measuring:
    """The rows of one video, as its pictures come in."""

    def __init__(self, own: Shape, shapes: Sequence[Shape]) -> None:
        self._own = own
        # Its own shape in any case, since cuts are found in the whole picture.
        self._glances: dict[Shape, list[FrameMeasurement]] = {shape: [] for shape in (*shapes, own)}
        self._shapes = tuple(shapes)
        self._steps: list[FrameChange] = []
        self._last: FrameMeasurement | None = None

    def take(self, jpegs: Sequence[bytes]) -> None:
        """Measure the next pictures."""
        for jpeg in jpegs:
            with Image.open(BytesIO(jpeg)) as picture:
                whole = picture.convert("RGB")
            for shape, glances in self._glances.items():
                glance = seen_in(_small(whole if shape == self._own else cut_to(whole, shape)))
                if shape == self._own:
                    if self._last is not None:
                        self._steps.append(compare(self._last, glance))
                    self._last = glance
                glances.append(replace(glance, thumb=_NONE, layout=_NOTHING))

    def footage(self, video: Video, rate: Fraction) -> Footage:
        """Return all of it."""
        cuts = np.zeros(len(self._steps), bool)
        cuts[find_cuts(self._glances[self._own], self._steps)] = True
        seen = {shape: _arrays(self._glances[shape]) for shape in self._shapes}
        return Footage(video, seen, cuts, rate)


_NONE, _NOTHING = np.zeros((0, 0), np.float16), np.zeros(0, np.float32)
"""In place of what is not looked at again: it would be nine tenths of the memory."""


def cut_to(picture: Image.Image, shape: Shape) -> Image.Image:
    """Return the middle of a picture in another shape, as it is seen where it fills a film."""
    # Filled and not boxed: with foreign pictures on black bars a stand-in that sees every needle
    # fell from 1.00 to .88, since bars change the colours and mark what was set in.
    width = max(1, min(picture.width, round(picture.height * shape)))
    height = max(1, min(picture.height, round(picture.width / shape)))
    return cropped(picture, (width, height))


def _small(picture: Image.Image) -> Image.Image:
    scale = min(1.0, SIDE_PX / max(picture.size))
    size = max(1, int(picture.width * scale)), max(1, int(picture.height * scale))
    return picture if size == picture.size else picture.resize(size, Image.Resampling.BOX)


def _arrays(glances: Sequence[FrameMeasurement]) -> Seen:
    return Seen(
        np.array([glance.luma for glance in glances], np.float32),
        np.array([glance.shares for glance in glances], np.float32),
        np.array([glance.histogram for glance in glances], np.float32),
    )
