"""The categories of a run as a report: how many, which occur together, who leads in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from videoautoarena.runs.analysis.categories.check import CategoryCheck
from videoautoarena.runs.analysis.categories.figures import CategoryReport, Group
from videoautoarena.runs.rating.finding import UNKNOWN
from videoautoarena.runs.rating.method import SOLID_BATTLES
from videoautoarena.runs.views.results.report import (
    Column,
    Report,
    Sentence,
    Table,
    Verbatim,
    sentence,
    tally_table,
)

_MOST_PAIRS = 8
"""Pairs of categories that are shown; all are in the JSON."""
THIN = "few"
PLACES = (
    "place by rating; behind it how many places a model moves up (+) or down (-) under --style, "
    "where the battles tell style from the models"
)


def categories_report(found: CategoryReport) -> Report:
    """Return how many questions each category has, pairs of them, and places by group."""
    counts = _count_table(found)
    pairs = _pair_table(found)
    places = [
        _place_table(by, groups)
        for by, groups in (("category", found.groups), ("language", found.languages))
        if groups
    ]
    return Report((counts, pairs, *places), tuple(_sentences(found)), data=counts)


def _count_table(found: CategoryReport) -> Table:
    """One row a category: how many questions, with an interval, and what became of the battles."""
    groups = {group.name: group for group in found.groups}
    columns = (
        Column("category", "category"),
        Column("questions", "questions", "count"),
        Column("share", "share", "share_with_interval"),
        Column("unknown", "unknown", "count", spare=1),
        Column("battles", "battles", "count"),
        Column("both_bad", "both bad", "share_with_interval"),
    )
    none = Group("", 0, UNKNOWN, is_thin=False, places=())
    rows = tuple(
        {
            **one._asdict(),
            **{"low": one.share.low, "high": one.share.high},
            "battles": group.battles,
            "both_bad": group.both_bad_share,
        }
        for one in found.counts
        for group in [groups.get(one.category, none)]
    )
    title = "Questions by category; one may be of several"
    fields = ("category", "questions", "unknown", "share", "low", "high", "battles", "both_bad")
    return Table("categories", title, columns, rows, fields)


def _pair_table(found: CategoryReport) -> Table:
    """The categories that most often stand together, the most frequent first."""
    names = [one.category for one in found.counts[:-1]]
    pairs: list[dict[str, Any]] = [
        {"one": names[i], "other": names[k], "both": count}
        for i, row in enumerate(found.overlap)
        for k, count in enumerate(row)
        if k > i and count
    ]
    pairs.sort(key=lambda pair: -pair["both"])
    columns = (Column("one", "category"), Column("other", "together with"))
    both = Column("both", "questions", "count")
    return Table("together", "Most frequent pairs", (*columns, both), tuple(pairs[:_MOST_PAIRS]))


def _place_table(by: str, groups: Sequence[Group]) -> Table:
    """Models across, best first over all; groups down."""
    names = [place.model for place in groups[0].places]
    columns = (
        Column("group", f"place by {by}", "name"),
        *(
            Column(f"place_{k}", name, "moved_place", (f"place_{k}", f"moved_{k}", f"mark_{k}"))
            for k, name in enumerate(names)
        ),
    )
    rows = []
    for group in groups:
        places = {place.model: place for place in group.places}
        each = [places[name] for name in names]
        row = {f"place_{k}": place.place for k, place in enumerate(each)}
        row |= {f"moved_{k}": place.moved for k, place in enumerate(each)}
        marks = {f"mark_{k}": THIN * place.is_thin for k, place in enumerate(each)}
        rows.append({"group": group.name, **row, **marks})
    return Table(f"places-by-{by}", f"Places by {by}", columns, tuple(rows), wraps=True)


def _sentences(found: CategoryReport) -> Iterator[Sentence]:
    tally = tally_table(
        {
            "tagged": found.tagged,
            "questions": found.questions,
            "untold": found.questions - found.tagged,
        }
    )
    yield sentence(f"{PLACES}.")
    yield sentence(
        "{few}: fewer than {least} battles. A question may be of several categories, so that "
        "shares add up to more.",
        few=THIN,
        least=Verbatim(str(SOLID_BATTLES)),
    )
    yield sentence(
        "{tagged} of {questions} questions by {classifier}[; {untold} are not tagged].",
        tally.quotes(),
        classifier=Verbatim(found.classifier),
    )


def check_report(found: CategoryCheck) -> Report:
    """Return how far a classifier agrees with somebody else, by category."""
    columns = (
        Column("category", "category"),
        Column("truths", "they say yes", "count"),
        Column("claims", "it says yes", "count"),
        Column("unknown", "it cannot tell", "count"),
        Column("precision", "precision", "share_with_interval"),
        Column("recall", "recall", "share_with_interval"),
    )
    rows = tuple(row._asdict() for row in found.rows)
    table = Table("check", "Precision and recall by category", columns, rows)
    sentences = (
        sentence(
            "{questions:question}: {classifier} against {against}.",
            tally_table({"questions": found.questions}).quotes(),
            classifier=Verbatim(found.classifier),
            against=Verbatim(found.against),
        ),
        sentence(
            "precision: of what it calls yes, so much is; recall: of what is, it calls so much yes."
        ),
        sentence(
            "Intervals are {level}, {how}; what it cannot tell, it has not found.",
            level=Verbatim("95 %"),
            how=found.interval,
        ),
    )
    return Report((table,), sentences)
