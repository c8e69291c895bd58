"""Scenes and objects of a video for a person: two tables and a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from videoautoarena.memory.records.clips import clips_of
from videoautoarena.memory.records.scenes import Scene, SceneMemory, SceneObject
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.scenes.show import Shown
from videoautoarena.runs.text.tables import plain_grid
from videoautoarena.runs.text.terminal import safe

SHOWN_CLIPS = 24
"""Clips that are named for a person."""


def render_scenes(shown: Shown, memory: SceneMemory) -> RenderableType:
    """Return what is remembered of a video for a console."""
    below = [*_unsure(memory), _totals(shown, memory)]
    objects = [_objects(memory), Text()] if memory.objects else [Text("no objects were found")]
    return Group(_scenes(memory), Text(), *objects, *map(Text, below))


def _scenes(memory: SceneMemory) -> RenderableType:
    grid = plain_grid("scene", "from", "to", "shots", "caption", "objects", gap=2)
    for column in grid.columns[:4]:
        column.no_wrap = True
    for column in grid.columns[4:]:
        column.justify = "left"
    for scene in memory.scenes:
        there = " ".join(one.id for one in memory.seen_in((scene.number,)))
        ends = f"{scene.start_s:.1f} s", f"{scene.end_s:.1f} s"
        cells = str(scene.number), *ends, str(len(scene.shots)), _caption(scene), there
        grid.add_row(*map(Text, cells))
    return grid


def _objects(memory: SceneMemory) -> RenderableType:
    """Return the objects, those that come back first."""
    grid = plain_grid("object", "name", "scenes", "seen at", "looks", gap=2)
    grid.columns[0].no_wrap = True
    for column in grid.columns[1:]:
        column.justify = "left"
    for one in sorted(memory.objects, key=lambda one: len(one.scenes) < 2):
        grid.add_row(*map(Text, _cells(one)))
    return grid


def _cells(one: SceneObject) -> Sequence[str]:
    scenes = " ".join(map(str, one.scenes))
    times = " ".join(f"{seen.time_s:.1f}" for seen in one.appearances)
    return one.id, safe(one.name), scenes, f"{times} s", safe(one.appearances[0].description)


def _caption(scene: Scene) -> str:
    theme = f" [{scene.theme}]" if scene.theme else ""
    return safe(f"{scene.caption}{theme}") if scene.caption else "(no caption: its call failed)"


def _unsure(memory: SceneMemory) -> Iterator[str]:
    for scope, why in memory.failures.items():
        part = scope.partition(":")[2]
        yield f"failed, {safe(part)}: {safe(why[:300])}"


def _totals(shown: Shown, memory: SceneMemory) -> str:
    back = [one for one in memory.objects if len(one.scenes) > 1]
    clips = clips_of(memory)
    named = " ".join(
        f"{one.id} ({safe(one.shared)})" if one.shared else one.id for one in clips[:SHOWN_CLIPS]
    )
    more = f" and {len(clips) - SHOWN_CLIPS} more" if len(clips) > SHOWN_CLIPS else ""
    return (
        f"{counted(len(memory.scenes), 'scene')} of {counted(shown.shots, 'shot')}; "
        f"{counted(len(memory.objects), 'object')}, {len(back)} in several scenes; "
        f"named by {safe(shown.examiner)}\nclips for dialogues: {named}{more}"
    )
