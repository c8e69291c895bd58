"""Which of two models is better on a bench, and how sure that is: question by question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memory.errors import BadInput, WrongArgument
from memory.records import SCHEMA
from runs.bench_points import Points, judge_of, points_of, videos_of
from runs.benches import OpenBench, open_bench
from runs.console import safe
from runs.rate_columns import quoted
from runs.reading import counted
from runs.results import Result, read_results
from scoring.cells import Ints
from scoring.leads import Lead, measure_lead

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
