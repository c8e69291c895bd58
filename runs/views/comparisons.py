"""Two models held against each other on a set as a report, whatever the kind of set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from videoautoarena.runs.bench.dialogues.compare import DialogueComparison
from videoautoarena.runs.bench.format.entries import spoken
from videoautoarena.runs.bench.score.compare import SURE, TOO_FEW, Comparison
from videoautoarena.runs.bench.score.task_compare import TaskComparison
from videoautoarena.runs.text.number_formats import Kind
from videoautoarena.runs.views.remarks import notes_of
from videoautoarena.runs.views.report import (
    Column,
    Model,
    Part,
    Quote,
    Report,
    Sentence,
    Table,
    Verbatim,
    counting,
    sentence,
)

_HIGHER = ("a_higher", "level", "b_higher")
_POINTS = "points"


def comparison_report(found: Any) -> Report:
    """Return both averages and their difference, and who is better in a sentence a difference."""
    if isinstance(found, Comparison):
        return _of_preferences(found)
    return _of_tasks(found) if isinstance(found, TaskComparison) else _of_dialogues(found)


def comparison_json(found: Any) -> dict[str, Any]:
    """Return it as `arena bench compare --json` prints it."""
    if not isinstance(found, Comparison):
        plain: dict[str, Any] = found.to_json()
        return plain
    headline = comparison_report(found).headline
    return found.to_json() | {"sentence": "" if headline is None else headline.text}


def _of_preferences(found: Comparison) -> Report:
    a, b = found.models
    on = {"n": found.questions, "videos": found.videos, "better": found.better, **found.items}
    gap = found.difference["average"]
    rows = [_row("average", a.average, b.average, gap, **on)]
    for against in ("selected", "rejected"):
        if against in found.difference:
            rows.append(_row(f"against {against} answers", None, None, found.difference[against]))
    shares = "Averages are in percent." if found.anchor is None else (
        "Averages are the share of a question's games, in percent."
    )  # fmt: skip
    beside = () if found.anchor is None else (", against ", Model(found.anchor))
    about = sentence("Judged by {judge}{beside}.", judge=Model(found.judge), beside=beside)
    return _report(
        (a.model, b.model), rows, of="question", notes=found.warnings, above=about, more=shares
    )


def _of_tasks(found: TaskComparison) -> Report:
    rows = []
    for gap in found.gaps:
        part = f"{gap.split}, " if gap.split else ""
        name = "M-Avg" if gap.kind == "choice" else "G-Avg"
        on = {"n": gap.difference.n, "videos": gap.videos, "better": gap.better, **gap.items}
        rows.append(_row(f"{part}{name}", gap.a, gap.b, gap.difference, **on, kind=gap.kind))
    return _report(found.models, rows, of="item", left_out=found.left_out)


def _of_dialogues(found: DialogueComparison) -> Report:
    rows = []
    for gap in (found.overall, *found.abilities):
        if gap is not None:
            on = {"n": gap.difference.n, "videos": gap.videos, "better": gap.better}
            # Of the six together alone is said who is better.
            if gap.ability is not None:
                on = {"n": gap.difference.n}
            rows.append(_row(spoken(gap.ability or "overall"), gap.a, gap.b, gap.difference, **on))
    return _report(found.models, rows, of="dialogue", left_out=found.left_out)


def _row(of: str, a: float | None, b: float | None, gap: Any, **on: Any) -> dict[str, Any]:
    bounds = {"value": gap.value, "low": gap.low, "high": gap.high}
    return {"of": of, "a": a, "b": b, **bounds, **on}


def _report(
    names: tuple[str, str],
    rows: Sequence[dict[str, Any]],
    *,
    of: str,
    left_out: int = 0,
    notes: Sequence[str] = (),
    above: Sentence | None = None,
    more: str = "",
) -> Report:
    is_marked = any(row.get("kind") == "generation" for row in rows)
    kinds: tuple[Kind, Kind] = ("percent", "percent_gap_with_interval")
    if is_marked:
        kinds = ("mark", "mark_gap_with_interval")
    is_counted = any("level" in row for row in rows)
    columns = (
        Column("of", "of", "text"),
        Column("a", names[0], kinds[0]),
        Column("b", names[1], kinds[0]),
        Column("value", "difference", kinds[1], ("value", "low", "high")),
        *[Column("items", "higher-level-lower", "record", _HIGHER, spare=1)] * is_counted,
        Column("n", f"{of}s", "count", spare=2),
    )
    table = Table("comparison", "Two models on a set", columns, tuple(rows))
    turned = tuple(_lead_fields(names, row) for row in rows if "better" in row)
    leads = Table("leads", "Who is ahead", _lead_columns(kinds), turned, is_spoken=True)
    counts = Table(
        "counted",
        "What was counted",
        (Column("left_out", "left out", "count"),),
        ({"left_out": left_out},),
        is_spoken=True,
    )
    said = [sentence(more)] if more else []
    better = [_sentence(leads, k, names, of) for k in range(len(turned))]
    few = [one for k in range(len(turned)) for one in _few(leads, k)] if not notes else []
    left = [
        sentence(
            "note: {items} left out, since they do not count for both.",
            items=counting(counts.quote(0, "left_out"), of),
        )
    ]
    sentences = (*said, *better, *few, *(left if left_out else ()), *notes_of(notes))
    return Report(
        (table, leads, counts),
        sentences,
        next(iter(better), None),
        above=() if above is None else (above,),
    )


def _lead_columns(kinds: tuple[Kind, Kind]) -> tuple[Column, ...]:
    interval: Kind = "percent_points_interval" if kinds[0] == "percent" else "mark_interval"
    gap: Kind = "percent_points" if kinds[0] == "percent" else "mark"
    return (
        Column("of", "of", "text"),
        Column("by", "ahead by", gap),
        Column("interval", "95 % interval", interval, ("low", "high")),
        Column("chance", "P(better)", "probability"),
        Column("n", "n", "count"),
        Column("videos", "videos", "count"),
    )


def _lead_fields(names: tuple[str, str], row: dict[str, Any]) -> dict[str, Any]:
    """Return a difference as one of who is ahead."""
    value, low, high = (row[key] for key in ("value", "low", "high"))
    better = row["better"]
    fields = {key: row.get(key) for key in ("of", "n", "videos", "kind")}
    if value is None or low is None or better is None:
        return {**fields, "by": value, "low": None, "high": None, "chance": None}
    is_turned = value < 0
    low, high = (-high, -low) if is_turned else (low, high)
    ahead, behind = names[::-1] if is_turned else names
    return {
        **fields,
        "ahead": ahead,
        "behind": behind,
        "by": abs(value),
        "low": low,
        "high": high,
        "chance": max(better, 1.0 - better),
    }


def _sentence(leads: Table, k: int, names: tuple[str, str], of: str) -> Sentence:
    """Return who is better, and how sure that is."""
    row, quotes = leads.rows[k], leads.quotes(k)
    on: tuple[Part, ...] = (
        *(" over ", *counting(quotes["n"], of)),
        *(" about ", *counting(quotes["videos"], "video")),
    )
    a, b = map(Model, names)
    if row["chance"] is None:
        return sentence("One video is not enough to separate {a} and {b}.", key="lead", a=a, b=b)
    if row["by"] == 0:
        return sentence("{a} and {b} have the same score{on}.", key="lead", a=a, b=b, on=on)
    by: tuple[Part, ...] = (
        *(quotes["by"], " of " if row["kind"] == "generation" else " "),
        *((Verbatim("10"),) if row["kind"] == "generation" else (_POINTS,)),
        *(" (", quotes["interval"], " at ", Verbatim("95 %"), ")", *on),
    )
    template = "{a} is ahead of {b} by {by}, not significantly: P(better) {chance}."
    if row["chance"] > SURE:
        template = "{a} is better than {b}, by {by}; P(better) {chance}."
    chance: Quote = quotes["chance"]
    ahead, behind = Model(row["ahead"]), Model(row["behind"])
    return sentence(template, key="lead", a=ahead, b=behind, by=by, chance=chance)


def _few(leads: Table, k: int) -> Iterator[Sentence]:
    videos = leads.quote(k, "videos")
    if videos.value < TOO_FEW:
        yield sentence(
            "note: only {videos}: too few to generalise.", videos=counting(videos, "video")
        )
