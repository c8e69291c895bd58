"""Labels of a run as a report: by whom, how many, how far people and judges agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from videoautoarena.runs.audit.label_report import LabelReport
from videoautoarena.runs.rating.question_ranking import PLACES
from videoautoarena.runs.views.remarks import findings_said, listing, tally_of
from videoautoarena.runs.views.report import (
    Column,
    Report,
    Sentence,
    Table,
    sentence,
)


def labels_report(found: LabelReport) -> Report:
    """Return who labelled how much, what the labels show, and how questions were ranked."""
    shown = found.to_json()
    tally = tally_of(
        labels=found.labels,
        battles=found.battles,
        people=sum(one.labels > 0 for one in found.labellers),
        left_out=found.left_out,
        **vars(found.votes),
        **vars(found.sample),
        **_ranking_counts(found),
    )
    sentences: list[Sentence] = []
    tables = [tally]
    if found.labels:
        figures, said = findings_said(found.findings)
        people, gaps = _people_table(shown["labellers"]), _gaps_table(shown["calibration"])
        agreement = listing("agreement", "How far people and judges agree", said)
        tables = [people, agreement, gaps, tally, figures]
        sentences = [Sentence(one.parts, one.key, "page") for one in said]
        if found.calibration:
            sentences.append(
                sentence(
                    "Without ties. Gaps are between the judge's ratings; expected: how often "
                    "people should prefer the higher-rated model."
                )
            )
    if shown["ranking"]:
        tables.append(_sources_table(shown["ranking"]["sources"]))
        sentences.append(_ranked(tally))
    return Report(tuple(tables), tuple(sentences), above=tuple(_head(tally)))


def _people_table(labellers: list[dict[str, Any]]) -> Table:
    columns = (
        Column("labeller", "labeller", "name"),
        Column("labels", "labels", "count"),
        Column("ties", "ties", "count"),
        Column("skipped", "cannot tell", "count"),
        _share("agreed", "agrees with the judge"),
    )
    rows = tuple({**row, **_figure("agreed", row["agreed"])} for row in labellers)
    return Table("labellers", "Labels by person", columns, rows)


def _gaps_table(calibration: list[dict[str, Any]]) -> Table:
    columns = (
        Column("gap", "rating gap", "count_interval", ("gap_from", "gap_to")),
        Column("labels", "labels", "count"),
        _share("agreed", "judge agrees"),
        _share("better", "people pick better"),
        Column("expected", "expected", "share"),
    )
    rows = tuple(
        row
        | {"labels": row["agreed"]["n"]}
        | _figure("agreed", row["agreed"])
        | _figure("better", row["better"])
        for row in calibration
    )
    return Table("calibration", "How far judges and ratings are right", columns, rows)


def _sources_table(sources: list[dict[str, Any]]) -> Table:
    most = PLACES[: len(sources[0]["places"])] if sources else ()
    columns = (
        Column("source", "questions of", "name"),
        Column("n", "n", "count"),
        *(_share(place, place) for place in most),
    )
    rows = []
    for row in sources:
        places = zip(most, row["places"], strict=True)
        figures = {key: x for place, share in places for key, x in _figure(place, share).items()}
        rows.append({"source": row["source"], "n": row["n"], **figures})
    return Table("sources", "Questions by place", columns, tuple(rows), wraps=True)


def _share(key: str, title: str) -> Column:
    return Column(key, title, "share_with_interval", (key, f"{key}_low", f"{key}_high"))


def _figure(key: str, share: Mapping[str, Any]) -> dict[str, Any]:
    return {key: share["value"], f"{key}_low": share["low"], f"{key}_high": share["high"]}


def _ranking_counts(found: LabelReport) -> dict[str, int]:
    of = found.ranking
    return {} if of is None else {"rankings": of.rankings, "ranked": of.videos, "left": of.skipped}


def _ranked(tally: Table) -> Sentence:
    left = "; {left} could not be ranked" if tally.quote(0, "left").value else ""
    words = f"Questions: {{rankings:ranking}} on {{ranked:video}}{left}."
    return sentence(words, tally.quotes())


def _head(tally: Table) -> Iterator[Sentence]:
    counts = tally.quotes()
    if not counts["labels"].value:
        yield sentence("No labels yet; arena annotate and arena labels import add them.")
    else:
        people = "person" if counts["people"].value == 1 else "people"
        yield sentence(f"{{labels:label}} of {{battles:battle}} by {{people}} {people}.", counts)
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
