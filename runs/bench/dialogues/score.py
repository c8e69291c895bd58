"""Scores on dialogues: accuracy by ability and its plain mean, beside what constants score.

Refusals come with their twin, where the thing is there, and with over-refusal: whoever always
refuses shows in both. Golden and own history are players of their own and never put together.

Source: MT-Video-Bench, evaluation; the twin, over-refusal and the constants are ours.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from statistics import fmean
from typing import Literal, TypeVar

from videoautoarena.agents.prompting.contracts import YesNo
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import PublishedRecord, Record
from videoautoarena.runs.bench.format.points import videos_of
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    DialogueResult,
    History,
    RoundLine,
    read_dialogues,
)
from videoautoarena.runs.bench.format.schema import (
    ABILITIES,
    TWIN,
    Ability,
    DialogueItem,
    Round,
    part_of,
)
from videoautoarena.runs.bench.score.leads import (
    NOBODY,
    ModelPlaces,
    SetLead,
    SetRanking,
    rank_on_items,
)
from videoautoarena.runs.bench.score.sweep import (
    MARGIN,
    PlayedSetting,
    Sweep,
    SweepItems,
    measure_sweep,
    usd_of,
)
from videoautoarena.runs.bench.score.task_points import (
    ScoreFigure,
    descending,
    figure_of,
    marked_by,
    measure_gap,
    percent,
    two_results,
)
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.scoring.questions.scores import TaskMeans, measure_accuracy, measure_tasks
from videoautoarena.scoring.texts.traits import BUCKET_NAMES

ALL: tuple[Ability, ...] = (*ABILITIES, TWIN)
# Lists have 3.29 items on average, so a perfect reply to three of them scores .60 there.
PUBLISHED_ITEMS = 5
"""Keys that the released scorer's judge is shown, and so fills, whatever the checklist holds."""
Of = tuple[str, int]
"""A round: the qid of its dialogue and its number."""


def share_right(asked: Round, answers: Sequence[YesNo], *, as_published: bool = False) -> float:
    """Return what share of a checklist is answered as expected.

    As published it is a share of five, or of the items where there are more, to two digits.
    """
    pairs = zip(answers, asked.checklist, strict=True)
    right = sum(said == check.expected for said, check in pairs)
    if as_published:
        return round(right / max(PUBLISHED_ITEMS, len(asked.checklist)), 2)
    return right / len(asked.checklist)


def round_points(
    items: Sequence[DialogueItem], lines: Sequence[RoundLine], *, as_published: bool = False
) -> dict[Of, float]:
    """Return what each round brought that counts, 0 to 1."""
    asked = {(item.qid, n): one for item in items for n, one in enumerate(item.rounds, 1)}
    points = dict[Of, float]()
    for line in lines:
        of = line.qid, line.round
        # A failed marking is no low mark and a lost video no wrong answer; a forfeit is, and earns
        # nothing.
        if of not in asked or line.end in ("unscored", "void"):
            continue
        points[of] = (
            share_right(asked[of], line.answers, as_published=as_published)
            if line.end == "answered"
            else 0.0
        )
    return points


def dialogue_points(points: Mapping[Of, float]) -> dict[str, float]:
    """Return the mean over the rounds that count of each dialogue, by its qid."""
    rounds: dict[str, list[float]] = {}
    for (qid, _), value in points.items():
        rounds.setdefault(qid, []).append(value)
    return {qid: fmean(values) for qid, values in rounds.items()}


def measured(items: Sequence[DialogueItem], points: Mapping[str, float]) -> TaskMeans | None:
    """Return the mean of dialogues by ability, in the order of ABILITIES, and the mean of those.

    None if no dialogue counts.
    """
    asked = {item.qid: item for item in items if item.qid in points}
    if not asked:
        return None
    places = [ALL.index(item.ability) for item in asked.values()]
    return measure_tasks([points[qid] for qid in asked], places, videos_of(asked, asked))


def mean_of(items: Sequence[DialogueItem], points: Mapping[str, float]) -> ScoreFigure | None:
    """Return the mean over dialogues in percent, whatever their ability; None if none counts."""
    asked = {item.qid: item for item in items if item.qid in points}
    if not asked:
        return None
    return figure_of(
        measure_accuracy([points[qid] for qid in asked], videos_of(asked, asked)), 100.0
    )


def over_refusal(items: Sequence[DialogueItem], result: DialogueResult) -> ScoreFigure | None:
    """Return the share of twin rounds that were refused though the thing is there, in percent.

    A round is refused where the reply does what its No items ask about: those that `made` lists by
    number as `denials`, else all of them. Only answered rounds count; None if there is none.
    """
    twins = {item.qid: item for item in items if item.ability == TWIN}
    refused = list[float]()
    qids = list[str]()
    for line in result.lines:
        if line.qid in twins and line.end == "answered":
            asked = twins[line.qid].rounds[line.round - 1]
            denied = [line.answers[k] == "yes" for k in _denials(asked)]
            # Where no item denies it nothing shows a refusal, and all() of nothing would be one.
            refused.append(float(bool(denied) and all(denied)))
            qids.append(line.qid)
    if not refused:
        return None
    return figure_of(measure_accuracy(refused, videos_of(twins, qids)), 100.0)


def _denials(asked: Round) -> list[int]:
    """Return the places of the items that a reply answers yes by saying that it is not there."""
    places = [k for k, check in enumerate(asked.checklist) if check.expected == "no"]
    listed = asked.made.get("denials")
    if not isinstance(listed, list):
        return places
    return [place for place in places if place + 1 in listed]


Constant = Literal["all_yes", "all_no", "silence", "refusal"]


def _refused(item: DialogueItem, asked: Round) -> list[YesNo]:
    """Return the marks of a reply that says nothing but that the thing is not there."""
    if item.ability == "answer_refusal":
        return [check.expected for check in asked.checklist]
    # Of other imported rounds nothing tells which items a refusal would answer with yes.
    is_known = item.ability == TWIN or "denials" in asked.made
    denied = _denials(asked) if is_known else []
    return ["yes" if place in denied else "no" for place in range(len(asked.checklist))]


# In MT-Video-Bench 37.65 % of expected answers are no: whoever says one thing to every item earns a
# good part of a score, which says nothing of what was seen.
CONSTANTS: Mapping[Constant, Callable[[DialogueItem, Round], list[YesNo]]] = {
    "all_yes": lambda _, asked: ["yes"] * len(asked.checklist),
    "all_no": lambda _, asked: ["no"] * len(asked.checklist),
    # In a reply without words nothing can be found that an item asks for.
    "silence": lambda _, asked: ["no"] * len(asked.checklist),
    "refusal": _refused,
}
"""What knowing nothing scores, from the checklists alone: every item answered yes, or no;
no words, to which every item is no; and refusing whatever is asked: right where that is asked for,
else yes to what over-refusal goes by, and no to any other item."""


_Key = TypeVar("_Key", bound=Hashable)
By = Literal["turns", "length", "scenes"]
SINGLE = "single scene"
CROSS = "cross scene"


class AbilityFigure(Record):
    """The score of a model in one ability."""

    ability: Ability
    """Its name."""
    figure: ScoreFigure
    """Accuracy in percent; `n` counts dialogues."""
    rounds: int
    """Rounds that count."""


class PartFigure(Record):
    """The score of a model on a part of the dialogues of the six abilities."""

    by: By
    """`turns`, `length` or `scenes`."""
    part: str
    """Number of turns, bucket of the video's length, or `single scene` and `cross scene`."""
    figure: ScoreFigure
    """The mean of its dialogues, in percent."""


class DialogueScore(Record):
    """The score of a model on a set of dialogues."""

    model: str
    """Its name."""
    judge: str
    """Who marked."""
    history: History
    """`golden` or `own`."""
    how: Literal["run", "import"]
    """`run` or `import`."""
    max_frames: int | None
    """Most frames it is sent; null if that is unknown or none."""
    is_blind: bool
    """It saw no frames."""
    preset: str | None
    """`paper`, or null."""
    overall: ScoreFigure | None
    """The plain mean of the six abilities, or of those that are there; null without any."""
    rank: int | None = None
    """Place by the overall; null, as the next two, under ten videos, and for own history if there
    are results with the golden one."""
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
    over_refusal: ScoreFigure | None
    """Percent of the twin's answered rounds that were refused though the thing is there (null: none
    was answered): all items that `made.denials` of the round numbers, or else all expected no, are
    answered yes."""
    parts: tuple[PartFigure, ...]
    """Scores on parts of the dialogues of the six, whatever their ability."""
    counts: dict[str, int]
    """Scored rounds by how they ended: `answered`, `forfeit`, `unscored`, `void`."""
    missing: int
    """Scored rounds it was not asked."""


class ConstantScore(Record):
    """What a constant scores, from the checklists alone."""

    name: Constant
    """`all_yes` and `all_no` answer every item alike; `silence` is a reply without words, to which
    every item is no; `refusal` refuses whatever is asked: right in answer refusal, elsewhere yes to
    the items that `made.denials` numbers (of the refusal twin, without it: to all expected no) and
    no to the others."""
    overall: float | None
    """The plain mean over those of the six abilities that are there, in percent."""
    abilities: dict[Ability, float | None]
    """Each that is there, the refusal twin among them, to its mean in percent."""


class DialogueSetScores(PublishedRecord):
    """Scores on a set of dialogues, best first."""

    bench: str
    """The set's digest."""
    as_published: bool
    """Whether by the arithmetic of the released scorer: a round is a share of five items whatever
    its list holds, to two digits."""
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
    """What knowing nothing scores, from the checklists alone."""
    lead: SetLead | None = None
    """[Who may be best](#who-leads-on-a-set) of those that were sent the golden history, or of all
    if nobody was; null if judges differ."""
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
        """The mean over-refusal of all models in percent; None if no twin was answered."""
        each = (row.over_refusal for row in self.models)
        return _means((True, one) for one in each if one is not None).get(True)


def _means(figures: Iterable[tuple[_Key, ScoreFigure]]) -> dict[_Key, float]:
    found = defaultdict[_Key, list[float]](list)
    for key, figure in figures:
        if figure.value is not None:
            found[key].append(figure.value)
    return {key: fmean(values) for key, values in found.items()}


def score_dialogues(bench: OpenBench[DialogueItem], results: Sequence[DialogueResult] | None = None,
                    *, judge: str | None = None, as_published: bool = False,
                    margin: float = MARGIN) -> DialogueSetScores:  # fmt: skip
    """Return the scores of results on a set, or BadInput if there are none.

    Args:
        bench: what was asked.
        results: those of its models; by default those that lie in its folder.
        judge: only what this one marked.
        as_published: by the arithmetic of the released scorer: a round is a share of five items
            whatever its checklist holds, to two digits.
        margin: points of accuracy that are as good, for the cheapest of several settings.
    """
    found = marked_by(bench, read_dialogues(bench), judge) if results is None else list(results)
    items = bench.items
    rows = [_score(items, one, as_published) for one in found]
    rows.sort(key=lambda row: (descending(row.overall), row.model, row.judge))
    ranking = _ranking(items, rows, found, as_published)
    kinds = Counter(item.ability for item in items)
    return DialogueSetScores(
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
            row.model_copy(update=ranking.places.get(row.model, ModelPlaces())._asdict())
            for row in rows
        ),
        sweeps=tuple(_sweeps(items, found, margin, as_published=as_published)),
    )


def _ranking(
    items: Sequence[DialogueItem],
    rows: Sequence[DialogueScore],
    results: Sequence[DialogueResult],
    as_published: bool,
) -> SetRanking:
    """Return who leads; own history is no rival of the golden one, and ranks only without it."""
    scored = [row for row in rows if row.overall is not None]
    golden = [row for row in scored if row.history == "golden"] or scored
    # Judges differ in what they let pass, so marks of two are not put in one order.
    if len({row.judge for row in scored}) > 1:
        return NOBODY
    of_model = {one.model: one for one in results}
    # The twin is in no mean of the six, so it ranks nobody either.
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
        # A preset changes the size of frames, too, so its results are no setting of a sweep.
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
            # Settings are held against each other on the same dialogues alone.
            if item.ability != TWIN and all(item.qid in mine for mine in points.values())
        }
        if len(found) < 2 or not asked:
            continue
        played = {
            frames: PlayedSetting(points[frames], usd_of(one.lines, asked))
            for frames, one in found.items()
        }
        swept = SweepItems(asked, [one.ability for one in asked.values()], partial(_overall, items))
        named = model if history == "golden" else f"{model} (own history)"
        named += f", marked by {judge}" if several else ""
        sweep = measure_sweep(swept, played, margin=margin)
        yield sweep.model_copy(update={"model": named})


def _overall(items: Sequence[DialogueItem], points: Mapping[str, float]) -> ScoreFigure | None:
    found = measured(items, points)
    return figure_of(found.mean, 100.0) if found else None


def _score(
    items: Sequence[DialogueItem], result: DialogueResult, as_published: bool
) -> DialogueScore:
    rounds = round_points(items, result.lines, as_published=as_published)
    points = dialogue_points(rounds)
    # Refusals alone reward whoever refuses all; the twin shows that, and is in no published mean.
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
            # The mean counts dialogues; how many rounds are behind it is said beside.
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
    say = CONSTANTS[name]
    points = dialogue_points(
        {
            (item.qid, n): share_right(one, say(item, one), as_published=as_published)
            for item in items
            for n, one in enumerate(item.rounds, 1)
            if one.is_scored
        }
    )
    means: dict[Ability, float | None] = {}
    for ability in ALL:
        mine = [
            points[item.qid] for item in items if item.ability == ability and item.qid in points
        ]
        if mine:
            means[ability] = percent(fmean(mine))
    six = [value for ability, value in means.items() if ability != TWIN and value is not None]
    overall = round(math.fsum(six) / len(six), 4) if six else None
    return ConstantScore(name=name, overall=overall, abilities=means)


class DialogueGap(Record):
    """How far the first model lies above the second on dialogues that count for both."""

    ability: Ability | None
    """Null for the six together, each of the same weight."""
    a: float
    """Accuracy of the first in percent, over the same dialogues."""
    b: float
    """Accuracy of the second, likewise."""
    difference: ScoreFigure
    """How far A lies above B, in points, paired by dialogue: `value`, `low`, `high` on `n`
    dialogues."""
    better: float | None
    """Probability that A is better; null with one video."""
    videos: int
    """Videos that they are about."""


class DialogueComparison(PublishedRecord):
    """How two models fared in dialogues that count for both."""

    bench: str
    """Its digest."""
    models: tuple[str, str]
    """The first, then the second."""
    overall: DialogueGap | None
    """A gap of the six together; None if only the refusal twin counts for both."""
    abilities: tuple[DialogueGap, ...]
    """A gap of each ability, and of the refusal twin."""
    left_out: int
    """Dialogues that do not count for both."""


def compare_dialogues(
    bench: OpenBench[DialogueItem], a: str, b: str, *, judge: str | None = None
) -> DialogueComparison:
    """Return how two models fared on a set of dialogues by one judge, or BadInput."""
    one, other = two_results(bench, marked_by(bench, read_dialogues(bench), judge), a, b)
    if one.judge != other.judge:
        raise BadInput(
            f"{quoted(one.model)} was marked by {quoted(one.judge)} and {quoted(other.model)} by "
            f"{quoted(other.judge)}; have one judge mark both"
        )
    points = [dialogue_points(round_points(bench.items, each.lines)) for each in (one, other)]
    both = [item for item in bench.items if all(item.qid in each for each in points)]
    if not both:
        named = f"{quoted(one.model)} and {quoted(other.model)}"
        raise BadInput(f"{named} share no scored dialogue on {bench.folder}")
    of_ability = [(ability, [item for item in both if item.ability == ability]) for ability in ALL]
    six = [item for item in both if item.ability != TWIN]
    gaps = [
        DialogueGap(
            ability=ability,
            **measure_gap(items, [item.ability for item in items], points)._asdict(),
        )
        for ability, items in [(None, six), *of_ability]
        if items
    ]
    return DialogueComparison(
        bench=bench.bench,
        models=(one.model, other.model),
        overall=next((gap for gap in gaps if gap.ability is None), None),
        abilities=tuple(gap for gap in gaps if gap.ability is not None),
        left_out=len(bench.items) - len(both),
    )
