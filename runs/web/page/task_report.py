"""What the page of a task set shows: its scores, probes, and how they came about.

The figures are those that `arena bench score --json` and `arena bench probe --json` print.
"""

from __future__ import annotations

from typing import Any

from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, TaskResult
from videoautoarena.runs.bench.score.asked_probes import probe_all
from videoautoarena.runs.bench.score.task_score import score_tasks, wanted_results
from videoautoarena.runs.views.checks import probes_report
from videoautoarena.runs.views.forms import marked_up
from videoautoarena.runs.views.report import Report, Sentence
from videoautoarena.runs.views.tasks import task_reports
from videoautoarena.runs.web.page.sentences import Parts, short_names

SCHEMA = 1
"""Of what the page reads."""
Json = dict[str, Any]
_SECTIONS = ("tasks", "positions", "sweeps")
"""Keys of sentences that stand above sections."""
_COUNTS = ("max_frames", "seed", "questions", "forfeits", "voids", "contracts")
"""Facts of a result that are shown; what an import says beside may name anything."""


def summary_of(opened: OpenBench[Any]) -> Json:
    """Return all that the page shows; BadInput of a set without results."""
    results = wanted_results(opened, None)
    scores, probes = score_tasks(opened, results), probe_all(opened)
    found, shortcuts = probes.to_json(), probes_report(probes)
    reports = task_reports(scores)
    names = [row.model for board in scores.boards for row in board.models]
    names += [sweep.model for board in scores.boards for sweep in board.sweeps]
    names += [one.model for one in probes.asked.probes]
    return {
        "schema": SCHEMA,
        "set": about_of(opened),
        "scores": scores.to_json(),
        "cautions": [texts_of(report, "caution", "few") for report in reports],
        "probes": {key: value for key, value in found.items() if key != "leaks"},
        "results": [result_of(one) for one in results],
        "words": {
            "short": short_names(names),
            "lead": parts_of(reports[0].headline),
            "rest": parts_of(reports[0].sentence("score")),
            "boards": [
                {
                    "board": parts_of(report.sentence("gap")),
                    **{key: parts_of(report.sentence(key)) for key in _SECTIONS},
                    "each_sweep": texts_of(report, "sweep"),
                }
                for report in reports
            ],
            "probes": parts_of(shortcuts.sentence("probes")),
        },
        "reports": [report.to_json() for report in (*reports, shortcuts)],
        "plain": "".join(marked_up(report, "html") for report in reports),
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


def parts_of(said: Sentence | None) -> Parts:
    """Return a sentence as a page shows it, with its figures among the words; nothing of None."""
    parts = [] if said is None else said.to_json()
    return [one["figure"] if isinstance(one, dict) and "figure" in one else one for one in parts]


def texts_of(report: Report, *keys: str) -> list[str]:
    """Return the texts of the sentences of some keys."""
    return [one.text for one in report.sentences if one.key in keys]
