"""Makes what reports of all kinds of sets share: leads, odd endings, sweeps and ladders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from videoautoarena.runs.bench.score.leads import SetLead
from videoautoarena.runs.bench.score.score import FEW_VIDEOS
from videoautoarena.runs.bench.score.sweep import LengthLadder, Sweep
from videoautoarena.runs.bench.score.task_points import ScoreFigure
from videoautoarena.runs.formats.terminal_text import Axis
from videoautoarena.runs.formats.words import Kind
from videoautoarena.runs.run.rundir.reader import SAW_NONE, STAND_INS, counted
from videoautoarena.runs.views.results.leaderboard import lead_fields, lead_words
from videoautoarena.runs.views.results.report import (
    MODEL,
    Column,
    ModelName,
    Part,
    QuoteDifference,
    Row,
    Section,
    Sentence,
    Table,
    Verbatim,
    listed,
    named,
    remark,
    sentence,
    spoken_table,
    tally_table,
)

# On a narrow terminal it is the last column to go.
RANK = Column("rank", "rank", "places", ("rank_best", "rank_worst"), spare=99)
RANKS = ("rank", "rank_best", "rank_worst")
# Free text gets two marks, each from 1 to 5.
SHARES, MARKS = Axis(0.0, 100.0), Axis(2.0, 10.0)
"""Scales of accuracies and of the scores of free text."""
RESULT_COLUMNS = (
    Column("result", "result", "name"),
    Column("served", "served as"),
    Column("frames", "frames", "count"),
    Column("seed", "seed", "number"),
    Column("judge", "judge"),
    Column("answers", "answers", "count"),
    Column("forfeits", "no answer", "count"),
    Column("cost", "cost of answers", "money"),
    Column("unknown", "of unknown cost", "count"),
)
"""Columns on how results were made; the last one is shown only if a cost is unknown."""
MOST_CURVES = 9
"""Models that are drawn over budgets."""
SWEEP_NOTE = remark(
    "Over the items that all settings of a model have. Bars: 95 % intervals; dashed: chance; "
    "ringed: the cheapest setting whose difference from the model's best, item by item, has a 95 % "
    "bound above the margin."
)


def counts_table(lead: SetLead | None, **counts: int | None) -> Table:
    """Return what the sentences of a board count, as a table of one row."""
    return tally_table({**counts, **lead_fields(lead, lead.videos if lead else None)})


def headline_of(lead: SetLead | None, tally: Table, *, nobody: str) -> Sentence:
    """Return who leads on a set; `nobody` is said if nobody does."""
    if lead is None:
        return sentence(nobody, key="lead")
    if lead.models == 1:
        return sentence(
            "{model} is the only model with a score.", key="lead", model=ModelName(lead.first[0])
        )
    # Where not all models played all videos, only what they share tells them apart.
    unit = "shared video" if lead.videos < lead.seen else "video"
    return lead_words(lead, tally, models=lead.models, unit=unit, rated="scored")


def figure_fields(name: str, figure: ScoreFigure | None) -> dict[str, Any]:
    """Return the fields of a figure with its bounds."""
    if figure is None:
        return {name: None}
    return {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}


def bounds_of(name: str) -> tuple[str, str]:
    """Return the fields of the interval of a figure."""
    return f"{name}_low", f"{name}_high"


def board_table(
    models: Table, caption: str, axis: Axis, rows: Iterable[Row], *figures: Column
) -> Table:
    """Return the board of a page: model, how it was played, and the first figure as a bar."""
    columns = (
        MODEL,
        Column("seen", "seen", "text"),
        Column("odd", "odd", "flags"),
        *figures,
    )
    return replace(
        models, caption=caption, columns=columns, rows=tuple(rows), axis=axis, look="ladder"
    )


def played_fields(row: Any, judges: int, ends: Iterable[str]) -> dict[str, Any]:
    """Return the model of a row of a board, how it was played, and its odd endings."""
    frames = "" if row.max_frames is None else counted(row.max_frames, "frame")
    seen = [SAW_NONE if row.is_blind else frames]
    if getattr(row, "history", "") == "own":
        seen.append("own history")
    if judges > 1 and row.judge is not None:
        seen.append(f"judge {row.judge}")
    odd = [f"{n:,} {end}" for end, n in odd_ends(row.counts, ends, row.missing).items() if n]
    # A sweep or another history has put it into the name of the player already.
    told = (one for one in seen if one and f"({one})" not in row.model)
    return {"model": row.model, "seen": ", ".join(told), "odd": odd}


def sweep_tables(
    sweeps: Sequence[Sweep], chance: float | None, each: str = "an item"
) -> Iterator[Table]:
    """Yield accuracy as curves over frames and over dollars."""
    drawn = sweeps[:MOST_CURVES]
    rows = [
        {
            "model": one.model,
            "frames": of.frames,
            "usd": of.usd,
            "mark": chance,
            "is_ringed": of.frames == one.cheapest,
            **figure_fields("accuracy", of.accuracy),
        }
        for one in drawn
        for of in one.settings
    ]
    up = Column("accuracy", "accuracy", "percent")
    courses: tuple[tuple[str, Kind, str], ...] = (
        ("frames", "count", "Frames sent of each video"),
        ("usd", "money", f"Dollars {each}"),
    )
    for key, kind, caption in courses:
        known = [row for row in rows if row[key] and row["accuracy"] is not None]
        if known:
            columns = (MODEL, Column(key, key, kind), up)
            yield Table(f"curves-{key}", caption, columns, tuple(known), look="curves")


def cut_note(what: str, drawn: int, of: int) -> Iterator[Sentence]:
    """Yield a note that only the first are drawn, if there are more."""
    if of > drawn:
        yield remark(f"The first {drawn} of {of} {what} are drawn.")


def gap_sentence(
    models: Table, key: str, rows: Sequence[int], *, part: Part = "", reach: Sequence[Part] = ()
) -> Sentence:
    """Return how far the first of some rows stands above the second, for a page.

    `reach` is how far intervals reach, where that is to be said.
    """
    if len(rows) < 2:
        some = "{part}One model has a score." if rows else "{part}No model has a score."
        return sentence(some, key="gap", role="page", part=part)
    first, second = (models.quote(k, key) for k in rows[:2])
    a, b = (ModelName(models.rows[k]["model"]) for k in rows[:2])
    # As printed, so that nobody stands no points above another.
    is_level = first.seen == second.seen
    said = "{part}{a} and {b} are level" if is_level else "{part}{a} stands {gap} points above {b}"
    return sentence(
        f"{said}[; intervals reach {{reach}}].",
        key="gap",
        role="page",
        part=part,
        a=a,
        b=b,
        gap=QuoteDifference(first, second),
        reach=reach,
    )


def stand_ins() -> Sentence:
    """Return the sentence that only stand-ins played."""
    return sentence("{told}.", key="stand-ins", told=STAND_INS)


def saw_none(models: Iterable[str]) -> Iterator[Sentence]:
    """Yield which models were sent no frames."""
    if blind := named(dict.fromkeys(models)):
        baseline = f"{SAW_NONE}: a baseline of what words give away"
        yield sentence(f"{{models}} {baseline}.", key="blind", models=blind)


def few_videos(models: Sequence[str] | None = None, *, of: int = 0) -> Sentence:
    """Return the sentence that some models, or all, have too few videos."""
    every = models is not None and len(models) == of > 1
    return sentence(
        "Fewer than {least} videos, too few to trust an interval[: {who}].",
        key="few",
        least=Verbatim(str(FEW_VIDEOS)),
        who="all" if every else listed(map(ModelName, models or ()), last=", "),
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
    """Yield the odd endings of each model's items, out of `whole`."""
    for k, row in enumerate(table.rows):
        ends = [key for key in row if key != "model" and row[key]]
        odd = listed(((table.quote(k, key), f" {key}") for key in ends), last=", ")
        if odd:
            yield Sentence((ModelName(row["model"]), ": ", *odd, " of ", *whole, "."), key="ends")


def sweeps_table(sweeps: Iterable[Sweep]) -> Table:
    """Return the cheapest sufficient setting of each model, and the best one."""
    rows = []
    for one in sweeps:
        found = {of.frames: of for of in one.settings}
        cheap = found[one.cheapest]
        best = found[one.best]
        rows.append(
            {
                "model": one.model,
                "frames": one.cheapest,
                "accuracy": cheap.accuracy.value,
                # Dollars are told only where settings were compared by them.
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
    """Yield the cheapest sufficient setting of each model; dollars are counted by `each`."""
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
            model=ModelName(one.model),
            margin=Verbatim(f"{one.margin:g}"),
        )


def ladders_table(ladders: Iterable[LengthLadder]) -> Table:
    """Return the accuracy of each model at each length, a row for each length."""
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


def ladder_sentences(ladders: Sequence[LengthLadder], table: Table) -> Iterator[Sentence]:
    """Yield what each model loses with length."""
    start = 0
    for one in ladders:
        said = list[tuple[Part, ...]]()
        for k in range(start, start + len(one.rungs)):
            quotes = table.quotes(k)
            # The shortest length has nothing to change from.
            change = (" [", quotes["change"], "]") if k > start else ()
            said.append((quotes["seconds"], " ", quotes["accuracy"], *change))
        yield sentence(
            "{model}, the same {items:item} at each length: {said}.",
            {"items": table.quote(start, "items")},
            key="ladder",
            model=ModelName(one.model),
            said=listed(said, last=", "),
        )
        start += len(one.rungs)


@dataclass(frozen=True)
class ResultRow:
    """How a result on a set was made, and what its answers cost."""

    result: str
    """Name of the model in the set's results."""
    played: str
    """The model behind it; several results may be one model's."""
    served: str | None
    frames: int | None
    seed: int | None
    judge: str | None
    answers: int
    forfeits: int | None
    cost: float | None
    unknown: int
    """Answers whose cost is not known."""
    prompts: Mapping[str, Any]
    """Digests of prompts by role."""


def opening_of(items: int, videos: int, results: Sequence[ResultRow], *, unit: str) -> Sentence:
    """Return the sentence on what is behind the figures of a set."""
    counts = {
        "items": items,
        "videos": videos,
        "models": len({row.played for row in results}),
        "results": len(results),
    }
    template = f"{{items:{unit}}} about {{videos:video}}, {{models:model}}, {{results:result}}."
    return sentence(template, tally_table(counts, "behind").quotes())


def methods_section(
    facts: Iterable[tuple[str, str]], results: Sequence[ResultRow], *, sources: str, extra: str
) -> Section:
    """Return how a set and its results were made: who answered, and at what cost."""
    known = [row.cost for row in results if row.cost is not None]
    counts = {
        "answers": sum(row.answers for row in results),
        "cost": sum(known) if known else None,
        "unknown": sum(row.unknown for row in results),
    }
    paid = "{cost}[ and {unknown} of unknown cost]" if known else "an unknown cost"
    says = sentence(
        f"{{answers:answer}} for {paid}.", tally_table(counts, "costs", cost="money").quotes()
    )
    columns = RESULT_COLUMNS if counts["unknown"] else RESULT_COLUMNS[:-1]
    prompts = ((role, str(of)) for row in results for role, of in row.prompts.items())
    tables = (
        facts_table(facts),
        Table("results", "Results", columns, tuple(map(vars, results))),
        prompts_table(prompts),
    )
    note = remark(
        f"The figures of this page are those of {sources}. The cost is that of the answers; {extra}"
    )
    return Section(
        "methods", "Methods", says, tuple(one for one in tables if one.rows), notes=(note,)
    )


def facts_table(facts: Iterable[tuple[str, str]]) -> Table:
    """Return facts on how the figures of a page were made, a name and a text each."""
    columns = (Column("name", ""), Column("text", ""))
    rows = tuple({"name": name, "text": text} for name, text in facts)
    return Table("facts", "How it was made", columns, rows, look="facts")


def prompts_table(digests: Iterable[tuple[str, str]]) -> Table:
    """Return the digests of the prompts of roles, each once."""
    columns = (Column("role", "role"), Column("digest", "SHA-256 of its prompt"))
    rows = tuple({"role": role, "digest": of} for role, of in dict.fromkeys(digests))
    return Table("prompts", "Prompts, by digest", columns, rows, look="folded")
