"""Labels of a run as a report: by whom, how many, how far people and judges agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from videoautoarena.runs.analysis.audit.human_agreement import LabelReport
from videoautoarena.runs.rating.question_ranking import PLACES, SourceRanks
from videoautoarena.runs.views.results.remarks import findings_said, listing
from videoautoarena.runs.views.results.report import (
    Column,
    Report,
    Section,
    Sentence,
    Table,
    remark,
    sentence,
    tally_table,
)


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
    tables = (
        _people_table(found),
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
    """Return what people say of a run as a part of its page."""
    said = report.sentence("labels.agreement") or report.above[0]
    tables = tuple(
        one for one in report.tables if one.name in ("labellers", "sources") and one.rows
    )
    return Section("people", "People", said, tables, notes=(report.above[0], _PEOPLE_NOTE))


_ABOUT_GAPS = (
    "Without ties. Gaps are between the judge's ratings; expected: how often people should prefer "
    "the higher-rated model."
)


def _people_table(found: LabelReport) -> Table:
    columns = (
        Column("labeller", "labeller", "name"),
        Column("labels", "labels", "count"),
        Column("ties", "ties", "count"),
        Column("skipped", "cannot tell", "count"),
        Column("agreed", "agrees with the judge", "share_with_interval"),
    )
    rows = tuple(vars(one) for one in found.labellers if found.labels)
    return Table("labellers", "Labels by person", columns, rows)


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
