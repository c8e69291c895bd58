"""A sequence of frames as measured: curves over time, cuts and scenes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from videoautoarena.agents.offline.vision.frame_features import (
    COLOURS,
    FrameChange,
    FrameMeasurement,
    Memo,
    ModelInput,
    ReceivedFrame,
    Vector,
    apart,
    glance,
    likeness,
    step,
)

Curve = NDArray[np.float64]

_STILL = 0.006
"""Below this mean difference nothing moves; JPEG noise stays under it."""
SHARE = 0.2
"""Least share of the picture from which a colour is plainly there."""


@dataclass(frozen=True, eq=False)
class MeasuredScene:
    """A scene, between two cuts."""

    start_s: float
    end_s: float
    luma: float
    shares: Vector
    histogram: Vector
    layout: Vector


@dataclass(frozen=True, eq=False)
class FrameSequence:
    """What a viewer of these frames can know. Curves have one value a frame or a step."""

    key: bytes
    pictures: tuple[ReceivedFrame, ...]
    times: Curve
    luma: Curve
    edge: Curve
    shares: NDArray[np.float32]
    """shape (frames, 12)."""
    mids: Curve
    """Middle of each step, in seconds."""
    motion: Curve
    """Change in each step, cuts bridged over."""
    cut_steps: tuple[int, ...]
    scenes: tuple[MeasuredScene, ...]
    duration_s: float
    gap_s: float

    @property
    def cuts(self) -> tuple[float, ...]:
        """When each cut falls, in seconds."""
        return tuple(scene.start_s for scene in self.scenes[1:])


# Known by frames and times alone: what 128 frames show must not serve a message with 64.
_SIGHTS: Memo[bytes, FrameSequence] = Memo(192)


def sight_of(sent: ModelInput) -> FrameSequence:
    return sight(sent.pictures)


def sight(pictures: Sequence[ReceivedFrame]) -> FrameSequence:
    """Return what these frames show, one at least; remembered for these and their times alone."""
    ordered = tuple(sorted(pictures, key=lambda picture: picture.time_s))
    material = b"".join(p.digest + repr(p.time_s).encode() for p in ordered)
    key = hashlib.sha256(material).digest()
    return _SIGHTS.get(key, lambda: _assemble(key, ordered))


def coarser(seen: FrameSequence, frames: int) -> FrameSequence:
    """Return what a viewer of `frames` of these frames would have seen."""
    last = len(seen.pictures) - 1
    kept = sorted({round(i) for i in np.linspace(0, last, min(frames, last + 1))})
    return sight([seen.pictures[i] for i in kept])


def _assemble(key: bytes, pictures: tuple[ReceivedFrame, ...]) -> FrameSequence:
    times = np.array([p.time_s for p in pictures]) - pictures[0].time_s
    glances = [glance(p) for p in pictures]
    steps = [step(a, b) for a, b in pairwise(pictures)]
    cut_steps = find_cuts(glances, steps)
    mids = (times[:-1] + times[1:]) / 2
    # A single frame lasts, too, or shares of the time would divide by zero.
    duration = max(float(times[-1]), 0.1)
    bounds = [0.0, *(float(mids[i]) for i in cut_steps), duration]
    parts = np.split(np.arange(len(pictures)), [i + 1 for i in cut_steps])
    scenes = []
    for (start_s, end_s), part in zip(pairwise(bounds), parts, strict=True):
        own = [glances[place] for place in part]
        scenes.append(
            MeasuredScene(
                start_s=start_s,
                end_s=end_s,
                luma=float(np.mean([one.luma for one in own])),
                shares=np.mean([one.shares for one in own], axis=0),
                histogram=np.mean([one.histogram for one in own], axis=0),
                layout=np.mean([one.layout for one in own], axis=0),
            )
        )
    return FrameSequence(
        key=key,
        pictures=pictures,
        times=times,
        luma=np.array([g.luma for g in glances]),
        edge=np.array([g.edge for g in glances]),
        shares=np.array([g.shares for g in glances]),
        mids=mids,
        motion=_bridged(mids, np.array([s.moved for s in steps]), cut_steps),
        cut_steps=tuple(cut_steps),
        scenes=tuple(scenes),
        duration_s=duration,
        gap_s=float(np.median(np.diff(times))) if len(steps) else duration,
    )


def find_cuts(glances: Sequence[FrameMeasurement], steps: Sequence[FrameChange]) -> list[int]:
    """Return the steps that are cuts: far above what goes on around them."""
    # A light change recolours without relaying, a moving thing relays a little without recolouring:
    # only another scene does both.
    raw = np.sqrt([max(0.0, s.recoloured * s.relaid) for s in steps])
    cuts: list[int] = []
    for i, change in enumerate(steps):
        # Four steps on either side; near the start fewer come before, so that its own place shifts.
        near = np.delete(raw[max(0, i - 4) : i + 5], min(i, 4))
        usual = float(np.median(near)) if len(near) else 0.0
        # Set on drawn clips, where counts of shots by 128, 16 and 4 frames then scored .96, .25 and
        # .04.
        if raw[i] <= 0.28 + 0.9 * usual or change.relaid <= 0.15:
            continue
        is_behind_cut = cuts and cuts[-1] == i - 1
        if is_behind_cut and apart(glances[i - 1].histogram, glances[i + 1].histogram) < 0.12:
            # One odd frame between two that are alike is a flash.
            cuts.pop()
        else:
            cuts.append(i)
    return cuts


def _bridged(mids: Curve, moved: Curve, cut_steps: list[int]) -> Curve:
    """Return the motion curve with each cut replaced by what its neighbours say."""
    within = np.ones(len(moved), bool)
    within[cut_steps] = False
    if not within.any():
        return np.zeros(len(moved))
    return np.asarray(np.interp(mids, mids[within], moved[within]), np.float64)


def still_stretch(seen: FrameSequence) -> tuple[float, float] | None:
    """Return the longest stretch in which nothing moves and nothing is cut; None if short."""
    best = (0.0, 0.0)
    start = 0.0
    for i, b in enumerate(seen.times[1:]):
        if seen.motion[i] >= _STILL or i in seen.cut_steps:
            start = float(b)
        elif b - start > best[1] - best[0]:
            best = (start, float(b))
    return best if best[1] - best[0] > 0.08 * seen.duration_s else None


def longest_run(seen: FrameSequence, colour: str) -> tuple[float, float] | None:
    """Return the longest stretch in which a colour has its share; None if it never has."""
    has = seen.shares[:, COLOURS.index(colour)] >= SHARE
    bounds = [0, *(np.flatnonzero(np.diff(has)) + 1).tolist(), len(has)]
    runs = [
        (float(seen.times[first]), float(seen.times[behind - 1]))
        for first, behind in pairwise(bounds)
        if has[first]
    ]
    return max(runs, key=lambda run: run[1] - run[0], default=None)


def most_of(seen: FrameSequence, colour: str) -> float:
    """Return when a colour has most of the picture."""
    return float(seen.times[int(np.argmax(seen.shares[:, COLOURS.index(colour)]))])


def comeback(seen: FrameSequence) -> float:
    """Return 1 if an earlier scene comes back, -1 if none does, 0 if that is unclear."""
    least = -1.0
    for j, later in enumerate(seen.scenes):
        # The scene right before is left out: what was not interrupted has not come back.
        for earlier in seen.scenes[: max(0, j - 1)]:
            alike = likeness(earlier.layout, later.layout) or 0.0
            distance = apart(earlier.histogram, later.histogram)
            if alike > 0.96 and distance < 0.5:
                return 1.0
            if alike > 0.85 and distance < 0.75:
                least = 0.0
    return least
