"""What a run says of its judges as a report, and how far other judges agree with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from videoautoarena.runs.analysis.audit.checks import GROUPS
from videoautoarena.runs.analysis.audit.rejudge import Confusion, Ranked
from videoautoarena.runs.analysis.audit.rejudge import RejudgeReport as Views
from videoautoarena.runs.analysis.audit.report import AuditReport
from videoautoarena.runs.run.rundir.call_facts import fact_lines
from videoautoarena.runs.run.rundir.reader import STAND_INS
from videoautoarena.runs.views.results.remarks import findings_said, listing, notes_of
from videoautoarena.runs.views.results.report import (
    Column,
    Report,
    Sentence,
    Table,
    Verbatim,
    listed,
    sentence,
    tally_table,
)

FACTS_TITLE = "How calls went"
_NO_ALARM = "No alarm: no figure exceeds its threshold at 95 % confidence."


def audit_report(found: AuditReport) -> Report:
    """Return the alarms of an audit, then every section; each figure in one sentence."""
    table, said = findings_said(found.findings)
    each = [
        (GROUPS[finding.key.partition(".")[0]], finding.is_alarm, one.text)
        for finding, one in zip(found.findings, said, strict=True)
    ]
    alarms = [text for _, is_alarm, text in each if is_alarm]
    lists = (
        listing("facts", FACTS_TITLE, (f"{line}." for line in fact_lines(found.facts))),
        listing("alarms", "Alarms", alarms or [_NO_ALARM]),
        *(
            listing(group, group, (f"{'ALARM: ' * one[1]}{one[2]}" for one in mine))
            for group, mine in groupby(each, lambda one: one[0])
        ),
    )
    tally = tally_table({"battles": found.totals.battles, "decided": found.totals.decided})
    notes = [*[STAND_INS] * found.stand_ins, *found.warnings]
    return Report(
        (*lists, table, tally),
        tuple(Sentence(one.parts, one.key, "page") for one in said),
        above=(_heading(found, tally), *map(_note, notes)),
    )


def audit_sheet(found: AuditReport) -> Report:
    """Return the figures of an audit for pasting, a row each."""
    fields = ("key", "value", "low", "high", "n", "alarm", "sentence")
    kinds = {"value": "given", "low": "given", "high": "given", "n": "count"}
    columns = tuple(Column(key, key, kinds.get(key, "text")) for key in fields)  # type: ignore[arg-type]
    rows = tuple(one.to_json() for one in found.findings)
    notes = (*found.warnings, *(f"{line}." for line in fact_lines(found.facts)))
    return Report((Table("audit", "Audit", columns, rows),), tuple(notes_of(notes)))


def _note(line: str) -> Sentence:
    return sentence("note: {line}", line=Verbatim(line))


def _heading(found: AuditReport, tally: Table) -> Sentence:
    judges = (
        Verbatim(name if name == model else f"{name} ({model})")
        for name, model in found.judges.items()
    )
    return sentence(
        "Judged by {judges}: {battles:battle}, {decided} decided. Intervals: {level}, by video: "
        "what is about one video may all go alike, so that few videos make them wide.",
        tally.quotes(),
        judges=listed(judges, last=", ") or "nobody",
        level=Verbatim("95 %"),
    )


def rejudged_reports(found: Views) -> Iterator[Report]:
    """Yield how far each other judge agrees with a run: verdicts, then both boards side by side."""
    notes = tuple(map(_note, found.warnings))
    if not found.judges:
        none = "the battles of this run were not rejudged yet; name a judge with --judge"
        yield Report((), (), above=(Sentence((none,)),))
    for judge in found.judges:
        table, said = findings_said(judge.findings)
        both = (_confusion_table(judge.confusion), _boards_table(judge.boards.models))
        yield Report((*(both if judge.battles else ()), table), (), above=(*notes, *said))
        notes = ()


def _confusion_table(found: Confusion) -> Table:
    other = (Column(word, f"other {word}", "count") for word in found.words)
    columns = (Column("word", "run"), *other)
    rows = tuple(
        {"word": word, **dict(zip(found.words, row, strict=True))}
        for word, row in zip(found.words, found.run_by_judge, strict=True)
    )
    return Table("verdicts", "Verdicts of the run and of the other judge", columns, rows)


def _boards_table(models: Iterable[Ranked]) -> Table:
    columns = (
        Column("model", "model", "name"),
        Column("rating", "run", "rating"),
        Column("interval", "interval", "rating_interval", ("low", "high")),
        Column("rank", "rank", "count"),
        Column("other_rating", "other", "rating"),
        Column("other_interval", "interval", "rating_interval", ("other_low", "other_high")),
        Column("other_rank", "rank", "count"),
    )
    rows = tuple(one._asdict() for one in models)
    return Table("boards", "Both leaderboards of the same battles", columns, rows)
