"""Makes the report of a video's scenes and objects: two tables and a line."""

from __future__ import annotations

from collections.abc import Iterator

from videoautoarena.memory.records.scenes import Scene, SceneMemory, clips_of
from videoautoarena.runs.making.scenes.show import SceneReport
from videoautoarena.runs.views.results.report import (
    Column,
    Report,
    Sentence,
    Table,
    Verbatim,
    sentence,
    tally_table,
)

SHOWN_CLIPS = 24
"""Clips that are named at most."""
# Characters of a reason: some servers answer with a whole page.
_FAILURE = 300


def scenes_report(shown: SceneReport, memory: SceneMemory) -> Report:
    """Return what is remembered of a video."""
    tally = tally_table(
        {
            "scenes": len(memory.scenes),
            "shots": shown.shots,
            "objects": len(memory.objects),
            "back": sum(len(one.scenes) > 1 for one in memory.objects),
            "unnamed": max(len(clips_of(memory)) - SHOWN_CLIPS, 0),
        }
    )
    none = () if memory.objects else (Sentence(("no objects were found",)),)
    tables = tuple(one for one in (_scene_table(memory), _object_table(memory)) if one.rows)
    sentences = (*none, *_unsure(memory), *_totals(shown, memory, tally))
    return Report((*tables, tally), sentences)


def _scene_table(memory: SceneMemory) -> Table:
    columns = (
        Column("number", "scene", "count"),
        Column("start_s", "from", "seconds"),
        Column("end_s", "to", "seconds"),
        Column("shots", "shots", "count"),
        Column("caption", "caption"),
        Column("objects", "objects"),
    )
    rows = tuple(
        {
            **vars(scene),
            "shots": len(scene.shots),
            "caption": _caption(scene),
            "objects": " ".join(one.id for one in memory.seen_in((scene.number,))),
        }
        for scene in memory.scenes
    )
    return Table("scenes", "Scenes", columns, rows)


def _object_table(memory: SceneMemory) -> Table:
    """Return the objects, those that come back first."""
    columns = (
        Column("id", "object"),
        Column("name", "name"),
        Column("scenes", "scenes", "counts_in_a_row"),
        Column("times", "seen at", "moments"),
        Column("looks", "looks"),
    )
    rows = tuple(
        {
            **{"id": one.id, "name": one.name, "scenes": one.scenes},
            "times": [seen.time_s for seen in one.appearances],
            "looks": one.appearances[0].description,
        }
        for one in sorted(memory.objects, key=lambda one: len(one.scenes) < 2)
    )
    return Table("objects", "Objects", columns, rows)


def _caption(scene: Scene) -> str:
    theme = f" [{scene.theme}]" if scene.theme else ""
    return f"{scene.caption}{theme}" if scene.caption else "(no caption: its call failed)"


def _unsure(memory: SceneMemory) -> Iterator[Sentence]:
    for scope, why in memory.failures.items():
        part = Verbatim(scope.partition(":")[2])
        reason = Verbatim(why[:_FAILURE])
        yield sentence("failed, {part}: {reason}", part=part, reason=reason)


def _totals(shown: SceneReport, memory: SceneMemory, tally: Table) -> Iterator[Sentence]:
    counts = tally.quotes()
    yield sentence(
        "{scenes:scene} of {shots:shot}; {objects:object}, {back} in several scenes; named by "
        "{examiner}",
        counts,
        examiner=Verbatim(shown.examiner),
    )
    clips = clips_of(memory)[:SHOWN_CLIPS]
    named = " ".join(f"{one.id} ({one.shared})" if one.shared else one.id for one in clips)
    said = "clips for dialogues: {named}[ and {unnamed} more]"
    yield sentence(said, counts, named=Verbatim(named))
