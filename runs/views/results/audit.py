"""Makes the reports of a run's judges, of other judges beside them, and of people's labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.analysis.audit.checks import GROUPS
from videoautoarena.runs.analysis.audit.human_agreement import LabelReport
from videoautoarena.runs.analysis.audit.rejudge import Confusion
from videoautoarena.runs.analysis.audit.rejudge import RejudgeReport as Views
from videoautoarena.runs.analysis.audit.report import AuditReport
from videoautoarena.runs.analysis.leaderboard.agreement import BoardAgreement
from videoautoarena.runs.rating.question_ranking import PLACES, SourceRanks
from videoautoarena.runs.run.rundir.call_facts import fact_lines
from videoautoarena.runs.run.rundir.reader import STAND_INS, counted
from videoautoarena.runs.views.results.remarks import findings_said, listing, notes_of
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    ModelName,
    Report,
    Section,
    Sentence,
    Table,
    Verbatim,
    listed,
    remark,
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
        # Said even if there is none: an empty list would read as a check that was not made.
        listing("alarms", "Alarms", alarms or [_NO_ALARM]),
        *(
            listing(group, group, (f"{'ALARM: ' * one[1]}{one[2]}" for one in mine))
            # Findings come section by section, as groupby needs them.
            for group, mine in groupby(each, lambda one: one[0])
        ),
    )
    tally = tally_table({"battles": found.totals.battles, "decided": found.totals.decided})
    notes = [*[STAND_INS] * found.stand_ins, *found.warnings]
    judges = (
        Verbatim(name if name == model else f"{name} ({model})")
        for name, model in found.judges.items()
    )
    return Report(
        (*lists, table, tally),
        # A terminal shows them in the lists; a page finds them by their keys.
        tuple(Sentence(one.parts, one.key, "page") for one in said),
        above=(
            sentence(
                "Judged by {judges}: {battles:battle}, {decided} decided. Intervals: {level}, by "
                "video: what is about one video may all go alike, so that few videos make them "
                "wide.",
                tally.quotes(),
                judges=listed(judges, last=", ") or "nobody",
                level=Verbatim("95 %"),
            ),
            *map(_note, notes),
        ),
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


def rejudged_reports(found: Views) -> Iterator[Report]:
    """Yield how far each other judge agrees with a run: verdicts, then both boards side by side."""
    notes = tuple(map(_note, found.warnings))
    if not found.judges:
        none = f"the battles of this run were not rejudged yet; name a judge with {option('judge')}"
        yield Report((), (), above=(Sentence((none,)),))
    for judge in found.judges:
        table, said = findings_said(judge.findings)
        columns = (
            MODEL,
            Column("rating", "run", "rating"),
            Column("interval", "interval", "rating_interval", ("low", "high")),
            Column("rank", "rank", "count"),
            Column("other_rating", "other", "rating"),
            Column("other_interval", "interval", "rating_interval", ("other_low", "other_high")),
            Column("other_rank", "rank", "count"),
        )
        rows = tuple(one._asdict() for one in judge.boards.models)
        both = (
            _confusion_table(judge.confusion),
            Table("boards", "Both leaderboards of the same battles", columns, rows),
        )
        yield Report((*(both if judge.battles else ()), table), (), above=(*notes, *said))
        # Said once, above the first judge.
        notes = ()


def _confusion_table(found: Confusion) -> Table:
    other = (Column(word, f"other {word}", "count") for word in found.words)
    columns = (Column("word", "run"), *other)
    rows = tuple(
        {"word": word, **dict(zip(found.words, row, strict=True))}
        for word, row in zip(found.words, found.run_by_judge, strict=True)
    )
    return Table("verdicts", "Verdicts of the run and of the other judge", columns, rows)


def labels_report(found: LabelReport) -> Report:
    """Return who labelled how much, what the labels show, and how questions were ranked."""
    ranking = found.ranking
    tally = tally_table(
        {
            "labels": found.labels,
            "battles": found.battles,
            "people": sum(one.labels > 0 for one in found.labellers),
            "left_out": found.left_out,
            "rankings": ranking and ranking.rankings,
            "ranked": ranking and ranking.videos,
            "unranked": ranking and ranking.skipped,
            **vars(found.votes),
            **vars(found.sample),
        }
    )
    figures, said = findings_said(found.findings if found.labels else ())
    columns = (
        Column("labeller", "labeller", "name"),
        Column("labels", "labels", "count"),
        Column("ties", "ties", "count"),
        Column("skipped", "cannot tell", "count"),
        Column("agreed", "agrees with the judge", "share_with_interval"),
    )
    rows = tuple(vars(one) for one in found.labellers if found.labels)
    tables = (
        Table("labellers", "Labels by person", columns, rows),
        listing("agreement", "How far people and judges agree", said),
        _gaps_table(found),
        _sources_table(ranking.sources if ranking else ()),
    )
    sentences = [Sentence(one.parts, one.key, "page") for one in said]
    if found.calibration:
        sentences.append(sentence(_ABOUT_GAPS))
    if ranking:
        words = "Questions: {rankings:ranking} on {ranked:video}[; {unranked} could not be ranked]."
        sentences.append(sentence(words, tally.quotes()))
    return Report((*tables, tally, figures), tuple(sentences), above=tuple(_head(tally)))


_PEOPLE_NOTE = remark(
    "Intervals are 95 % and know which battles share a video. A judge that agrees with people as "
    "often as they do with one another is as good as a person. Questions of several sources on one "
    "video are ranked by people who did not know the source."
)


def people_section(report: Report) -> Section:
    """Return what people say about a run as a part of its page."""
    said = report.sentence("labels.agreement") or report.above[0]
    tables = tuple(
        one for one in report.tables if one.name in ("labellers", "sources") and one.rows
    )
    return Section("people", "People", said, tables, notes=(report.above[0], _PEOPLE_NOTE))


_ABOUT_GAPS = (
    "Without ties. Gaps are between the judge's ratings; expected: how often people should prefer "
    "the higher-rated model."
)


def _gaps_table(found: LabelReport) -> Table:
    columns = (
        Column("gap", "rating gap", "count_interval", ("gap_from", "gap_to")),
        Column("labels", "labels", "count"),
        Column("agreed", "judge agrees", "share_with_interval"),
        Column("better", "people pick better", "share_with_interval"),
        Column("expected", "expected", "share"),
    )
    rows = tuple({**row._asdict(), "labels": row.agreed.n} for row in found.calibration)
    return Table("calibration", "How far judges and ratings are right", columns, rows)


def _sources_table(sources: Sequence[SourceRanks]) -> Table:
    most = PLACES[: len(sources[0].places)] if sources else ()
    columns = (
        Column("source", "questions of", "name"),
        Column("n", "n", "count"),
        *(Column(place, place, "share_with_interval") for place in most),
    )
    rows = tuple(
        {"source": one.source, "n": one.n, **dict(zip(most, one.places, strict=True))}
        for one in sources
    )
    return Table("sources", "Questions by place", columns, rows, wraps=True)


def _head(tally: Table) -> Iterator[Sentence]:
    counts = tally.quotes()
    if not counts["labels"].value:
        yield sentence("No labels yet; arena annotate and arena labels import add them.")
    else:
        by = "{people} {people|person|people}"
        yield sentence(f"{{labels:label}} of {{battles:battle}} by {by}.", counts)
    if counts["cast"].value:
        said = "{skipped} could not tell, {superseded} taken back"
        yield sentence(f"{{cast:vote}} cast in sessions: {said}.", counts)
    if counts["named"].value:
        yield sentence("In {named:battle} an answer may name its maker.", counts)
    if counts["left_out"].value:
        yield sentence("{left_out:label} of superseded battles left out.", counts)
    if counts["drawn"].value:
        drawn = "{drawn} of {decided:decided battle}, {labelled} of them labelled"
        yield sentence(f"Drawn at random: {drawn}.", counts)
    else:
        yield sentence("No battles were drawn at random yet; arena labels sample draws some.")


MOST_TURNED = 5
"""Pairs that are named at most."""
COLUMNS = (
    Column("place_a", "A", "count"),
    Column("place_b", "B", "count"),
    MODEL,
    Column("rating_a", "rating A", "given"),
    Column("rating_b", "rating B", "given"),
)


def agreement_report(found: BoardAgreement) -> Report:
    """Return the shared models side by side, then what each figure says."""
    table = Table(
        name="agreement",
        caption="Models on both leaderboards",
        columns=COLUMNS,
        rows=tuple(row._asdict() for row in found.models),
    )
    return Report((table,), tuple(_sentences(found)), above=tuple(_above(found)))


def _above(found: BoardAgreement) -> Iterator[Sentence]:
    for name, board in zip("AB", found.boards, strict=True):
        bounds = "" if board.intervals else ", no intervals"
        about = f"{name}: {board.source}, {counted(board.models, 'model')}{bounds}"
        yield Sentence((Verbatim(about),))
    yield Sentence((Verbatim(f"{counted(len(found.models), 'model')} on both"),))


def _sentences(found: BoardAgreement) -> Iterator[Sentence]:
    yield from findings_said(found.figures)[1]
    if found.turned:
        each = ((ModelName(a), " above ", ModelName(b)) for a, b in found.turned[:MOST_TURNED])
        more = len(found.turned) - MOST_TURNED
        yield sentence(
            "Ordered with confidence on both, but in opposite ways: {pairs}[, and {more}].",
            pairs=listed(each, between="; ", last="; "),
            more=Verbatim(f"{more} more") if more > 0 else "",
        )
    if any(math.isfinite(figure.low) for figure in found.figures):
        yield sentence(
            "The {level} intervals of correlations are over models like these; the uncertainty of "
            "the ratings enters confidence agreement only.",
            level=Verbatim("95 %"),
        )
    yield from notes_of(found.warnings)
