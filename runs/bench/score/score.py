"""Scoring a bench as VideoAutoBench does: against the selected and against the rejected answers.

Against a selected answer a win counts 1, a tie a half; against a rejected one only a win counts.
Each is a percentage, the score is their mean. Questions about one video stand together in every
interval. A difference of two models is of the questions on which both have verdicts.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from videoautoarena.agents.prompting.languages import asked_language
from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.remedies import step
from videoautoarena.runs.analysis.categories.tags import NONE, SHOWN
from videoautoarena.runs.bench.format.points import WORTH, groups_of, points_of, videos_of
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    REFERENCES,
    Against,
    Anchored,
    Result,
    read_anchored,
    read_results,
)
from videoautoarena.runs.bench.format.schema import (
    COLUMN,
    QUESTION_CATEGORY,
    UNKNOWN,
    Item,
    columns_of,
    part_of,
    parts_of,
)
from videoautoarena.runs.bench.score.leads import NOBODY, ModelPlaces, rank_on_items
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.record_json import LEFT_OUT, SPREAD, fields_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import in_full
from videoautoarena.runs.rating.method import RANKABLE_VIDEOS
from videoautoarena.runs.run.rundir.reader import SAW_NONE
from videoautoarena.scoring.texts.traits import BUCKET_NAMES

if TYPE_CHECKING:
    from videoautoarena.scoring.ratings.differences import PairedLead

SCORE_SCHEMA = 1
MOST_CHANCE = 0.05
"""Share of answers equal to the reference from which on its author is playing again."""
Of = Literal["judged", "decided", "all"]
DIMENSIONS = ("duration", "category", "topic", "language")
"""What the questions of every set are parted by; besides them the columns of facts in its items."""
BY_QUESTION = "question-category"
"""A trait of sets of which some item says of which categories its question is."""
FEW_VIDEOS = RANKABLE_VIDEOS
PARTIAL, VOIDS, FEW = "partial", "voids", "few videos"
"""Flags: not every question was judged; not every judging could be read; too few for intervals."""
JUDGED_BLIND = "judged without frames"
"""Flag: the judge was sent no frames."""
Board = dict[str, Any]
"""JSON-ready values."""
Points = Mapping[str, float]
"""The points of each question that counts, from 0 to 1, by qid."""


@dataclass(frozen=True)
class ScoreAverage:
    """The score of a model's answers on a bench, in percent with all digits."""

    vs_selected: float
    """Score against selected answers: a win counts 1, a tie a half."""
    vs_rejected: float
    """Score against rejected answers: only a win counts."""
    average: float
    """Mean of the two."""
    low: float
    """Lower end of its 95 % interval, clustered by video."""
    high: float
    """Upper end."""
    n: int
    """Questions that count on both sides."""


@dataclass(frozen=True)
class ReferenceScore:
    """The score of a model's answers against one reference."""

    value: float
    """In percent."""
    low: float
    """Lower end of its 95 % interval, clustered by video."""
    high: float
    """Upper end."""
    n: int
    """Questions that count."""
    win: int
    """Judgings that were won."""
    tie: int
    """Judgings that were level."""
    loss: int
    """Judgings that were lost."""
    void: int
    """Judgings that were void."""
    missing: int
    """Questions that were not judged."""


class Copies(NamedTuple):
    """How often a model's answer was judged against itself."""

    same: int
    """Answers that equal the reference, word for word."""
    of: int
    """Answers that were judged and kept."""


@dataclass(frozen=True)
class ScoreRow:
    """The score of a model by one judge."""

    model: str
    """Its name."""
    judge: str
    """Who judged it."""
    how: str
    """`run` or `import`."""
    average: ScoreAverage = field(metadata=SPREAD)
    videos: int
    """Videos they are about."""
    flags: list[str]
    """`partial`: some questions not judged; `voids`: some judgings void; `few videos`: below ten;
    `saw no frames`: `max_frames = 0`; `judged without frames`: so was its judge."""
    selected: ReferenceScore
    """Score against selected answers: `value`, `low`, `high` on `n` questions; numbers of judgings
    `win`, `tie`, `loss` and `void`, and of questions `missing`."""
    rejected: ReferenceScore
    """Score against rejected ones, likewise."""
    decided: ScoreAverage
    """The same from `vs_selected` to `n`, of the questions decided against both."""
    copies: Copies | None = field(default=None, metadata=LEFT_OUT)
    """For a model whose answers are references of the bench: `same`, its answers that equal the
    reference they were judged against, word for word, `of` all that are kept with a judging."""
    places: ModelPlaces = field(default=ModelPlaces(), metadata=SPREAD)


class Scored(NamedTuple):
    """The points of a model's answers against each reference."""

    selected: Points
    rejected: Points

    @property
    def both(self) -> dict[str, float]:
        """Return the mean of the two for every question that counts on both sides."""
        return {
            qid: (points + self.rejected[qid]) / 2
            for qid, points in self.selected.items()
            if qid in self.rejected
        }


def build_scores(
    bench: OpenBench, results: Sequence[Result], *, of: Of = "judged", by: str | None = None
) -> Board:
    """Return the scores of all results on a bench, best first; judges of one model stand apart.

    Args:
        bench: what was asked.
        results: of its models.
        of: the questions that are the whole. `judged`: those that were judged, where a void is not
            won, as the published scorer has it; `decided`: those with a verdict against both
            references; `all`: every one of the bench, where also what is missing is not won.
        by: a trait of the questions, for a board of each of its parts as well.
    """
    return {
        "schema": SCORE_SCHEMA,
        "bench": bench.bench,
        **count_items(bench.items),
        "of": of,
        "stand_ins": bool(results) and all(result.is_stand_in for result in results),
        **sliced(bench, by, lambda items: _board(items, results, of)),
    }


def sliced(
    bench: OpenBench, by: str | None, board_of: Callable[[Mapping[str, Item]], Board]
) -> Board:
    """Return the board of a bench, with one of each part, in the order in which parts are shown."""
    trait = None if by is None else _trait(bench, by)
    board = board_of(bench.by_qid)
    if trait is None:
        return board
    parts: dict[str, list[Item]] = defaultdict(list)
    for item in bench.items:
        for part in _parts(item, trait):
            parts[part].append(item)
    order = dict.fromkeys((*_ORDERED.get(trait, ()), *sorted(parts)))
    last = [UNKNOWN] if UNKNOWN in parts else []
    named = [*(name for name in order if name in parts and name != UNKNOWN), *last]
    slices = [
        {
            "slice": name,
            **count_items(parts[name]),
            **board_of({item.qid: item for item in parts[name]}),
        }
        for name in named
    ]
    return {**board, "by": by, "slices": slices}


def _parts(item: Item, trait: str) -> Sequence[str]:
    """Return the parts of a trait that an item stands in: several of question categories alone."""
    if trait == "language":
        # Sets that do not state the language are told by the words of their questions.
        return [asked_language(item.language, item.question)]
    if trait == QUESTION_CATEGORY:
        return list(dict.fromkeys(SHOWN.get(name, name) for name in parts_of(item, trait)))
    return [part_of(item, trait)]


_ORDERED: Mapping[str, Sequence[str]] = {
    "duration": BUCKET_NAMES,
    QUESTION_CATEGORY: (*SHOWN.values(), NONE),
}
"""Parts of a trait that are shown first, in their order; the others follow by their names."""


def _trait(bench: OpenBench, by: str) -> str:
    """Return what `parts_of` knows a trait by; WrongArgument for one that the set does not have."""
    told = (
        (BY_QUESTION,) if any(item.question_categories is not None for item in bench.items) else ()
    )
    known = (*DIMENSIONS, *told)
    # Traits first: a column of the same name is asked for behind its prefix.
    if by in known:
        return QUESTION_CATEGORY if by == BY_QUESTION else by
    columns = columns_of(bench.items)
    name = by.removeprefix(COLUMN)
    if name not in columns:
        own = (f"{COLUMN}{one}" if one in known else one for one in columns)
        there = safe(", ".join((*known, *own)))
        raise WrongArgument(f"by cannot be {quoted(by)}; this set has {there}")
    return f"{COLUMN}{name}"


def count_items(items: Sequence[Item]) -> Board:
    """Return how many questions they are, and about how many videos."""
    return {"items": len(items), "videos": len({item.video_id for item in items})}


def results_by(bench: OpenBench, judge: str | None, *, may_be_none: bool = False) -> list[Result]:
    """Return the results on a bench, or those by one judge; BadInput if none, unless allowed."""
    results = read_results(bench)
    judge = judge and in_full(judge, (result.judge for result in results))
    found = [result for result in results if judge in (None, result.judge)]
    if found or may_be_none:
        return found
    if results:
        there = ", ".join(map(quoted, dict.fromkeys(result.judge for result in results)))
        raise BadInput(f"{quoted(judge)} has no rulings on {bench.folder}; there is {there}")
    raise BadInput(
        f"{bench.folder} has no results; make some with {step('bench run')}, or take them in with "
        "arena import videoautobench-judgments"
    )


def anchored_by(
    bench: OpenBench, *, judge: str | None = None, anchor: str | None = None
) -> list[Anchored]:
    """Return what was held against all anchors or one, by all judges or one; or BadInput."""
    results = read_anchored(bench)
    judge = judge and in_full(judge, (one.judge for one in results))
    anchor = anchor and in_full(anchor, (one.anchor for one in results))
    found = [one for one in results if judge in (None, one.judge) and anchor in (None, one.anchor)]
    if anchor is not None and not found:
        there = ", ".join(f"{quoted(k[1])} by {quoted(k[0])}" for k, _ in groups_of(results))
        raise BadInput(
            f"there are no results against {quoted(anchor)}"
            + (f" by {quoted(judge)}" if judge else "")
            + f" on {bench.folder}; there is {there or 'no anchor'}"
        )
    return found


def _board(asked: Mapping[str, Item], results: Sequence[Result], of: Of) -> Board:
    decided = [score(asked, result, of="decided") for result in results]
    rows = [
        (_row(asked, result, of, found), result, found.both)
        for result, found in zip(results, decided, strict=True)
    ]
    # A model without a score, such as one that was asked nothing of a slice, comes last.
    rows.sort(
        key=lambda row: (
            math.isnan(row[0].average.average),
            -_known(row[0].average.average),
            row[1].model,
            row[1].judge,
        )
    )
    ranking = NOBODY
    # Judges are strict to different degrees, so rulings of two make no one order.
    if len({one.judge for _, one, _ in rows}) == 1:
        counted = {one.model: score(asked, one, of=of).both for _, one, _ in rows}
        # The printed average also holds questions that count on one side alone; the points do not.
        means = {row.model: _known(row.average.average) / 100.0 for row, _, _ in rows}
        points = {name: won for name, won in counted.items() if won}
        ranking = rank_on_items(asked, points, means=means)
    return {
        "models": [
            fields_json(replace(row, places=ranking.places.get(row.model, ModelPlaces())))
            for row, _, _ in rows
        ],
        "lead": ranking.lead_json(),
        "differences": [
            {"a": one.model, "b": other.model, "judge": one.judge, **difference(asked, won, lost)}
            # Scores by two judges are never subtracted.
            for (_, one, won), (_, other, lost) in combinations(rows, 2)
            if one.judge == other.judge
        ],
    }


def score(items: Mapping[str, Item], result: Result, *, of: Of = "judged") -> Scored:
    """Return the points of a model at each question; several seatings of one count equally."""
    if of == "decided":
        decided = {qid: won for qid, won in points_of(result).items() if qid in items}
        return Scored(
            {qid: won.selected for qid, won in decided.items()},
            {qid: won.rejected for qid, won in decided.items()},
        )
    found: dict[Against, dict[str, list[float]]] = {against: {} for against in REFERENCES}
    for ruling in result.rulings:
        if ruling.qid in items:
            # A void was judged and is not won, as in the published scorer.
            worth = WORTH[ruling.against].get(ruling.verdict, 0.0)
            found[ruling.against].setdefault(ruling.qid, []).append(worth)
    nothing = dict.fromkeys(items, 0.0) if of == "all" else {}
    return Scored(
        *(
            {**nothing, **{qid: sum(got) / len(got) for qid, got in found[against].items()}}
            for against in REFERENCES
        )
    )


def _known(figure: float) -> float:
    return 0.0 if math.isnan(figure) else figure


def _row(items: Mapping[str, Item], result: Result, of: Of, decided: Scored) -> ScoreRow:
    found = decided if of == "decided" else score(items, result, of=of)
    sides = {
        against: _side(items, result, against, getattr(found, against)) for against in REFERENCES
    }
    videos = len({items[qid].video_id for qid in found.both})
    flags = {
        PARTIAL: any(side.missing for side in sides.values()),
        VOIDS: any(side.void for side in sides.values()),
        FEW: videos < FEW_VIDEOS,
        SAW_NONE: result.is_blind,
        JUDGED_BLIND: result.is_judged_blind,
    }
    answers = [
        (one.response, items[one.qid].reference(one.against))
        for one in result.rulings
        if one.qid in items and one.response is not None
    ]
    same = sum(answer.strip() == reference.strip() for answer, reference in answers)
    return ScoreRow(
        model=result.model,
        judge=result.judge,
        how=result.how,
        average=average_of(items, found),
        videos=videos,
        flags=[flag for flag, is_so in flags.items() if is_so],
        selected=sides["selected"],
        rejected=sides["rejected"],
        decided=average_of(items, decided),
        copies=Copies(same, len(answers)) if same >= max(1, MOST_CHANCE * len(answers)) else None,
    )


def average_of(items: Mapping[str, Item], found: Scored) -> ScoreAverage:
    """Return the two percentages, their mean and its interval, and on how many questions."""
    from videoautoarena.scoring.intervals.proportions import measure_average

    selected, rejected = (_measured(items, side) for side in found)
    both = [qid for qid in found.selected if qid in found.rejected]
    low, high = ((selected[end] + rejected[end]) / 2 for end in ("low", "high"))
    if len(both) == selected["n"] == rejected["n"]:
        one, two = ([side[qid] for qid in both] for side in found)
        average = measure_average(one, two, videos_of(items, both))
        low = 100 * average.low
        high = 100 * average.high
    # With different questions on both sides the bounds are as if both erred together, the widest.
    mean = (selected["value"] + rejected["value"]) / 2
    return ScoreAverage(
        vs_selected=selected["value"],
        vs_rejected=rejected["value"],
        average=mean,
        # An interval holds its figure, whatever the last bits of the two are.
        low=min(low, mean),
        high=max(high, mean),
        n=len(both),
    )


def _side(
    items: Mapping[str, Item], result: Result, against: Against, points: Points
) -> ReferenceScore:
    """Return how the judgings against one reference went, and their percentage."""
    rulings = [r for r in result.rulings if r.against == against and r.qid in items]
    verdicts = Counter(ruling.verdict for ruling in rulings)
    return ReferenceScore(
        **_measured(items, points),
        win=verdicts["win"],
        tie=verdicts["tie"],
        loss=verdicts["loss"],
        void=verdicts["void"],
        missing=len(items) - len({ruling.qid for ruling in rulings}),
    )


def _measured(items: Mapping[str, Item], points: Points) -> Board:
    from videoautoarena.scoring.intervals.proportions import measure_share

    share = measure_share(list(points.values()), videos_of(items, points))
    return {"value": 100 * share.value, "low": 100 * share.low, "high": 100 * share.high,
            "n": share.n}  # fmt: skip


def difference(items: Mapping[str, Item], a: Points, b: Points) -> Board:
    """Return how far one model's score lies above another's on those questions that count for both.

    In percentage points, with a 95 % interval of the paired difference: what makes a question hard
    for both is not in it. As `arena bench compare` has it.
    """
    lead = lead_of(items, a, b)
    bounds = dict(zip(("difference", "low", "high"), lead[:3], strict=True))
    return _plain({**{name: 100 * value for name, value in bounds.items()}, "n": lead.n})


def lead_of(items: Mapping[str, Item], a: Points, b: Points) -> PairedLead:
    """Return how far one model lies above another on those questions that count for both."""
    from videoautoarena.scoring.ratings.differences import measure_lead

    shared = [qid for qid in a if qid in b and qid in items]
    return measure_lead(
        [a[qid] for qid in shared], [b[qid] for qid in shared], videos_of(items, shared)
    )


def _plain(figures: Mapping[str, Any]) -> Board:
    """Return figures with None in place of NaN."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in figures.items()
    }
