"""Votes of labelling sessions: none is lost, at most one of each thing stands."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.store.evidence import (
    BattleVote,
    CastVote,
    Label,
    RankedQuestion,
    RankingVote,
)
from videoautoarena.memory.store.store import Store


def vote(
    verdict: str | None = "a", *, battle: str = "v-p1-r0", labeller: str = "anna"
) -> BattleVote:
    said = {"battle": battle, "labeller": labeller, "verdict": verdict, "first": "b"}
    return BattleVote.model_validate({**said, "standards": {"accuracy": "tie_bad"}, "note": "hm"})


def ranking(*sources: str, ranks: tuple[int, ...] | None = (2, 1)) -> RankingVote:
    posed = tuple(RankedQuestion(source=source, text=f"what of {source}?") for source in sources)
    return RankingVote(video="v", labeller="anna", questions=posed, ranks=ranks)


async def write(path: Path, *steps: tuple[str, BattleVote | RankingVote]) -> None:
    with Store.open(path, write=True) as store:
        for step, said in steps:
            await getattr(store.evidence.votes, step)(said)


@pytest.fixture
def run(path: Path) -> Path:
    Store.create(path, {}).close()
    return path


def test_a_vote_that_was_taken_back_stays_as_superseded(run: Path) -> None:
    first = vote("a")
    second = vote("b")
    asyncio.run(write(run, ("put", first), ("withdraw", first), ("put", second)))
    with Store.open(run, write=False) as store:
        assert store.evidence.votes.cast(BattleVote) == [
            CastVote(first, True),
            CastVote(second, False),
        ]
        assert store.evidence.votes.standing(BattleVote) == [second]


def test_a_second_vote_on_the_same_is_refused_and_the_first_one_stands(run: Path) -> None:
    with pytest.raises(StoreError, match="not written"):
        asyncio.run(write(run, ("put", vote("a")), ("put", vote("b"))))
    with Store.open(run, write=False) as store:
        assert store.evidence.votes.standing(BattleVote) == [vote("a")]


def test_taking_back_one_vote_leaves_those_of_others(run: Path) -> None:
    mine = vote("a")
    other = vote("a", labeller="ben")
    elsewhere = vote("a", battle="w-p1-r0")
    steps = [("put", one) for one in (mine, other, elsewhere)]
    asyncio.run(write(run, *steps, ("withdraw", mine)))
    with Store.open(run, write=False) as store:
        assert store.evidence.votes.standing(BattleVote) == [other, elsewhere]


def test_a_vote_that_stands_is_a_label_and_what_could_not_be_told_is_none(run: Path) -> None:
    taken = vote("b", battle="x-p1-r0")
    skipped = vote(None, battle="w-p1-r0")
    steps = [("put", one) for one in (vote("tie_good"), skipped, taken)]
    asyncio.run(write(run, *steps, ("withdraw", taken)))
    imported = Label(battle="z-p1-r0", labeller="ben", verdict="a")
    with Store.open(run, write=True) as store:
        store.evidence.add_labels([imported])
        assert store.evidence.labels() == [
            imported,
            Label(
                battle="v-p1-r0",
                labeller="anna",
                verdict="tie_good",
                standards={"accuracy": "tie_bad"},
            ),
        ]


def test_rankings_of_the_same_questions_are_of_the_same_in_whatever_order(run: Path) -> None:
    one = ranking("p", "q")
    turned = ranking("q", "p")
    assert one.subject == turned.subject != ranking("p", "r").subject
    with pytest.raises(StoreError):
        asyncio.run(write(run, ("put", one), ("put", turned)))
    with Store.open(run, write=False) as store:
        assert store.evidence.votes.standing(RankingVote) == [one]
        assert store.evidence.votes.standing(BattleVote) == []
