"""Makes the reports on the worth of sets: checks of a bench, shortcuts of tasks, changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from videoautoarena.runs.bench.format.results import VIEWS
from videoautoarena.runs.bench.score.shortcuts import AskedProbe, SetProbes
from videoautoarena.runs.run.rundir.reader import one_line
from videoautoarena.runs.views.results.audit import agreement_report
from videoautoarena.runs.views.results.remarks import findings_said, listing
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    ModelName,
    Report,
    Section,
    Sentence,
    Table,
    Verbatim,
    remark,
    sentence,
    spoken_table,
    tally_table,
)
from videoautoarena.runs.views.results.sets import bounds_of, figure_fields

NAMED = 20
"""Changes of each kind that a person is shown; JSON has them all."""
PROBES_NOTE = remark(
    "A probe picks an option by text alone; beside it stands what chance earns. Found: it earns "
    "more than drawn keys would give it (one-sided, p < .001). Balanced too exactly: it earns "
    "less, which gives answers away by elimination."
)


def validity_report(found: Any) -> Report:
    """Return what speaks for and against a bench, alarms first."""
    # Stable: behind the alarms figures keep their order.
    figures = sorted(found.figures, key=lambda one: not one.is_alarm)
    sentences = [
        Sentence(("ALARM: " * one.is_alarm, *said.parts))
        for one, said in zip(figures, findings_said(figures)[1], strict=True)
    ]
    if found.agreement is None:
        command = Verbatim("--run OUT")
        asked = sentence("To compare with the ratings of a run, pass {command}.", command=command)
        return Report((), (*sentences, asked))
    agreed = agreement_report(found.agreement)
    above = (*sentences, Sentence(("A is the bench, B the other.",)), *agreed.above)
    return Report(agreed.tables, agreed.sentences, above=above)


def probes_report(found: SetProbes) -> Report:
    """Return what a set gives away: by its text alone, and to those asked without the video."""
    text = found.text
    known = {one.model for one in found.asked.found}
    counts = {
        "choice": text.choice,
        "keyed": text.keyed,
        "given_away": text.given_away,
        "defects": sum(len(one.qids) for one in text.defects),
        "known": len(known),
    }
    tally = tally_table(counts)
    known_by = (one.model_dump() for one in found.asked.found)
    leaks = spoken_table(
        "leaks", known_by, task="name", accuracy="percent", n="count", chance="percent"
    )
    headline = _headline(found, tally)
    rows = tuple(
        {
            "model": f"{one.split}: {one.model}" if one.split else one.model,
            **figure_fields("every", one.every),
            **figure_fields("rest", one.rest),
        }
        for one in found.scores
    )
    columns = (
        MODEL,
        Column("every", "all items", "percent"),
        Column("every_interval", "95 % interval", "percent_interval", bounds_of("every"), spare=1),
        Column("rest", "without what is given away", "percent"),
        Column("rest_interval", "95 % interval", "percent_interval", bounds_of("rest"), spare=2),
    )
    tables = (
        _text_table(found),
        Table("both-scores", "Scores without what is given away", columns, rows),
        _defects_table(found),
    )
    asked = _asked_table(found.asked.probes)
    away = "{given_away}" if found.text.given_away else "none"
    sentences = (
        headline,
        *_leak_sentences(found, leaks),
        sentence(
            f"Text alone gives away {away} of {{keyed:item}}[; {{known:model}} {{known|knows|"
            "know}} answers without the video][; {defects:defect} found].",
            tally.quotes(),
            key="probes",
            role="page",
        ),
    )
    return Report((*tables, asked, tally, leaks), sentences, headline)


def _headline(found: SetProbes, tally: Table) -> Sentence:
    text = found.text
    quotes = tally.quotes()
    if not text.choice:
        return sentence("No item has options, so there are no shortcuts to look for.", key="lead")
    if not text.keyed:
        said = "{choice:item} of choice without a key: their shortcuts cannot be known."
        return sentence(said, quotes, key="lead")
    said = "Text alone gives away the right option of {given_away} of {keyed:item}."
    return sentence(said, quotes, key="lead")


def _task(split: str | None, task: str) -> str:
    return f"{split}: {task}" if split else task


def _text_table(found: SetProbes) -> Table:
    """Return what each probe earns by text alone, a row for each task."""
    parts = [part for part in found.text.parts if part.keyed]
    names = list(dict.fromkeys(one.probe for part in parts for one in part.results))
    rows = []
    for part in parts:
        row: dict[str, Any] = {
            "task": _task(part.split, part.task),
            "keyed": part.keyed,
            "given_away": part.given_away,
            "chance": part.results[0].chance,
        }
        for one in part.results:
            note = "" if one.reading == "clean" else one.reading
            row |= {one.probe: one.share, f"{one.probe} note": note}
        rows.append(row)
    columns = (
        Column("task", "task", "name"),
        Column("keyed", "items", "count"),
        Column("given_away", "given away", "count"),
        Column("chance", "chance", "share"),
        *(Column(name, f"{name} %", "noted_share", (name, f"{name} note")) for name in names),
    )
    return Table("probes", "What text alone earns", columns, tuple(rows), wraps=True)


def _defects_table(found: SetProbes) -> Table:
    rows = tuple(
        {"flaw": one.flaw, "items": len(one.qids), "which": one.first} for one in found.text.defects
    )
    columns = (
        Column("flaw", "defect"),
        Column("items", "items", "count"),
        Column("which", "which", "text"),
    )
    return Table("defects", "What is wrong with items", columns, rows)


def _asked_table(probes: Iterable[AskedProbe]) -> Table:
    """Return accuracies by task, model and view."""
    rows = defaultdict[tuple[str, str], dict[str, Any]](dict)
    for one in probes:
        task = _task(one.split, one.task)
        # One row for a model and a task, whatever views of the video it was asked with.
        rows[task, one.model] |= {"task": task, "model": one.model, "chance": one.chance}
        rows[task, one.model] |= {one.view: one.accuracy, f"{one.view}_n": one.n}
    columns = (
        *(Column("task", "task", "name"), MODEL),
        Column("whole", "whole video", "percent"),
        *(Column(view, name, "percent") for view, name in VIEWS.items()),
        Column("chance", "chance", "percent"),
    )
    return Table("asked", "Models without the video", columns, tuple(rows.values()))


def _leak_sentences(found: SetProbes, leaks: Table) -> Iterator[Sentence]:
    sure = Verbatim("p < .001")
    for k, one in enumerate(found.asked.found):
        yield sentence(
            "{task}: {model} with {view} is right on {accuracy} of {n:item}, chance {chance} "
            "({sure}): the items give it away.",
            leaks.quotes(k),
            task=Verbatim(one.task),
            model=ModelName(one.model),
            view=VIEWS[one.view],
            sure=sure,
        )
    if found.asked.probes and not found.asked.found:
        yield sentence(
            "No model is above chance without the video (one-sided, exact, {sure}).", sure=sure
        )


def probes_section(report: Report) -> Section:
    """Return what a set gives away as a part of a page."""
    return Section(
        "probes",
        "Shortcuts",
        report.sentence("probes"),
        tuple(table for table in report.tables_shown(details=False) if table.rows),
        notes=(PROBES_NOTE,),
    )


def diff_report(found: dict[str, Any]) -> Report:
    """Return what changed from one bench to another."""
    if found["same"]:
        return Report((), (sentence("the same bench, byte for byte"),))
    benches = tuple({**one, "bench": one["bench"][:12]} for one in found["benches"])
    rows = []
    for what in ("questions", "videos"):
        # Unchanged ones are counted, all others listed.
        many = {k: n if isinstance(n, int) else len(n) for k, n in found[what].items()}
        rows.append({"what": what, **many})
    rows.append({"what": "settings", "changed": len(found["settings"])})
    questions = found["questions"]
    videos = found["videos"]
    lists = {
        "Questions changed": map(_changed, questions["changed"]),
        "Questions removed": map(_question, questions["removed"]),
        "Questions added": map(_question, questions["added"]),
        "Videos changed": (
            f"{one_line(v['video'], 60)}: {', '.join(v['fields'])}" for v in videos["changed"]
        ),
        "Videos removed": (one_line(video, 80) for video in videos["removed"]),
        "Videos added": (one_line(video, 80) for video in videos["added"]),
        "Settings": map(_setting, found["settings"]),
    }
    kinds = ("unchanged", "changed", "removed", "added")
    tables = (
        Table(
            "benches",
            "From the first to the second",
            (Column("bench", "bench"), *(Column(k, k, "count") for k in ("questions", "videos"))),
            benches,
        ),
        Table(
            "changes",
            "What changed",
            (Column("what", ""), *(Column(kind, kind, "count") for kind in kinds)),
            tuple(rows),
        ),
        *(_list(caption, list(lines)) for caption, lines in lists.items()),
    )
    return Report(tables, ())


def _list(caption: str, lines: Sequence[str]) -> Table:
    more = [f"... and {len(lines) - NAMED:,} more"] if len(lines) > NAMED else []
    return listing(caption.lower().replace(" ", "-"), caption, (*lines[:NAMED], *more))


def _changed(change: dict[str, Any]) -> str:
    renamed = f" -> {one_line(change['now'], 40)}" if change["now"] != change["qid"] else ""
    return f"{one_line(change['qid'], 40)}{renamed}: {', '.join(change['fields'])}"


def _question(named: dict[str, Any]) -> str:
    return f"{one_line(named['qid'], 40)} {one_line(named['question'], 80)}"


def _setting(one: dict[str, Any]) -> str:
    before, after = (one_line(str(one[key]), 40) for key in ("before", "after"))
    return f"{one_line(one['setting'], 60)}: {before} -> {after}"
