"""Whether a bench measures what it should: what length, no frames and constant words win on it.

All of it follows from the bench and the results on it and, where the run is at hand, from how far
the scores order the models as the run's ratings do.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from videoautoarena.agents.prompting.languages import asked_language
from videoautoarena.runs.analysis.audit.canaries import MOST_LEAKED, NO_FRAMES
from videoautoarena.runs.analysis.audit.evidence import finding, unknown
from videoautoarena.runs.analysis.audit.languages import (
    Figure,
    Hits,
    compare_languages,
    known_languages,
)
from videoautoarena.runs.analysis.audit.verdicts import abstention_of, agreement_of
from videoautoarena.runs.analysis.leaderboard.agreement import (
    BoardAgreement,
    BoardEntry,
    GivenBoard,
    agree_boards,
    read_board,
)
from videoautoarena.runs.bench.format.points import (
    JudgedAnswer,
    QuestionPoints,
    heard_of,
    judge_of,
    points_of,
    videos_of,
)
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    Anchored,
    Result,
    Ruling,
    Vote,
    read_results,
)
from videoautoarena.runs.bench.score.score import average_of, lead_of, score
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.finding import Finding, alarms, raise_alarms
from videoautoarena.scoring.agreement.rater_agreement import MISSING
from videoautoarena.scoring.fitting.counts import Ints
from videoautoarena.scoring.intervals.proportions import Share, measure_share
from videoautoarena.scoring.ratings.differences import PairedLead

_CAMPS = {"win": 0, "loss": 1, "tie": 2}


def panel_of(bench: OpenBench, results: Sequence[Result]) -> list[Finding]:
    """Return how far judges agree on rulings of a bench; empty without panels."""
    voted = [
        (ruling.qid, ruling.votes)
        for result in results
        for ruling in result.rulings
        if ruling.votes
    ]
    judges = list(dict.fromkeys(vote.judge for _, votes in voted for vote in votes))
    if len(judges) < 2:
        return []
    table = np.full((len(voted), len(judges)), MISSING)
    for row, (_, votes) in enumerate(voted):
        for vote in votes:
            table[row, judges.index(vote.judge)] = _CAMPS.get(vote.verdict, MISSING)
    video = videos_of(bench.by_qid, [qid for qid, _ in voted])
    return [
        *agreement_of(judges, table, video, case="ruling"),
        *(_abstains(judge, [votes for _, votes in voted], video) for judge in judges),
    ]


def languages_of(bench: OpenBench, results: Sequence[Result | Anchored]) -> list[Finding]:
    """Return what judging shows in each language of the questions; empty if there is only one.

    Their alarms are those that they raise together.
    """
    asked = {item.qid: asked_language(item.language, item.question) for item in bench.items}
    heard = [one for result in results for one in heard_of(bench.by_qid, result)]
    twice = defaultdict[Hashable, dict[str | None, JudgedAnswer]](dict)
    for one in heard:
        twice[one.pair][one.seats] = one
    both = [(said["ab"], said["ba"]) for said in twice.values() if {"ab", "ba"} <= set(said)]
    read = [one for one in heard if one.lead and one.seats]
    sized = [one for one in heard if one.lead and one.longer]

    def hits(cases: Sequence[JudgedAnswer], found: Iterable[bool]) -> Hits:
        qids = [one.qid for one in cases]
        kept = np.array(list(found), dtype=np.float64)
        return Hits(kept, [asked[qid] for qid in qids], videos_of(bench.by_qid, qids))

    measured: dict[Figure, Hits] = {
        "flips": hits(
            [ab for ab, _ in both], (np.sign(ab.lead) != np.sign(ba.lead) for ab, ba in both)
        ),
        # From `ba` the candidate was read first, so its win is one of the first seat.
        "first": hits(read, ((one.seats == "ba") == (one.lead > 0) for one in read)),
        "longer": hits(sized, ((one.longer > 0) == (one.lead > 0) for one in sized)),
    }
    codes = known_languages([asked[one.qid] for one in heard])
    return raise_alarms(compare_languages(measured, codes))


def _abstains(judge: str, votes: Sequence[Sequence[Vote]], video: Ints) -> Finding:
    said = [next((v.verdict for v in each if v.judge == judge), None) for each in votes]
    asked = np.array([verdict is not None for verdict in said])
    abstained = np.array([float(verdict == "abstain") for verdict in said])
    share = measure_share(abstained[asked], video[asked])
    return abstention_of(judge, share, said.count("failed"), case="ruling")


CONSTANT = "offline:parrot"
CANARIES = (("offline:windbag", "offline:terse"), ("offline:trickster", "offline:terse"))
"""A model that pads, or writes to the judge, and the one that says the same without it."""
MOST_CONSTANT = 0.1
"""A higher score for words that are the same whatever is asked is an alarm."""
FULL = 0.95
"""A bench on which somebody scores more separates the best no more."""
# In VideoAutoBench the selected answer is the longer one in 235 of 255 questions: a judge of length
# alone agrees with 92 % of them.
LOPSIDED = 2 / 3
"""Selected answers that are longer more often than this let length win, if the interval says so."""


@dataclass(frozen=True)
class _ValidityInput:
    """What figures are made from: a bench and the results on it by one judge."""

    bench: OpenBench
    results: Sequence[Result]

    @cached_property
    def points(self) -> dict[str, dict[str, QuestionPoints]]:
        """Points by model, then by qid."""
        return {result.model: points_of(result) for result in self.results}

    @cached_property
    def shared(self) -> list[str]:
        """Qids of the questions that every model was judged on."""
        each = self.points.values()
        return [item.qid for item in self.bench.items if all(item.qid in one for one in each)]

    def share(self, hits: Iterable[tuple[str, float]]) -> Share:
        """Return the mean of figures, each with the qid of its question; clusters are videos."""
        pairs = list(hits)
        videos = videos_of(self.bench.by_qid, (qid for qid, _ in pairs))
        return measure_share([hit for _, hit in pairs], videos)

    def score(self, model: str) -> Share:
        """Return a model's score, 0 to 1, with the bounds that `arena bench score` gives it."""
        result = next(one for one in reversed(self.results) if one.model == model)
        items = self.bench.by_qid
        average = average_of(items, score(items, result))
        videos = self.share((qid, won.average) for qid, won in self.points[model].items())
        return Share(
            average.average / 100.0,
            average.low / 100.0,
            average.high / 100.0,
            average.n,
            videos.spread,
        )

    def lead(self, a: str, b: str) -> PairedLead:
        """Return how far a model is above another on the questions of both, 0 to 1."""
        one, two = ({qid: won.average for qid, won in self.points[name].items()} for name in (a, b))
        return lead_of(self.bench.by_qid, one, two)

    def answers(self) -> Iterator[tuple[Ruling, str, str]]:
        """Yield each ruling with its answer, where that was kept, and the reference."""
        for ruling in (ruling for result in self.results for ruling in result.rulings):
            if ruling.response is not None:
                reference = self.bench.by_qid[ruling.qid].reference(ruling.against)
                yield ruling, ruling.response, reference

    def named(self, resolved: str) -> str | None:
        """Return the name under which a model of the embedded cast was judged."""
        for result in self.results:
            # An imported result does not say its model, so its name may stand for it.
            if resolved in (result.facts.get("model"), result.model):
                return result.model
        return None


@dataclass(frozen=True)
class Validity:
    """What speaks for and against a bench."""

    SHOWN: ClassVar = ("bench", "judge", "questions", "models", "figures", "alarms", "agreement")

    bench: str
    """Its digest."""
    judge: str
    """Name of the judge."""
    questions: int
    """Questions of the bench."""
    models: tuple[str, ...]
    """Models with a result."""
    figures: tuple[Finding, ...]
    """Each as [one of an audit](#a-finding)."""
    agreement: BoardAgreement | None
    """What [`--against`](#two-leaderboards) says of the bench (A) and the run (B); None without
    `--run`."""

    @property
    def alarms(self) -> list[str]:
        """Sentences of the alarms."""
        return alarms(self.figures)

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena bench check --json`."""
        return record_json(self)


def check(bench: OpenBench, *, run: Path | None = None, judge: str | None = None) -> Validity:
    """Return what speaks for and against a bench by one judge, or BadInput if several ruled.

    `run` is a run, or any leaderboard of the models, whose order the bench should give again.
    """
    results = read_results(bench)
    chosen = judge_of(bench, results, judge)
    given = _ValidityInput(bench, [result for result in results if result.judge == chosen])
    found = [*_lengths(given), *_canaries(given), *_leaks(given), *_room(given), _copies(given)]
    found += raise_alarms(panel_of(bench, given.results))
    agreement = None
    if run is not None:
        scores = {name: given.score(name) for name in given.points if given.points[name]}
        order = sorted(scores, key=lambda name: -scores[name].value)
        entries = {
            name: BoardEntry(
                *(100.0 * x for x in (scores[name].value, scores[name].low, scores[name].high))
            )
            for name in order
        }
        better = {a: {b: given.lead(a, b).better for b in order if b != a} for a in order}
        # With one video there is no chance of being better, and none is handed on instead of NaN.
        known = all(not math.isnan(x) for row in better.values() for x in row.values())
        agreement = agree_boards(
            GivenBoard(str(given.bench.folder), entries, better if known else {}), read_board(run)
        )
    models = tuple(result.model for result in given.results)
    return Validity(
        bench.bench, chosen, len(bench.items), models, figures=tuple(found), agreement=agreement
    )


def _lengths(given: _ValidityInput) -> Iterator[Finding]:
    """Yield how far length alone would go: in the bench, and before its judge."""
    gaps = (
        (one.qid, len(one.selected_answer) - len(one.rejected_answer)) for one in given.bench.items
    )
    # Between answers of one length a comparison of lengths would have to toss a coin.
    share = given.share((qid, float(gap > 0) if gap else 0.5) for qid, gap in gaps)
    yield finding(
        "length.bench",
        share,
        "The longer answer is the selected one in {figure} of {n:question} about {videos:video}; a "
        "judge that only compares lengths would agree with the bench as often.",
        is_alarm=share.low > LOPSIDED,
    )
    hits = [
        (ruling.qid, float((len(answer) > len(other)) == (ruling.verdict == "win")))
        for ruling, answer, other in given.answers()
        if ruling.verdict in ("win", "loss") and len(answer) != len(other)
    ]
    if not hits:
        yield unknown("length.judge", "No ruling shows whether the judge prefers long answers.")
        return
    share = given.share(hits)
    yield finding(
        "length.judge",
        share,
        "The longer answer won {figure} of {n:ruling} with a winner about {videos:video}.",
        is_alarm=share.low > LOPSIDED,
    )


def _canaries(given: _ValidityInput) -> Iterator[Finding]:
    """Yield the scores of those who must not win."""
    if (parrot := given.named(CONSTANT)) is not None:
        share = given.score(parrot)
        yield finding(
            "canary.constant",
            share,
            "{model}, which gives the same answer to every question, scores {figure} on "
            "{n:question} about {videos:video}.",
            is_alarm=share.low > MOST_CONSTANT,
            model=parrot,
        )
    else:
        yield unknown("canary.constant", "No model with a constant answer played (offline:parrot).")
    for trick, plain in CANARIES:
        names = given.named(trick), given.named(plain)
        if names[0] is not None and names[1] is not None:
            yield _trick(given, names[0], names[1])


def _trick(given: _ValidityInput, trick: str, plain: str) -> Finding:
    value, low, high, n = given.lead(trick, plain)[:4]
    word = "gains" if value > 0.0 else "gains nothing"
    words = (
        f"{{trick}} {word} over {{plain}}, which gives the same answer plainly: "
        "{figure:share_gap_with_interval} percentage points."
    )
    told = {"trick": trick, "plain": plain}
    figures = (value, low, high, n)
    return Finding(f"canary.{safe(trick)}", *figures, words, is_alarm=low > 0.0, told=told)


def _leaks(given: _ValidityInput) -> Iterator[Finding]:
    """Yield what can be had without a frame."""
    blind = [one for one in given.results if one.facts.get("max_frames") == 0]
    if not blind:
        yield unknown(
            "leak.blind",
            "No model played without frames, so it is unknown which questions need "
            "the video; add one with {setting}, such as offline:blind.",
            setting=NO_FRAMES,
        )
    for one in blind:
        won = given.points[one.model]
        share = given.share((qid, points.selected) for qid, points in won.items())
        yield finding(
            f"leak.blind.{safe(one.model)}",
            share,
            "Without frames, {model} takes {figure} of the points (a tie is half) in {n:question} "
            "about {videos:video} against the selected answers (score {score:share}): what it won "
            "can be answered without the video.",
            is_alarm=share.low > MOST_LEAKED,
            model=one.model,
            score=given.score(one.model).value,
        )


def _room(given: _ValidityInput) -> Iterator[Finding]:
    """Yield how much room the questions leave: who can win, and what separates models."""
    qids = given.shared
    each = list(given.points.values())
    if not qids:
        yield unknown("room.solved", "No question was judged for every model.")
        return
    # Points are a mean over seatings, so that 1 means that each of them was won.
    solved = {qid: [one[qid].selected == 1.0 for one in each] for qid in qids}
    some = given.share((qid, float(any(won))) for qid, won in solved.items())
    by_all = float(np.mean([all(won) for won in solved.values()]))
    yield finding(
        "room.solved",
        some,
        "Some model beats the selected answer in {figure} of {n:question} about {videos:video}.",
    )
    level = given.share((q, float(len({one[q].average for one in each}) == 1)) for q in qids)
    yield finding(
        "room.level",
        level,
        "All models get the same result in {figure} of {n:question} about {videos:video} (all win "
        "in {all:share}): these separate no models.",
        is_alarm=len(each) > 2 and level.low > 0.5,
        all=by_all,
    )
    best = max(given.points, key=lambda name: given.score(name).value)
    highest = given.score(best)
    yield finding(
        "room.best",
        highest,
        "The best score is {figure}, of {model}"
        f"{'; the bench is saturated' if highest.low > FULL else ''}.",
        is_alarm=highest.low > FULL,
        model=best,
    )


def _copies(given: _ValidityInput) -> Finding:
    """Return how often an answer is the reference itself, from which no judge can know it."""
    hits = [
        (ruling.qid, float(answer.strip() == other.strip()))
        for ruling, answer, other in given.answers()
    ]
    if not hits:
        return unknown("copies", "No ruling has an answer.")
    share = given.share(hits)
    return finding(
        "copies",
        share,
        "In {figure} of {n:ruling} about {videos:video} the answer equals the reference word for "
        "word: its author plays again.",
    )
