"""Scores on dialogues: accuracy by ability and its plain mean, beside what constants come to.

Refusals come with their twin, where the thing is there, and with over-refusal: whoever always
refuses shows in both. Golden and own history are players of their own and never put together.

Source: MT-Video-Bench, evaluation; the twin, over-refusal and the constants are ours.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from statistics import fmean
from typing import Any, Literal, TypeVar

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Published, Record
from videoautoarena.runs.bench.dialogues.points import (
    ALL,
    CONSTANTS,
    Constant,
    constant_points,
    dialogue_points,
    mean_of,
    measured,
    over_refusal,
    plain_means,
    round_points,
)
from videoautoarena.runs.bench.format.entries import ABILITIES, TWIN, Ability
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import DialogueResult, History, read_dialogues
from videoautoarena.runs.bench.format.schema import DialogueItem, part_of
from videoautoarena.runs.bench.score.leads import NOBODY, Places, Ranking, SetLead, rank_on_items
from videoautoarena.runs.bench.score.sweep import (
    MARGIN,
    Played,
    Sweep,
    Swept,
    measure_sweep,
    usd_of,
)
from videoautoarena.runs.bench.score.task_points import Figure, figure_of
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.words import in_full
from videoautoarena.scoring.texts.traits import BUCKET_NAMES

_Key = TypeVar("_Key", bound=Hashable)
By = Literal["turns", "length", "scenes"]
SINGLE = "single scene"
CROSS = "cross scene"


class AbilityFigure(Record):
    """What a model came to in one ability."""

    ability: Ability
    """Its name."""
    figure: Figure
    """Accuracy in percent; `n` counts dialogues."""
    rounds: int
    """Rounds that count."""


class PartFigure(Record):
    """What a model came to on a part of the dialogues of the six abilities."""

    by: By
    """`turns`, `length` or `scenes`."""
    part: str
    """Number of turns, bucket of the video's length, or `single scene` and `cross scene`."""
    figure: Figure
    """The mean of its dialogues, in percent."""


class DialogueScore(Record):
    """What a model came to on a set of dialogues."""

    model: str
    """Its name."""
    judge: str
    """Who marked."""
    history: History
    """`golden` or `own`."""
    how: Literal["run", "import"]
    """`run` or `import`."""
    max_frames: int | None
    """Most frames it is sent; null where nobody says, or none."""
    is_blind: bool
    """It saw no frames."""
    preset: str | None
    """`paper`, or null."""
    overall: Figure | None
    """The plain mean of the six abilities, or of those that are there; null without any."""
    rank: int | None = None
    """Place by the overall; null, as the next two, under ten videos and of an own history beside a
    golden one."""
    rank_best: int | None = None
    """The best place that it may have."""
    rank_worst: int | None = None
    """The worst."""
    lacking: tuple[Ability, ...]
    """Abilities of the six in which nothing counts."""
    abilities: tuple[AbilityFigure, ...]
    """One of each of the six, in their order."""
    twin: AbilityFigure | None
    """The same of the refusal twin, in no mean; null without one."""
    over_refusal: Figure | None
    """Percent of the twin's answered rounds that were refused though the thing is there (null: none
    was answered): all items that `made.denials` of the round numbers, or else all expected no, are
    answered yes."""
    parts: tuple[PartFigure, ...]
    """Of the dialogues of the six, whatever their ability."""
    counts: dict[str, int]
    """Scored rounds by how they ended: `answered`, `forfeit`, `unscored`, `void`."""
    missing: int
    """Scored rounds it was not asked."""


class ConstantScore(Record):
    """What a constant comes to, from the checklists alone."""

    name: Constant
    """`all_yes` and `all_no` answer every item alike; `silence` is a reply without words, to which
    every item is no; `refusal` refuses whatever is asked: right in answer refusal, elsewhere yes to
    the items that `made.denials` numbers (of the refusal twin, without it: to all expected no) and
    no to the others."""
    overall: float | None
    """The plain mean over those of the six abilities that are there, in percent."""
    abilities: dict[Ability, float | None]
    """Of each that is there, the refusal twin among them, in percent."""


class DialogueScores(Published):
    """Scores on a set of dialogues, best first."""

    bench: str
    """The set's digest."""
    as_published: bool
    """By the arithmetic of the released scorer: a round is a share of five items whatever its list
    holds, to two digits."""
    stand_ins: bool
    """Every model is an offline one."""
    dialogues: int
    """Dialogues in the set."""
    rounds: int
    """Rounds that are scored."""
    videos: int
    """Videos that they are about."""
    abilities: dict[Ability, int]
    """Each that is there to its number of dialogues."""
    constants: tuple[ConstantScore, ...]
    """What knowing nothing comes to, from the checklists alone."""
    lead: SetLead | None = None
    """[Who may be best](#who-leads-on-a-set) of those that were sent the golden history, or of all
    where nobody was; null where judges differ."""
    models: tuple[DialogueScore, ...]
    """A [score](#a-score-in-dialogues) a model; best first."""
    sweeps: tuple[Sweep, ...]
    """A [sweep](#a-sweep) of each model that was played with several numbers of frames; `usd` is of
    a scored round."""

    @property
    def ability_means(self) -> dict[Ability, float]:
        """The mean accuracy in each of the six abilities over all models."""
        return _means((one.ability, one.figure) for row in self.models for one in row.abilities)

    @property
    def part_means(self) -> dict[tuple[By, str], float]:
        """The mean accuracy on each part over all models."""
        return _means(((one.by, one.part), one.figure) for row in self.models for one in row.parts)

    @property
    def refused_mean(self) -> float | None:
        """The mean of what is refused though it is there, over all models; None of nothing."""
        each = (row.over_refusal for row in self.models)
        return _means((True, one) for one in each if one is not None).get(True)


def _means(figures: Iterable[tuple[_Key, Figure]]) -> dict[_Key, float]:
    found = defaultdict[_Key, list[float]](list)
    for key, figure in figures:
        if figure.value is not None:
            found[key].append(figure.value)
    return {key: fmean(values) for key, values in found.items()}


def score_dialogues(bench: OpenBench[DialogueItem], results: Sequence[DialogueResult] | None = None,
                    *, judge: str | None = None, as_published: bool = False,
                    margin: float = MARGIN) -> DialogueScores:  # fmt: skip
    """Return the scores of results on a set, or BadInput where there are none.

    Args:
        bench: what was asked.
        results: of its models; those that lie in it where none are given.
        judge: only what this one marked.
        as_published: by the arithmetic of the released scorer: a round is a share of five items
            whatever its checklist holds, to two digits.
        margin: points of accuracy that are as good, for the cheapest of several settings.
    """
    found = wanted_results(bench, judge) if results is None else list(results)
    items = bench.items
    rows = [_score(items, one, as_published) for one in found]
    rows.sort(key=lambda row: (_last(row.overall), row.model, row.judge))
    ranking = _ranking(items, rows, found, as_published)
    kinds = Counter(item.ability for item in items)
    return DialogueScores(
        bench=bench.bench,
        as_published=as_published,
        stand_ins=bool(found) and all(one.is_stand_in for one in found),
        dialogues=len(items),
        rounds=sum(one.is_scored for item in items for one in item.rounds),
        videos=len({item.cluster for item in items}),
        abilities={ability: kinds[ability] for ability in ALL if kinds[ability]},
        constants=tuple(_constant(items, name, as_published) for name in CONSTANTS),
        lead=ranking.lead,
        models=tuple(
            row.model_copy(update=ranking.places.get(row.model, Places())._asdict()) for row in rows
        ),
        sweeps=tuple(_sweeps(items, found, margin, as_published=as_published)),
    )


def _ranking(
    items: Sequence[DialogueItem],
    rows: Sequence[DialogueScore],
    results: Sequence[DialogueResult],
    as_published: bool,
) -> Ranking:
    """Return who leads; with its own history a model is no rival of those with the golden one."""
    scored = [row for row in rows if row.overall is not None]
    golden = [row for row in scored if row.history == "golden"] or scored
    if len({row.judge for row in scored}) > 1:
        return NOBODY
    of_model = {one.model: one for one in results}
    six = {item.qid: item for item in items if item.ability != TWIN}
    points = {
        row.model: dialogue_points(
            round_points(list(six.values()), of_model[row.model].lines, as_published=as_published)
        )
        for row in golden
    }
    abilities = {qid: item.ability for qid, item in six.items()}
    return rank_on_items(six, points, tasks=abilities)


def _sweeps(
    items: Sequence[DialogueItem],
    results: Sequence[DialogueResult],
    margin: float,
    *,
    as_published: bool,
) -> Iterator[Sweep]:
    """Yield a sweep for each model, history and judge with several numbers of frames."""
    of_player: dict[tuple[str, str, str], dict[int, DialogueResult]] = {}
    for one in results:
        model = _text(one.facts.get("model"))
        frames = one.max_frames
        if model is not None and frames is not None and "preset" not in one.facts:
            of_player.setdefault((model, one.history, one.judge), {})[frames] = one
    several = len({judge for *_, judge in of_player}) > 1
    for (model, history, judge), found in sorted(of_player.items(), key=itemgetter(0)):
        points = {
            frames: dialogue_points(round_points(items, one.lines, as_published=as_published))
            for frames, one in found.items()
        }
        asked = {
            item.qid: item
            for item in items
            if item.ability != TWIN and all(item.qid in mine for mine in points.values())
        }
        if len(found) < 2 or not asked:
            continue
        played = {
            frames: Played(points[frames], usd_of(one.lines, asked))
            for frames, one in found.items()
        }
        swept = Swept(asked, [one.ability for one in asked.values()], partial(_overall, items))
        named = model if history == "golden" else f"{model} (own history)"
        named += f", marked by {judge}" if several else ""
        sweep = measure_sweep(swept, played, margin=margin)
        yield sweep.model_copy(update={"model": named})


def _overall(items: Sequence[DialogueItem], points: Mapping[str, float]) -> Figure | None:
    found = measured(items, points)
    return figure_of(found.mean, 100.0) if found else None


def wanted_results(bench: OpenBench[Any], judge: str | None) -> list[DialogueResult]:
    """Return the results on dialogues, by one judge where it is named; BadInput of none."""
    results = read_dialogues(bench)
    judges = sorted({one.judge for one in results})
    if judge is not None and (judge := in_full(judge, judges)) not in judges:
        there = ", ".join(map(quoted, judges)) or "none"
        raise BadInput(f"{quoted(judge)} marked nothing on {bench.folder}; there is {there}")
    found = [one for one in results if judge in (None, one.judge)]
    if not found:
        raise BadInput(f"{bench.folder} has no results; make some with arena bench run")
    return found


def _last(figure: Figure | None) -> float:
    return math.inf if figure is None or figure.value is None else -figure.value


def _score(
    items: Sequence[DialogueItem], result: DialogueResult, as_published: bool
) -> DialogueScore:
    rounds = round_points(items, result.lines, as_published=as_published)
    points = dialogue_points(rounds)
    six = [item for item in items if item.ability != TWIN]
    figures = {one.ability: one for one in _figures(items, points, rounds)}
    scored = sum(one.is_scored for item in items for one in item.rounds)
    return DialogueScore(
        model=result.model,
        judge=result.judge,
        history=result.history,
        how=result.how,
        max_frames=result.max_frames,
        is_blind=result.is_blind,
        preset=_text(result.facts.get("preset")),
        overall=_overall(six, points),
        lacking=tuple(ability for ability in ABILITIES if ability not in figures),
        abilities=tuple(figures[ability] for ability in ABILITIES if ability in figures),
        twin=figures.get(TWIN),
        over_refusal=over_refusal(items, result),
        parts=tuple(_parts(six, points)),
        counts=dict(Counter(line.end for line in result.lines)),
        missing=scored - len(result.lines),
    )


def _text(said: object) -> str | None:
    return said if isinstance(said, str) else None


def _figures(
    items: Sequence[DialogueItem],
    points: Mapping[str, float],
    rounds: Mapping[tuple[str, int], float],
) -> Iterator[AbilityFigure]:
    for ability in ALL:
        mine = [item for item in items if item.ability == ability]
        if (figure := mean_of(mine, points)) is not None:
            qids = {item.qid for item in mine}
            counting = sum(qid in qids for qid, _ in rounds)
            yield AbilityFigure(ability=ability, figure=figure, rounds=counting)


def _part(item: DialogueItem, by: By) -> str | None:
    if by == "turns":
        return str(len(item.rounds))
    if by == "length":
        return None if item.duration_s is None else part_of(item, "duration")
    return None if item.is_cross_scene is None else CROSS if item.is_cross_scene else SINGLE


def _parts(items: Sequence[DialogueItem], points: Mapping[str, float]) -> Iterator[PartFigure]:
    turns = sorted({len(item.rounds) for item in items})
    named: dict[By, Sequence[str]] = {
        "turns": [str(number) for number in turns],
        "length": BUCKET_NAMES,
        "scenes": (SINGLE, CROSS),
    }
    for by, parts in named.items():
        for part in parts:
            figure = mean_of([item for item in items if _part(item, by) == part], points)
            if figure is not None:
                yield PartFigure(by=by, part=part, figure=figure)


def _constant(items: Sequence[DialogueItem], name: Constant, as_published: bool) -> ConstantScore:
    points = constant_points(items, name, as_published=as_published)
    means = plain_means(items, points)
    six = [value for ability, value in means.items() if ability != TWIN and value is not None]
    overall = round(math.fsum(six) / len(six), 4) if six else None
    return ConstantScore(name=name, overall=overall, abilities=means)
