"""The finding of each section of a task set's report as a sentence, made of its scores.

A sentence is a list of parts, as those of a run's report are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from videoautoarena.runs.bench.score.asked_probes import Probes
from videoautoarena.runs.bench.score.task_points import Figure
from videoautoarena.runs.bench.score.task_score import TaskBoard
from videoautoarena.runs.rundir.reader import counted
from videoautoarena.runs.web.page.sentences import Parts, listed, short_names

MOST_NAMED = 4
"""Models that a sentence names; more are counted."""


def findings(boards: Sequence[TaskBoard], probes: Probes | None) -> dict[str, Any]:
    """Return the sentences of a report: of the whole, and of each part by its place."""
    names = [row.model for board in boards for row in board.models]
    names += [sweep.model for board in boards for sweep in board.sweeps]
    names += [one.model for one in probes.asked.probes] if probes else []
    return {
        "short": short_names(names),
        "lead": leader(boards[0]),
        "rest": close_behind(_figures(boards[0])),
        "boards": [
            {
                "board": _of_board(board),
                "tasks": _part(board, of_tasks(board)),
                "positions": _part(board, of_positions(board)),
                "sweeps": _part(board, of_sweeps(board)),
                "each_sweep": [sweep.as_line() for sweep in board.sweeps],
            }
            for board in boards
        ],
        "probes": of_probes(probes),
    }


def _part(board: TaskBoard, sentence: Parts) -> Parts:
    """Return a sentence with the part of the set that it is about, where there are several."""
    return [f"{board.split}: ", *sentence] if board.split and sentence else sentence


def _of_board(board: TaskBoard) -> Parts:
    is_choice = bool(board.watched and board.watched[0].m_avg)
    unit, part = "points" if is_choice else "of 10 points", board.split
    return gap_at_the_top(_figures(board), unit, f" on {part}" if part else "")


def leader(board: TaskBoard) -> Parts:
    """Return who is best on a part of a set, beside chance."""
    rows = board.watched
    if not rows:
        return ["No model has been shown the videos as they are."]
    first, part = rows[0], f" on {board.split}" if board.split else ""
    if first.m_avg is not None and first.m_avg.value is not None:
        chance = "" if board.chance is None else f"; guessing gives {board.chance:.0f} %"
        several = sum(one.kind == "choice" for one in first.tasks) > 1
        over = ", averaged over tasks" if several else ""
        found = f" is right {first.m_avg.value:.1f} % of the time{part}{over}{chance}."
        return [{"model": first.model}, found]
    if first.g_avg is not None and first.g_avg.value is not None:
        return [{"model": first.model}, f" scores {first.g_avg.value:.2f} of 10{part}."]
    return [f"No answer{part} could be scored."]


def close_behind(figures: Mapping[str, Figure]) -> Parts:
    """Return whose interval reaches that of the best, which settles nothing yet; best first."""
    found = list(figures.items())
    low = found[0][1].low if len(found) > 1 else None
    if low is None:
        return []
    near = [model for model, of in found[1:] if of.high is not None and of.high >= low]
    if not near:
        return ["Its interval overlaps no other."]
    who = listed(near) if len(near) <= MOST_NAMED else [f"{len(near)} models"]
    whose = (
        "Its interval overlaps that of " if len(near) == 1 else "Its interval overlaps those of "
    )
    return [whose, *who, "; only the same items, one by one, can tell them apart."]


def _figures(board: TaskBoard) -> dict[str, Figure]:
    """Return what each model came to on the scale of the first; of several judges' the best."""
    rows, found = board.watched, dict[str, Figure]()
    for row in rows:
        figure = row.m_avg if rows[0].m_avg else row.g_avg
        if figure is not None and figure.value is not None:
            found.setdefault(row.model, figure)
    return found


def gap_at_the_top(figures: Mapping[str, Figure], unit: str, part: str = "") -> Parts:
    """Return how far the first stands above the second, beside how wide intervals are."""
    found = list(figures.items())
    if len(found) < 2:
        return [f"One model has a score{part}." if found else f"No model has a score{part}."]
    (first, best), (second, next_) = found[:2]
    gap = (best.value or 0.0) - (next_.value or 0.0)
    wide = sorted(of.high - of.low for _, of in found if of.high is not None and of.low is not None)
    half = f"; half of the intervals are wider than ±{wide[len(wide) // 2] / 2:.1f}" if wide else ""
    if round(gap, 1) == 0.0:
        return [{"model": first}, " and ", {"model": second}, f" are level{part}{half}."]
    above: Parts = [{"model": first}, f" stands {gap:.1f} {unit} above ", {"model": second}]
    return [*above, f"{part}{half}."]


def of_tasks(board: TaskBoard) -> Parts:
    """Return which task is hardest for all, and which is easiest."""
    found: dict[str, list[float]] = {}
    for row in board.watched:
        for one in row.tasks:
            if one.kind == "choice" and one.figure.value is not None:
                found.setdefault(one.task, []).append(one.figure.value)
    if not found:
        return ["Answers are free text, scored by a judge who has the key."]
    means = {task: mean(values) for task, values in found.items()}
    hardest, easiest = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if len(means) == 1:
        return [f"All choices are of one task, {hardest}."]
    return [
        f"{hardest} is the hardest task, {means[hardest]:.0f} % right on average; "
        f"{easiest} the easiest, {means[easiest]:.0f} %."
    ]


def of_positions(board: TaskBoard) -> Parts:
    """Return what more background costs, over all models."""
    known = [row.positions for row in board.watched if row.positions is not None]
    if not known:
        return []
    found: dict[int, list[float]] = {}
    for one in known:
        for length, cell in zip(one.lengths, one.by_length, strict=True):
            if cell is not None and cell.value is not None:
                found.setdefault(length, []).append(cell.value)
    short, long = min(found), max(found)
    if short == long:
        return [f"Needles are found {mean(found[short]):.0f} % of the time."]
    return [
        f"In {short} s of background {mean(found[short]):.0f} % of needles are found, in {long} s "
        f"{mean(found[long]):.0f} %, averaged over {counted(len(known), 'result')}."
    ]


def of_sweeps(board: TaskBoard) -> Parts:
    """Return how many models do with fewer frames than their best."""
    sweeps = board.sweeps
    if not sweeps:
        return []
    fewer = [one.model for one in sweeps if one.cheapest != one.best]
    margin = f"within {sweeps[0].margin:g} points of its best"
    if not fewer:
        return [f"No cheaper setting of any model is shown to be {margin}."]
    if len(fewer) > MOST_NAMED:
        return [f"{len(fewer)} of {len(sweeps)} models do {margin} at a cheaper setting."]
    verb = "does" if len(fewer) == 1 else "do"
    return [*listed(fewer), f" {verb} {margin} at a cheaper setting."]


def of_probes(probes: Probes | None) -> Parts:
    """Return how much of a set is given away, and what is wrong with its items."""
    if probes is None:
        return []
    text = probes.text
    away = (
        f"Text alone gives away {text.given_away:,} of {counted(text.keyed, 'item')}"
        if text.given_away
        else f"Text alone gives away none of {counted(text.keyed, 'item')}"
    )
    defects = sum(len(one.qids) for one in text.defects)
    known = len({one.model for one in probes.asked.found})
    without = f"; {counted(known, 'model')} knows answers without the video" if known == 1 else ""
    without = f"; {known} models know answers without the video" if known > 1 else without
    wrong = f"; {counted(defects, 'defect')} found" if defects else ""
    return [f"{away}{without}{wrong}."]
