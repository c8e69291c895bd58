"""Objects: what the examiner finds in each scene, and which of them is one that came back.

Two finds are shown to the matcher where a word of their names and the colours of their regions are
alike; what it says is the same becomes one object. A scene has an object once at most: of several
pairs that would break that, the ones with the most alike regions stand.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from videoautoarena.agents.calls.together import all_done
from videoautoarena.agents.prompting.contracts import Reply
from videoautoarena.agents.prompting.dialogue_contracts import (
    FoundObjectReply,
    ObjectFinderReply,
    RegionReply,
    object_matcher_reply,
)
from videoautoarena.agents.roles.prompter import Task
from videoautoarena.memory.records.records import Frame, Frames
from videoautoarena.memory.records.scenes import Appearance, Box, Scene, SceneObject
from videoautoarena.video.sampling.distinct import Histogram, alike, region_histogram

R = TypeVar("R", bound=Reply)

MOST_OBJECTS = 8
"""In a scene."""
ALIKE = 0.3
"""Regions whose histograms have less in common are of two things; low, since light changes."""
CANDIDATES = 4
"""Earlier finds with which one is compared at most: the most alike ones."""
BATCH = 40
"""Pairs in one call."""
NEAREST_S = 1.0
"""A region whose time is farther from every frame that was shown was not seen."""
LONGEST = {"name": 80, "description": 400}
_WORD = re.compile(r"[^\W_]+")
_SMALL_WORDS = frozenset(
    {"a", "an", "and", "at", "by", "for", "in", "of", "on", "the", "to", "with"}
)


class Asking(Protocol):
    """The way to the examiner and to bytes of frames."""

    @property
    def jpegs(self) -> Callable[[str, Sequence[str]], Awaitable[list[bytes]]]:
        """What gives the bytes of frames, by their `video` and digests."""

    def scope(self, part: str) -> str:
        """Return the scope of the calls about a part."""

    async def ask(self, task: Task, schema: type[R]) -> R | None:
        """Return a reply; None where the call failed for good."""


class Look(NamedTuple):
    """An object as it was found in one scene."""

    name: str
    appearance: Appearance
    histogram: Histogram | None
    """Of its region; None where none was said."""

    @property
    def words(self) -> frozenset[str]:
        """The words of its name that say something."""
        return frozenset(_WORD.findall(self.name.casefold())) - _SMALL_WORDS


@dataclass(frozen=True)
class Finder:
    """Looks for objects in one scene."""

    asking: Asking
    scene: Scene
    frames: Frames
    """On the scene's clock."""
    part: str

    async def find(self) -> list[Look]:
        """Return what was found, the most striking first; nothing where the call failed."""
        task = Task(
            "object_finder",
            self.frames,
            scope=self.asking.scope(self.part),
            texts={"scene": self.scene.caption},
        )
        reply = await self.asking.ask(task, ObjectFinderReply)
        if reply is None:
            return []
        return await all_done(self._look(one) for one in reply.objects[:MOST_OBJECTS])

    async def _look(self, found: FoundObjectReply) -> Look:
        seen = self._seen(found.regions)
        first = self.frames.frames[0]
        frame, box = seen if seen else (first, None)
        appearance = Appearance(
            scene=self.scene.number,
            description=folded(found.description, LONGEST["description"]),
            time_s=round(self.scene.start_s + frame.time_s, 2),
            box=box,
        )
        histogram = None
        if box is not None:
            (jpeg,) = await self.asking.jpegs(self.frames.video, [frame.digest])
            histogram = await asyncio.to_thread(region_histogram, jpeg, box)
        return Look(folded(found.name, LONGEST["name"]), appearance, histogram)

    def _seen(self, regions: Sequence[RegionReply]) -> tuple[Frame, Box] | None:
        """Return the first region that can be, and the frame that it is in."""
        for region in regions:
            box = region.left, region.top, region.right, region.bottom
            frame = min(self.frames.frames, key=lambda one: abs(one.time_s - region.time_s))
            is_near = abs(frame.time_s - region.time_s) <= NEAREST_S
            if is_near and box[0] < box[2] and box[1] < box[3]:
                return frame, box
        return None


class Pair(NamedTuple):
    """Two finds that may be one object, by their places in the order of scenes."""

    earlier: int
    later: int
    likeness: float


async def matched(asking: Asking, found: Sequence[Sequence[Look]]) -> tuple[SceneObject, ...]:
    """Return the objects of all scenes, given what was found in each, in their order."""
    looks = [look for scene in found for look in scene]
    pairs = await asyncio.to_thread(candidates, looks)
    batches = [pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH)]
    works = [_same(asking, looks, batch, n) for n, batch in enumerate(batches, 1)]
    same = [pair for batch in await all_done(works) for pair in batch]
    return bank(looks, same)


def candidates(looks: Sequence[Look]) -> list[Pair]:
    """Return the pairs that are shown to the matcher, a bounded number for each find.

    Blocks; CPU only, some seconds for a film of a thousand scenes.
    """
    pairs = list[Pair]()
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
        pairs += [Pair(int(near[k]), later, float(like[k])) for k in best if like[k] >= ALIKE]
    return pairs


class _Likeness:
    """How alike regions are, of one to many at a time."""

    def __init__(self, looks: Sequence[Look]) -> None:
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


def bank(looks: Sequence[Look], same: Sequence[Pair]) -> tuple[SceneObject, ...]:
    """Return the objects that finds make up, numbered in the order in which they first appear.

    The order of `same` is nothing to it.
    """
    group = list(range(len(looks)))
    members = {place: [place] for place in group}
    scenes = [{look.appearance.scene} for look in looks]
    for pair in sorted(set(same), key=lambda pair: (-pair.likeness, pair.earlier, pair.later)):
        one, other = sorted((group[pair.earlier], group[pair.later]))
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
    asking: Asking, looks: Sequence[Look], pairs: Sequence[Pair], number: int
) -> list[Pair]:
    """Return those of the pairs that are one and the same object."""
    lines = [
        f"{n}. {_said(looks[pair.earlier])} | {_said(looks[pair.later])}"
        for n, pair in enumerate(pairs, 1)
    ]
    task = Task(
        "object_matcher",
        None,
        scope=asking.scope(f"match-{number}"),
        texts={"pairs": "\n".join(lines)},
    )
    reply = await asking.ask(task, object_matcher_reply(len(pairs)))
    if reply is None:
        return []
    return [pair for pair, said in zip(pairs, reply.same, strict=True) if said == "yes"]


def _said(look: Look) -> str:
    """Return name and description as JSON, so that no text can pass for the end of another."""
    return json.dumps([look.name, look.appearance.description], ensure_ascii=False)


def folded(text: str, longest: int) -> str:
    """Return a text in one line, cut where it is too long."""
    return " ".join(text.split())[:longest]
