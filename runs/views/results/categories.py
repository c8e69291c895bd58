"""Makes reports of what a run asked: categories, topics, and how real its questions are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from videoautoarena.runs.analysis.categories.check import CategoryCheck
from videoautoarena.runs.analysis.categories.figures import CategoryReport, Group
from videoautoarena.runs.analysis.categories.topics import OTHER, RunTopics
from videoautoarena.runs.analysis.realism.comparison import TraitComparison, Value
from videoautoarena.runs.analysis.realism.difficulty import DifficultyComparison
from videoautoarena.runs.analysis.realism.real_mix import weakness_of
from videoautoarena.runs.analysis.realism.report import Boards, RealismReport
from videoautoarena.runs.formats.words import FORMATS, Kind
from videoautoarena.runs.rating.finding import UNKNOWN, Figure
from videoautoarena.runs.rating.leaderboard import LeaderboardRow
from videoautoarena.runs.rating.method import SOLID_BATTLES
from videoautoarena.runs.run.rundir.reader import one_line
from videoautoarena.runs.views.results.remarks import notes_of
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    Report,
    Sentence,
    Table,
    Verbatim,
    listed,
    sentence,
    spoken_table,
    tally_table,
)

_MOST_PAIRS = 8
"""Pairs of categories that are shown; all are in the JSON."""
THIN = "few"
_EXAMPLE = 60
"""Characters of an example."""
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
    """Return a row for each category: questions with an interval, and how battles ended."""
    groups = {group.name: group for group in found.groups}
    columns = (
        Column("category", "category"),
        Column("questions", "questions", "count"),
        Column("share", "share", "share_with_interval"),
        Column("unknown", "unknown", "count", spare=1),
        Column("battles", "battles", "count"),
        Column("both_bad", "both bad", "share_with_interval"),
    )
    # A category that no question is of has no group.
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
    """Return the categories that occur together most often, the most frequent first."""
    # The last counts those of none, which stand together with nothing.
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
    """Return places with models across, best first over all, and groups down."""
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


def topics_report(found: RunTopics) -> Report:
    """Return a row for each topic: questions, videos, how battles ended, and an example."""
    columns = (
        Column("topic", "topic", "name"),
        Column("questions", "questions", "count"),
        Column("share", "share", "share_with_interval"),
        Column("videos", "videos", "count", spare=2),
        Column("battles", "battles", "count"),
        Column("both_bad", "both bad", "share_with_interval"),
        Column("example", "for example", spare=1),
    )
    rows = tuple(
        {
            **one._asdict(),
            **{"low": one.share.low, "high": one.share.high},
            "both_bad": one.both_bad_share,
            "example": one_line(one.example, _EXAMPLE),
        }
        for one in found.topics
    )
    fields = ("topic", "questions", "share", "low", "high", "videos", "battles", "both_bad")
    table = Table("topics", "What questions are about", columns, rows, (*fields, "example"))
    own = [one for one in found.topics if one.topic != OTHER]
    tally = tally_table({"questions": found.questions, "topics": len(own)})
    sentences = (
        sentence(
            "{questions:question} in {topics:topic}, each named by its three weightiest words; "
            "{other} are those outside of every cluster.",
            tally.quotes(),
            other=Verbatim(f'"{OTHER}"'),
        ),
    )
    return Report((table, tally), sentences, data=table)


def check_report(found: CategoryCheck) -> Report:
    """Return how far a classifier agrees with another model or with people, by category."""
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


MARK = "differs"
SHOWN = 6
"""Values of a trait, and cells that a run lacks, on a terminal."""
_TRAITS = (
    Column("trait", "trait"),
    Column("value", "value"),
    Column("simulated", "simulated", "share_or_mean",
           ("simulated_value", "simulated_low", "simulated_high", "is_mean")),
    Column("real", "real", "share_or_mean", ("real_value", "real_low", "real_high", "is_mean")),
    Column("p", "p"),
)  # fmt: skip
_FIELDS = (
    *("trait", "value", "held_p", "differs"),
    *(f"{side}_{of}" for side in ("simulated", "real") for of in Figure._fields),
)
"""Fields of CSV."""
_BOARD = (
    MODEL,
    Column("before", "as played", "rating"),
    Column("rank_before", "rank", "places", ("best_before", "worst_before")),
    Column("after", "real mix", "rating"),
    Column("interval", "interval", "reach", ("after", "low", "high")),
    Column("rank_after", "rank", "places", ("best_after", "worst_after")),
    Column("moves", "moves", "points"),
)


def realism_report(found: RealismReport, *, most: int | None = SHOWN) -> Report:
    """Return both tables; `most` is how many values of a trait are shown, None for all."""
    every = [_value_fields(one, value) for one in found.traits for value in one.values]
    traits = Table("questions", "Questions", _TRAITS, tuple(_trait_rows(found.traits, most)))
    data = Table("traits", "Questions", _TRAITS, tuple(every), _FIELDS)
    counts: dict[str, Any] = {
        "simulated": found.simulated.questions,
        "simulated_videos": found.simulated.videos,
        "real": found.real.questions,
        "real_videos": found.real.videos,
        "shared": found.shared_videos,
        "tested": sum(one.p is not None for one in found.traits),
    }
    if (mix := found.mix) is not None:
        left = max(len(mix.lacking) - SHOWN, 0)
        counts |= {"battles": mix.battles, "effective": mix.effective_battles, "left": left}
        counts |= {"heaviest": mix.heaviest, "cap": mix.cap}
    tally = tally_table(counts, heaviest="coefficient", cap="number")
    tables = [traits, tally]
    sentences = list(_told(found, tally))
    if found.difficulty is not None:
        graded = _graded_table(found.difficulty)
        tables += [_difficulty_table(found.difficulty), graded]
        sentences.append(_graded_sentence(found.difficulty, graded))
    weak = found.mix and weakness_of(found.mix)
    if found.boards is not None and found.mix is not None:
        board = _board_rows(found.boards)
        rows = (
            {"kind": f"{one.category} / {one.form}", "real": one.real or 0.0}
            for one in found.mix.lacking[:SHOWN]
        )
        lacks = spoken_table("lacking", rows, kind="text", real="share")
        tables += [Table("real-mix", "Board by the real mix", _BOARD, tuple(board)), lacks]
        if weak:
            sentences.append(Sentence((Verbatim(f"{weak[0].upper()}{weak[1:]}."),)))
        sentences += _mix_sentences(tally, lacks)
    # What was said above in a sentence of its own is no note as well.
    sentences += notes_of(line for line in found.warnings if line != weak)
    return Report(tuple(tables), tuple(sentences), data=data)


def _difficulty_table(found: DifficultyComparison) -> Table:
    """Return the mean grades of both sides on each scale, and those of the run's by origin."""

    def mean(key: str, title: str, kind: Kind = "coefficient_with_interval") -> Column:
        return Column(key, title, kind, (f"{key}_value", f"{key}_low", f"{key}_high"))

    columns = (
        Column("scale", "grade, 1 to 5", "name"),
        mean("real", "real"),
        mean("simulated", "simulated"),
        mean("difference", "real - simulated", "mark_gap_with_interval"),
        Column("first", "first", "coefficient", ("first_value",)),
        Column("evolved", "evolved", "coefficient", ("evolved_value",)),
    )
    rows = []
    for one in found.scales:
        row: dict[str, Any] = {"scale": one.scale.replace("_", " ")}
        for side in ("real", "simulated", "difference", "first", "evolved"):
            figure: Figure = getattr(one, side)
            row |= {f"{side}_{of}": getattr(figure, of) for of in Figure._fields}
        rows.append(row)
    return Table("difficulty", "Graded difficulty", columns, tuple(rows), wraps=True)


def _graded_table(found: DifficultyComparison) -> Table:
    counts = {"pairs": found.pairs, "videos": found.videos, "failed": found.failed}
    harder = found.harder_share.value
    return tally_table(counts | {"harder": harder}, "graded", harder="share")


def _graded_sentence(found: DifficultyComparison, tally: Table) -> Sentence:
    return sentence(
        "{grader} graded {pairs:pair} on {videos:video}[; {failed} failed]: the real question is "
        "the harder one in {harder} (equal grades are half).",
        tally.quotes(),
        grader=Verbatim(found.grader),
    )


def _trait_rows(traits: Sequence[TraitComparison], most: int | None) -> Iterator[dict[str, Any]]:
    """Yield the values of each trait, which is named once."""
    for one in traits:
        kept = one.values
        if most is not None and len(kept) > most:
            # One line is left to say how many more there are.
            kept = kept[: most - 1]
        rows = [_value_fields(one, value) for value in kept] or [_trait_fields(one)]
        if left := len(one.values) - len(kept):
            rows.append({"value": f"{FORMATS['count'].cell([left])} more"})
        for row in rows[1:]:
            row |= {"trait": None, "p": None}
        yield from rows


def _trait_fields(one: TraitComparison) -> dict[str, Any]:
    p = FORMATS["p"].cell([one.held_p])
    return {
        "trait": one.trait,
        "held_p": one.held_p,
        "differs": one.differs,
        "p": f"{MARK} {p}" if one.differs else p,
    }


def _value_fields(one: TraitComparison, value: Value) -> dict[str, Any]:
    fields = _trait_fields(one) | {"value": value.value, "is_mean": value.value == "mean"}
    for side, figure in (("simulated", value.simulated), ("real", value.real)):
        fields |= {f"{side}_{of}": getattr(figure, of) for of in Figure._fields}
    return fields


def _board_rows(boards: Boards) -> Iterator[dict[str, Any]]:
    """Yield a row a model, the best by the real mix first."""
    played = {row.model: row for row in boards.as_played.models}
    for row in boards.real_mix.models:
        before = played[row.model]
        yield {
            "model": row.model,
            "before": before.rating,
            "best_before": before.rank_best,
            "worst_before": before.rank_worst,
            "after": row.rating,
            "low": row.low,
            "high": row.high,
            "best_after": row.rank_best,
            "worst_after": row.rank_worst,
            "moves": _moves(before, row),
        }


def _moves(before: LeaderboardRow, after: LeaderboardRow) -> float | None:
    """Return by how much a rating moves, as a reader of both sees it."""
    digits = FORMATS["rating"].digits
    if before.rating is None or after.rating is None or digits is None:
        return None
    return float(digits.rounded(after.rating) - digits.rounded(before.rating))


def _told(found: RealismReport, tally: Table) -> Iterator[Sentence]:
    counts = tally.quotes()
    yield sentence(
        "{simulated:simulated question} on {simulated_videos:video}, {real:real question} on "
        "{real_videos:video}; {shared} in common.",
        counts,
    )
    if not counts["tested"].value:
        yield sentence("There is too little of either to tell them apart.")
    elif found.told_apart:
        yield sentence(
            "Told apart by {traits} ({mark}): p held over {tested} traits is at most {level}.",
            counts,
            traits=listed(map(Verbatim, found.told_apart), last=", "),
            mark=MARK,
            level=Verbatim(f"{found.level:g}"),
        )
    else:
        yield sentence(
            "Not told apart by any of {tested} traits, which is no proof that they are alike.",
            counts,
        )


def _mix_sentences(tally: Table, lacks: Table) -> Iterator[Sentence]:
    counts = tally.quotes()
    yield sentence(
        "Real mix: {battles:battle} weighted by category and form, at most {heaviest} each (cap "
        "{cap}); they count as {effective}.",
        counts,
    )
    if lacks.rows:
        kinds = enumerate(row["kind"] for row in lacks.rows)
        each = ((Verbatim(f"{kind} "), lacks.quote(k, "real")) for k, kind in kinds)
        lacking = listed(each, last=", ")
        yield sentence("This run lacks {lacking}[ and {left} more].", counts, lacking=lacking)
