"""How frames may be spread over a video: what users choose among, and how each is told.

Which frames a policy takes is decided in `video/sampling/policies.py`. Nothing is imported here, so
that commands can offer the names before they load what a run is made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

PolicyName = Literal["uniform", "fps", "scenes", "keyframes"]


class FramePolicy(NamedTuple):
    """How a policy is described; `{fps:g}` and `{scenes}` stand for those of a run or video."""

    in_plan: str
    """What follows "frames: up to 128 a video,"."""
    on_sheet: str
    """What follows "128 frames at 512 x 288,"."""
    needs_scenes: bool = False
    """Whether the scenes have to be found first, which decodes the whole video."""


FRAME_POLICIES: Mapping[PolicyName, FramePolicy] = {
    "uniform": FramePolicy("evenly over time", "evenly in time"),
    "fps": FramePolicy("{fps:g} a second", "{fps:g} a second"),
    "scenes": FramePolicy("evenly over the scenes", "over {scenes}", needs_scenes=True),
    "keyframes": FramePolicy("at key frames", "key frames"),
}
FPS = 1.0
"""Frames per second with the policy "fps" unless given."""
