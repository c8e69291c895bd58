"""The finding of each section of a dialogue set's report as a sentence, made of its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from videoautoarena.runs.bench.dialogues.compare import DialogueComparison
from videoautoarena.runs.bench.dialogues.score import DialogueScore, DialogueScores
from videoautoarena.runs.bench.dialogues.text import named
from videoautoarena.runs.bench.score.task_points import Figure
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.web.page.sentences import Parts, listed, short_names
from videoautoarena.runs.web.page.task_sentences import MOST_NAMED, close_behind, gap_at_the_top

_PARTS = {"turns": "dialogues of {} turns", "length": "videos of {}", "scenes": "dialogues of {}s"}


def findings(scores: DialogueScores, histories: Sequence[DialogueComparison]) -> dict[str, Any]:
    """Return the sentences of a report, and the short names of models."""
    figures = _figures(scores.models)
    return {
        "short": short_names([row.model for row in scores.models]),
        "lead": leader(scores, figures),
        "rest": close_behind(figures),
        "board": gap_at_the_top(figures, "points"),
        "abilities": of_abilities(scores),
        "parts": of_parts(scores),
        "histories": of_histories(histories),
    }


def _figures(rows: Sequence[DialogueScore]) -> dict[str, Figure]:
    """Return what each model came to, best first; of several judges the best.

    With its own history a model is no rival of others, unless nobody was sent the golden one.
    """
    found = dict[str, Figure]()
    golden = [row for row in rows if row.history == "golden"]
    for row in golden or rows:
        if row.overall is not None and row.overall.value is not None:
            found.setdefault(row.model, row.overall)
    return found


def leader(scores: DialogueScores, figures: Mapping[str, Figure]) -> Parts:
    """Return who is best, beside what saying nothing comes to."""
    if not figures:
        return ["No reply could be scored."]
    model, figure = next(iter(figures.items()))
    there = sum(ability != "refusal_twin" for ability in scores.abilities)
    over = f", averaged over {there} abilities" if there > 1 else ""
    silent = next(one.overall for one in scores.constants if one.name == "silence")
    beside = "" if silent is None else f"; saying nothing gives {silent:.0f} %"
    return [{"model": model}, f" meets {figure.value:.1f} % of what is expected{over}{beside}."]


def of_abilities(scores: DialogueScores) -> Parts:
    """Return the hardest and the easiest ability, and what is refused though it is there."""
    found: dict[str, list[float]] = {}
    for row in scores.models:
        for one in row.abilities:
            if one.figure.value is not None:
                found.setdefault(one.ability, []).append(one.figure.value)
    if not found:
        return ["Nothing counts in any ability."]
    means = {ability: fmean(values) for ability, values in found.items()}
    hardest, easiest = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    name = named(hardest).capitalize()  # type: ignore[arg-type]
    if len(means) == 1:
        return [f"All dialogues are of one ability, {name.lower()}.", *_refused(scores)]
    if round(means[hardest]) == round(means[easiest]):
        level = f"All {len(means)} abilities come to {means[hardest]:.0f} % on average."
        return [level, *_refused(scores)]
    return [
        f"{name} is the hardest ability, {means[hardest]:.0f} % on average; "
        f"{named(easiest)} the easiest, {means[easiest]:.0f} %.",  # type: ignore[arg-type]
        *_refused(scores),
    ]


def _refused(scores: DialogueScores) -> Parts:
    known = [row.over_refusal.value for row in scores.models if row.over_refusal]
    values = [value for value in known if value is not None]
    if not values:
        return []
    return [f" Of what is there, {fmean(values):.0f} % is refused all the same."]


def of_parts(scores: DialogueScores) -> Parts:
    """Return between which parts of one kind the accuracy differs most, over all models."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in scores.models:
        for one in row.parts:
            if one.figure.value is not None:
                found.setdefault((one.by, one.part), []).append(one.figure.value)
    means = {key: fmean(values) for key, values in found.items()}
    ends = []
    for by in _PARTS:
        mine = {part: value for (of, part), value in means.items() if of == by}
        if len(mine) > 1:
            low, high = min(mine, key=mine.__getitem__), max(mine, key=mine.__getitem__)
            ends.append((mine[high] - mine[low], by, low, high, mine))
    if not ends:
        return []
    _, by, low, high, mine = max(ends, key=lambda one: one[0])
    some, others = _PARTS[by].format(low), _PARTS[by].format(high)
    return [
        f"{some.capitalize()} come to {mine[low]:.0f} %, {others} to {mine[high]:.0f} %, averaged "
        f"over {counted(len(scores.models), 'result')}."
    ]


def of_histories(histories: Sequence[DialogueComparison]) -> Parts:
    """Return who loses with its own replies as history, and how much on average."""
    gaps = [(one.models[1], one.overall) for one in histories if one.overall is not None]
    if not gaps:
        return []
    change = fmean(gap.a - gap.b for _, gap in gaps)
    if round(change, 1) == 0.0:
        return ["With its own replies as history a model neither loses nor gains, on average."]
    who: Parts = [f"{len(gaps)} models"]
    if len(gaps) <= MOST_NAMED:
        who = listed([model for model, _ in gaps])
    is_one = len(gaps) == 1
    verb = ("loses" if is_one else "lose") if change < 0 else "gains" if is_one else "gain"
    average = "" if is_one else " on average"
    whose = "its own replies" if is_one else "their own replies"
    return [f"With {whose} as history, ", *who, f" {verb} {abs(change):.1f} points{average}."]
