"""Answers of the best models leave as one chat for each user."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.labelled import season
from tests.support.played import battle, lineage, play, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Battle, StoredAnswer
from videoautoarena.runs.exchange.training import examples as told
from videoautoarena.runs.exchange.training.examples import (
    BestModels,
    RunSources,
    best_of,
    conversations,
)
from videoautoarena.runs.exchange.training.rows import Conversation
from videoautoarena.runs.run.rundir.reader import open_run


def chats(out: Path, top: int = 3) -> tuple[list[Conversation], dict[str, int], BestModels]:
    left_out: Counter[str] = Counter()
    with open_run(out) as run:
        best = best_of(run, top)
        found = list(conversations(run, best, RunSources(run), left_out))
        return found, {why: count for why, count in left_out.items() if count}, best


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("season") / "out"
    season(out)
    return out


def test_a_chat_holds_all_that_a_model_answered_a_user_in_order(tmp_path: Path) -> None:
    found, left_out, _ = chats(play(tmp_path / "out", lineage(video())))
    hawk = next(one for one in found if one.model == "hawk")
    assert [message.role for message in hawk.messages] == ["user", "assistant"] * 3
    assert [m.content for m in hawk.messages[::2]] == [
        f"What is in the pan in round {k}?" for k in range(3)
    ]
    assert [turn.outcome for turn in hawk.turns] == ["won", "lost", "tie_good"]
    assert [turn.rival for turn in hawk.turns] == ["owl", "mole", "owl"]
    assert (hawk.lineage, hawk.persona) == (f"{video().id}-p1", "A person who cooks.")
    assert hawk.rank is None  # one video ranks nobody
    assert left_out == {}


def test_each_answer_stands_under_the_question_it_was_given_to(tmp_path: Path) -> None:
    found, _, _ = chats(play(tmp_path / "out", lineage(video())))
    mole = next(one for one in found if one.model == "mole")
    assert [m.content for m in mole.messages] == ["What is in the pan in round 1?", "A carrot."]
    assert mole.turns[0].outcome == "won"


def test_only_the_first_models_by_rating_are_there(many: Path) -> None:
    found, _, best = chats(many, top=2)
    assert {one.model for one in found} == {row.model for row in best.rows}
    assert [row.rank for row in best.rows] == [1, 2]
    assert {one.rank for one in found} == {1, 2}


def test_it_is_said_whether_the_next_model_is_tied(many: Path) -> None:
    _, _, best = chats(many, top=1)
    assert best.next is not None
    assert best.next.rank_best is not None
    assert best.is_tied == (best.next.rank_best <= 1)
    tied = "is tied with them" if best.is_tied else "is behind them"
    assert best.as_line().endswith(f"{best.next.model}, the next, {tied} at 95 %")


def test_ranges_of_ranks_decide_what_is_tied(many: Path) -> None:
    from dataclasses import replace

    _, _, best = chats(many, top=1)
    assert best.next is not None
    close = replace(best, next=replace(best.next, rank_best=1))
    apart = replace(best, next=replace(best.next, rank_best=2))
    untold = replace(best, next=replace(best.next, rank_best=None))
    assert (close.is_tied, apart.is_tied, untold.is_tied) == (True, False, True)
    assert "too little to tell" in untold.as_line()


def test_fewer_models_than_wanted_are_said() -> None:
    assert "9 were requested" in BestModels((), 9, None).as_line()


def test_undecided_battles_give_no_answer_and_are_counted(tmp_path: Path) -> None:
    ended = [battle(slot(video(), k), origin="first", verdict=verdict, reason="x")
             for k, verdict in enumerate(("a", "void", "forfeit_b"))]  # fmt: skip
    found, left_out, _ = chats(play(tmp_path / "out", ended))
    assert [len(one.turns) for one in found] == [1, 1]
    assert left_out == {told.UNDECIDED: 2, told.FORFEITED: 2}


def guest(round_: int, tail: str, **changed: object) -> Battle:
    place = slot(video(), 0, ordinal=round_)
    return battle(place.model_copy(update={"id": f"{place.id}{tail}"}), **changed)


def test_an_answer_that_newcomers_met_stands_once(tmp_path: Path) -> None:
    first = battle(slot(video(), 0))
    met = [StoredAnswer(battle=first.id, seat=seat) for seat in ("a", "b")]
    one = first.model_copy(update={"id": f"{first.id}+x", "model_b": "mole", "borrowed": met[0]})
    two = first.model_copy(update={"id": f"{first.id}+y", "model_a": "mole", "borrowed": met[1]})
    found, left_out, _ = chats(play(tmp_path / "out", [first, one, two]))
    assert {chat.model: len(chat.turns) for chat in found} == {"hawk": 1, "owl": 1, "mole": 1}
    assert left_out == {told.STORED: 2, told.AGAIN: 1}


def test_without_a_rated_model_there_is_no_best(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdict="void", reason="x")])
    with pytest.raises(BadInput, match=r"no model of .* is rated yet"):
        chats(out)


def test_models_that_never_met_have_no_best(tmp_path: Path) -> None:
    two = [battle(slot(video(), 0)), battle(slot(video(), 1), model_a="mole", model_b="newt")]
    with pytest.raises(BadInput, match="2 groups that never met"):
        chats(play(tmp_path / "out", two))
