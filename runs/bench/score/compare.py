"""Which of two models is better against an anchor, and how sure that is: question by question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.bench.format.anchor_results import Anchored, read_anchored, shares_of
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import (
    Points,
    Result,
    judge_of,
    points_of,
    read_results,
    videos_of,
)
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.battle_table import quoted
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.text.words import in_full
from videoautoarena.scoring.fitting.counts import Ints
from videoautoarena.scoring.ratings.differences import Lead, measure_lead

Report = dict[str, Any]
FEW_VIDEOS, TOO_FEW = 50, 10
SURE = 0.975
"""A chance beyond which the interval of the difference holds no 0."""


def compare(folder: Path, a: str, b: str, *, judge: str | None = None) -> Report:
    """Return how two models fared on the questions of a bench that both were judged on.

    Args:
        folder: the bench.
        a: name of a model with a result.
        b: likewise.
        judge: whose rulings count; None where there is one judge of both.

    Raises:
        BadInput: a model without a result, several judges, or no question in common.
    """
    bench = open_bench(folder)
    if a == b:
        raise WrongArgument(f"{quoted(a)} is compared with itself; name two models")
    results = read_results(bench)
    found = _pick(bench, results, (a, b), judge)
    points = [points_of(result) for result in found]
    qids = [item.qid for item in bench.items if all(item.qid in one for one in points)]
    if not qids:
        raise BadInput(f"{quoted(a)} and {quoted(b)} share no judged question on {folder}")
    clusters = videos_of(bench, qids)
    leads = _leads(points, qids, clusters)
    videos = int(clusters.max()) + 1
    return {
        "schema": SCHEMA,
        "bench": bench.bench,
        "judge": found[0].judge,
        "questions": len(qids),
        "videos": videos,
        "models": [
            _about(name, one, qids, total=len(bench.items))
            for name, one in zip((a, b), points, strict=True)
        ],
        "difference": {key: told_of(lead) for key, lead in leads.items()},
        "better": as_number(leads["average"].better),
        "items": _items(points, qids),
        "sentence": sentence_of(a, b, leads["average"], videos),
        "warnings": warnings_of(bench, [one.facts for one in found], qids, videos),
    }


def _pick(
    bench: OpenBench, results: Sequence[Result], names: tuple[str, str], judge: str | None
) -> list[Result]:
    of = [{r.judge: r for r in results if r.model == name} for name in names]
    for name, mine in zip(names, of, strict=True):
        if not mine:
            there = ", ".join(quoted(m) for m in dict.fromkeys(r.model for r in results))
            raise BadInput(
                f"{quoted(name)} has no result on {bench.folder}; there is {there or 'none at all'}"
            )
    both = [result for result in results if result.judge in of[0] and result.judge in of[1]]
    if not both:
        raise BadInput(f"no judge ruled on both {quoted(names[0])} and {quoted(names[1])}")
    chosen = judge_of(bench, both, judge)
    return [mine[chosen] for mine in of]


def _leads(
    points: Sequence[Mapping[str, Points]], qids: Sequence[str], clusters: Ints
) -> dict[str, Lead]:
    leads = {}
    for key in ("selected", "rejected", "average"):
        first, second = (np.array([getattr(one[qid], key) for qid in qids]) for one in points)
        leads[key] = measure_lead(first, second, clusters)
    return leads


def _about(name: str, points: Mapping[str, Points], qids: Sequence[str], *, total: int) -> Report:
    mean = sum(points[qid].average for qid in qids) / len(qids)
    return {
        "model": name,
        "average": round(100.0 * mean, 4),
        "judged": len(points),
        "of": total,
    }


def _items(points: Sequence[Mapping[str, Points]], qids: Sequence[str]) -> Report:
    gaps = [points[0][qid].average - points[1][qid].average for qid in qids]
    return {
        "a_higher": sum(gap > 0 for gap in gaps),
        "level": sum(gap == 0 for gap in gaps),
        "b_higher": sum(gap < 0 for gap in gaps),
    }


def told_of(lead: Lead) -> Report:
    """Return a lead and its interval in points of 100."""
    return {key: as_number(100.0 * getattr(lead, key), 4) for key in ("value", "low", "high")}


def as_number(value: float, digits: int = 6) -> float | None:
    """Return a figure rounded, None where there is none."""
    return round(value, digits) if math.isfinite(value) else None


def sentence_of(a: str, b: str, lead: Lead, videos: int) -> str:
    """Say who is better in one sentence, safe to print."""
    first, second = safe(a), safe(b)
    on = f"over {counted(lead.n, 'question')} about {counted(videos, 'video')}"
    if math.isnan(lead.better):
        return f"One video cannot tell {first} and {second} apart."
    if lead.value < 0:
        first, second = second, first
    gap, chance = abs(lead.value), max(lead.better, 1.0 - lead.better)
    low, high = sorted(
        abs(x) if chance > SURE else math.copysign(1, lead.value) * x for x in lead[1:3]
    )
    between = f"{100 * gap:.1f} points ({100 * low:.1f} to {100 * high:.1f} at 95 %) {on}"
    if chance > SURE:
        return f"{first} is better than {second}, by {between}; P(better) {_percent(chance)}."
    if gap == 0:
        return f"{first} and {second} have the same score {on}; nothing tells them apart."
    return (
        f"{first} is ahead of {second} by {between}, which is not sure: "
        f"P(better) {_percent(chance)}."
    )


def _percent(chance: float) -> str:
    return "over 99.9 %" if chance > 0.9995 else f"{100 * chance:.1f} %"


def warnings_of(
    bench: OpenBench, facts: Sequence[Mapping[str, Any]], qids: Sequence[str], videos: int
) -> list[str]:
    """Return what to know before believing a comparison of two results with these facts."""
    told = []
    if videos < TOO_FEW:
        told.append(f"only {counted(videos, 'video')}: too few to speak for others like them")
    elif videos < FEW_VIDEOS:
        told.append(f"only {counted(videos, 'video')}: intervals are rough below {FEW_VIDEOS}")
    if len(qids) < len(bench.items):
        told.append(
            f"{len(bench.items) - len(qids)} of {counted(len(bench.items), 'question')} left out, "
            "since not both models have rulings on them"
        )
    seats = [{key: one.get(key) for key in ("seed", "swap")} for one in facts]
    if seats[0] != seats[1]:
        told.append("the two were judged with other seats (seed, swap): more noise than need be")
    return told


def as_lines(report: Report) -> list[str]:
    """Return a comparison as lines for a person."""
    items, names = report["items"], [safe(one["model"]) for one in report["models"]]
    lines = [
        f"{safe(one['model'])}: {one['average']:.1f} of 100, judged by {safe(report['judge'])}"
        for one in report["models"]
    ]
    for key, against in (("selected", "selected"), ("rejected", "rejected")):
        gap = report["difference"][key]
        lines.append(
            f"against the {against} answers: {names[0]} {gap['value']:+.1f} points "
            f"({gap['low']:+.1f} to {gap['high']:+.1f})"
        )
    lines.append(
        f"questions: {names[0]} higher on {items['a_higher']}, level on {items['level']}, "
        f"{names[1]} higher on {items['b_higher']}"
    )
    return [*lines, report["sentence"], *(f"note: {one}" for one in report["warnings"])]


def compare_any(
    folder: Path, a: str, b: str, *, judge: str | None = None, anchor: str | None = None
) -> Report:
    """Return how two models fared: against an anchor where one is named, or nothing else is there.

    Raises:
        BadInput: as `runs.bench.score.compare.compare`; or no such anchor, or several and none
        named.
    """
    bench = open_bench(folder)
    there = read_results(bench), read_anchored(bench)
    judged = [{one.model for one in results} for results in there]
    a, b = (in_full(name, (one.model for results in there for one in results)) for name in (a, b))
    if anchor is None and (a == b or {a, b} <= judged[0] or not {a, b} <= judged[1]):
        return compare(folder, a, b, judge=judge)
    return compare_anchored(bench, a, b, judge=judge, anchor=anchor)


def compare_anchored(
    bench: OpenBench, a: str, b: str, *, judge: str | None = None, anchor: str | None = None
) -> Report:
    """Return how two models fared against an anchor on the questions that count for both.

    Each question counts once: the share of its games that a model won.

    Raises:
        BadInput: a model without a result, several judges or anchors, or no question in common.
    """
    if a == b:
        raise WrongArgument(f"{quoted(a)} is compared with itself; name two models")
    found = _pick_anchored(bench, (a, b), judge, anchor)
    shares = [shares_of(result) for result in found]
    qids = [item.qid for item in bench.items if all(item.qid in one for one in shares)]
    if not qids:
        raise BadInput(f"{quoted(a)} and {quoted(b)} share no judged question on {bench.folder}")
    clusters = videos_of(bench, qids)
    first, second = (np.array([one[qid] for qid in qids]) for one in shares)
    lead = measure_lead(first, second, clusters)
    videos = int(clusters.max()) + 1
    return {
        "schema": SCHEMA,
        "bench": bench.bench,
        "judge": found[0].judge,
        "anchor": found[0].anchor,
        "questions": len(qids),
        "videos": videos,
        "models": [
            {
                "model": name,
                "average": round(100.0 * sum(one[qid] for qid in qids) / len(qids), 4),
                "judged": len(one),
                "of": len(bench.items),
            }
            for name, one in zip((a, b), shares, strict=True)
        ],
        "difference": {"average": told_of(lead)},
        "better": as_number(lead.better),
        "items": _count_items(shares, qids),
        "sentence": sentence_of(a, b, lead, videos),
        "warnings": warnings_of(bench, [one.facts for one in found], qids, videos),
    }


def _pick_anchored(
    bench: OpenBench, names: tuple[str, str], judge: str | None, anchor: str | None
) -> tuple[Anchored, Anchored]:
    there = read_anchored(bench)
    judge = judge and in_full(judge, (one.judge for one in there))
    anchor = anchor and in_full(anchor, (one.anchor for one in there))
    for name in names:
        if name not in {one.model for one in there}:
            raise BadInput(
                f"{quoted(name)} has no result against an anchor on {bench.folder}; there is "
                + (", ".join(map(quoted, dict.fromkeys(one.model for one in there))) or "none")
            )
    of = [{(x.judge, x.anchor): x for x in there if x.model == name} for name in names]
    both = [
        key
        for key in of[0]
        if key in of[1] and judge in (None, key[0]) and anchor in (None, key[1])
    ]
    if len(both) == 1:
        return of[0][both[0]], of[1][both[0]]
    pairs = ", ".join(
        f"{quoted(k[1])} by {quoted(k[0])}" for k in both or sorted(set(of[0]) & set(of[1]))
    )
    if both:
        raise BadInput(
            f"both were held against several: {pairs}; pick one with --anchor and --judge"
        )
    raise BadInput(
        f"{quoted(names[0])} and {quoted(names[1])} were not held against one anchor by one judge "
        f"as named; both were against {pairs or 'none'}"
    )


def _count_items(shares: Sequence[Mapping[str, float]], qids: Sequence[str]) -> Report:
    gaps = [shares[0][qid] - shares[1][qid] for qid in qids]
    return {
        "a_higher": sum(gap > 0 for gap in gaps),
        "level": sum(gap == 0 for gap in gaps),
        "b_higher": sum(gap < 0 for gap in gaps),
    }


def anchored_lines(report: Report) -> list[str]:
    """Return a comparison against an anchor as lines for a person."""
    items, names = report["items"], [safe(one["model"]) for one in report["models"]]
    lines = [
        f"{safe(one['model'])}: won {one['average']:.1f} % of a question's games on average, "
        f"against {safe(report['anchor'])}, judged by {safe(report['judge'])}"
        for one in report["models"]
    ]
    lines.append(
        f"questions: {names[0]} higher on {items['a_higher']}, level on {items['level']}, "
        f"{names[1]} higher on {items['b_higher']}"
    )
    return [*lines, report["sentence"], *(f"note: {one}" for one in report["warnings"])]
