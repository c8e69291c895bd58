"""Makes the report of scores on dialogues: by ability, and by turns, length and scenes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from videoautoarena.runs.bench.dialogues.score import (
    ALL,
    By,
    DialogueComparison,
    DialogueScore,
    DialogueSetScores,
)
from videoautoarena.runs.bench.format.schema import ABILITIES, TWIN, spoken
from videoautoarena.runs.bench.score.score import FEW_VIDEOS
from videoautoarena.runs.bench.score.task_points import ScoreFigure
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    ModelName,
    Part,
    QuoteDifference,
    Report,
    Section,
    Sentence,
    Table,
    Verbatim,
    counting,
    listed,
    named,
    remark,
    sentence,
    spoken_table,
)
from videoautoarena.runs.views.results.sets import (
    RANK,
    RANKS,
    SHARES,
    board_table,
    bounds_of,
    counts_table,
    ends_sentences,
    ends_table,
    few_videos,
    figure_fields,
    gap_sentence,
    headline_of,
    odd_ends,
    played_fields,
    saw_none,
    stand_ins,
    sweep_sentences,
    sweeps_table,
)
from videoautoarena.runs.views.results.tasks import MOST_NAMED

OVERALL = "overall"
CSV_FIELDS = (
    "model", "judge", "history", "max_frames", "by", "part", "value", "low", "high", "n",
)  # fmt: skip
CONSTANT_NAMES = {
    "all_yes": "(all yes)",
    "all_no": "(all no)",
    "silence": "(silence)",
    "refusal": "(refuses all)",
}
EACH = "a scored round"
"""Unit of the dollars of a sweep."""
ODD = ("forfeit", "unscored", "void")
"""Endings of rounds that are named beside a table."""
_PARTS: dict[By, str] = {
    "turns": "dialogues of {} turns",
    "length": "videos of {}",
    "scenes": "dialogues of {}s",
}
_SAID_ELSEWHERE = ("lead", "ends", "stand-ins")
"""Keys of sentences that stand above all, or beside the figure of a model."""
_PART_TITLES: dict[By, str] = {
    "turns": "By number of turns",
    "length": "By length of the video",
    "scenes": "By scenes",
}
MEMORY_NOTE = remark(
    "Rounds of object reference and memory recall that can be answered without the rounds before "
    "them were refused when this set was made: who forgets the history loses there for that reason."
)
_NEEDS_MEMORY = ("object_reference", "memory_recall")
_ABILITIES_NOTE = remark(
    "Beneath a figure stands its 95 % interval, which knows which dialogues share a video; n "
    "counts dialogues, of over refusal the rounds of the twin."
)
_PARTS_NOTE = remark(
    "The mean of the dialogues of the six abilities, whatever their ability, in percent."
)
_HISTORY_NOTE = remark(
    "Golden: the rounds before have the reference answers; own: what the model answered itself. "
    "Changes are in points, over dialogues that count in both, with 95 % intervals by video."
)


def dialogues_report(scores: DialogueSetScores) -> Report:
    """Return the report of a set: a table by ability, and one by turns, length and scenes."""
    models = _models_table(scores)
    means: list[dict[str, Any]] = [
        {"of": of, "mean": mean} for of, mean in scores.ability_means.items()
    ]
    means += (
        {"of": f"{by}_{part}", "mean": mean} for (by, part), mean in scores.part_means.items()
    )
    means.append({"of": "over_refusal", "mean": scores.refused_mean})
    over_all = spoken_table("means", means, of="text", mean="percent")
    tally = counts_table(
        scores.lead,
        rounds=scores.rounds,
        abilities=sum(ability != TWIN for ability in scores.abilities),
        results=len(scores.models),
    )
    ends = ends_table(
        (_name(scores, row), odd_ends(row.counts, ODD, row.missing)) for row in scores.models
    )
    sweeps = sweeps_table(scores.sweeps)
    several = "Judges differ: compare models that one judge marked."
    nobody = several if _judges(scores) > 1 else "No reply could be scored."
    headline = headline_of(scores.lead, tally, nobody=nobody)
    sentences = (
        *_meaning(scores, tally),
        *sweep_sentences(scores.sweeps, sweeps, EACH),
        *[stand_ins()] * scores.stand_ins,
        *ends_sentences(ends, counting(tally.quote(0, "rounds"), "round")),
        *_lacking(scores),
        *saw_none(row.model for row in scores.models if row.is_blind),
        *[few_videos()] * (scores.videos < FEW_VIDEOS),
        headline,
        *_score(scores, models, tally),
        gap_sentence(models, "overall", _golden(scores)),
        *_of_means(scores, over_all, tally),
    )
    figures = tuple(_figures(scores))
    data = Table("data", "Scores on dialogues", (MODEL,), figures, CSV_FIELDS)
    tables = (models, *_parts_table(scores), over_all, tally, ends, sweeps)
    return Report(tables, sentences, headline, data=data)


def _judges(scores: DialogueSetScores) -> int:
    return len({row.judge for row in scores.models})


def _name(scores: DialogueSetScores, row: DialogueScore) -> str:
    return f"{row.model}, marked by {row.judge}" if _judges(scores) > 1 else row.model


def _models_table(scores: DialogueSetScores) -> Table:
    # The twin and what is refused of it stand beside the refusals.
    there: list[str] = [one for one in ALL if one in scores.abilities and one != TWIN]
    if TWIN in scores.abilities:
        place = there.index("answer_refusal") + 1 if "answer_refusal" in there else len(there)
        there[place:place] = [TWIN, "over_refusal"]
    others = [one for one in there if one not in ("answer_refusal", TWIN, "over_refusal")]
    # From the last ability on; refusals stay, since they mean little without their twin.
    spare = {one: k for k, one in enumerate(reversed(others), 1)}
    refused = max((row.over_refusal.n for row in scores.models if row.over_refusal), default=0)
    counts: dict[str, int] = {**dict(scores.abilities.items()), "over_refusal": refused}
    judges = _judges(scores)
    columns = [RANK] if scores.lead is not None and scores.lead.models > 1 else []
    columns.append(MODEL)
    if judges > 1:
        columns.append(Column("judge", "judge", "name"))
    bounds = bounds_of("overall")
    columns += (
        Column("overall", OVERALL, "percent"),
        Column("interval", "95 % interval", "percent_interval", bounds, len(spare) + 1),
        *(
            Column(
                one,
                spoken(one),
                "percent",
                spare=spare.get(one, 0),
                about=f"n {counts[one]:,}",
                is_aside=one in (TWIN, "over_refusal"),
            )
            for one in there
        ),
    )
    rows = []
    for row in scores.models:
        fields = {key: getattr(row, key) for key in ("judge", "history", *RANKS)}
        fields |= figure_fields("overall", row.overall)
        fields |= figure_fields("over_refusal", row.over_refusal)
        for of in (*row.abilities, *([row.twin] if row.twin else [])):
            fields |= figure_fields(of.ability, of.figure)
        rows.append(fields | played_fields(row, judges, ODD))
    for one in scores.constants:
        name = CONSTANT_NAMES[one.name]
        rows.append({"model": name, "overall": one.overall, **dict(one.abilities.items())})
    caption = f"Scores of {counted(len(scores.models), 'model')} on dialogues"
    starts = frozenset({len(scores.models)})
    return Table("dialogues", caption, tuple(columns), tuple(rows), starts=starts)


def _parts_table(scores: DialogueSetScores) -> Iterator[Table]:
    """Yield accuracy by turns, length and scenes, as far as dialogues of the set differ in them."""
    keys = dict.fromkeys((one.by, one.part) for row in scores.models for one in row.parts)
    shown = [key for key in keys if sum(by == key[0] for by, _ in keys) > 1]
    shown.sort(key=lambda key: list(_PARTS).index(key[0]))
    if not shown:
        return
    rows: list[dict[str, Any]] = []
    items = Counter[tuple[By, str]]()
    for row in scores.models:
        rows.append({"model": row.model, "judge": row.judge})
        for one in row.parts:
            rows[-1] |= figure_fields(f"{one.by}_{one.part}", one.figure)
            items[one.by, one.part] = max(items[one.by, one.part], one.figure.n)
    each = (
        Column(
            f"{by}_{part}",
            counted(int(part), "turn") if by == "turns" else part,
            "percent",
            about=f"n {items[by, part]:,}",
        )
        for by, part in shown
    )
    yield Table(
        "dialogue-parts",
        "Mean of the dialogues by turns, length of the video, and scenes",
        (MODEL, *[Column("judge", "judge", "name")] * (_judges(scores) > 1), *each),
        tuple(rows),
        wraps=True,
    )


def _meaning(scores: DialogueSetScores, tally: Table) -> Iterator[Sentence]:
    """Yield what the figures mean."""
    yield sentence(
        "Accuracy: items of the checklists answered as expected, in percent; the mean of a "
        "dialogue's rounds, then of an ability's dialogues. No answer has no item right."
    )
    if lacking := [spoken(ability) for ability in ABILITIES if ability not in scores.abilities]:
        yield sentence(
            "Overall: the plain mean of those of the six abilities that are here, {n}; lacking: "
            "{lacking}.",
            n=tally.quote(0, "abilities"),
            lacking=listed(lacking, last=", "),
        )
    else:
        yield sentence("Overall: the plain mean of the six abilities.")
    yield sentence(
        "(all yes), (all no): what constant answers to the items score. (silence): a reply "
        "without words. (refuses all): says of whatever is asked for that it is not there.",
        key="constants",
    )
    if TWIN in scores.abilities:
        yield sentence(
            "Refusal twin: asked like a refusal, of what is there; over refusal: how much of it "
            "is refused. Neither is in the overall."
        )
    elif "answer_refusal" in scores.abilities:
        yield sentence(
            "Nothing here asks like a refusal of what is there: who always refuses is right."
        )
    if scores.as_published:
        yield sentence(
            "By the released scorer's arithmetic, faults included: each round is a share of five "
            "items whatever its list holds, to two digits; a perfect reply on {example}. "
            "Rounds whose judging failed are dropped.",
            example=Verbatim("3 items is .60"),
        )


def _lacking(scores: DialogueSetScores) -> Iterator[Sentence]:
    for row in scores.models:
        if without := [spoken(one) for one in row.lacking if one in scores.abilities]:
            name = ModelName(_name(scores, row))
            yield sentence(
                "{name}: nothing counts in {without}.",
                key="ends",
                name=name,
                without=listed(without, last=", "),
            )


def _golden(scores: DialogueSetScores) -> list[int]:
    """Return the rows of models, best first, each once; own histories if there are no others."""
    scored = [k for k, row in enumerate(scores.models) if row.overall is not None]
    golden = [k for k in scored if scores.models[k].history == "golden"] or scored
    rows: dict[str, int] = {}
    for k in golden:
        rows.setdefault(scores.models[k].model, k)
    return list(rows.values())


def _score(scores: DialogueSetScores, models: Table, tally: Table) -> Iterator[Sentence]:
    """Yield the score of the best model, beside that of saying nothing."""
    for first in _golden(scores)[:1]:
        there = tally.quote(0, "abilities")
        # Constants stand below the models, in the order in which they are named.
        silent = models.quote(len(scores.models) + list(CONSTANT_NAMES).index("silence"), "overall")
        yield sentence(
            "{model} meets {figure} of what is expected{over}{beside}.",
            key="score",
            role="page",
            model=ModelName(models.rows[first]["model"]),
            figure=models.quote(first, "overall"),
            over=(", averaged over ", there, " abilities") if there.value > 1 else (),
            beside=() if silent.value is None else ("; saying nothing gives ", silent),
        )


def _of_means(scores: DialogueSetScores, means: Table, tally: Table) -> Iterator[Sentence]:
    """Yield which ability is hardest and easiest, and between which parts accuracy differs most."""
    found = scores.ability_means
    refused = means.quote("over_refusal", "mean")
    also: tuple[Part, ...] = ()
    if refused.value is not None:
        also = (" Of what is there, ", refused, " is refused all the same.")
    if not found:
        yield sentence("Nothing counts in any ability.", key="abilities", role="page")
    else:
        hardest = min(found, key=found.__getitem__)
        easiest = max(found, key=found.__getitem__)
        low = means.quote(hardest, "mean")
        high = means.quote(easiest, "mean")
        said = "{Name} is the hardest ability, {low} on average; {other} the easiest, {high}.{also}"
        if len(found) == 1:
            said = "All dialogues are of one ability, {name}.{also}"
        # Compared as they are printed: a hardest and an easiest at one figure would read as a
        # mistake.
        elif low.seen == high.seen:
            said = "All abilities are at {low} on average.{also}"
        yield sentence(
            said,
            key="abilities",
            role="page",
            also=also,
            name=spoken(hardest),
            Name=spoken(hardest).capitalize(),
            low=low,
            other=spoken(easiest),
            high=high,
        )
    ends = []
    for by in _PARTS:
        mine = {part: value for (of, part), value in scores.part_means.items() if of == by}
        if len(mine) > 1:
            worst = min(mine, key=mine.__getitem__)
            best = max(mine, key=mine.__getitem__)
            ends.append((mine[best] - mine[worst], by, worst, best))
    if ends:
        _, by, worst, best = max(ends, key=lambda one: one[0])
        yield sentence(
            "{some} are at {low}, {others} at {high}, averaged over {results:result}.",
            tally.quotes(),
            key="parts",
            role="page",
            some=Verbatim(_PARTS[by].format(worst).capitalize()),
            low=means.quote(f"{by}_{worst}", "mean"),
            others=Verbatim(_PARTS[by].format(best)),
            high=means.quote(f"{by}_{best}", "mean"),
        )


def histories_report(histories: Sequence[DialogueComparison]) -> Report:
    """Return what models lose with their own replies as history."""
    gaps = {one.models[1]: one for one in histories if one.overall is not None}
    there = dict.fromkeys(gap.ability for one in gaps.values() for gap in one.abilities)
    rows = []
    for model, one in gaps.items():
        assert one.overall is not None, "those without are left out above"
        rows.append({"model": model, "golden": one.overall.b, "own": one.overall.a})
        for gap in (one.overall, *one.abilities):
            rows[-1] |= figure_fields(gap.ability or "change", gap.difference)
    changes = [("change", "change"), *((str(of), spoken(str(of))) for of in there)]
    columns = (
        *(MODEL, Column("golden", "golden", "percent"), Column("own", "own", "percent")),
        *(
            Column(key, title, "percent_gap_with_interval", (key, *bounds_of(key)))
            for key, title in changes
        ),
    )
    table = Table("histories", "Own history beside the golden one", columns, tuple(rows))
    return Report((table,), tuple(_of_histories(table)))


def _of_histories(table: Table) -> Iterator[Sentence]:
    """Yield who loses and who gains with its own replies as history, and how much at most."""
    gaps = [(row["model"], table.quote(k, "golden"), table.quote(k, "own"))
            for k, row in enumerate(table.rows)]  # fmt: skip
    lost = [
        (QuoteDifference(golden, own), name) for name, golden, own in gaps if golden.seen > own.seen
    ]
    won = [
        (QuoteDifference(own, golden), name) for name, golden, own in gaps if golden.seen < own.seen
    ]
    for group, verb in ((lost, "lose"), (won, "gain")):
        if group:
            is_one = len(group) == 1
            more = " and others" if len(group) > MOST_NAMED else ""
            yield sentence(
                f"With {'its' if is_one else 'their'} own replies as history, {{who}}{more} "
                f"{verb}{'s' * is_one} {{gap}} points{'' if is_one else ' at most'}.",
                key="histories",
                who=named(name for _, name in group[:MOST_NAMED]),
                gap=max(group, key=lambda one: one[0].of.seen - one[0].less.seen)[0],
            )
    if gaps and not lost and not won:
        yield sentence(
            "With its own replies as history a model neither loses nor gains.", key="histories"
        )


def _figures(scores: DialogueSetScores) -> Iterator[dict[str, Any]]:
    """Yield a row for each figure, with all digits."""
    for row in scores.models:
        head = {key: getattr(row, key) for key in CSV_FIELDS[:4]}
        named_figures: list[tuple[str, str, ScoreFigure | None]] = [
            (OVERALL, "", row.overall),
            *(("ability", one.ability, one.figure) for one in row.abilities),
            ("ability", TWIN, row.twin.figure if row.twin else None),
            ("over_refusal", "", row.over_refusal),
            *((part.by, part.part, part.figure) for part in row.parts),
        ]
        for by, part, figure in named_figures:
            if figure is not None:
                yield {**head, "by": by, "part": part, **figure.model_dump()}
    for constant in scores.constants:
        name = {"model": CONSTANT_NAMES[constant.name]}
        yield {**name, "by": OVERALL, "part": "", "value": constant.overall}
        for ability, value in constant.abilities.items():
            yield {**name, "by": "ability", "part": ability, "value": value}


def dialogue_sections(
    scores: DialogueSetScores, report: Report, beside: Report, *, is_made: bool
) -> Iterator[Section]:
    """Yield the parts of a page: scores, abilities, turns, length and scenes, and histories.

    Args:
        scores: the scores of the models.
        report: the report of these scores.
        beside: the report of what models lose with their own replies as history.
        is_made: whether the set was made here, so that rounds that need no memory were refused.
    """
    said = [one for one in report.sentences if one.role == "said"]
    notes = [one for one in said if one.key not in _SAID_ELSEWHERE]
    models = report.tables[0]
    if is_made and set(_NEEDS_MEMORY) & set(scores.abilities):
        notes.append(MEMORY_NOTE)
    ladder = board_table(models, "Scores", SHARES, models.rows, models.column("overall"))
    yield Section("board", "Scores", report.sentence("gap"), (ladder,), notes=tuple(notes))
    abilities = [column for column in models.columns if column.about]
    by_ability = replace(models, caption="Scores by ability", columns=(MODEL, *abilities))
    told = report.sentence("abilities")
    yield Section("abilities", "By ability", told, (by_ability,), notes=(_ABILITIES_NOTE,))
    parts = []
    for table in (one for one in report.tables if one.name == "dialogue-parts"):
        for by, title in _PART_TITLES.items():
            columns = [one for one in table.columns if one.key.startswith(f"{by}_")]
            if columns:
                parts.append(replace(table, caption=title, columns=(MODEL, *columns)))
    if parts:
        told = report.sentence("parts")
        yield Section("parts", "Turns, length, scenes", told, tuple(parts), notes=(_PARTS_NOTE,))
    if beside.sentences:
        words = [part for one in beside.sentences for part in (*one.parts, " ")]
        # Without the blank behind the last one.
        says = Sentence(tuple(words[:-1]))
        yield Section("history", "History", says, beside.tables, notes=(_HISTORY_NOTE,))
