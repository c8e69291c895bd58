"""Scores on tasks that have a right answer: accuracy by task, and the means over tasks.

M-Avg is the mean of the accuracies of tasks of choice, G-Avg that of the scores of free text; a
mean over items is another figure. What nobody answered is not right; what has no key or could not
be marked is unscored, and counted. Parts of a published set are never put together.

Source: MLVU, M-Avg, G-Avg and the groups of its tasks.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal

from videoautoarena.agents.roles.mark import MOST
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import PublishedRecord, Record
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import TaskResult, read_tasks
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.leads import (
    NOBODY,
    ModelPlaces,
    SetLead,
    SetRanking,
    rank_on_items,
)
from videoautoarena.runs.bench.score.sweep import MARGIN, LengthLadder, Sweep, ladders_of, sweeps_of
from videoautoarena.runs.bench.score.task_points import (
    ItemEnd,
    Positions,
    ScoreFigure,
    descending,
    ended_items,
    figure_of,
    marked_by,
    measure_gap,
    measured,
    percent,
    points_of,
    positions_of,
    results_of,
    two_results,
)
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.scoring.intervals.proportions import Share
from videoautoarena.scoring.questions.scores import TaskMeans, measure_accuracy

GROUPS = {
    "topic": "holistic", "anomaly": "holistic", "summary": "holistic",
    "needle": "single detail", "ego": "single detail", "plot": "single detail",
    "scene": "single detail", "sports": "single detail", "tutorial": "single detail",
    "order": "multi detail", "count": "multi detail",
}  # fmt: skip
"""The group of each task of MLVU; other tasks are in none."""


class TaskFigure(Record):
    """The score of a model on one task."""

    task: str
    """Its name."""
    group: str | None
    """One of the three groups, or null."""
    kind: Literal["choice", "generation"]
    """`choice` or `generation`."""
    figure: ScoreFigure
    """Accuracy in percent of items of choice; of free text the mean score, 2 to 10."""
    chance: float | None
    """The accuracy of guessing, in percent."""
    counts: dict[str, int]
    """Items by how they ended."""


class TaskScore(Record):
    """The score of a model on one part of a set."""

    model: str
    """Its name."""
    judge: str | None
    """Who marked free text, or null."""
    how: Literal["run", "import"]
    """`run` or `import`."""
    max_frames: int | None
    """Most frames it is sent; null if that is unknown or none."""
    is_blind: bool
    """It saw no frames."""
    view: str
    """What it was shown, usually `whole`."""
    m_avg: ScoreFigure | None
    """Mean of the accuracies of tasks of choice, in percent: `value`, `low` and `high` (95 %,
    clustered by video) on `n` items; null without any."""
    g_avg: ScoreFigure | None
    """Mean of the scores of tasks of free text, 2 to 10, likewise."""
    rank: int | None = None
    """Place by M-Avg, of free text alone by G-Avg; null, as the next two, under ten videos and of
    what was not shown the videos as they are."""
    rank_best: int | None = None
    """The best place that it may have."""
    rank_worst: int | None = None
    """The worst."""
    overall: ScoreFigure | None
    """Accuracy over items of choice, whatever their task, as some sets publish it."""
    groups: dict[str, ScoreFigure]
    """`holistic`, `single detail` and `multi detail` to the mean of their tasks of choice."""
    tasks: tuple[TaskFigure, ...]
    """One for each task."""
    positions: Positions | None
    """Accuracy on needles by where they lie; null if no item says where, as in imported sets."""
    counts: dict[str, int]
    """Items by how they ended: `right`, `wrong`, `unreadable`, `forfeit`, `scored`, `unscored`,
    `void`."""
    missing: int
    """Items it was not asked."""


class TaskBoard(Record):
    """Scores on one part of a set, best first."""

    split: str | None
    """The part; null if the set has none."""
    items: int
    """Items in it."""
    videos: int
    """Videos that they are about."""
    sources: int
    """Videos that those were cut together from, by which intervals are clustered; `videos` where
    nothing was cut."""
    keyless: int
    """Items without a known answer."""
    chance: float | None
    """M-Avg of guessing, in percent."""
    lead: SetLead | None = None
    """[Who may be best](#who-leads-on-a-set) of those that were shown the videos as they are; null
    without any, and for free text that several judges marked."""
    models: tuple[TaskScore, ...]
    """A [score](#a-score-on-tasks) a model; best first."""
    sweeps: tuple[Sweep, ...]
    """A [sweep](#a-sweep) of each model that was played with several numbers of frames."""
    ladders: tuple[LengthLadder, ...]
    """A [ladder](#a-ladder) of each model where the same items stand at several lengths: of all
    tasks, then of each of several."""

    @property
    def watched(self) -> tuple[TaskScore, ...]:
        """Scores of who was shown the videos as they are, best first."""
        return tuple(row for row in self.models if row.view == "whole")

    @property
    def task_means(self) -> dict[str, float]:
        """The mean accuracy on each task of choice over those models."""
        found = defaultdict[str, list[float]](list)
        for row in self.watched:
            for one in row.tasks:
                if one.kind == "choice" and one.figure.value is not None:
                    found[one.task].append(one.figure.value)
        return {task: fmean(values) for task, values in found.items()}

    @property
    def needle_means(self) -> dict[int, float]:
        """The mean accuracy on needles over those models, by seconds of background, ascending."""
        found = defaultdict[int, list[float]](list)
        for one in (row.positions for row in self.watched if row.positions is not None):
            for length, cell in zip(one.lengths, one.by_length, strict=True):
                if cell is not None and cell.value is not None:
                    found[length].append(cell.value)
        return {length: fmean(found[length]) for length in sorted(found)}


class TaskSetScores(PublishedRecord):
    """Scores on a set of tasks."""

    bench: str
    """The set's digest."""
    as_published: bool
    """Whether by the published rules."""
    stand_ins: bool
    """Every model is an offline one."""
    boards: tuple[TaskBoard, ...]
    """One a part of the set, such as dev and test, which are never put together."""


def score_tasks(bench: OpenBench[TaskItem], results: Sequence[TaskResult] | None = None, *,
                judge: str | None = None, as_published: bool = False,
                margin: float = MARGIN) -> TaskSetScores:  # fmt: skip
    """Return the scores of results on a set, or BadInput if there are none.

    Args:
        bench: what was asked.
        results: those of its models; by default those that lie in its folder.
        judge: only free text that this one marked.
        as_published: by MLVU's own rules: a reply is one letter before the first bracket, a key
            that is no option is wrong, and what was not marked counts 0.
        margin: points of accuracy that are as good, for the cheapest of several settings.
    """
    found = marked_by(bench, read_tasks(bench), judge) if results is None else list(results)
    parts = dict.fromkeys(item.split for item in bench.items)
    boards = []
    for split in parts:
        items = [item for item in bench.items if item.split == split]
        # An item whose key is no option is unscored, but by the published rules, where all miss it.
        counting = (i for i in items if i.is_choice and (i.keys or (as_published and i.answer)))
        # Only which items count matters here, not what anybody scored.
        chances = measured(items, {item.qid: 0.0 for item in counting})
        rows = [_score(items, one, as_published) for one in found]
        rows.sort(
            key=lambda row: (
                descending(row.m_avg),
                descending(row.g_avg),
                row.model,
                row.judge or "",
            )
        )
        ranking = _ranking(items, rows, found, as_published)
        board = TaskBoard(
            split=split,
            items=len(items),
            videos=len({item.video_id for item in items}),
            sources=len({item.cluster for item in items}),
            keyless=sum(item.answer is None for item in items),
            chance=percent(chances.chance) if chances else None,
            lead=ranking.lead,
            models=tuple(
                row.model_copy(update=ranking.places.get(row.model, ModelPlaces())._asdict())
                if row.view == "whole"
                else row
                for row in rows
            ),
            sweeps=(),
            ladders=(),
        )
        sweeps = tuple(sweeps_of(items, found, split=split, margin=margin))
        ladders = tuple(ladders_of(items, found))
        boards.append(board.model_copy(update={"sweeps": sweeps, "ladders": ladders}))
    stand_ins = bool(found) and all(one.is_stand_in for one in found)
    return TaskSetScores(
        bench=bench.bench, as_published=as_published, stand_ins=stand_ins, boards=tuple(boards)
    )


def choices_of(bench: OpenBench[TaskItem], model: str) -> dict[str, int | None]:
    """Return the place of the option that a model chose, by qid; None if none can be read.

    BadInput if it has no result. Choices do not depend on who marked its free text.
    """
    mine = results_of(bench, marked_by(bench, read_tasks(bench), None), model)
    choices = [item for item in bench.items if item.is_choice]
    return {qid: end.place for one in mine for qid, end in ended_items(choices, one).items()}


def _ranking(
    items: Sequence[TaskItem],
    rows: Sequence[TaskScore],
    results: Sequence[TaskResult],
    published: bool,
) -> SetRanking:
    """Return who leads of those that were shown the whole, on choices if there are any."""
    watched = [row for row in rows if row.view == "whole"]
    is_choice = any(row.m_avg for row in watched)
    # Free text that two judges marked is on two scales; choices depend on no judge.
    if not is_choice and len({row.judge for row in watched if row.g_avg}) > 1:
        return NOBODY
    asked = {item.qid: item for item in items if item.is_choice == is_choice}
    found = {(one.model, one.judge): one for one in results}
    points: dict[str, dict[str, float]] = {}
    for row in watched:
        if (row.m_avg if is_choice else row.g_avg) is not None:
            ends = ended_items(
                list(asked.values()), found[row.model, row.judge], as_published=published
            )
            mine = {qid: end.points for qid, end in ends.items() if end.points is not None}
            # A model whose free text several judges marked has several results, with the same
            # choices in each.
            points.setdefault(row.model, mine)
    tasks = {qid: item.task for qid, item in asked.items()}
    return rank_on_items(asked, points, tasks=tasks, most=1.0 if is_choice else MOST)


def _score(items: Sequence[TaskItem], result: TaskResult, published: bool) -> TaskScore:
    ends = ended_items(items, result, as_published=published)
    points = {qid: end.points for qid, end in ends.items() if end.points is not None}
    choice = {i.qid: points[i.qid] for i in items if i.is_choice and i.qid in points}
    free = {i.qid: points[i.qid] for i in items if not i.is_choice and i.qid in points}
    chosen = measured(items, choice)
    marked = measured(items, free)
    return TaskScore(
        model=result.model,
        judge=result.judge,
        how=result.how,
        max_frames=result.max_frames,
        is_blind=result.is_blind,
        # An import does not say what its models were shown.
        view=str(result.facts.get("view", "whole")),
        m_avg=figure_of(chosen.mean, 100.0) if chosen else None,
        g_avg=figure_of(marked.mean, 1.0) if marked else None,
        overall=figure_of(_overall(items, choice), 100.0) if chosen else None,
        groups=dict(_groups(items, choice)),
        tasks=(*_figures(items, ends, choice, chosen), *_figures(items, ends, free, marked)),
        positions=positions_of(items, choice),
        counts=dict(Counter(end.end for end in ends.values())),
        missing=len(items) - len(ends),
    )


def _overall(items: Sequence[TaskItem], points: Mapping[str, float]) -> Share:
    asked = {item.qid: item for item in items if item.qid in points}
    return measure_accuracy([points[qid] for qid in asked], videos_of(asked, asked))


def _groups(
    items: Sequence[TaskItem], points: Mapping[str, float]
) -> Iterator[tuple[str, ScoreFigure]]:
    for group in dict.fromkeys(GROUPS.values()):
        mine = [item for item in items if GROUPS.get(item.task) == group and item.qid in points]
        if found := measured(mine, points):
            yield group, figure_of(found.mean, 100.0)


def _figures(
    items: Sequence[TaskItem],
    ends: Mapping[str, ItemEnd],
    points: Mapping[str, float],
    found: TaskMeans | None,
) -> Iterator[TaskFigure]:
    names = sorted({item.task for item in items if item.qid in points})
    for place, task in enumerate(names if found else ()):
        assert found is not None
        mine = [item for item in items if item.task == task and item.qid in ends]
        is_choice = next(item.is_choice for item in mine if item.qid in points)
        mine = [item for item in mine if item.is_choice == is_choice]
        chance = found.chances[place]
        yield TaskFigure(
            task=task,
            group=GROUPS.get(task),
            kind="choice" if is_choice else "generation",
            figure=figure_of(found.tasks[place], 100.0 if is_choice else 1.0),
            chance=percent(chance) if is_choice else None,
            counts=dict(Counter(ends[item.qid].end for item in mine)),
        )


GapKind = Literal["choice", "generation"]
UNITS: Mapping[GapKind, tuple[float, float]] = {"choice": (100.0, 1.0), "generation": (1.0, 10.0)}
"""The factor with which an average is printed, and the most that one item earns."""


class TaskGap(Record):
    """How far the first model lies above the second on items of one kind that both answered."""

    split: str | None
    """The part of the set."""
    kind: GapKind
    """`choice` or `generation`."""
    a: float
    """Average of the first, over tasks."""
    b: float
    """Average of the second, likewise."""
    difference: ScoreFigure
    """`value`, `low` and `high` (95 %, paired by item, clustered by video) on `n` items."""
    better: float | None
    """The chance that the first is the better one."""
    items: dict[str, int]
    """On how many which is higher: `a_higher`, `level`, `b_higher`."""
    videos: int
    """Videos that they are about."""


class TaskComparison(PublishedRecord):
    """How two models fared on tasks that count for both."""

    bench: str
    """Its digest."""
    models: tuple[str, str]
    """The first, then the second."""
    gaps: tuple[TaskGap, ...]
    """One a part of the set and kind of task."""
    left_out: int
    """Items that do not count for both."""


def compare_tasks(
    bench: OpenBench[TaskItem], a: str, b: str, *, judge: str | None = None
) -> TaskComparison:
    """Return how two models fared on a set of tasks, or BadInput; free text by one judge."""
    found = two_results(bench, marked_by(bench, read_tasks(bench), judge), a, b)
    points = [points_of(bench.items, result) for result in found]
    both = [item for item in bench.items if all(item.qid in one for one in points)]
    if not both:
        names = " and ".join(quoted(one.model) for one in found)
        raise BadInput(f"{names} share no scored item on {bench.folder}")
    parts = dict.fromkeys((item.split, item.is_choice) for item in both)
    gaps = (
        _gap([item for item in both if (item.split, item.is_choice) == part], points)
        for part in parts
    )
    return TaskComparison(
        bench=bench.bench,
        models=(found[0].model, found[1].model),
        gaps=tuple(gaps),
        left_out=len(bench.items) - len(both),
    )


def _gap(items: Sequence[TaskItem], points: Sequence[Mapping[str, float]]) -> TaskGap:
    kind: GapKind = "choice" if items[0].is_choice else "generation"
    unit, most = UNITS[kind]
    gap = measure_gap(items, [item.task for item in items], points, unit=unit, most=most)
    pairs = [(points[0][item.qid], points[1][item.qid]) for item in items]
    signs = Counter((x > y) - (x < y) for x, y in pairs)
    return TaskGap(
        split=items[0].split,
        kind=kind,
        items={"a_higher": signs[1], "level": signs[0], "b_higher": signs[-1]},
        **gap._asdict(),
    )
