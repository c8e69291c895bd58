"""What the page of a task set shows: its scores, probes, and how they came about.

The figures are those that `arena bench score --json` and `arena bench probe --json` print.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, TaskResult
from videoautoarena.runs.bench.score.asked_probes import probe_all
from videoautoarena.runs.bench.score.task_score import score_tasks, wanted_results
from videoautoarena.runs.bench.score.task_text import cautions
from videoautoarena.runs.web.page.sentences import as_text
from videoautoarena.runs.web.page.task_sentences import findings

SCHEMA = 1
"""Of what the page reads."""
Json = dict[str, Any]
_COUNTS = ("max_frames", "seed", "questions", "forfeits", "voids", "contracts")
"""Facts of a result that are shown; what an import says beside may name anything."""


def summary_of(opened: OpenBench[Any]) -> Json:
    """Return all that the page shows; BadInput of a set without results."""
    results = wanted_results(opened, None)
    scores, probes = score_tasks(opened, results), probe_all(opened)
    found = probes.to_json()
    return {
        "schema": SCHEMA,
        "set": about_of(opened),
        "scores": scores.to_json(),
        "cautions": [cautions(board) for board in scores.boards],
        "probes": {key: value for key, value in found.items() if key != "leaks"},
        "results": [result_of(one) for one in results],
        "words": findings(scores.boards, probes),
    }


def about_of(opened: OpenBench[Any]) -> Json:
    """Return what a set says of itself; `items` is how many it has."""
    known = opened.manifest.model_dump(mode="json")
    return {
        "name": opened.folder.resolve().name,
        "bench": opened.bench,
        "items": len(opened.items),
        "videos": len(known["videos"]),
        "counts": known["counts"],
        **{key: known[key] for key in ("kind", "generator", "licence", "selection")},
        "source": {key: known["source"][key] for key in ("kind", "format", "digest")},
    }


def result_of(result: TaskResult | DialogueResult) -> Json:
    """Return how a result came about, and what its answers cost."""
    facts, prompts = result.facts, result.facts.get("prompts")
    answered = [line.usd for line in result.lines if line.end == "answered"]
    known = [usd for usd in answered if usd is not None]
    return {
        "name": result.model,
        "judge": result.judge,
        "how": result.how,
        "view": str(facts.get("view", "whole")),
        "model": model if isinstance(model := facts.get("model"), str) else None,
        **{key: n if isinstance(n := facts.get(key), int) else None for key in _COUNTS},
        "prompts": {k: str(v) for k, v in prompts.items()} if isinstance(prompts, dict) else {},
        "answers": len(answered),
        "cost_usd": round(sum(known), 6) if known else None,
        "unknown_cost": len(answered) - len(known),
    }


def plain_tables(summary: Mapping[str, Any]) -> str:
    """Return the boards as HTML for readers without scripts, every text escaped."""
    words = summary["words"]
    lead = html.escape(as_text(words["lead"], words["short"]))
    return f"<h1>{lead}</h1>" + "".join(map(_plain_board, summary["scores"]["boards"]))


def _plain_board(board: Mapping[str, Any]) -> str:
    part = f"<h2>{html.escape(board['split'])}</h2>" if board["split"] else ""
    rows = "".join(
        f"<tr><td>{html.escape(row['model'])}{plain_figure(row['m_avg'])}"
        f"{plain_figure(row['g_avg'])}"
        for row in board["models"]
    )
    head = "<tr><th>Model<th>M-Avg<th>95 % interval<th>G-Avg<th>95 % interval"
    return f"{part}<table>{head}{rows}</table>"


def plain_figure(figure: Mapping[str, Any] | None) -> str:
    """Return two cells: a figure and its interval, or dashes."""
    if figure is None or figure["value"] is None:
        return "<td>–<td>–"
    known = figure["low"] is not None
    interval = f"{figure['low']:.1f} to {figure['high']:.1f}" if known else "–"
    return f"<td>{figure['value']:.1f}<td>{interval}"
