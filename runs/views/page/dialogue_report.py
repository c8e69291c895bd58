"""What the page of a dialogue set shows: its scores, and dialogues with what models said.

The figures are those that `arena bench score --json` and `arena bench compare --json` print.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from videoautoarena.runs.bench.dialogues.rules import OWN_HISTORY
from videoautoarena.runs.bench.dialogues.score import (
    ALL,
    DialogueComparison,
    compare_dialogues,
    round_points,
    score_dialogues,
)
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine, read_dialogues
from videoautoarena.runs.bench.format.schema import MADE, DialogueItem, Round, spoken
from videoautoarena.runs.bench.score.task_points import marked_by
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.views.page.sets import Json, set_summary
from videoautoarena.runs.views.results.dialogues import (
    dialogue_sections,
    dialogues_report,
    histories_report,
)
from videoautoarena.runs.views.results.report import Section, remark

MOST_BYTES = 4_000_000
"""Of dialogues that are shown; the page says how many of how many those are."""
MOST_RESULTS = 12
"""Whose replies are shown beside them, best first."""
LONGEST_TEXT = 2000
LONGEST_ITEM = 500


def summary_of(opened: OpenBench[DialogueItem]) -> Json:
    """Return all that the page shows; BadInput of a set without results."""
    results = marked_by(opened, read_dialogues(opened), None)
    scores = score_dialogues(opened, results)
    place = {(row.model, row.judge): k for k, row in enumerate(scores.models)}
    results.sort(key=lambda one: place[one.model, one.judge])
    report = dialogues_report(scores)
    beside = histories_report(list(_histories(opened, results)))
    made = opened.manifest.source.kind == MADE
    sections = list(dialogue_sections(scores, report, beside, is_made=made))
    ranked = results[:MOST_RESULTS]
    dialogues = list(_dialogues(opened.items, ranked))
    if dialogues:
        note = _shown_note(opened, results, dialogues)
        sections.append(Section("dialogues", "Dialogues", notes=(remark(note),)))
    found = set_summary(
        opened,
        results,
        [report],
        sections,
        names=[row.model for row in scores.models],
        unit="dialogue",
        sources="arena bench score --json and arena bench compare --json",
        extra="marking replies costs extra.",
    )
    shown = {
        "results": [{"model": one.model, "judge": one.judge} for one in ranked],
        "abilities": list(_abilities(dialogues)),
        "dialogues": dialogues,
    }
    return found | {"shown": shown}


def _abilities(dialogues: Sequence[Json]) -> Iterator[Json]:
    """Yield each ability of which dialogues are shown, and what is said of those."""
    for ability in dict.fromkeys(one["ability"] for one in dialogues):
        mine = [one for one in dialogues if one["ability"] == ability]
        scored = sum(bool(part["checks"]) for one in mine for part in one["rounds"])
        says = f"{counted(len(mine), 'dialogue')} of {spoken(ability)}, with "
        says += f"{counted(scored, 'scored round')}."
        yield {"key": ability, "name": spoken(ability).capitalize(), "says": says}


def _shown_note(
    opened: OpenBench[Any], results: Sequence[DialogueResult], dialogues: Sequence[Json]
) -> str:
    every = counted(len(opened.items), "dialogue")
    cut = f"{len(dialogues):,} of {every}. " * (len(dialogues) < len(opened.items))
    few = f"Of the first {MOST_RESULTS} models. " * (len(results) > MOST_RESULTS)
    return (
        f"{cut}{few}✓ answered as expected, ✗ not. The judge sees question, reference, reply and "
        "items, and no frames. Long texts are cut."
    )


def _histories(
    opened: OpenBench[DialogueItem], results: Sequence[DialogueResult]
) -> Iterator[DialogueComparison]:
    """Yield each model with its own history against itself with the golden one, by one judge."""
    golden = {(one.model, one.judge): one for one in results if one.history == "golden"}
    for one in results:
        name = one.model.removesuffix(f" ({OWN_HISTORY})")
        beside = golden.get((name, one.judge)) if one.history == "own" else None
        # Where no dialogue counts in both, there is nothing to compare.
        if beside is not None and not _counted(opened, one).isdisjoint(_counted(opened, beside)):
            yield compare_dialogues(opened, one.model, name, judge=one.judge)


def _counted(opened: OpenBench[DialogueItem], result: DialogueResult) -> frozenset[str]:
    return frozenset(qid for qid, _ in round_points(opened.items, result.lines))


def _dialogues(items: Sequence[DialogueItem], results: Sequence[DialogueResult]) -> Iterator[Json]:
    """Yield the first dialogues of each ability in turn, as many as there is room for."""
    said = [{(line.qid, line.round): line for line in one.lines} for one in results]
    each = [[item for item in items if item.ability == ability] for ability in ALL]
    in_turn = [item for some in zip_longest(*each) for item in some if item is not None]
    room = MOST_BYTES
    for item in in_turn:
        shown = _dialogue(item, said)
        room -= len(json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace"))
        if room < 0:
            return
        yield shown


def _dialogue(item: DialogueItem, said: Sequence[Mapping[tuple[str, int], RoundLine]]) -> Json:
    return {
        "qid": _cut(item.qid, LONGEST_ITEM),
        "ability": item.ability,
        "video": _cut(item.cluster, LONGEST_ITEM),
        "event": item.event and _cut(item.event, LONGEST_ITEM),
        "spans": item.spans[:20],
        "is_cross_scene": item.is_cross_scene,
        "rounds": [
            _round(one, [lines.get((item.qid, number)) for lines in said])
            for number, one in enumerate(item.rounds, start=1)
        ],
    }


def _round(asked: Round, said: Sequence[RoundLine | None]) -> Json:
    return {
        "user": _cut(asked.user),
        "reference": _cut(asked.reference),
        "is_about_video": asked.is_about_video,
        "refers_to": asked.refers_to,
        "checks": [[_cut(one.text, LONGEST_ITEM), one.expected] for one in asked.checklist],
        "said": [one and _line(one) for one in said] if asked.is_scored else [],
    }


def _line(line: RoundLine) -> Json:
    """Return what a model came to in a round, by the place of its result."""
    found: Json = {"end": line.end, "answers": line.answers}
    texts = {"response": line.response, "reason": line.reason}
    return found | {name: _cut(text) for name, text in texts.items() if text is not None}


def _cut(text: str, most: int = LONGEST_TEXT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
