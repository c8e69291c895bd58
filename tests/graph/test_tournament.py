"""The graph as protocol.md has it, with scripted models: gate, voids, forfeits, going on."""

from __future__ import annotations

import json
from collections import Counter
from itertools import count

import pytest

from tests.support.stage import JUDGED, VIDEO, Stage, graded, not_harder
from videoautoarena.agents.calls.clients import OutgoingCall
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.graph.lineage import lineage
from videoautoarena.graph.tournament import tournament
from videoautoarena.memory.records.errors import FramesChanged
from videoautoarena.memory.records.records import Battle


def test_every_slot_of_three_lineages_ends_as_one_battle() -> None:
    stage = Stage(rounds=2)
    battles = stage.play()
    assert sorted(battles) == ["p1-r0", "p1-r1", "p2-r0", "p2-r1", "p3-r0", "p3-r1"]
    assert {b.verdict for b in battles.values()} == {"a"}
    assert sorted(stage.ids) == sorted(stage.settled)


def test_each_role_is_called_as_often_as_the_protocol_has_it() -> None:
    stage = Stage(rounds=3)
    stage.play()
    calls = Counter(sending.role for sending in stage.script.seen)
    assert calls == {
        "examiner": 1,
        "persona": 1,
        "questioner": 3,
        "contestant": 18,
        "judge": 9,
        "evolver": 6,
        "grader": 6,
    }


def test_no_evolver_runs_after_the_last_round() -> None:
    stage = Stage(rounds=1)
    stage.play()
    assert not stage.texts("evolver")


def test_an_evolved_question_names_the_pair_it_was_made_from() -> None:
    battle = Stage().play()["p1-r1"]
    assert (battle.origin, battle.aimed_at, battle.difficulty) == (
        "evolved",
        ("left", "right"),
        3.1,
    )
    assert battle.question == "What is thrown? And after that?"
    assert battle.evolution[0].battle == f"{VIDEO}-p1-r0"


def test_an_evolver_reads_question_user_and_both_answers_of_the_last_battle() -> None:
    answers = count()
    stage = Stage({"contestant": lambda _: f"Answer {next(answers)}."})
    battles = stage.play()
    firsts = [battles[f"p{persona}-r0"] for persona in (1, 2, 3)]
    told = {(b.persona_text, b.question, b.answer_a, b.answer_b) for b in firsts}
    names = ("persona", "question", "answer_a", "answer_b")
    assert {tuple(map(texts.__getitem__, names)) for texts in stage.texts("evolver")} == told
    assert len({answer for one in told for answer in one[2:]}) == 6


def test_a_question_refused_once_is_evolved_again_with_both_scores() -> None:
    users = set[str]()

    def second_time(sending: OutgoingCall) -> str:
        user = open_fences(sending.text)[1]["persona"]
        known = len(users)
        users.add(user)
        return graded(sending, step=-0.1 if len(users) > known else 0.1)

    stage = Stage({"grader": second_time})
    battle = stage.play()["p1-r1"]
    assert [attempt.accepted for attempt in battle.evolution] == [False, True]
    refused = json.loads(stage.texts("evolver")[-1]["refused"])
    assert refused == [{"question": "What is thrown? And after that?", "old": 3.0, "new": 2.9}]


def test_a_question_refused_twice_gives_way_to_a_fresh_one() -> None:
    stage = Stage({"grader": not_harder})
    battle = stage.play()["p2-r1"]
    assert (battle.origin, battle.aimed_at, len(battle.evolution)) == ("fresh", None, 2)
    assert json.loads(stage.texts("questioner")[-1]["asked"]) == ["What is thrown?"]


def test_two_refusals_in_every_round_stay_within_the_recursion_limit() -> None:
    battles = Stage({"grader": not_harder}, rounds=12).play()
    assert len(battles) == 36


def test_a_contestant_without_an_answer_forfeits_and_the_next_round_asks_afresh() -> None:
    seats = dict[str, int]()

    def one_silent(sending: OutgoingCall) -> str:
        """Say nothing to every second call, however often it is tried."""
        return "" if seats.setdefault(sending.key, len(seats)) % 2 else "A pan."

    stage = Stage({"contestant": one_silent})
    battles = stage.play()
    assert battles["p1-r0"].verdict == "forfeit_b"
    assert battles["p1-r0"].answer_a == "A pan."
    assert battles["p1-r1"].origin == "fresh"
    assert not stage.texts("judge")


def test_a_contestant_whose_frames_are_lost_has_not_forfeited() -> None:
    seats = dict[str, int]()

    def one_blind(sending: OutgoingCall) -> str | Exception:
        is_first = not seats.setdefault(sending.key, len(seats)) % 2
        return "A pan." if is_first else FramesChanged("other pictures")

    battle = Stage({"contestant": one_blind}, rounds=1).play()["p1-r0"]
    assert (battle.verdict, battle.answer_a) == ("void", "A pan.")
    assert battle.reason == "no answer: other pictures"


def test_two_silent_contestants_make_a_void() -> None:
    battle = Stage({"contestant": ""}, rounds=1).play()["p1-r0"]
    assert battle.verdict == "void"
    assert battle.reason is not None
    assert "no answer from either" in battle.reason


def test_a_judge_without_a_usable_reply_makes_a_void_never_a_tie() -> None:
    battle = Stage({"judge": "A, I think"}, rounds=1).play()["p1-r0"]
    assert battle.verdict == "void"
    assert battle.verdicts[0].verdict == "failed"


def test_a_judge_that_abstains_decides_nothing() -> None:
    battle = Stage({"judge": {**JUDGED, "verdict": "abstain"}}, rounds=1).play()["p1-r0"]
    assert battle.verdict == "void"


def test_after_a_void_the_next_round_asks_afresh() -> None:
    battles = Stage({"judge": "no"}).play()
    assert {battles[f"p{p}-r1"].origin for p in (1, 2, 3)} == {"fresh"}


@pytest.mark.parametrize("role", ["evolver", "grader"])
def test_an_evolver_or_grader_that_fails_voids_the_slot_it_works_for(role: str) -> None:
    battles = Stage({role: "nothing"}, rounds=3).play()
    assert battles["p1-r0"].verdict == "a"
    assert (battles["p1-r1"].verdict, battles["p1-r1"].question) == ("void", None)
    assert (battles["p1-r2"].verdict, battles["p1-r2"].origin) == ("a", "fresh")


@pytest.mark.parametrize("role", ["examiner", "persona"])
def test_a_video_that_cannot_be_examined_voids_all_its_slots(role: str) -> None:
    battles = Stage({role: "nothing"}).play()
    assert len(battles) == 6
    assert {b.verdict for b in battles.values()} == {"void"}


def test_of_a_video_that_is_void_no_more_is_said_than_is_known() -> None:
    unseen = Stage({"examiner": "nothing"}).play()["p3-r1"]
    seen = Stage({"persona": "nothing"}).play()["p3-r1"]
    assert (unseen.category, seen.category) == (None, "Cooking Recipes")
    for battle in (unseen, seen):
        assert (battle.persona, battle.persona_text, battle.round) == (3, None, 1)
        assert (battle.question, battle.model_a, battle.duration_s) == (None, None, 10.4)


def test_a_video_without_frames_voids_all_its_slots_with_the_reason() -> None:
    battles = Stage(unusable="the file ends early").play()
    assert len(battles) == 6
    assert all("the file ends early" in (b.reason or "") for b in battles.values())


def test_a_failed_questioner_voids_one_slot_and_the_lineage_goes_on() -> None:
    battles = Stage({"questioner": "?"}, rounds=2).play()
    assert {b.verdict for b in battles.values()} == {"void"}
    assert len(battles) == 6


def test_only_an_all_swap_rule_lets_the_second_seating_count() -> None:
    always_a = {"judge": JUDGED}
    audit = Stage(always_a, rounds=1, swap=True).play()["p1-r0"]
    both = Stage(always_a, rounds=1, swap=True, rules={"seats_count": True}).play()["p1-r0"]
    assert [j.verdict for j in audit.verdicts] == ["a", "b"]
    assert (audit.verdict, both.verdict) == ("a", "split")


def test_the_paper_rule_keeps_the_analyses_from_the_evolver() -> None:
    ours = Stage()
    paper = Stage(rules={"share_analyses": False})
    ours.play()
    paper.play()
    assert json.loads(ours.texts("evolver")[0]["analyses"])["accuracy"] == "A sees more."
    assert paper.texts("evolver")[0]["analyses"] == ""


def test_a_contestant_hears_of_no_rival_persona_or_brief() -> None:
    stage = Stage(rounds=1)
    stage.play()
    words = " ".join(s.text for s in stage.script.seen if s.role == "contestant")
    assert "What is thrown?" in words
    for secret in (
        "A person",
        "flips a pancake",
        "left",
        "right",
        "battle",
        "judge",
        "other answer",
    ):
        assert secret not in words


def test_a_lineage_goes_on_at_its_first_unsettled_slot() -> None:
    whole = Stage(rounds=3)
    expected = whole.play()
    kept = {k: v for k, v in whole.settled.items() if not k.endswith(("p1-r2", "p2-r1", "p2-r2"))}
    half = Stage(rounds=3, settled=dict(kept))
    assert half.play() == expected
    assert sorted(half.ids) == sorted(set(whole.settled) - set(kept))


def test_a_video_that_is_settled_costs_no_call() -> None:
    whole = Stage()
    whole.play()
    again = Stage(settled=dict(whole.settled))
    again.play()
    assert (again.script.seen, again.ids) == ([], [])


def test_a_lineage_ends_before_a_slot_that_is_not_wanted() -> None:
    battles = Stage(rounds=3, unwanted=f"{VIDEO}-p2-r1").play()
    assert "p2-r1" not in battles
    assert "p2-r2" not in battles
    assert len(battles) == 7


def test_a_bug_ends_the_run_with_its_trace() -> None:
    with pytest.raises(ZeroDivisionError):
        Stage({"contestant": ZeroDivisionError("boom")}).play()


def test_all_six_roles_stand_in_one_diagram() -> None:
    drawing = tournament.get_graph(xray=True).draw_mermaid()
    for role in ("examiner", "persona", "questioner", "contestant_a", "judge", "evolver", "grader"):
        assert role in drawing
    assert "judge" in lineage.get_graph().nodes


def test_a_battle_travels_as_json_unchanged() -> None:
    battle = Stage().play()["p1-r1"]
    assert Battle.model_validate_json(battle.model_dump_json(by_alias=True)) == battle
