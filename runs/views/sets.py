"""What reports of frozen sets of all kinds say: who leads, odd endings, sweeps and ladders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from videoautoarena.runs.bench.score.leads import SetLead
from videoautoarena.runs.bench.score.score import FEW_VIDEOS
from videoautoarena.runs.bench.score.sweep import Ladder, Sweep
from videoautoarena.runs.bench.score.task_points import Figure
from videoautoarena.runs.rundir.reader import SAW_NONE, STAND_INS
from videoautoarena.runs.text.number_formats import Kind
from videoautoarena.runs.views.leaderboard import lead_fields, lead_words
from videoautoarena.runs.views.report import (
    Column,
    Difference,
    Model,
    Part,
    Sentence,
    Table,
    Verbatim,
    listed,
    named,
    sentence,
    spoken_table,
    tally_table,
)

RANK = Column("rank", "rank", "places", ("rank_best", "rank_worst"), spare=99)
RANKS = ("rank", "rank_best", "rank_worst")


def counts_table(lead: SetLead | None, **counts: int | None) -> Table:
    """Return what the sentences of a board count, as a table of one row."""
    return tally_table({**counts, **lead_fields(lead, lead.videos if lead else None)})


def headline_of(lead: SetLead | None, tally: Table, *, nobody: str) -> Sentence:
    """Return who leads on a set; `nobody` says why it is nobody."""
    if lead is None:
        return sentence(nobody, key="lead")
    if lead.models == 1:
        return sentence(
            "{model} is the only model with a score.", key="lead", model=Model(lead.first[0])
        )
    return lead_words(lead, tally, models=lead.models, rated="scored")


def figure_fields(name: str, figure: Figure | None) -> dict[str, Any]:
    """Return the fields of a figure with its bounds."""
    if figure is None:
        return {name: None}
    return {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}


def bounds_of(name: str) -> tuple[str, str]:
    """Return the fields of the interval of a figure."""
    return f"{name}_low", f"{name}_high"


def gap_sentence(models: Table, key: str, rows: Sequence[int], *, part: Part = "") -> Sentence:
    """Return how far the first of some rows stands above the second, for a page."""
    if len(rows) < 2:
        some = "{part}One model has a score." if rows else "{part}No model has a score."
        return sentence(some, key="gap", role="page", part=part)
    first, second = (models.quote(k, key) for k in rows[:2])
    a, b = (Model(models.rows[k]["model"]) for k in rows[:2])
    is_level = first.seen == second.seen
    return sentence(
        "{part}{a} and {b} are level." if is_level else "{part}{a} stands {gap} points above {b}.",
        key="gap",
        role="page",
        part=part,
        a=a,
        b=b,
        gap=Difference(first, second),
    )


def stand_ins() -> Sentence:
    """Return that only stand-ins played."""
    return sentence("{told}.", key="stand-ins", told=STAND_INS)


def saw_none(models: Iterable[str]) -> Iterator[Sentence]:
    """Yield which models were sent no frames."""
    if blind := named(dict.fromkeys(models)):
        baseline = f"{SAW_NONE}: a baseline of what words give away"
        yield sentence(f"{{models}} {baseline}.", key="blind", models=blind)


def few_videos(models: Sequence[str] | None = None, *, of: int = 0) -> Sentence:
    """Return that there are too few videos, of some models or of all that there are."""
    every = models is not None and len(models) == of > 1
    return sentence(
        "Fewer than {least} videos, too few to trust an interval[: {who}].",
        key="few",
        least=Verbatim(str(FEW_VIDEOS)),
        who="all" if every else listed(map(Model, models or ()), last=", "),
    )


def odd_ends(counts: Mapping[str, int], odd: Iterable[str], missing: int) -> dict[str, int]:
    """Return how many of a model's items ended in some odd ways, or were not asked."""
    return {**{end: counts.get(end, 0) for end in odd}, "not asked": missing}


def ends_table(rows: Iterable[tuple[str, Mapping[str, int]]]) -> Table:
    """Return how many of its items ended in which odd way, by model."""
    fields = tuple({"model": model, **counts} for model, counts in rows)
    kinds: dict[str, Kind] = {key: "count" for row in fields for key in row}
    return spoken_table("ends", fields, **{**kinds, "model": "name"})


def ends_sentences(table: Table, whole: Sequence[Part]) -> Iterator[Sentence]:
    """Yield what is odd about each model's items, of so many as `whole` says."""
    for k, row in enumerate(table.rows):
        ends = [key for key in row if key != "model" and row[key]]
        odd = listed(((table.quote(k, key), f" {key}") for key in ends), last=", ")
        if odd:
            yield Sentence((Model(row["model"]), ": ", *odd, " of ", *whole, "."), key="ends")


def sweeps_table(sweeps: Iterable[Sweep]) -> Table:
    """Return what is enough for each model, and what is best."""
    rows = []
    for one in sweeps:
        found = {of.frames: of for of in one.settings}
        cheap, best = found[one.cheapest], found[one.best]
        rows.append(
            {
                "model": one.model,
                "frames": one.cheapest,
                "accuracy": cheap.accuracy.value,
                "usd": cheap.usd if one.by == "dollars" else None,
                "best": one.best,
                "best_accuracy": best.accuracy.value,
            }
        )
    return spoken_table(
        "sweeps",
        rows,
        model="name",
        frames="count",
        accuracy="percent",
        usd="money",
        best="count",
        best_accuracy="percent",
    )


def sweep_sentences(
    sweeps: Sequence[Sweep], table: Table, each: str = "an item"
) -> Iterator[Sentence]:
    """Yield what is enough for each model; dollars are of `each`."""
    for k, one in enumerate(sweeps):
        cost = f"({{accuracy}}[, {{usd}} {each}])"
        if one.cheapest != one.best:
            said = (
                f"{cost} {{frames|is|are}} the cheapest setting within {{margin}} points of the "
                "best, {best:frame} ({best_accuracy})."
            )
        elif one.is_cheap:
            said = f"{{frames|scores|score}} best {cost}, which no setting undercuts."
        else:
            said = (
                f"{{frames|scores|score}} best {cost}, and no cheaper setting is shown to be "
                "within {margin} points."
            )
        yield sentence(
            f"{{model}}: {{frames:frame}} {said}",
            table.quotes(k),
            key="sweep",
            model=Model(one.model),
            margin=Verbatim(f"{one.margin:g}"),
        )


def ladders_table(ladders: Iterable[Ladder]) -> Table:
    """Return what each model came to at each length, a row a length."""
    rows = (
        {
            "model": one.model,
            "items": one.items,
            "seconds": rung.seconds,
            "accuracy": rung.accuracy.value,
            **figure_fields("change", rung.change),
        }
        for one in ladders
        for rung in one.rungs
    )
    return spoken_table(
        "ladders",
        rows,
        model="name",
        items="count",
        seconds="length",
        accuracy="percent",
        change=("percent_gap_with_interval", ("change", *bounds_of("change"))),
    )


def ladder_sentences(ladders: Sequence[Ladder], table: Table) -> Iterator[Sentence]:
    """Yield what each model loses with length."""
    start = 0
    for one in ladders:
        said = list[tuple[Part, ...]]()
        for k in range(start, start + len(one.rungs)):
            quotes = table.quotes(k)
            change = (" [", quotes["change"], "]") if k > start else ()
            said.append((quotes["seconds"], " ", quotes["accuracy"], *change))
        yield sentence(
            "{model}, the same {items:item} at each length: {said}.",
            {"items": table.quote(start, "items")},
            key="ladder",
            model=Model(one.model),
            said=listed(said, last=", "),
        )
        start += len(one.rungs)
