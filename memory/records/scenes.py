"""What is remembered of one video: its scenes, the objects in them, and where each comes back.

Times are seconds from the first frame. What scenes and objects are called are the examiner's words:
data, never names of anything.

Source: MT-Video-Bench, collection: scenes by cuts and captions, sharp and distinct frames, objects
with an id across scenes, and clips of several scenes that share one.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from videoautoarena.memory.records.calls import Record

Span = tuple[float, float]
"""From when to when."""
Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares of the picture from 0 to 1."""


class Scene(Record):
    """A stretch that belongs together: one shot, or neighbours that were merged."""

    number: int
    """From 1, in the order of time."""
    start_s: float
    end_s: float
    caption: str
    """Empty where nobody could be had to write one."""
    theme: str = ""
    """What it is about, in a few words."""
    shots: tuple[Span, ...]
    """Between the cuts, in order."""
    frames_s: tuple[float, ...] = ()
    """Of the sharp and distinct frames that were looked at for objects."""


class Appearance(Record):
    """An object in one scene."""

    scene: int
    """Number of the scene."""
    description: str
    """What it looks like there."""
    time_s: float
    """Of the frame in which it was found."""
    box: Box | None = None
    """Where it is in that frame, as far as that was said."""


class SceneObject(Record):
    """A thing or a being, with all scenes in which it was found."""

    id: str
    """`o1`, `o2` .. in the order in which they first appear."""
    name: str
    appearances: tuple[Appearance, ...]

    @property
    def scenes(self) -> tuple[int, ...]:
        """Numbers of the scenes it is in, ascending, each once."""
        return tuple(sorted({one.scene for one in self.appearances}))


class SceneMemory(Record):
    """The scenes and the bank of objects of one video."""

    video: str
    """Its id."""
    duration_s: float
    scenes: tuple[Scene, ...]
    objects: tuple[SceneObject, ...]
    failures: dict[str, str] = Field(default_factory=dict)
    """Scope of each call that failed for good, and why: what it would have said is left out."""

    def seen_in(self, scenes: tuple[int, ...]) -> tuple[SceneObject, ...]:
        """Return the objects that are in one of these scenes."""
        return tuple(one for one in self.objects if set(one.scenes) & set(scenes))


class Clip(Record):
    """What one dialogue is about: a scene, several that share something, or the whole video."""

    id: str
    """Unique within its video: `s3` of one scene, `c1-4` of several, `whole`."""
    scenes: tuple[int, ...]
    spans: tuple[Span, ...] = ()
    """In order, apart from each other; empty for the whole video."""
    why: Literal["scene", "object", "theme", "whole"]
    shared: str | None = None
    """What its scenes share: the id of an object, or the words of a theme."""

    @property
    def is_cross_scene(self) -> bool:
        """Whether it goes over more than one scene."""
        return len(self.scenes) > 1
