"""How far another judge agrees with a run, on a terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from videoautoarena.agents.roles.judge import settle_verdict
from videoautoarena.memory.records.records import DECIDED, SCHEMA, TIES, Battle, Judging
from videoautoarena.memory.store.evidence import Trial, standing_trials
from videoautoarena.runs.audit.evidence import percent
from videoautoarena.runs.rating.finding import figure_json, share_json
from videoautoarena.runs.rating.leaderboard import Leaderboard, Row
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.rundir.reader import Run, counted, marks, open_run
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.text.words import in_full
from videoautoarena.scoring.agreement.rank_agreement import (
    Correlation,
    correlate_orders,
    correlate_ranks,
)
from videoautoarena.scoring.agreement.rater_agreement import Agreement, agree
from videoautoarena.scoring.fitting.counts import Ints
from videoautoarena.scoring.intervals.proportions import Share, measure_share

Report = dict[str, Any]
WORDS = ("a", "b", "tie")
"""What a battle comes to; ties of all kinds and splits are one word."""


class Both(NamedTuple):
    """A battle as the run decided it, and as another judge does."""

    battle: Battle
    other: Battle
    """The same with the other judge's judgings and verdict."""


def rejudged(folder: Path, judges: Sequence[str] = ()) -> Report:
    """Return how far each judge that the battles of a run were put to again agrees with it.

    Args:
        folder: the run's.
        judges: names of those that are wanted; none named: all who judged any of it again.

    Raises:
        BadInput: no such folder, or no run in it.
    """
    with open_run(folder) as run:
        trials = [t for t in standing_trials(run.store.evidence.trials()) if t.kind == "rejudge"]
        there = tuple(dict.fromkeys(trial.judging.judge for trial in trials))
        wanted = [in_full(judge, [*there, *run.manifest["cast"]]) for judge in judges] or there
        return {
            "schema": SCHEMA,
            "run": {"judges": list(run.manifest["judges"])},
            "warnings": list(marks(run.manifest)),
            "judges": [_told(run, judge, trials) for judge in wanted],
        }


def _told(run: Run, judge: str, trials: Sequence[Trial]) -> Report:
    mine = [trial for trial in trials if trial.judging.judge == judge]
    anew = verdicts_anew(run, mine)
    both = [pair for pair in anew if pair.battle.verdict in DECIDED]
    shared = [pair for pair in both if pair.other.verdict in DECIDED]
    found = agreement_of(shared)
    clear = [pair for pair in shared if "tie" not in (word_of(pair.battle), word_of(pair.other))]
    without = agreement_of(clear)
    by_length = length_agreement(clear)
    boards = _boards(run, shared)
    return {
        "judge": judge,
        "model": mine[0].model if mine else None,
        "judgings": len(mine),
        "failed": sum(trial.judging.verdict == "failed" for trial in mine),
        "abstained": sum(trial.judging.verdict == "abstain" for trial in mine),
        "battles": len(shared),
        "undecided": len(anew) - len(shared),
        "agreement": share_json(found.share),
        "kappa": share_json(found.kappa),
        "without_ties": {
            "agreement": share_json(without.share),
            "kappa": share_json(without.kappa),
        },
        "longer_answer": share_json(by_length),
        "confusion": {"words": list(WORDS), "run_by_judge": confusion_of(shared)},
        "boards": boards,
        "sentence": _sentence(judge, found, by_length),
    }


def verdicts_anew(run: Run, trials: Sequence[Trial]) -> list[Both]:
    """Return the battles that count with what one judge makes of each, settled as the run does."""
    said: defaultdict[str, list[Judging]] = defaultdict(list)
    for trial in trials:
        said[trial.battle or ""].append(trial.judging)
    audit_only = run.manifest.get("swap") != "all"
    found = []
    for battle in run.each_battle:
        if judgings := sorted(said.get(battle.id, ()), key=lambda j: j.seats):
            verdict, reason = settle_verdict(judgings, audit_only=audit_only)
            changed = {"verdict": verdict, "reason": reason, "verdicts": tuple(judgings)}
            found.append(Both(battle, battle.model_copy(update=changed)))
    return found


def word_of(battle: Battle) -> str:
    """Return "a", "b" or "tie" of a decided battle."""
    return "tie" if battle.verdict in TIES else battle.verdict


def agreement_of(both: Sequence[Both]) -> Agreement:
    """Return how far two verdicts on each battle agree, with videos as clusters."""
    return agree(_codes(p.battle for p in both), _codes(p.other for p in both), _videos(both))


def length_agreement(both: Sequence[Both]) -> Share:
    """Return how often the run's winner is the longer answer: a judge that reads nothing."""
    hits, kept = list[float](), list[Both]()
    for pair in both:
        a, b = len(pair.battle.answer_a or ""), len(pair.battle.answer_b or "")
        if a != b:
            hits.append(float(word_of(pair.battle) == ("a" if a > b else "b")))
            kept.append(pair)
    return measure_share(hits, _videos(kept))


def confusion_of(both: Sequence[Both]) -> list[list[int]]:
    """Return counts, shape (3, 3): the run's word down, the other judge's across."""
    table = np.zeros((len(WORDS), len(WORDS)), dtype=np.int64)
    for pair in both:
        table[WORDS.index(word_of(pair.battle)), WORDS.index(word_of(pair.other))] += 1
    return [[int(count) for count in row] for row in table]


def _codes(battles: Any) -> Ints:
    return np.array([WORDS.index(word_of(battle)) for battle in battles], dtype=np.int64)


def _videos(both: Sequence[Both]) -> Ints:
    places = {video: k for k, video in enumerate(dict.fromkeys(p.battle.video for p in both))}
    return np.array([places[pair.battle.video] for pair in both], dtype=np.int64)


def _boards(run: Run, both: Sequence[Both]) -> Report:
    """Return both leaderboards over the same battles, and how far they agree."""
    roster = run.manifest["models"]
    first, second = (build([pair[k] for pair in both], roster) for k in (0, 1))
    one, two = _rows(first), _rows(second)
    rated = [name for name in one if name in two]
    a = np.array([one[name].rating for name in rated], dtype=np.float64)
    b = np.array([two[name].rating for name in rated], dtype=np.float64)
    return {
        "spearman": _correlation(correlate_ranks(a, b)),
        "kendall": _correlation(correlate_orders(a, b)),
        "models": [
            {
                "model": name,
                **{key: getattr(one[name], key) for key in _COMPARED},
                **{f"other_{key}": getattr(two[name], key) for key in _COMPARED},
            }
            for name in rated
        ],
    }


_COMPARED = ("rating", "low", "high", "rank")


def _rows(board: Leaderboard) -> Mapping[str, Row]:
    return {row.model: row for row in board.models if row.rating is not None}


def _correlation(found: Correlation) -> Report:
    return {key: figure_json(value) for key, value in found._asdict().items()}


def _sentence(judge: str, found: Agreement, by_length: Share) -> str:
    if not found.share.n:
        return f"{judge} has decided no battle that the run decided."
    return (
        f"{judge} comes to the run's verdict in {percent(found.share)} of "
        f"{counted(found.share.n, 'battle')}; where neither sees a tie, the longer answer is the "
        f"run's winner in {percent(by_length)} of {by_length.n}."
    )


def render(report: Report) -> RenderableType:
    """Return each judge's agreement, the confusion of verdicts, and the two boards side by side."""
    if not report["judges"]:
        return Text("nobody has judged the battles of this run again; name a judge with --judge")
    told: list[RenderableType] = [Text(safe(f"note: {mark}")) for mark in report["warnings"]]
    for judge in report["judges"]:
        told += _judge(judge)
    return Group(*told)


def _judge(judge: Report) -> list[RenderableType]:
    lines = [safe(judge["sentence"])]
    if judge["battles"]:
        clear = judge["without_ties"]
        lines += [
            f"Cohen's kappa {figure(judge['kappa'])}, without ties {figure(clear['kappa'])}; "
            "0 is what chance gives, 1 full agreement.",
            f"Where neither sees a tie, they name the same winner in {share(clear['agreement'])} "
            f"of {clear['agreement']['n']}.",
        ]
    lost = [f"{judge[key]} {key}" for key in ("failed", "abstained") if judge[key]]
    if judge["undecided"]:
        lines.append(f"Left out: {judge['undecided']} without a verdict on either side.")
    if lost:
        lines.append(f"Of {judge['judgings']} judgings {' and '.join(lost)}.")
    parts: list[RenderableType] = [Text("\n".join(lines))]
    if judge["battles"]:
        heading = f"\nVerdicts, those of the run down, those of {safe(judge['judge'])} across"
        parts += [Text(heading), _confusion(judge), Text(""), _board_grid(judge["boards"])]
        parts.append(Text(_order(judge["boards"])))
    return [*parts, Text("")]


def _confusion(judge: Report) -> Grid:
    grid = _grid("run", *_words(judge))
    for word, row in zip(_words(judge), judge["confusion"]["run_by_judge"], strict=True):
        grid.add_row(word, *map(str, row))
    return grid


def _words(judge: Report) -> list[str]:
    return list(judge["confusion"]["words"])


def _board_grid(boards: Report) -> Grid:
    grid = _grid("model", "run", "95 %", "rank", "other", "95 %", "rank")
    for row in boards["models"]:
        grid.add_row(
            Text(safe(row["model"])),
            *_cells(row, ""),
            *_cells(row, "other_"),
        )
    return grid


def _cells(row: Report, side: str) -> tuple[str, str, str]:
    low, high = row[f"{side}low"], row[f"{side}high"]
    span = "" if low is None or high is None else f"{low:.0f} to {high:.0f}"
    return f"{row[f'{side}rating']:.0f}", span, str(row[f"{side}rank"] or "")


def _grid(first: str, *others: str) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(first, overflow="fold")
    for title in others:
        grid.add_column(title, justify="right", overflow="fold")
    return grid


def _order(boards: Report) -> str:
    spearman, kendall = boards["spearman"]["value"], boards["kendall"]["value"]
    if spearman is None or kendall is None:
        return "Too few rated models to say how far the two orders agree."
    return (
        f"The two boards rate the same battles; their orders agree with a Spearman of "
        f"{spearman:.2f} and a Kendall of {kendall:.2f} over {len(boards['models'])} models."
    )


def figure(found: dict[str, Any]) -> str:
    """Return a figure with its interval: `0.61 (0.48 to 0.74)`."""
    if found["value"] is None:
        return "unknown"
    return f"{found['value']:.2f} ({found['low']:.2f} to {found['high']:.2f})"


def share(found: dict[str, Any]) -> str:
    """Return a share with its interval: `61.0 % (48.0 to 74.0 %)`."""
    if found["value"] is None:
        return "unknown"
    value, low, high = (f"{100 * found[key]:.1f}" for key in ("value", "low", "high"))
    return f"{value} % ({low} to {high} %)"
