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
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeVar

from videoautoarena.agents.calls.together import all_done
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import Reply
from videoautoarena.agents.prompting.dialogue_contracts import (
    SceneCaptionerReply,
    scene_merger_reply,
)
from videoautoarena.agents.roles.objects import Finder, Look, folded, matched
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.memory.records.errors import CallFailed
from videoautoarena.memory.records.records import Frames, Sampling, Video
from videoautoarena.memory.records.scenes import Scene, SceneMemory, Span
from videoautoarena.video.sampling.distinct import measure, sharp_and_distinct
from videoautoarena.video.sampling.thinning import take, thin

R = TypeVar("R", bound=Reply)

LOOKS_A_SECOND = 2.0
LOOKS = Sampling(frames=256, policy="fps", fps=LOOKS_A_SECOND)
"""Which frames of a stretch are looked at."""
MOST_SHOWN = 12
"""Of these so many are sent with a call."""
WINDOW = 40
"""Captions in one call for merging; each pair of neighbours is in one of them."""
LONGEST = {"caption": 600, "theme": 80}
"""Characters of what was said that are kept."""


@dataclass(frozen=True)
class Watching:
    """What a video is remembered with."""

    prompter: Prompter
    model: Model
    video: Video
    frames: Callable[[Sequence[Span]], Awaitable[Frames]]
    """Stretches to frames by `LOOKS`, on the clock of the first of them."""
    jpegs: Callable[[str, Sequence[str]], Awaitable[list[bytes]]]
    """`video` of such frames and digests to their bytes."""
    on_progress: Callable[[int, int, str], None] = lambda _done, _of, _what: None
    failures: dict[str, str] = field(default_factory=dict, init=False)
    """Scope of each call that failed for good, and why."""
    _measuring: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2), init=False)

    async def looked_at(self, span: Span) -> Frames:
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
        """Return a reply; None where the call failed for good, which is noted."""
        try:
            return await self.prompter.ask_json(self.model, task, schema)
        except CallFailed as failure:
            self.failures[task.scope] = str(failure)
            return None


def scope_of(video: str) -> str:
    """Return how the scopes of all calls begin that remember a video; `:` and a part follow."""
    return f"scenes-{video}"


async def remember(watching: Watching, shots: Sequence[Span]) -> SceneMemory:
    """Return the scenes and objects of a video that is cut into `shots`, in order, one at least.

    Takes a call a shot, one a merged scene, one a scene for its objects, and a few for merging and
    matching. Raises UnusableVideo or FramesChanged where no frames can be had.
    """
    said = await _progressed(
        watching, "captioned", [_caption(watching, (n, n), shot) for n, shot in enumerate(shots, 1)]
    )
    groups = [_Group((n,), *one) for n, one in enumerate(said)]
    for number in (1, 2):
        groups = await _merged(watching, groups, number)
    scenes = []
    found = []
    works = [_scene(watching, n, group, shots) for n, group in enumerate(groups, 1)]
    for scene, looks in await _progressed(watching, "looked for objects", works):
        scenes.append(scene)
        found.append(looks)
    objects = await matched(watching, found)
    return SceneMemory(
        video=watching.video.id,
        duration_s=shots[-1][1],
        scenes=tuple(scenes),
        objects=objects,
        failures=dict(sorted(watching.failures.items())),
    )


T = TypeVar("T")


async def _progressed(watching: Watching, what: str, works: Sequence[Awaitable[T]]) -> list[T]:
    """Return what works come to, and say after each how many are done."""
    done = 0

    async def one(work: Awaitable[T]) -> T:
        nonlocal done
        found = await work
        done += 1
        watching.on_progress(done, len(works), what)
        return found

    return await all_done(map(one, works))


class _Group(NamedTuple):
    """Neighbouring shots that belong together, as far as is known."""

    shots: tuple[int, ...]
    caption: str
    theme: str


async def _caption(watching: Watching, ends: tuple[int, int], span: Span) -> tuple[str, str]:
    """Return caption and theme of a stretch from one shot to another; empty where it failed."""
    frames = thin(await watching.frames([span]), MOST_SHOWN)
    name = f"shot-{ends[0]}" if ends[0] == ends[1] else f"shots-{ends[0]}-{ends[1]}"
    task = Task("scene_captioner", frames, scope=watching.scope(name))
    reply = await watching.ask(task, SceneCaptionerReply)
    if reply is None:
        return "", ""
    return folded(reply.caption, LONGEST["caption"]), folded(reply.theme, LONGEST["theme"])


async def _merged(watching: Watching, groups: Sequence[_Group], number: int) -> list[_Group]:
    """Return the groups with neighbours joined that belong together; the order never changes."""
    works = [_joints(watching, groups, window, number) for window in windows(groups)]
    joints = {place for found in await all_done(works) for place in found}
    merged = [groups[0]]
    for place, group in enumerate(groups[1:], 1):
        if place in joints:
            merged[-1] = _joined(merged[-1], group)
        else:
            merged.append(group)
    return merged


def windows(groups: Sequence[_Group]) -> list[range]:
    """Return stretches of captioned groups, two at least in each; pairs are in one of them."""
    ends = [-1, *(n for n, group in enumerate(groups) if not group.caption), len(groups)]
    return [
        range(start, min(start + WINDOW, end))
        for before, end in pairwise(ends)
        for start in range(before + 1, end - 1, WINDOW - 1)
    ]


async def _joints(
    watching: Watching, groups: Sequence[_Group], window: range, number: int
) -> list[int]:
    """Return the places of a window that belong to the group before them."""
    lines = [f"{n}. {groups[place].caption}" for n, place in enumerate(window, 1)]
    task = Task(
        "scene_merger",
        None,
        scope=watching.scope(f"merge-{number}-{groups[window[0]].shots[0] + 1}"),
        texts={"scenes": "\n".join(lines)},
    )
    reply = await watching.ask(task, scene_merger_reply(len(window) - 1))
    if reply is None:
        return []
    return [place for place, said in zip(window[1:], reply.together, strict=True) if said == "yes"]


def _joined(one: _Group, other: _Group) -> _Group:
    """Return both as one, with what was said of either."""
    caption = one.caption if other.caption in one.caption else f"{one.caption} {other.caption}"
    return _Group((*one.shots, *other.shots), caption[: LONGEST["caption"]], one.theme)


async def _scene(
    watching: Watching, number: int, group: _Group, shots: Sequence[Span]
) -> tuple[Scene, list[Look]]:
    """Return a scene, captioned as a whole, and what was found in it."""
    own = tuple(shots[place] for place in group.shots)
    span = own[0][0], own[-1][1]
    ends = group.shots[0] + 1, group.shots[-1] + 1
    caption = group.caption
    theme = group.theme
    if len(own) > 1:
        whole = await _caption(watching, ends, span)
        caption, theme = whole if whole[0] else (caption, theme)
    frames = await watching.looked_at(span)
    scene = Scene(
        number=number,
        start_s=span[0],
        end_s=span[1],
        caption=caption,
        theme=theme,
        shots=own,
        frames_s=tuple(round(span[0] + frame.time_s, 2) for frame in frames.frames),
    )
    finder = Finder(watching, scene, frames, f"objects-{ends[0]}-{ends[1]}")
    return scene, await finder.find()
