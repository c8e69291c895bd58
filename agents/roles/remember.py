"""Remembering a video: a caption of each shot, scenes by two merges, and the objects in them.

Nothing is decided here that the replies and the frames do not decide again, so that whoever has the
journal repeats it for nothing. A call that failed for good leaves out what it would have said: a
scene keeps its time with an empty caption, has no objects, or stays apart from its neighbour; why
stands in the memory's `failures`.

Source: MT-Video-Bench, collection. No detector's weights can be had here: the examiner names the
objects.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import (
    FoundObjectReply,
    ObjectFinderReply,
    RegionReply,
    Reply,
    SceneCaptionerReply,
    object_matcher_reply,
    scene_merger_reply,
)
from videoautoarena.agents.roles.prompter import Prompter, Task, all_done
from videoautoarena.memory.records.errors import CallFailed
from videoautoarena.memory.records.records import Frame, Sampling, Video, VideoFrames
from videoautoarena.memory.records.scenes import (
    Appearance,
    Box,
    Scene,
    SceneMemory,
    SceneObject,
    Span,
)
from videoautoarena.video.sampling.distinct import (
    Histogram,
    alike,
    measure,
    region_histogram,
    sharp_and_distinct,
)
from videoautoarena.video.sampling.thinning import take, thin

MOST_OBJECTS = 8
"""Most objects of a scene."""
ALIKE = 0.3
"""Regions whose histograms have less in common are of two things; low, since light changes."""
CANDIDATES = 4
"""Most earlier finds that one is compared with, the most alike ones."""
BATCH = 40
"""Most pairs in one call."""
NEAREST_S = 1.0
"""A region whose time is farther from every frame that was shown was not seen."""
LONGEST_OF_OBJECT = {"name": 80, "description": 400}
_WORD = re.compile(r"[^\W_]+")
_SMALL_WORDS = frozenset(
    {"a", "an", "and", "at", "by", "for", "in", "of", "on", "the", "to", "with"}
)


class ObjectSighting(NamedTuple):
    """An object as it was found in one scene."""

    name: str
    appearance: Appearance
    histogram: Histogram | None
    """Histogram of its region; None if no region was given."""

    @property
    def words(self) -> frozenset[str]:
        """The words of its name that say something."""
        return frozenset(_WORD.findall(self.name.casefold())) - _SMALL_WORDS


@dataclass(frozen=True)
class ObjectFinder:
    """Looks for objects in one scene."""

    builder: SceneBuilder
    scene: Scene
    frames: VideoFrames
    """Frames of the scene, on its own clock."""
    part: str

    async def find(self) -> list[ObjectSighting]:
        """Return what was found, the most striking first; nothing if the call failed."""
        task = Task(
            "object_finder",
            self.frames,
            scope=self.builder.scope(self.part),
            texts={"scene": self.scene.caption},
        )
        reply = await self.builder.ask(task, ObjectFinderReply)
        if reply is None:
            return []
        return await all_done(self._look(one) for one in reply.objects[:MOST_OBJECTS])

    async def _look(self, found: FoundObjectReply) -> ObjectSighting:
        seen = self._seen(found.regions)
        first = self.frames.frames[0]
        frame, box = seen if seen else (first, None)
        appearance = Appearance(
            scene=self.scene.number,
            description=folded(found.description, LONGEST_OF_OBJECT["description"]),
            time_s=round(self.scene.start_s + frame.time_s, 2),
            box=box,
        )
        histogram = None
        if box is not None:
            (jpeg,) = await self.builder.jpegs(self.frames.video, [frame.digest])
            histogram = await asyncio.to_thread(region_histogram, jpeg, box)
        return ObjectSighting(folded(found.name, LONGEST_OF_OBJECT["name"]), appearance, histogram)

    def _seen(self, regions: Sequence[RegionReply]) -> tuple[Frame, Box] | None:
        """Return the first region that can be, and the frame that it is in."""
        for region in regions:
            box = region.left, region.top, region.right, region.bottom
            frame = min(self.frames.frames, key=lambda one: abs(one.time_s - region.time_s))
            is_near = abs(frame.time_s - region.time_s) <= NEAREST_S
            if is_near and box[0] < box[2] and box[1] < box[3]:
                return frame, box
        return None


class SightingPair(NamedTuple):
    """Two finds that may be one object, by their places in the order of scenes."""

    earlier: int
    later: int
    likeness: float


async def matched(
    builder: SceneBuilder, found: Sequence[Sequence[ObjectSighting]]
) -> tuple[SceneObject, ...]:
    """Return the objects of all scenes, given what was found in each, in their order."""
    looks = [look for scene in found for look in scene]
    pairs = await asyncio.to_thread(candidates, looks)
    batches = [pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH)]
    works = [_same(builder, looks, batch, n) for n, batch in enumerate(batches, 1)]
    same = [pair for batch in await all_done(works) for pair in batch]
    return bank(looks, same)


def candidates(looks: Sequence[ObjectSighting]) -> list[SightingPair]:
    """Return the pairs that are shown to the matcher, a bounded number for each find.

    Blocks; CPU only, some seconds for a film of a thousand scenes.
    """
    pairs = list[SightingPair]()
    by_word = defaultdict[str, list[int]](list)
    scenes = np.array([look.appearance.scene for look in looks])
    likeness = _Likeness(looks)
    for later, look in enumerate(looks):
        near = np.array(sorted({at for word in look.words for at in by_word[word]}), np.intp)
        for word in look.words:
            by_word[word].append(later)
        near = near[scenes[near] != scenes[later]]
        like = likeness.of(later, near)
        best = np.lexsort((-near, -like))[:CANDIDATES]
        pairs += [
            SightingPair(int(near[k]), later, float(like[k])) for k in best if like[k] >= ALIKE
        ]
    return pairs


class _Likeness:
    """Likeness of regions, one to many at a time."""

    def __init__(self, looks: Sequence[ObjectSighting]) -> None:
        self._has_region = np.array([look.histogram is not None for look in looks])
        some = next((look.histogram for look in looks if look.histogram is not None), np.zeros(0))
        blank = np.zeros_like(some)
        self._regions = np.array(
            [blank if look.histogram is None else look.histogram for look in looks]
        )

    def of(self, one: int, others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how alike the regions of others are to that of one."""
        # A region that nobody gave rules nothing out.
        known = self._has_region[others] & self._has_region[one]
        return np.where(known, alike(self._regions[others], self._regions[one]), ALIKE)


def bank(looks: Sequence[ObjectSighting], same: Sequence[SightingPair]) -> tuple[SceneObject, ...]:
    """Return the objects that finds make up, numbered in the order in which they first appear.

    The result does not depend on the order of `same`.
    """
    group = list(range(len(looks)))
    members = {place: [place] for place in group}
    scenes = [{look.appearance.scene} for look in looks]
    # The most alike pairs first, since an earlier union may forbid a later one.
    for pair in sorted(set(same), key=lambda pair: (-pair.likeness, pair.earlier, pair.later)):
        one, other = sorted((group[pair.earlier], group[pair.later]))
        # An object is in a scene once, so that groups which share a scene are two objects.
        if not scenes[one].isdisjoint(scenes[other]):
            continue  # also where both are one already
        scenes[one] |= scenes[other]
        for place in members[other]:
            group[place] = one
        members[one] = sorted((*members[one], *members.pop(other)))
    return tuple(
        SceneObject(
            id=f"o{number}",
            name=looks[first].name,
            appearances=tuple(looks[place].appearance for place in members[first]),
        )
        for number, first in enumerate(sorted(members), 1)
    )


async def _same(
    builder: SceneBuilder,
    looks: Sequence[ObjectSighting],
    pairs: Sequence[SightingPair],
    number: int,
) -> list[SightingPair]:
    """Return those of the pairs that are one and the same object."""
    lines = [
        f"{n}. {_said(looks[pair.earlier])} | {_said(looks[pair.later])}"
        for n, pair in enumerate(pairs, 1)
    ]
    task = Task(
        "object_matcher",
        None,
        scope=builder.scope(f"match-{number}"),
        texts={"pairs": "\n".join(lines)},
    )
    reply = await builder.ask(task, object_matcher_reply(len(pairs)))
    if reply is None:
        return []
    return [pair for pair, said in zip(pairs, reply.same, strict=True) if said == "yes"]


def _said(look: ObjectSighting) -> str:
    """Return name and description as JSON, so that no text can pass for the end of another."""
    return json.dumps([look.name, look.appearance.description], ensure_ascii=False)


def folded(text: str, longest: int) -> str:
    """Return a text in one line, cut where it is too long."""
    return " ".join(text.split())[:longest]


R = TypeVar("R", bound=Reply)

# As in MT-Video-Bench.
LOOKS_A_SECOND = 2.0
LOOKS = Sampling(frames=256, policy="fps", fps=LOOKS_A_SECOND)
"""How the frames of a stretch that are looked at are sampled."""
MOST_SHOWN = 12
"""Most of these frames that are sent with one call."""
WINDOW = 40
"""Captions in one call for merging; each pair of neighbours is in one of them."""
LONGEST_OF_SCENE = {"caption": 600, "theme": 80}
"""Characters of what was said that are kept."""


@dataclass(frozen=True)
class SceneBuilder:
    """What it takes to remember a video: models, frames, and where failures are noted."""

    prompter: Prompter
    model: Model
    video: Video
    frames: Callable[[Sequence[Span]], Awaitable[VideoFrames]]
    """Stretches to frames by `LOOKS`, on the clock of the first of them."""
    jpegs: Callable[[str, Sequence[str]], Awaitable[list[bytes]]]
    """`video` of such frames and digests to their bytes."""
    on_progress: Callable[[int, int, str], None] = lambda _done, _of, _what: None
    failures: dict[str, str] = field(default_factory=dict, init=False)
    """Scope of each call that failed for good, and why."""
    _measuring: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2), init=False)

    async def looked_at(self, span: Span) -> VideoFrames:
        """Return the sharp and distinct frames of a stretch, so many as one call carries."""
        frames = await self.frames([span])
        # A few stretches at a time: a film's would not all fit into memory.
        async with self._measuring:
            jpegs = await self.jpegs(frames.video, [frame.digest for frame in frames.frames])
            measured = await asyncio.to_thread(lambda: list(map(measure, jpegs)))
        return thin(take(frames, sharp_and_distinct(measured)), MOST_SHOWN)

    def scope(self, part: str) -> str:
        """Return the scope of the calls about a part."""
        return f"{scope_of(self.video.id)}:{part}"

    async def ask(self, task: Task, schema: type[R]) -> R | None:
        """Return a reply; None if the call failed for good, which is noted."""
        try:
            return await self.prompter.ask_json(self.model, task, schema)
        except CallFailed as failure:
            self.failures[task.scope] = str(failure)
            return None


def scope_of(video: str) -> str:
    """Return how the scopes of calls that remember a video begin; `:` and a part follow."""
    return f"scenes-{video}"


async def remember(builder: SceneBuilder, shots: Sequence[Span]) -> SceneMemory:
    """Return the scenes and objects of a video that is cut into `shots`, in order, one at least.

    Takes a call a shot, one a merged scene, one a scene for its objects, and a few for merging and
    matching. Raises UnusableVideo or FramesChanged where no frames can be had.
    """
    said = await _progressed(
        builder, "captioned", [_caption(builder, (n, n), shot) for n, shot in enumerate(shots, 1)]
    )
    groups = [_ShotGroup((n,), *one) for n, one in enumerate(said)]
    # Twice, as MT-Video-Bench does.
    for number in (1, 2):
        groups = await _merged(builder, groups, number)
    scenes = []
    found = []
    works = [_scene(builder, n, group, shots) for n, group in enumerate(groups, 1)]
    for scene, looks in await _progressed(builder, "looked for objects", works):
        scenes.append(scene)
        found.append(looks)
    objects = await matched(builder, found)
    return SceneMemory(
        video=builder.video.id,
        duration_s=shots[-1][1],
        scenes=tuple(scenes),
        objects=objects,
        failures=dict(sorted(builder.failures.items())),
    )


T = TypeVar("T")


async def _progressed(builder: SceneBuilder, what: str, works: Sequence[Awaitable[T]]) -> list[T]:
    """Return the results of works, and report after each how many are done."""
    done = 0

    async def one(work: Awaitable[T]) -> T:
        nonlocal done
        found = await work
        done += 1
        builder.on_progress(done, len(works), what)
        return found

    return await all_done(map(one, works))


class _ShotGroup(NamedTuple):
    """Neighbouring shots that belong together, as far as is known."""

    shots: tuple[int, ...]
    caption: str
    theme: str


async def _caption(builder: SceneBuilder, ends: tuple[int, int], span: Span) -> tuple[str, str]:
    """Return caption and theme of a stretch from one shot to another; empty if it failed."""
    frames = thin(await builder.frames([span]), MOST_SHOWN)
    name = f"shot-{ends[0]}" if ends[0] == ends[1] else f"shots-{ends[0]}-{ends[1]}"
    task = Task("scene_captioner", frames, scope=builder.scope(name))
    reply = await builder.ask(task, SceneCaptionerReply)
    if reply is None:
        return "", ""
    return folded(reply.caption, LONGEST_OF_SCENE["caption"]), folded(
        reply.theme, LONGEST_OF_SCENE["theme"]
    )


async def _merged(
    builder: SceneBuilder, groups: Sequence[_ShotGroup], number: int
) -> list[_ShotGroup]:
    """Return the groups with neighbours joined that belong together; the order never changes."""
    works = [_joints(builder, groups, window, number) for window in windows(groups)]
    joints = {place for found in await all_done(works) for place in found}
    merged = [groups[0]]
    for place, group in enumerate(groups[1:], 1):
        if place in joints:
            merged[-1] = _joined(merged[-1], group)
        else:
            merged.append(group)
    return merged


def windows(groups: Sequence[_ShotGroup]) -> list[range]:
    """Return stretches of captioned groups, two or more in each; every pair is in one of them."""
    # A scene without a caption stays apart from its neighbours, so that no window crosses one.
    ends = [-1, *(n for n, group in enumerate(groups) if not group.caption), len(groups)]
    return [
        range(start, min(start + WINDOW, end))
        for before, end in pairwise(ends)
        # Neighbouring windows share a scene, so that the pair across their border is asked about.
        for start in range(before + 1, end - 1, WINDOW - 1)
    ]


async def _joints(
    builder: SceneBuilder, groups: Sequence[_ShotGroup], window: range, number: int
) -> list[int]:
    """Return the places of a window that belong to the group before them."""
    lines = [f"{n}. {groups[place].caption}" for n, place in enumerate(window, 1)]
    task = Task(
        "scene_merger",
        None,
        scope=builder.scope(f"merge-{number}-{groups[window[0]].shots[0] + 1}"),
        texts={"scenes": "\n".join(lines)},
    )
    reply = await builder.ask(task, scene_merger_reply(len(window) - 1))
    if reply is None:
        return []
    return [place for place, said in zip(window[1:], reply.together, strict=True) if said == "yes"]


def _joined(one: _ShotGroup, other: _ShotGroup) -> _ShotGroup:
    """Return both as one, with what was said of either."""
    caption = one.caption if other.caption in one.caption else f"{one.caption} {other.caption}"
    return _ShotGroup((*one.shots, *other.shots), caption[: LONGEST_OF_SCENE["caption"]], one.theme)


async def _scene(
    builder: SceneBuilder, number: int, group: _ShotGroup, shots: Sequence[Span]
) -> tuple[Scene, list[ObjectSighting]]:
    """Return a scene, captioned as a whole, and what was found in it."""
    own = tuple(shots[place] for place in group.shots)
    span = own[0][0], own[-1][1]
    ends = group.shots[0] + 1, group.shots[-1] + 1
    caption = group.caption
    theme = group.theme
    if len(own) > 1:
        whole = await _caption(builder, ends, span)
        caption, theme = whole if whole[0] else (caption, theme)
    frames = await builder.looked_at(span)
    scene = Scene(
        number=number,
        start_s=span[0],
        end_s=span[1],
        caption=caption,
        theme=theme,
        shots=own,
        frames_s=tuple(round(span[0] + frame.time_s, 2) for frame in frames.frames),
    )
    finder = ObjectFinder(builder, scene, frames, f"objects-{ends[0]}-{ends[1]}")
    return scene, await finder.find()
