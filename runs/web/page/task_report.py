"""A task set with its results as one HTML file: its scores, probes, and how they came about.

The figures are those that `arena bench score --json` and `arena bench probe --json` print.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import TaskResult
from videoautoarena.runs.bench.format.schema import RESULTS, TASK_KINDS
from videoautoarena.runs.bench.format.writer import refuse_within
from videoautoarena.runs.bench.score.asked_probes import probe_all
from videoautoarena.runs.bench.score.task_score import score_tasks, wanted_results
from videoautoarena.runs.bench.score.task_text import cautions
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.text.files import whole_file
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.web.page.document import document
from videoautoarena.runs.web.page.report import report_file
from videoautoarena.runs.web.page.sentences import as_text
from videoautoarena.runs.web.page.task_sentences import findings

SCHEMA = 1
"""Of what the page reads."""
Json = dict[str, Any]
_COUNTS = ("max_frames", "seed", "questions", "forfeits", "voids", "contracts")
"""Facts of a result that are shown; what an import says beside may name anything."""


@dataclass(frozen=True)
class WrittenSet:
    """What came of it."""

    to: Path
    items: int
    models: int
    size_bytes: int

    def to_json(self) -> Json:
        """Return it as `arena report --json` prints it."""
        found = {"report": str(self.to), "items": self.items, "models": self.models}
        return {**found, "bytes": self.size_bytes}

    def as_lines(self) -> list[str]:
        """Return it for a person."""
        what = f"{counted(self.items, 'item')}, {counted(self.models, 'result')}"
        return [f"{safe(str(self.to))}: {what}, {self.size_bytes / 1e6:,.1f} MB"]


def write_set_report(folder: Path, to: Path | None, *, force: bool) -> WrittenSet:
    """Write the report of the results on a task set; calls no model.

    Without a name it lies beside the results, since a set holds nothing but what was sealed.

    Raises:
        BadInput: no task set, one without results, or a file that cannot be written.
    """
    opened = open_bench(folder)
    if opened.manifest.kind not in TASK_KINDS:
        raise BadInput(
            f"{folder} is a set of kind {opened.manifest.kind}; reports are of runs and of tasks "
            "with a right answer"
        )
    summary = summary_of(opened)
    file = report_file(folder, to or folder / RESULTS / "report.html", force=force)
    refuse_within(folder, file)
    head, tail = document(
        "tasks",
        place="file",
        title=f"{as_text(summary['words']['lead'], summary['words']['short'])} · {folder.name}",
        summary=summary,
        plain=plain_tables(summary),
    )
    content = (head + tail).encode()
    with whole_file(file) as stream:
        stream.write(content)
    return WrittenSet(file, len(opened.items), len(summary["results"]), len(content))


def summary_of(opened: OpenBench[Any]) -> Json:
    """Return all that the page shows; BadInput of a set without results."""
    results = wanted_results(opened, None)
    scores, probes = score_tasks(opened, results), probe_all(opened)
    found = probes.to_json()
    return {
        "schema": SCHEMA,
        "set": _about(opened),
        "scores": scores.to_json(),
        "cautions": [cautions(board) for board in scores.boards],
        "probes": {key: value for key, value in found.items() if key != "leaks"},
        "results": [_result(one) for one in results],
        "words": findings(scores.boards, probes),
    }


def _about(opened: OpenBench[Any]) -> Json:
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


def _result(result: TaskResult) -> Json:
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
        f"<tr><td>{html.escape(row['model'])}{_plain_figure(row['m_avg'])}"
        f"{_plain_figure(row['g_avg'])}"
        for row in board["models"]
    )
    head = "<tr><th>Model<th>M-Avg<th>95 % interval<th>G-Avg<th>95 % interval"
    return f"{part}<table>{head}{rows}</table>"


def _plain_figure(figure: Mapping[str, Any] | None) -> str:
    if figure is None or figure["value"] is None:
        return "<td>–<td>–"
    known = figure["low"] is not None
    interval = f"{figure['low']:.1f} to {figure['high']:.1f}" if known else "–"
    return f"<td>{figure['value']:.1f}<td>{interval}"
