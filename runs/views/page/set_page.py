"""A frozen set with its results as one HTML file: what its page shows, and writing it.

The figures are those that `arena bench score`, `arena bench probe` and `arena bench compare` print
with `--json`.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

from pydantic import JsonValue

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.dialogues.rules import OWN_HISTORY
from videoautoarena.runs.bench.dialogues.score import (
    ALL,
    DialogueComparison,
    compare_dialogues,
    round_points,
    score_dialogues,
)
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import (
    DialogueResult,
    RoundLine,
    TaskResult,
    read_dialogues,
    read_tasks,
)
from videoautoarena.runs.bench.format.schema import (
    DIALOGUE,
    MADE,
    RESULTS,
    TASK_KINDS,
    DialogueItem,
    Generator,
    TaskItem,
    spoken,
)
from videoautoarena.runs.bench.format.writer import refuse_within
from videoautoarena.runs.bench.score.shortcuts import probe_all
from videoautoarena.runs.bench.score.task_points import marked_by
from videoautoarena.runs.bench.score.task_score import score_tasks
from videoautoarena.runs.formats.files import whole_file
from videoautoarena.runs.formats.record_json import LEFT_OUT, fields_json, keyed
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.views.page.document import as_text, document, short_names
from videoautoarena.runs.views.page.report import report_file
from videoautoarena.runs.views.results.checks import probes_report, probes_section
from videoautoarena.runs.views.results.dialogues import (
    dialogue_sections,
    dialogues_report,
    histories_report,
)
from videoautoarena.runs.views.results.forms import marked_up
from videoautoarena.runs.views.results.report import Report, Section, Sentence, remark
from videoautoarena.runs.views.results.sets import ResultRow, methods_section, opening_of
from videoautoarena.runs.views.results.tasks import board_sections, task_reports

SCHEMA = 2
"""Version of the data that the page reads."""
MOST_BYTES = 4_000_000
"""Size of the dialogues that are shown at most; the page says how many of how many those are."""
MOST_RESULTS = 12
"""Results whose replies are shown beside the dialogues, best first."""
LONGEST_TEXT = 2000
LONGEST_ITEM = 500


@dataclass(frozen=True)
class SetFacts:
    """What a set says about itself."""

    name: str
    bench: str
    items: int
    videos: int
    kind: str
    generator: Generator
    licence: str | None
    selection: Mapping[str, JsonValue]
    source: Mapping[str, str]
    """`kind` and `format`."""
    results: int


@dataclass(frozen=True)
class SetWords:
    """The sentences at the top of a set's page, and the short names they go with."""

    short: Mapping[str, str]
    lead: Sentence
    rest: Sentence
    behind: Sentence


@dataclass(frozen=True)
class PageRound:
    """A round of a dialogue, with what models said to it."""

    user: str
    reference: str
    is_about_video: bool
    refers_to: int | None
    checks: Sequence[tuple[str, Any]]
    """The items of its checklist with the expected answers."""
    said: Sequence[Mapping[str, Any] | None]
    """For each result, how the round ended, the answers to the checklist, reply and reason."""


@dataclass(frozen=True)
class PageDialogue:
    """A dialogue as a page shows it."""

    qid: str
    ability: str
    video: str
    event: str | None
    spans: Sequence[Any]
    is_cross_scene: bool | None
    rounds: Sequence[PageRound]


@dataclass(frozen=True)
class PageAbility:
    """An ability whose dialogues are shown, and what is said about these."""

    key: str
    name: str
    says: str


@dataclass(frozen=True)
class PageDialogues:
    """The dialogues of a page, and whose replies stand beside them."""

    results: Sequence[Mapping[str, str | None]]
    """`model` and `judge` of each."""
    abilities: Sequence[PageAbility]
    dialogues: Sequence[PageDialogue]


@dataclass(frozen=True)
class SetPage:
    """All that the page of a set shows."""

    SHOWN: ClassVar = ("version", "set", "stand_ins", "words", "sections", "shown")
    version: int = field(metadata=keyed("schema"))
    set: SetFacts
    stand_ins: bool
    words: SetWords
    sections: Sequence[Section]
    plain: str
    """The reports as HTML for a browser that runs no script."""
    shown: PageDialogues | None = field(default=None, metadata=LEFT_OUT)

    def to_json(self) -> dict[str, Any]:
        """Return what the script of the page reads."""
        return fields_json(self)


def set_page(opened: OpenBench[Any]) -> SetPage:
    """Return the page of a set of tasks or dialogues; BadInput for a set without results."""
    return _dialogues_page(opened) if opened.manifest.kind == DIALOGUE else _tasks_page(opened)


def _tasks_page(opened: OpenBench[TaskItem]) -> SetPage:
    results = marked_by(opened, read_tasks(opened), None)
    scores = score_tasks(opened, results)
    probes = probe_all(opened)
    reports = task_reports(scores)
    sections = [
        section
        for place, (board, report) in enumerate(zip(scores.boards, reports, strict=True))
        for section in board_sections(board, report, place)
    ]
    names = [row.model for board in scores.boards for row in board.models]
    names += [sweep.model for board in scores.boards for sweep in board.sweeps]
    names += [one.model for one in probes.asked.probes]
    return _page(
        opened,
        results,
        reports,
        [*sections, probes_section(probes_report(probes))],
        names=names,
        unit="item",
        command="probe",
        extra="judging free text costs extra.",
    )


def _dialogues_page(opened: OpenBench[DialogueItem]) -> SetPage:
    results = marked_by(opened, read_dialogues(opened), None)
    scores = score_dialogues(opened, results)
    place = {(row.model, row.judge): k for k, row in enumerate(scores.models)}
    # In the order of the board, so that the replies that are shown are those of the best.
    results.sort(key=lambda one: place[one.model, one.judge])
    report = dialogues_report(scores)
    beside = histories_report(list(_histories(opened, results)))
    made = opened.manifest.source.kind == MADE
    sections = list(dialogue_sections(scores, report, beside, is_made=made))
    ranked = results[:MOST_RESULTS]
    dialogues = list(_dialogues(opened.items, ranked))
    if dialogues:
        every = counted(len(opened.items), "dialogue")
        cut = f"{len(dialogues):,} of {every}. " * (len(dialogues) < len(opened.items))
        few = f"Of the first {MOST_RESULTS} models. " * (len(results) > MOST_RESULTS)
        note = remark(
            f"{cut}{few}✓ answered as expected, ✗ not. The judge sees question, reference, reply "
            "and items, and no frames. Long texts are cut."
        )
        sections.append(Section("dialogues", "Dialogues", notes=(note,)))
    abilities = []
    for ability in dict.fromkeys(one.ability for one in dialogues):
        mine = [one for one in dialogues if one.ability == ability]
        scored = sum(bool(part.checks) for one in mine for part in one.rounds)
        says = f"{counted(len(mine), 'dialogue')} of {spoken(ability)}, with "
        says += f"{counted(scored, 'scored round')}."
        abilities.append(PageAbility(ability, spoken(ability).capitalize(), says))
    return _page(
        opened,
        results,
        [report],
        sections,
        names=[row.model for row in scores.models],
        unit="dialogue",
        command="compare",
        extra="marking replies costs extra.",
        shown=PageDialogues(
            [{"model": one.model, "judge": one.judge} for one in ranked], abilities, dialogues
        ),
    )


def _histories(
    opened: OpenBench[DialogueItem], results: Sequence[DialogueResult]
) -> Iterator[DialogueComparison]:
    """Yield each model with its own history against itself with the golden one, by one judge."""

    def counting(result: DialogueResult) -> frozenset[str]:
        return frozenset(qid for qid, _ in round_points(opened.items, result.lines))

    golden = {(one.model, one.judge): one for one in results if one.history == "golden"}
    for one in results:
        # With its own history a model is another player, whose name ends so.
        name = one.model.removesuffix(f" ({OWN_HISTORY})")
        beside = golden.get((name, one.judge)) if one.history == "own" else None
        # compare_dialogues refuses results that have no dialogue in common.
        if beside is not None and not counting(one).isdisjoint(counting(beside)):
            yield compare_dialogues(opened, one.model, name, judge=one.judge)


def _dialogues(
    items: Sequence[DialogueItem], results: Sequence[DialogueResult]
) -> Iterator[PageDialogue]:
    """Yield dialogues of each ability in turn, up to MOST_BYTES together."""
    said = [{(line.qid, line.round): line for line in one.lines} for one in results]
    each = [[item for item in items if item.ability == ability] for ability in ALL]
    # In turn, so that a page that is cut short still shows each ability.
    in_turn = [item for some in zip_longest(*each) for item in some if item is not None]
    room = MOST_BYTES
    for item in in_turn:
        shown = _dialogue(item, said)
        written = json.dumps(fields_json(shown), ensure_ascii=False)
        # Counted as written, since texts are most of a dialogue, and those of some languages are
        # three bytes a letter.
        room -= len(written.encode("utf-8", "replace"))
        if room < 0:
            return
        yield shown


def _dialogue(
    item: DialogueItem, said: Sequence[Mapping[tuple[str, int], RoundLine]]
) -> PageDialogue:
    return PageDialogue(
        qid=_cut(item.qid, LONGEST_ITEM),
        ability=item.ability,
        video=_cut(item.cluster, LONGEST_ITEM),
        event=item.event and _cut(item.event, LONGEST_ITEM),
        # The format sets no limit to how many there are.
        spans=item.spans[:20],
        is_cross_scene=item.is_cross_scene,
        rounds=[
            PageRound(
                user=_cut(one.user),
                reference=_cut(one.reference),
                is_about_video=one.is_about_video,
                refers_to=one.refers_to,
                checks=[(_cut(of.text, LONGEST_ITEM), of.expected) for of in one.checklist],
                said=[_line(lines.get((item.qid, number))) for lines in said if one.is_scored],
            )
            for number, one in enumerate(item.rounds, start=1)
        ],
    )


def _line(line: RoundLine | None) -> Mapping[str, Any] | None:
    if line is None:
        return None
    texts = {"response": line.response, "reason": line.reason}
    shown = {name: _cut(text) for name, text in texts.items() if text is not None}
    return {"end": line.end, "answers": line.answers, **shown}


def _cut(text: str, most: int = LONGEST_TEXT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _page(
    opened: OpenBench[Any],
    results: Sequence[TaskResult | DialogueResult],
    reports: Sequence[Report],
    sections: Sequence[Section],
    *,
    names: Sequence[str],
    unit: str,
    command: str,
    extra: str,
    shown: PageDialogues | None = None,
) -> SetPage:
    """Return the page of a set of any kind.

    Args:
        opened: the set.
        results: the results of models on it, in their order.
        reports: the reports on them; the headline of the first is that of the page.
        sections: the parts of the page but the last, which says how it was made.
        names: models that the page names.
        unit: what one of its items is called.
        command: of `arena bench`: prints the same figures, beside `score`.
        extra: what the cost of the answers leaves out.
        shown: what only a set of dialogues has.
    """
    headline = reports[0].headline
    assert headline is not None, "the report of a set has a headline"
    manifest = opened.manifest
    about = SetFacts(
        name=opened.folder.resolve().name,
        bench=opened.bench,
        items=len(opened.items),
        videos=len(manifest.videos),
        kind=manifest.kind,
        generator=manifest.generator,
        licence=manifest.licence,
        selection=manifest.selection,
        source={"kind": manifest.source.kind, "format": manifest.source.format},
        results=len(results),
    )
    size = f"{counted(about.items, unit)} about {counted(about.videos, 'video')}"
    facts = {
        "Set": about.name,
        "Digest": about.bench,
        f"{unit}s".capitalize(): size,
        "Source": ", ".join(about.source.values()),
        "Version": f"{about.generator.name} {about.generator.version}",
        "Licence": about.licence or "not stated",
    }
    asked = [(k.replace("_", " ").capitalize(), _written(v)) for k, v in about.selection.items()]
    rows = list(map(_result_row, results))
    sources = f"arena bench score --json and arena bench {command} --json"
    methods = methods_section([*facts.items(), *asked], rows, sources=sources, extra=extra)
    return SetPage(
        SCHEMA,
        about,
        stand_ins=any(report.sentence("stand-ins") for report in reports),
        words=SetWords(
            short_names(list(names)),
            lead=headline,
            rest=reports[0].sentence("score") or Sentence(()),
            behind=opening_of(about.items, about.videos, rows, unit=unit),
        ),
        sections=(*sections, methods),
        plain="".join(marked_up(report, "html") for report in reports),
        shown=shown,
    )


def _written(value: JsonValue) -> str:
    """Return what was asked for when a set was made, as text."""
    if isinstance(value, list):
        return ", ".join(map(_written, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_written(held)}" for key, held in value.items()) or "none"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _result_row(result: TaskResult | DialogueResult) -> ResultRow:
    """Return how a result was made and what its answers cost; an import may state any facts."""
    facts = result.facts
    prompts = facts.get("prompts")
    answered = [line.usd for line in result.lines if line.end == "answered"]
    known = [usd for usd in answered if usd is not None]
    # Facts of an import are whatever somebody wrote: what is no number is not known.
    numbers = {key: facts.get(key) for key in ("max_frames", "seed", "forfeits")}
    frames, seed, forfeits = (n if isinstance(n, int) else None for n in numbers.values())
    model = facts.get("model")
    served = model if isinstance(model, str) else None
    return ResultRow(
        result=result.model,
        played=served or result.model,
        served="imported" if result.how == "import" else served,
        frames=frames,
        seed=seed,
        judge=result.judge,
        answers=len(answered),
        forfeits=forfeits,
        cost=round(sum(known), 6) if known else None,
        unknown=len(answered) - len(known),
        prompts=prompts if isinstance(prompts, dict) else {},
    )


@dataclass(frozen=True)
class WrittenSet:
    """The report of a set that was written."""

    SHOWN: ClassVar = ("to", "items", "models", "size_bytes")
    to: Path = field(metadata=keyed("report"))
    """The file that was written."""
    items: int
    """Items in the set."""
    models: int
    """Results in the report."""
    size_bytes: int = field(metadata=keyed("bytes"))
    """Size of the file."""
    unit: str = "item"
    """What one of its items is called."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `arena report --json` prints it."""
        return fields_json(self)

    def as_lines(self) -> list[str]:
        """Return it for a person."""
        what = f"{counted(self.items, self.unit)}, {counted(self.models, 'result')}"
        return [f"{safe(str(self.to))}: {what}, {self.size_bytes / 1e6:,.1f} MB"]


def write_set_report(folder: Path, to: Path | None, *, force: bool) -> WrittenSet:
    """Write the report of the results on a set of tasks or dialogues; calls no model.

    Without a name it lies beside the results, since a set holds nothing but what was sealed.

    Raises:
        BadInput: no such set, one without results, or a file that cannot be written.
    """
    opened = open_bench(folder)
    kind = opened.manifest.kind
    if kind not in (*TASK_KINDS, DIALOGUE):
        raise BadInput(
            f"{folder} is a set of kind {kind}; reports are of runs, of tasks with "
            "a right answer, and of dialogues"
        )
    page = set_page(opened)
    file = report_file(folder / RESULTS, to, force=force)
    refuse_within(folder, file)
    lead = as_text(page.words.lead.to_json(), page.words.short)
    head, tail = document(
        "set",
        place="file",
        title=f"{lead} · {folder.name}",
        summary=page.to_json(),
        plain=f"<h1>{html.escape(lead)}</h1>{page.plain}",
    )
    content = (head + tail).encode()
    with whole_file(file) as stream:
        stream.write(content)
    unit = "dialogue" if kind == DIALOGUE else "item"
    return WrittenSet(file, page.set.items, page.set.results, len(content), unit)
