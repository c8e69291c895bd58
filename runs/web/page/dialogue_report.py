"""What the page of a dialogue set shows: its scores, and dialogues with what models said.

The figures are those that `arena bench score --json` and `arena bench compare --json` print.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from videoautoarena.runs.bench.dialogues.compare import DialogueComparison, compare_dialogues
from videoautoarena.runs.bench.dialogues.points import ALL, round_points
from videoautoarena.runs.bench.dialogues.rules import OWN_HISTORY
from videoautoarena.runs.bench.dialogues.score import (
    DialogueScores,
    score_dialogues,
    wanted_results,
)
from videoautoarena.runs.bench.dialogues.text import CONSTANT_NAMES, EACH, notes
from videoautoarena.runs.bench.format.entries import Round
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine
from videoautoarena.runs.bench.format.schema import MADE, DialogueItem
from videoautoarena.runs.rundir.reader import STAND_INS
from videoautoarena.runs.web.page.dialogue_sentences import findings
from videoautoarena.runs.web.page.sentences import as_text
from videoautoarena.runs.web.page.task_report import about_of, plain_figure, result_of

SCHEMA = 1
"""Of what the page reads."""
MOST_BYTES = 4_000_000
"""Of dialogues that are shown; the page says how many of how many those are."""
MOST_RESULTS = 12
"""Whose replies are shown beside them, best first."""
LONGEST_TEXT, LONGEST_ITEM = 2000, 500
_NEEDS_MEMORY = ("object_reference", "memory_recall")
MEMORY_NOTE = (
    "Rounds of object reference and memory recall that can be answered without the rounds before "
    "them were refused when this set was made: who forgets the history falls there for that reason."
)
Json = dict[str, Any]


def summary_of(opened: OpenBench[Any]) -> Json:
    """Return all that the page shows; BadInput of a set without results."""
    results = wanted_results(opened, None)
    scores = score_dialogues(opened, results)
    place = {(row.model, row.judge): k for k, row in enumerate(scores.models)}
    results.sort(key=lambda one: place[one.model, one.judge])
    histories = list(_histories(opened, results))
    made = opened.manifest.source.kind == MADE
    told = [MEMORY_NOTE] if made and set(_NEEDS_MEMORY) & set(scores.abilities) else []
    ranked = results[:MOST_RESULTS]
    return {
        "schema": SCHEMA,
        "set": {**about_of(opened), "rounds": scores.rounds},
        "scores": scores.to_json(),
        "notes": [*_of_all(notes(scores), scores), *told],
        "histories": [one.to_json() for one in histories],
        "results": [result_of(one) for one in results],
        "shown": {
            "results": [{"model": one.model, "judge": one.judge} for one in ranked],
            "dialogues": list(_dialogues(opened.items, ranked)),
        },
        "words": findings(scores, histories),
    }


def _of_all(told: Sequence[str], scores: DialogueScores) -> list[str]:
    """Return what is to know of all scores, and sweeps; the rest of a model is beside its figure.

    That stand-ins played stands above all of them.
    """
    each = tuple(f"{row.model}: " for row in scores.models)
    swept = [sweep.as_line(EACH) for sweep in scores.sweeps]
    return [one for one in told if one in swept or not one.startswith((*each, STAND_INS))]


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


def plain_tables(summary: Mapping[str, Any]) -> str:
    """Return the scores as HTML for readers without scripts, every text escaped."""
    words, scores = summary["words"], summary["scores"]
    lead = html.escape(as_text(words["lead"], words["short"]))
    there = list(scores["abilities"])
    head = "".join(f"<th>{html.escape(one.replace('_', ' '))}" for one in there)
    rows = "".join(map(_plain_row(there), scores["models"]))
    constants = "".join(
        f"<tr><td>{html.escape(CONSTANT_NAMES[one['name']])}<td>{_number(one['overall'])}<td>"
        + "".join(f"<td>{_number(one['abilities'].get(ability))}" for ability in there)
        for one in scores["constants"]
    )
    return (
        f"<h1>{lead}</h1><table><tr><th>Model<th>Overall<th>95 % interval{head}{rows}{constants}"
        "</table>"
    )


def _plain_row(abilities: Sequence[str]) -> Any:
    def row(one: Mapping[str, Any]) -> str:
        found = {each["ability"]: each["figure"]["value"] for each in one["abilities"]}
        if one["twin"] is not None:
            found["refusal_twin"] = one["twin"]["figure"]["value"]
        cells = "".join(f"<td>{_number(found.get(ability))}" for ability in abilities)
        return f"<tr><td>{html.escape(one['model'])}{plain_figure(one['overall'])}{cells}"

    return row


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
