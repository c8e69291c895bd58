"""What the pages of frozen sets of all kinds consist of, as their script reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, TaskResult
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.views.page.sentences import short_names
from videoautoarena.runs.views.results.forms import marked_up
from videoautoarena.runs.views.results.report import Report, Section
from videoautoarena.runs.views.results.sets import methods_section, opening_of

SCHEMA = 2
"""Of what the page reads."""
Json = dict[str, Any]


def set_summary(
    opened: OpenBench[Any],
    results: Sequence[TaskResult | DialogueResult],
    reports: Sequence[Report],
    sections: Sequence[Section],
    *,
    names: Sequence[str],
    unit: str,
    sources: str,
    extra: str,
) -> Json:
    """Return all that the page of a set shows, beside what only one kind of set has.

    Args:
        opened: the set.
        results: of models on it, in their order.
        reports: what they come to; the headline of the first is that of the page.
        sections: the parts of the page but the last, which says how it all came about.
        names: models that the page names.
        unit: what one of its items is called.
        sources: the commands that print the same figures.
        extra: what the cost of the answers leaves out.
    """
    headline = reports[0].headline
    score = reports[0].sentence("score")
    assert headline is not None, "the report of a set has a headline"
    about = _about(opened)
    rows = [_result_row(one) for one in results]
    methods = methods_section(_facts(about, unit), rows, sources=sources, extra=extra)
    return {
        "schema": SCHEMA,
        "set": about | {"results": len(results)},
        "stand_ins": any(report.sentence("stand-ins") for report in reports),
        "words": {
            "short": short_names(list(names)),
            "lead": headline.to_json(),
            "rest": [] if score is None else score.to_json(),
            "behind": opening_of(about, rows, unit=unit).to_json(),
        },
        "sections": [one.to_json() for one in (*sections, methods)],
        "plain": "".join(marked_up(report, "html") for report in reports),
    }


def _about(opened: OpenBench[Any]) -> Json:
    """Return what a set says of itself; `items` is how many it has."""
    known = opened.manifest.model_dump(mode="json")
    return {
        "name": opened.folder.resolve().name,
        "bench": opened.bench,
        "items": len(opened.items),
        "videos": len(known["videos"]),
        **{key: known[key] for key in ("kind", "generator", "licence", "selection")},
        "source": {key: known["source"][key] for key in ("kind", "format")},
    }


def _facts(about: Json, unit: str) -> Iterator[tuple[str, str]]:
    yield ("Set", about["name"])
    yield ("Digest", about["bench"])
    size = f"{counted(about['items'], unit)} about {counted(about['videos'], 'video')}"
    yield (f"{unit}s".capitalize(), size)
    yield ("Source", ", ".join(str(of) for of in about["source"].values()))
    yield ("Version", f"{about['generator']['name']} {about['generator']['version']}")
    yield ("Licence", about["licence"] or "not stated")
    for key, value in (about["selection"] or {}).items():
        yield (key.replace("_", " ").capitalize(), _written(value))


def _written(value: Any) -> str:
    """Return what was asked for when a set was made, as text."""
    if isinstance(value, list):
        return ", ".join(map(_written, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_written(held)}" for key, held in value.items()) or "none"
    return {None: "none", True: "yes", False: "no"}.get(value, str(value))


def _result_row(result: TaskResult | DialogueResult) -> Json:
    """Return how a result came about, and what its answers cost; an import may say anything."""
    facts = result.facts
    prompts = result.facts.get("prompts")
    answered = [line.usd for line in result.lines if line.end == "answered"]
    known = [usd for usd in answered if usd is not None]
    numbers = {key: facts.get(key) for key in ("max_frames", "seed", "forfeits")}
    frames, seed, forfeits = (n if isinstance(n, int) else None for n in numbers.values())
    served = facts.get("model") if isinstance(facts.get("model"), str) else None
    return {
        "result": result.model,
        "played": served or result.model,
        "served": "imported" if result.how == "import" else served,
        "frames": frames,
        "seed": seed,
        "judge": result.judge,
        "answers": len(answered),
        "forfeits": forfeits,
        "cost": round(sum(known), 6) if known else None,
        "unknown": len(answered) - len(known),
        "prompts": prompts if isinstance(prompts, dict) else {},
    }
