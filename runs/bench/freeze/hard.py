"""Hard questions as items of a bench: those at which most of the models that were asked fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypedDict

from videoautoarena.memory.records.digests import derive, unit_interval
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.audit.canaries import is_leak_test
from videoautoarena.runs.analysis.audit.evidence import AuditInput
from videoautoarena.runs.analysis.audit.report import read_input
from videoautoarena.runs.bench.format.schema import Hardness, Item
from videoautoarena.runs.bench.freeze.items import Choice, Pool, Topical, as_item, choose, votes_of
from videoautoarena.runs.bench.freeze.selection import LEAKED, Selection
from videoautoarena.runs.bench.selecting.asking import HardFound
from videoautoarena.runs.bench.selecting.hard import BadQuestion, Side, WhyNot
from videoautoarena.runs.run.rundir.reader import Run

EASY = "most models did not fail"
UNTRIED = "no model has a verdict"
LIKED = "people saw a winner"


@dataclass
class HardPool(Pool):
    """Hard questions, and how hard each is."""

    worth: dict[str, float] = field(default_factory=dict)
    """Of each qid the share of models that failed; of equal shares the one of more models."""


def unasked(selection: Selection) -> Callable[[Run], WhyNot]:
    """Return what tells why models need not be asked a question: the bench will not have it.

    People saw a winner, or a wish of the selection leaves it out that holds of the question alone.
    """

    def of(run: Run) -> WhyNot:
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
            Choice("b" if best.bad == "a" else "a", "judge"),
        )
    else:
        first: Side = "a" if unit_interval(seed, "hard order", asked.id) < 0.5 else "b"
        item = as_item(asked, Choice(first, "judge"))
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
    """Of these, since the bench would not have them."""
    asked: int
    """Answers asked for, in all processes."""
    known: int
    """More answers, from battles of newcomers over stored ones."""
    failed: int
    """Of all these answers, those that lost or were found no better."""
    passed: int
    """Those that were found better."""
    void: int
    """Those without a verdict."""
    hard: int
    """Questions at which more failed than passed."""
    calls: int
    """What the asking took."""
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
