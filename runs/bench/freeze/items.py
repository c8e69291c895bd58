"""Battles as questions of a bench: who selected, what is left out, won unseen, or hard."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np

from videoautoarena.memory.records.digests import derive, unit_interval
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.outlines import Outline
from videoautoarena.memory.records.records import DECIDED, TIES, Battle, VideoFacts
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.memory.store.evidence import Label
from videoautoarena.runs.analysis.audit.canaries import is_leak_test
from videoautoarena.runs.analysis.audit.evidence import AuditInput
from videoautoarena.runs.analysis.audit.report import read_input
from videoautoarena.runs.analysis.categories.tags import categories_of
from videoautoarena.runs.bench.format.schema import Hardness, Item, JudgeVerdict, Votes
from videoautoarena.runs.bench.freeze.selection import LEAKED, BenchSelection
from videoautoarena.runs.bench.selecting.asking import HardFound
from videoautoarena.runs.bench.selecting.hard import BadQuestion, Side, WhyNot
from videoautoarena.runs.rating.table import points_of
from videoautoarena.runs.run.rundir.reader import RunReader
from videoautoarena.scoring.fitting.counts import Floats, count_cells
from videoautoarena.scoring.ratings.ratings import rate

FLOOR = 1e-6
"""The least noise of a battle, so that a certain outcome is worth nothing and not everything."""


def worth_of(items: Sequence[Item], battles: Sequence[Outline]) -> dict[str, float]:
    """Return for each qid how well its two answers separate models, and how sure its winner is.

    An answer separates two models by the squared difference of their chances against it over the
    variance of the two outcomes (Fisher's ratio); every two models count alike. That is taken from
    the run's own ratings, so it favours what the run has found already. It is multiplied by the
    share of judgings, or of people's votes, that chose the winner.
    """
    ratio = _ratios(battles)
    return {
        item.qid: steadiness(item)
        * (ratio.get(item.selected_model or "", 0.0) + ratio.get(item.rejected_model or "", 0.0))
        / 2
        for item in items
    }


def _ratios(battles: Sequence[Outline]) -> Mapping[str, float]:
    decided = [b for b in battles if b.verdict in DECIDED and b.model_a and b.model_b]
    names = list(dict.fromkeys(m for b in decided for m in (b.model_a or "", b.model_b or "")))
    if not names:
        return {}
    place = {name: k for k, name in enumerate(names)}
    cells = count_cells(
        np.array([place[b.model_a or ""] for b in decided]),
        np.array([place[b.model_b or ""] for b in decided]),
        outcome=np.array([points_of(b.verdict) for b in decided]),
        models=len(names),
    )
    theta: Floats = rate(cells).theta
    # Shape (models, models): the chance of a row's model against the answer of a column's.
    chance = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
    noise = np.maximum(chance * (1 - chance), FLOOR)
    ratio = np.zeros(len(names))
    for one, other in combinations(range(len(names)), 2):
        apart = (chance[one] - chance[other]) ** 2 / (noise[one] + noise[other])
        # Divided by its mean over the answers, or two models far apart would outweigh all other
        # pairs.
        ratio += apart / max(float(apart.mean()), FLOOR)
    return dict(zip(names, ratio.tolist(), strict=True))


def steadiness(item: Item) -> float:
    """Return the share of usable judgings, or of people's votes, that selected the same answer."""
    if item.votes is not None:
        total = item.votes.selected + item.votes.rejected + item.votes.tie
        return item.votes.selected / total if total else 0.0
    said = [v.verdict for v in item.judge_verdicts if v.verdict not in ("abstain", "failed")]
    return sum(one == item.selected_seat for one in said) / len(said) if said else 1.0


Topical = tuple[str, int, str]
"""Video, persona and question: what two battles about one question have in common."""


class AnswerChoice(NamedTuple):
    """Which answer of a battle was selected, and by whom."""

    seat: Literal["a", "b"] | None
    """None if nobody won."""
    by: Literal["judge", "labels"]


@dataclass
class QuestionPool:
    """Every question that a run could give to a bench."""

    items: list[Item] = field(default_factory=list)
    """In the order of the slots."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Battles without a winner, by the reason."""
    borrowed: Counter[str] = field(default_factory=Counter)
    """Battles over stored answers, by the newcomer that met them."""
    leaked: set[str] = field(default_factory=set)
    """qids of questions that a contestant without a frame won."""


def pool_of(battles: Iterable[Battle], given: AuditInput) -> QuestionPool:
    """Return the questions of a run's battles.

    A newcomer's battle over a stored answer asks what its first battle asked already: it gives no
    question, but may show that one can be won without a frame.
    """
    pool = QuestionPool()
    votes = votes_of(given.labels)
    places: dict[str, Topical] = {}
    leaks: set[Topical] = set()
    for battle in battles:
        choice = choose(battle, votes.get(battle.id))
        topical = (battle.video, battle.persona, battle.question or "")
        winner = (battle.model_a if choice.seat == "a" else battle.model_b) or ""
        # Before newcomers' battles are passed over, since those may show a leak, too.
        if choice.seat and given.is_blind(winner) and is_leak_test(battle, winner, given):
            leaks.add(topical)
        if battle.borrowed is not None:
            own = battle.model_b if battle.borrowed.seat == "a" else battle.model_a
            pool.borrowed[own or "?"] += 1
            continue
        if choice.seat is None:
            pool.left_out[why_left_out(battle, choice)] += 1
            continue
        item = as_item(battle, choice, votes.get(battle.id))
        places[item.qid] = topical
        pool.items.append(item)
    pool.leaked = {qid for qid, topical in places.items() if topical in leaks}
    return pool


def with_facts(pool: QuestionPool, facts: Mapping[str, VideoFacts]) -> QuestionPool:
    """Return the pool with what somebody's file says of each question's video, category aside."""
    said = {
        video: {
            **{name: text for name in _SAID if (text := getattr(one, name)) is not None},
            **one.columns,
        }
        for video, one in facts.items()
    }
    items = [
        item.model_copy(update={"facts": known}) if (known := said.get(item.video_id)) else item
        for item in pool.items
    ]
    return replace(pool, items=items)


# A stated category stands in the item's own field already.
_SAID = ("title", "language", "licence")


def categorised(run: RunReader, items: Sequence[Item], selection: BenchSelection) -> list[Item]:
    """Return items with the categories of their questions, where the run was tagged.

    Raises BadInput if it was not and the draw is to be even over them.
    """
    found = categories_of(run)
    if selection.draws and "question-category" in selection.by and not found:
        raise BadInput(
            f"{option('by', 'question-category')}: no question of {run.folder} is tagged; first: "
            f"{step('categories tag', str(run.folder))}"
        )
    return [
        item
        if (named := found.get(item.battle or "")) is None
        else item.model_copy(update={"question_categories": list(named)})
        for item in items
    ]


def with_names(items: Sequence[Item], names: Mapping[str, str]) -> list[Item]:
    """Return items whose topics have these names; one without keeps its words."""
    return [
        item
        if (name := names.get(item.topic or "")) is None
        else item.model_copy(update={"topic": name})
        for item in items
    ]


def named_topics(items: Sequence[Item], names: Mapping[str, str], by: str | None) -> dict[str, Any]:
    """Return what a manifest says of topics that a model named; empty if none did."""
    there = {item.topic for item in items}
    words = {name: words for words, name in names.items() if name in there}
    return {"topics_named_by": by, "topic_words": words} if words else {}


def votes_of(labels: Iterable[Label]) -> Mapping[str, Counter[str]]:
    """Return how many people saw `a`, `b` or a `tie` of either kind, by battle."""
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for label in labels:
        votes[label.battle]["tie" if label.verdict in TIES else label.verdict] += 1
    return votes


def choose(battle: Battle, votes: Counter[str] | None = None) -> AnswerChoice:
    """Return the winner by most labels where a decided battle has any, else by its judges."""
    if battle.verdict not in DECIDED or not votes:
        return AnswerChoice(
            "a" if battle.verdict == "a" else "b" if battle.verdict == "b" else None, "judge"
        )
    a = votes["a"]
    b = votes["b"]
    tie = votes["tie"]
    # More people have to see this winner than saw the other one, or none.
    if a == b or max(a, b) <= tie:
        return AnswerChoice(None, "labels")
    return AnswerChoice("a" if a > b else "b", "labels")


def why_left_out(battle: Battle, choice: AnswerChoice) -> str:
    """Return why nobody won, as the card says it."""
    if choice.by == "labels":
        return "people saw no winner"
    if battle.verdict == "split":
        return "split: the seatings disagreed"
    # `forfeit_a` and `forfeit_b` are one reason: `forfeit`.
    return "tie" if battle.verdict in TIES else battle.verdict.partition("_")[0]


def as_item(battle: Battle, choice: AnswerChoice, votes: Counter[str] | None = None) -> Item:
    """Return a battle with a winner as a line of the bench; StoreError where it lacks a part."""
    a = (_there(battle, "answer_a"), _there(battle, "model_a"))
    b = (_there(battle, "answer_b"), _there(battle, "model_b"))
    selected, rejected = (a, b) if choice.seat == "a" else (b, a)
    won, lost = ("a", "b") if choice.seat == "a" else ("b", "a")
    item = Item(
        # A digest of the other fields, so it is set when they stand.
        qid="",
        video_id=battle.video,
        persona=_there(battle, "persona_text"),
        persona_index=battle.persona,
        question=_there(battle, "question"),
        selected_answer=selected[0],
        rejected_answer=rejected[0],
        chosen_by=choice.by,
        selected_model=selected[1],
        rejected_model=rejected[1],
        selected_seat=choice.seat,
        battle=battle.id,
        round=battle.round,
        origin=_there(battle, "origin"),
        duration_s=battle.duration_s,
        category=_there(battle, "category"),
        language=battle.language,
        difficulty=battle.difficulty,
        votes=Votes(selected=votes[won], rejected=votes[lost], tie=votes["tie"]) if votes else None,
        judge_verdicts=[
            JudgeVerdict(judge=one.judge, seats=one.seats, verdict=one.verdict)
            for one in battle.verdicts
        ],
    )
    return item.model_copy(update={"qid": item.own_qid()})


def _there(battle: Battle, name: str) -> Any:
    value = getattr(battle, name)
    if value is None:
        raise StoreError(f"battle {battle.id} has a winner but no {name}; the run file is damaged")
    return value


EASY = "most models did not fail"
UNTRIED = "no model has a verdict"
LIKED = "people saw a winner"


@dataclass
class HardPool(QuestionPool):
    """Hard questions, and how hard each is."""

    worth: dict[str, float] = field(default_factory=dict)
    """The share of models that failed, by qid; among equal shares that of more models is higher."""


def unasked(selection: BenchSelection) -> Callable[[RunReader], WhyNot]:
    """Return what tells why models need not be asked a question: the bench will not have it.

    People saw a winner, or a wish of the selection leaves it out that holds of the question alone.
    """

    def of(run: RunReader) -> WhyNot:
        given = read_input(run)
        votes = votes_of(given.labels)
        leaks = _won_unseen(given) if selection.leak_filter else ()
        licences = {video: said.licence for video, said in run.facts().items()}

        def why_not(battle: Battle) -> str | None:
            if choose(battle, votes.get(battle.id)).seat is not None:
                return LIKED
            question = battle.question or ""
            licence = licences.get(battle.video)
            why = selection.why_not(battle.language, question, battle.round, licence)
            return why or (LEAKED if _topical(battle) in leaks else None)

        return why_not

    return of


def hard_pool_of(found: HardFound, given: AuditInput, seed: int) -> HardPool:
    """Return the hard questions as items: an answer that was found better than a bad one, and that.

    Of several such answers the seed draws one. Where there is none both answers are the bad ones of
    the battle, in seeded order, and nobody selected.
    """
    pool = HardPool()
    leaks = _won_unseen(given)
    for one in found.questions:
        if one.left_out is not None:
            pool.left_out[one.left_out] += 1
        elif one.share is None:
            pool.left_out[UNTRIED] += 1
        elif not one.is_hard:
            pool.left_out[EASY] += 1
        else:
            item = _item(one, seed)
            pool.items.append(item)
            # The small term decides between equal shares alone: different ones are further apart.
            pool.worth[item.qid] = one.share + 1e-6 * one.count("failed")
            if _topical(one.battle) in leaks:
                pool.leaked.add(item.qid)
    return pool


def _topical(battle: Battle) -> Topical:
    return battle.video, battle.persona, battle.question or ""


def _won_unseen(given: AuditInput) -> set[Topical]:
    """Return video, persona and question of battles that a contestant without a frame won."""
    found: set[Topical] = set()
    for battle in given.battles:
        winner = {"a": battle.model_a, "b": battle.model_b}.get(battle.verdict)
        if winner and given.is_blind(winner) and is_leak_test(battle, winner, given):
            found.add(_topical(battle))
    return found


def _item(question: BadQuestion, seed: int) -> Item:
    better = [
        one
        for one in question.tried
        if one.answer is not None and one.verdict == ("b" if one.bad == "a" else "a")
    ]
    asked = question.battle
    if better:
        best = min(better, key=lambda one: derive(seed, "hard", f"{asked.id} {one.model}"))
        own = "b" if best.bad == "a" else "a"
        item = as_item(
            asked.model_copy(
                update={
                    f"model_{own}": best.model,
                    f"answer_{own}": best.answer,
                    "verdict": best.verdict,
                    "verdicts": best.verdicts,
                }
            ),
            AnswerChoice("b" if best.bad == "a" else "a", "judge"),
        )
    else:
        first: Side = "a" if unit_interval(seed, "hard order", asked.id) < 0.5 else "b"
        item = as_item(asked, AnswerChoice(first, "judge"))
        item = item.model_copy(update={"chosen_by": "nobody", "selected_seat": None})
    hard = Hardness(
        asked=len(question.tried), failed=question.count("failed"), void=question.count("void")
    )
    return item.model_copy(update={"qid": item.own_qid(), "hard": hard})


class HardCounts(TypedDict):
    """How hard questions were found."""

    questions: int
    """Battles with both answers called bad."""
    unasked: int
    """Those left out since the bench would not have them."""
    asked: int
    """Answers asked for, in all processes."""
    known: int
    """More answers, from battles of newcomers over stored ones."""
    failed: int
    """Answers among these that lost or were found no better."""
    passed: int
    """Those that were found better."""
    void: int
    """Those without a verdict."""
    hard: int
    """Questions at which more failed than passed."""
    calls: int
    """Calls that the asking took."""
    cost_usd: float | None
    """What it cost; null if that of any call is unknown."""


def counts_of_hard(found: HardFound, hard: int) -> HardCounts:
    """Return what a manifest says of how hard questions were found."""
    came = Counter(tried.came for one in found.questions for tried in one.tried)
    known = sum(not tried.is_asked for one in found.questions for tried in one.tried)
    return {
        "questions": len(found.questions),
        "unasked": sum(one.left_out is not None for one in found.questions),
        "asked": found.asked,
        "known": known,
        "failed": came["failed"],
        "passed": came["passed"],
        "void": came["void"],
        "hard": hard,
        "calls": found.calls,
        "cost_usd": found.cost_usd,
    }
