"""Makes the report of two models compared on a set, whatever its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from videoautoarena.runs.bench.dialogues.score import DialogueComparison
from videoautoarena.runs.bench.format.schema import spoken
from videoautoarena.runs.bench.score.anchor_score import AnchorScores
from videoautoarena.runs.bench.score.compare import SURE, TOO_FEW, BenchComparison
from videoautoarena.runs.bench.score.task_score import TaskComparison, TaskSetScores
from videoautoarena.runs.formats.words import Kind
from videoautoarena.runs.views.results.dialogues import dialogues_report
from videoautoarena.runs.views.results.forms import csv_text, marked_up
from videoautoarena.runs.views.results.preferences import preference_reports
from videoautoarena.runs.views.results.remarks import notes_of
from videoautoarena.runs.views.results.report import (
    Column,
    ModelName,
    Report,
    Sentence,
    Table,
    Verbatim,
    sentence,
    spoken_table,
    tally_table,
)
from videoautoarena.runs.views.results.tasks import task_reports

_HIGHER = ("a_higher", "level", "b_higher")


def comparison_report(found: Any) -> Report:
    """Return both averages, their difference, and who is better in a sentence for each."""
    if isinstance(found, BenchComparison):
        a, b = found.models
        on = {"n": found.questions, "videos": found.videos, "better": found.better, **found.items}
        rows = [_row("average", a.average, b.average, found.difference["average"], **on)]
        for against in ("selected", "rejected"):
            if against in found.difference:
                rows.append(
                    _row(f"against {against} answers", None, None, found.difference[against])
                )
        about = sentence("Judged by {judge}.", judge=ModelName(found.judge))
        if found.anchor is not None:
            about = sentence(
                "Share of a question's games against {anchor}, judged by {judge}.",
                anchor=ModelName(found.anchor),
                judge=ModelName(found.judge),
            )
        report = _report((a.model, b.model), rows, of="question")
        said = (*(one for one in report.sentences if one.key == "lead"), *notes_of(found.warnings))
        return replace(report, sentences=said, above=(about,))
    return _of_tasks(found) if isinstance(found, TaskComparison) else _of_dialogues(found)


def comparison_json(found: Any) -> dict[str, Any]:
    """Return it as `arena bench compare --json` prints it."""
    fields: dict[str, Any] = found.to_json()
    headline = comparison_report(found).headline
    if isinstance(found, BenchComparison) and headline is not None:
        fields["sentence"] = headline.text
    return fields


def _of_tasks(found: TaskComparison) -> Report:
    rows = []
    for gap in found.gaps:
        part = f"{gap.split}, " if gap.split else ""
        name = "M-Avg" if gap.kind == "choice" else "G-Avg"
        on = {"n": gap.difference.n, "videos": gap.videos, "better": gap.better, **gap.items}
        rows.append(_row(f"{part}{name}", gap.a, gap.b, gap.difference, **on, kind=gap.kind))
    return _report(found.models, rows, of="item", left_out=found.left_out)


def _of_dialogues(found: DialogueComparison) -> Report:
    """Return the report; who is better is said only over the six abilities together."""
    rows = []
    for gap in (found.overall, *found.abilities):
        if gap is not None:
            on: dict[str, Any] = {"n": gap.difference.n}
            if gap.ability is None:
                on |= {"videos": gap.videos, "better": gap.better}
            rows.append(_row(spoken(gap.ability or "overall"), gap.a, gap.b, gap.difference, **on))
    return _report(found.models, rows, of="dialogue", left_out=found.left_out)


def _row(of: str, a: float | None, b: float | None, gap: Any, **on: Any) -> dict[str, Any]:
    return {"of": of, "a": a, "b": b, "value": gap.value, "low": gap.low, "high": gap.high, **on}


def _report(
    names: tuple[str, str], rows: Sequence[dict[str, Any]], *, of: str, left_out: int = 0
) -> Report:
    is_marked = any(row.get("kind") == "generation" for row in rows)
    average: Kind = "mark" if is_marked else "percent"
    gap: Kind = "mark_gap_with_interval" if is_marked else "percent_gap_with_interval"
    columns = (
        Column("of", "of", "text"),
        *(Column(key, name, average) for key, name in zip("ab", names, strict=True)),
        Column("value", "difference", gap, ("value", "low", "high")),
        # Dialogues are not counted one by one.
        *[Column("items", "higher-level-lower", "record", _HIGHER, spare=1)] * ("level" in rows[0]),
        Column("n", f"{of}s", "count", spare=2),
    )
    table = Table("comparison", "Two models on a set", columns, tuple(rows))
    leads = _leads_table(names, [row for row in rows if "better" in row], is_marked=is_marked)
    counts = tally_table({"left_out": left_out})
    better = [_sentence(leads, k, names, of) for k in range(len(leads.rows))]
    notes = [
        sentence("note: only {videos:video}: too few to generalise.", leads.quotes(k))
        for k, row in enumerate(leads.rows)
        if row["videos"] < TOO_FEW
    ]
    if left_out:
        note = f"note: {{left_out:{of}}} left out, since they do not count for both."
        notes.append(sentence(note, counts.quotes()))
    return Report((table, leads, counts), (*better, *notes), next(iter(better), None))


def _leads_table(
    names: tuple[str, str], rows: Sequence[dict[str, Any]], *, is_marked: bool
) -> Table:
    """Return each difference from the side of who is ahead; its chance is None if unknown."""
    fields = []
    for row in rows:
        value = row["value"] or 0.0
        better = row["better"]
        order = names[::-1] if value < 0 else names
        # Turned round with the difference, so that they belong to the one who is ahead.
        bounds = sorted(
            0.0 if row[end] is None else (-1 if value < 0 else 1) * row[end]
            for end in ("low", "high")
        )
        chance = None if better is None else max(better, 1.0 - better)
        found = {**row, "by": abs(value), "chance": chance, "order": list(order)}
        fields.append(found | dict(zip(("low", "high"), bounds, strict=True)))
    return spoken_table(
        "leads",
        fields,
        of="text",
        by="mark" if is_marked else "percent_points",
        interval=("mark_interval" if is_marked else "percent_points_interval", ("low", "high")),
        chance="probability",
        n="count",
        videos="count",
    )


def _sentence(leads: Table, k: int, names: tuple[str, str], of: str) -> Sentence:
    """Return who is better, and how sure that is."""
    row = leads.rows[k]
    quotes = leads.quotes(k)
    a, b = map(ModelName, names)
    on = f" over {{n:{of}}} about {{videos:video}}"
    if row["chance"] is None:
        return sentence("One video is not enough to separate {a} and {b}.", key="lead", a=a, b=b)
    if row["by"] == 0:
        return sentence(f"{{a}} and {{b}} have the same score{on}.", quotes, key="lead", a=a, b=b)
    is_sure = row["chance"] > SURE
    start = "{a} is better than {b}, by" if is_sure else "{a} is ahead of {b} by"
    end = "; P(better) {chance}." if is_sure else ", not significantly: P(better) {chance}."
    return sentence(
        f"{start} {{by}} {{unit}} ({{interval}} at {{level}}){on}{end}",
        quotes,
        key="lead",
        a=ModelName(row["order"][0]),
        b=ModelName(row["order"][1]),
        unit=Verbatim("of 10" if row.get("kind") == "generation" else "points"),
        level=Verbatim("95 %"),
    )


def set_reports(scores: Any) -> list[Report]:
    """Return the reports of scores on preferences, tasks or dialogues: one a judge or part."""
    if isinstance(scores, TaskSetScores):
        return task_reports(scores)
    return (
        preference_reports(scores)
        if isinstance(scores, AnchorScores)
        else [dialogues_report(scores)]
    )


def pasted(scores: Any, form: str) -> str:
    """Return scores for pasting: as CSV one table with all digits, that of the first report."""
    reports = set_reports(scores)
    if form == "csv":
        return csv_text(reports[0].data_table) if reports else ""
    return "\n\n".join(marked_up(report, form) for report in reports)
