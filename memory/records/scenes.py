"""What is kept of one video: its scenes, the objects in them, and where each appears again.

Times are seconds from the first frame. What scenes and objects are called are the examiner's words:
data, never names of anything.

Source: MT-Video-Bench, collection: scenes by cuts and captions, sharp and distinct frames, objects
with an id across scenes, and clips of several scenes that share one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from pydantic import Field

from videoautoarena.memory.records.records import Record

Span = tuple[float, float]
"""Start and end in seconds."""
Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares of the picture from 0 to 1."""


class Scene(Record):
    """A stretch that belongs together: one shot, or neighbouring shots that were merged."""

    number: int
    """Number of the scene, from 1 in order of time."""
    start_s: float
    end_s: float
    caption: str
    """What happens in it; empty where no call for a caption succeeded."""
    theme: str = ""
    """What it is about, in a few words."""
    shots: tuple[Span, ...]
    """The stretches between its cuts, in order."""
    frames_s: tuple[float, ...] = ()
    """Times of the sharp and distinct frames that were looked at for objects."""


class Appearance(Record):
    """An object in one scene."""

    scene: int
    """Number of the scene."""
    description: str
    """What it looks like there."""
    time_s: float
    """Time of the frame in which it was found."""
    box: Box | None = None
    """Where it is in that frame; None where the model did not say."""


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
    """Scope of each call that failed for good, and why; what it would have added is missing."""

    def seen_in(self, scenes: tuple[int, ...]) -> tuple[SceneObject, ...]:
        """Return the objects that are in one of these scenes."""
        return tuple(one for one in self.objects if set(one.scenes) & set(scenes))


class Clip(Record):
    """What one dialogue is about: a scene, several that share something, or the whole video."""

    id: str
    """Unique within its video: `s3` of one scene, `c1-4` of several, `whole`."""
    scenes: tuple[int, ...]
    spans: tuple[Span, ...] = ()
    """Stretches in order, apart from each other; empty for the whole video."""
    why: Literal["scene", "object", "theme", "whole"]
    shared: str | None = None
    """What its scenes share: the id of an object, or the words of a theme."""

    @property
    def is_cross_scene(self) -> bool:
        """Whether it goes over more than one scene."""
        return len(self.scenes) > 1


SHORTEST_S = 4.0
"""Seconds; a shorter clip gives too little to talk about."""
MOST_SCENES = 4
"""Most scenes of a clip that share something; of more, so many are taken, spread evenly."""
MOST_ACROSS = 16
"""Most clips of one video that go across scenes."""


def clips_of(memory: SceneMemory) -> list[Clip]:
    """Return a video's clips: single scenes in order, scenes that share something, the whole.

    A scene that is all of the video is the whole alone. Clips across scenes come from the objects
    that are in most scenes first, then from themes; no two have the same scenes.
    """
    singles = memory.scenes if len(memory.scenes) > 1 else ()
    clips = [
        Clip(id=f"s{one.number}", scenes=(one.number,), spans=_spans([one]), why="scene")
        for one in singles
        if one.end_s - one.start_s >= SHORTEST_S
    ]
    clips += _across(memory)
    every = tuple(one.number for one in memory.scenes)
    return [*clips, Clip(id="whole", scenes=every, why="whole")]


def _across(memory: SceneMemory) -> list[Clip]:
    scenes = {one.number: one for one in memory.scenes}
    clips: dict[tuple[int, ...], Clip] = {}
    for why, shared, numbers in (*_by_object(memory), *_by_theme(memory.scenes)):
        chosen = _spread(numbers)
        spans = _spans(scenes[number] for number in chosen)
        if chosen in clips or sum(end - start for start, end in spans) < SHORTEST_S:
            continue
        name = "-".join(map(str, chosen))
        clips[chosen] = Clip(id=f"c{name}", scenes=chosen, spans=spans, why=why, shared=shared)
    return list(clips.values())[:MOST_ACROSS]


Sharing = tuple[Literal["object", "theme"], str, Sequence[int]]


def _by_object(memory: SceneMemory) -> Iterator[Sharing]:
    """Yield the objects of several scenes, those in most scenes first, then in their own order."""
    ordered = sorted(memory.objects, key=lambda one: -len(one.scenes))
    yield from (("object", one.id, one.scenes) for one in ordered if len(one.scenes) > 1)


def _by_theme(scenes: Iterable[Scene]) -> Iterator[Sharing]:
    """Yield the themes of several scenes, whatever their case and blanks, in order of time."""
    alike = defaultdict[str, list[Scene]](list)
    for scene in scenes:
        if scene.theme:
            alike[" ".join(scene.theme.casefold().split())].append(scene)
    for same in alike.values():
        if len(same) > 1:
            yield "theme", same[0].theme, [scene.number for scene in same]


def _spread(numbers: Sequence[int]) -> tuple[int, ...]:
    """Return at most as many scenes as a clip may have, the first and the last among them."""
    last = len(numbers) - 1
    most = MOST_SCENES - 1
    if last <= most:
        return tuple(numbers)
    return tuple(numbers[place * last // most] for place in range(MOST_SCENES))


def _spans(scenes: Iterable[Scene]) -> tuple[Span, ...]:
    """Return the stretches of scenes in order; those that touch are joined."""
    spans = list[Span]()
    for scene in scenes:
        if spans and spans[-1][1] >= scene.start_s:
            spans[-1] = spans[-1][0], scene.end_s
        else:
            spans.append((scene.start_s, scene.end_s))
    return tuple(spans)
