"""Which of two models is better against an anchor, and how sure that is: question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from memory.errors import BadInput, WrongArgument
from memory.records import SCHEMA
from runs.anchor_results import Anchored, read_anchored, shares_of
from runs.bench_compare import Report, as_number, compare, sentence_of, told_of, warnings_of
from runs.bench_points import videos_of
from runs.benches import OpenBench, open_bench
from runs.console import safe
from runs.names import in_full
from runs.rate_columns import quoted
from runs.results import read_results
from scoring.leads import measure_lead


def compare_any(
    folder: Path, a: str, b: str, *, judge: str | None = None, anchor: str | None = None
) -> Report:
    """Return how two models fared: against an anchor where one is named, or nothing else is there.

    Raises:
        BadInput: as `runs.bench_compare.compare`; or no such anchor, or several and none named.
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
    found = _pick(bench, (a, b), judge, anchor)
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
        "items": _items(shares, qids),
        "sentence": sentence_of(a, b, lead, videos),
        "warnings": warnings_of(bench, [one.facts for one in found], qids, videos),
    }


def _pick(
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


def _items(shares: Sequence[Mapping[str, float]], qids: Sequence[str]) -> Report:
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
