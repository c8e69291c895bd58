"""Which frame of which video each frame of a film shows; opens no file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput, UnusableVideo
from videoautoarena.memory.records.records import Record
from videoautoarena.video.decode.index import Index

FILLER = "2"
"""To be raised whenever this code would give other pictures for the same plan."""
DRIFT = 0.25
"""Frames by which a claimed rate may be off at the end of a video."""
LARGEST_PART = 1001
"""Largest denominator of a counted rate, that of broadcasts: 30000/1001."""

Numbers: TypeAlias = NDArray[np.int64]


class Excerpt(Record):
    """A stretch of a video, from the frame nearest to `start_s` on."""

    video: str
    """Its sha256."""
    seconds: float = Field(gt=0, allow_inf_nan=False)
    start_s: float = Field(default=0.0, ge=0, allow_inf_nan=False)


class Probe(Excerpt):
    """An excerpt that is set into the ground, which afterwards goes on where it stopped."""

    before: int = Field(ge=0)
    """The frame of the ground before which it goes; the number of all frames puts it behind the
    last. Several before one frame follow each other as in the plan."""


class FilmPlan(Record):
    """A film: excerpts one after the other as its ground, and others set into it.

    The first excerpt's video gives the film its size and its rate. All pictures fill it: what
    overhangs is cut off evenly, so that no bars tell what was set in.
    """

    ground: tuple[Excerpt, ...] = Field(min_length=1)
    probes: tuple[Probe, ...] = ()
    longest_px: int | None = Field(default=None, ge=16)
    """The longer side of its pictures at most; None keeps the size of the first video."""

    @property
    def sha256(self) -> str:
        """Digest by which the film is known, as a video is by that of its bytes."""
        return digest(canonical_json(["film", FILLER, self.model_dump(exclude_none=True)]))

    def size_of(self, shape: tuple[int, int]) -> tuple[int, int]:
        """Return width and height of a film whose first video is of this shape; both are even."""
        scale = min(1.0, (self.longest_px or max(shape)) / max(shape))
        width, height = (max(2, int(side * scale) // 2 * 2) for side in shape)
        return width, height

    @property
    def id(self) -> str:
        """First 12 hex digits of `sha256`, as for a video."""
        return self.sha256[:12]

    @property
    def excerpts(self) -> tuple[Excerpt, ...]:
        """The excerpts of the ground, then the probes."""
        return (*self.ground, *self.probes)

    @property
    def videos(self) -> list[str]:
        """sha256 of every video that is needed, in order of first use."""
        return list(dict.fromkeys(excerpt.video for excerpt in self.excerpts))


class ProbePlace(Record):
    """Where a probe lies in the film."""

    first: int
    """Its first frame, counted from 0."""
    frames: int
    start_s: float
    seconds: float


class Film(Record):
    """What a plan makes of its videos."""

    width_px: int
    height_px: int
    rate: str
    """Frames a second, a whole number or two with a stroke between: 30000/1001."""
    frames: int
    probes: tuple[ProbePlace, ...]
    """Where each probe lies, in the order of the plan."""


class FrameRun(NamedTuple):
    """Frames of the film one after the other, and the frames of a video that they show."""

    first: int
    frames: int
    video: str
    number: int
    """The frame of the video that the first one shows, as the video's frames are shown, from 0."""
    step: int
    """Frames of the video from one to the next; 0 where the same is shown again."""


class Piece(NamedTuple):
    """Frames of the film that come out of one excerpt."""

    excerpt: int
    """Its place among the plan's excerpts."""
    first: int
    numbers: Numbers
    """The frame of the video that each of them shows, ascending."""


@dataclass(frozen=True)
class Timeline:
    """A plan, frame by frame."""

    plan: FilmPlan
    rate: Fraction
    pieces: tuple[Piece, ...]
    """Pieces in the order of the film; an excerpt that is cut by probes has several."""

    @property
    def frames(self) -> int:
        """How many frames the film has."""
        last = self.pieces[-1]
        return last.first + len(last.numbers)

    @property
    def probes(self) -> tuple[ProbePlace, ...]:
        """Where each probe lies, in the order of the plan."""
        pieces = [piece for piece in self.pieces if piece.excerpt >= len(self.plan.ground)]
        return tuple(
            ProbePlace(
                first=piece.first,
                frames=len(piece.numbers),
                start_s=float(piece.first / self.rate),
                seconds=float(len(piece.numbers) / self.rate),
            )
            for piece in sorted(pieces, key=lambda piece: piece.excerpt)
        )

    @property
    def runs(self) -> Iterator[FrameRun]:
        """Which frame of which video each frame of the film shows, in order."""
        for excerpt, first, numbers in self.pieces:
            for at, frames, step in _progressions(numbers):
                video = self.plan.excerpts[excerpt].video
                yield FrameRun(first + at, frames, video, int(numbers[at]), step)

    def shown(self, frame: int) -> tuple[str, int]:
        """Return the video and the number of the frame there that a frame of the film shows."""
        piece = self.pieces[bisect_right(self._firsts, frame) - 1]
        return self.plan.excerpts[piece.excerpt].video, int(piece.numbers[frame - piece.first])

    @cached_property
    def _firsts(self) -> list[int]:
        return [piece.first for piece in self.pieces]


def lay_out(plan: FilmPlan, indexes: Mapping[str, Index]) -> Timeline:
    """Return the plan frame by frame, from the times of its videos' frames.

    Each frame of the film shows what is on screen of its video at the middle of its time. A ground
    of many excerpts has as many frames as they last together. Raises
    BadInput where a probe is to stand behind the end of the ground.
    """
    rate = rate_of(indexes[plan.ground[0].video])
    times = {video: _times(index) for video, index in indexes.items()}
    counts = [*_counts(plan.ground, rate), *(max(1, round(p.seconds * rate)) for p in plan.probes)]
    numbers = [
        _numbers(excerpt, count, times[excerpt.video], rate)
        for excerpt, count in zip(plan.excerpts, counts, strict=True)
    ]
    return Timeline(plan, rate, tuple(_placed(_joined(plan, numbers))))


def refuse_beyond(excerpt: Excerpt, index: Index) -> None:
    """Raise UnusableVideo where a video ends before an excerpt of it does."""
    if excerpt.start_s + excerpt.seconds > index.duration_s + 0.5 / index.fps:
        stretch = f"{excerpt.seconds:g} s from {excerpt.start_s:g} s on"
        raise UnusableVideo(f"lasts {index.duration_s:.3f} s: there are no {stretch}")


def rate_of(index: Index) -> Fraction:
    """Return the constant rate nearest to a video's: the claimed one if true, else counted."""
    steps = len(index.shown) - 1
    span_s = (index.shown[-1] - index.shown[0]) * index.time_base
    claimed = index.rate
    if claimed and abs(claimed * span_s - steps) <= DRIFT:
        return claimed
    return (steps / span_s if span_s else Fraction(1)).limit_denominator(LARGEST_PART)


def _times(index: Index) -> NDArray[np.float64]:
    """Return when each frame of a video is shown, in seconds from the first."""
    ticks = np.array(index.shown, np.int64)
    return np.asarray((ticks - ticks[0]) * float(index.time_base), np.float64)


def _counts(ground: Sequence[Excerpt], rate: Fraction) -> list[int]:
    """Return how many frames each excerpt of the ground has."""
    # The ends are rounded and not each length: the errors of hundreds would add up to seconds.
    ends_s = accumulate(Fraction(excerpt.seconds) for excerpt in ground)
    ends = [max(1, round(end_s * rate)) for end_s in ends_s]
    return [end - begin for begin, end in pairwise([0, *ends])]


def _numbers(excerpt: Excerpt, count: int, times: NDArray[np.float64], rate: Fraction) -> Numbers:
    start_s = times[np.abs(times - excerpt.start_s).argmin()]
    # In the middle of a frame's time no rounding of clocks can lead to its neighbour.
    instants = start_s + (np.arange(count) + 0.5) / float(rate)
    return np.asarray(np.searchsorted(times, instants, side="right") - 1, np.int64)


def _joined(plan: FilmPlan, numbers: Sequence[Numbers]) -> Iterator[tuple[int, Numbers]]:
    """Yield the place of an excerpt and frames of it, in the order of the film."""
    ground = len(plan.ground)
    # Stable, so that several before one frame keep the order of the plan.
    waiting = sorted(range(len(plan.probes)), key=lambda n: plan.probes[n].before)
    begins = 0
    for excerpt, own in enumerate(numbers[:ground]):
        done = 0
        while waiting and plan.probes[waiting[0]].before < begins + len(own):
            cut = plan.probes[waiting[0]].before - begins
            yield excerpt, own[done:cut]
            done = cut
            probe = ground + waiting.pop(0)
            yield probe, numbers[probe]
        yield excerpt, own[done:]
        begins += len(own)
    for probe in waiting:
        before = plan.probes[probe].before
        if before > begins:
            raise BadInput(f"no probe can go before frame {before} of a ground of {begins}")
        yield ground + probe, numbers[ground + probe]


def _placed(joined: Iterator[tuple[int, Numbers]]) -> Iterator[Piece]:
    first = 0
    for excerpt, numbers in joined:
        if len(numbers):
            yield Piece(excerpt, first, numbers)
            first += len(numbers)


def _progressions(numbers: Numbers) -> Iterator[tuple[int, int, int]]:
    """Yield where each stretch of even steps begins, how many numbers it has, and its step."""
    steps = np.diff(numbers)
    at = 0
    for change in np.flatnonzero(np.diff(steps)).tolist():
        # The step that leads to the beginning of a stretch belongs to none.
        if change >= at:
            yield at, change + 2 - at, int(steps[at])
            at = change + 2
    yield at, len(numbers) - at, int(steps[at]) if at < len(steps) else 1
