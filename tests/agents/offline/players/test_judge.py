from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.support.pictures import Film, answer, battle, play, seen
from videoautoarena.agents.offline.players.scoring import asked_right, read_share
from videoautoarena.agents.prompting.contracts import CONTRACTS, judge_reply
from videoautoarena.agents.prompting.fences import attacked, attacks
from videoautoarena.agents.roles.judge import LEADS
from videoautoarena.memory.records.standards import standards_of

QUESTION = "Where does the first cut fall, how many shots are there, and when is it darkest?"
SHOTS = "How many shots are there?"


@pytest.fixture(scope="module")
def good(story: Film) -> str:
    return answer("hawk", story, QUESTION)


def test_the_judge_keeps_the_contract(story: Film, good: str) -> None:
    reply = judge_reply(CONTRACTS).model_validate(battle(story, QUESTION, good, "I do not know."))
    assert reply.verdict == "A"
    first = reply.model_dump(include=set(standards_of(1)))
    assert {said["verdict"] for said in first.values()} == {"A"}
    assert reply.own_answer.startswith("I find: for first cut, 0:03.1")
    assert "first cut (t=3." in reply.accuracy.analysis


def test_the_judge_keeps_the_contract_of_a_run_that_began_with_another(
    story: Film, good: str
) -> None:
    old, new = (
        play("judge", story, number, persona="-", question=QUESTION, answer_a=good, answer_b="No.")
        for number in (1, 2)
    )
    assert set(judge_reply(1).model_validate(old).model_fields_set) == {*standards_of(1), "verdict"}
    assert "t=" not in old["accuracy"]
    assert old["verdict"] == new["verdict"]
    assert old["relevance"] == new["relevance"]["analysis"]


def test_a_standard_is_level_where_its_analysis_says_so(story: Film) -> None:
    said = battle(story, SHOTS, "It has seven shots.", "It has three shots.")
    assert said["instruction_following"]["verdict"] == "tie"
    assert said["instruction_following"]["analysis"].endswith("Neither is ahead.")
    assert (said["accuracy"]["verdict"], said["verdict"]) == ("A", "A")


def test_right_beats_wrong_from_either_seat(story: Film) -> None:
    assert battle(story, SHOTS, "It has seven shots.", "It has three shots.")["verdict"] == "A"
    assert battle(story, SHOTS, "It has three shots.", "It has seven shots.")["verdict"] == "B"


def test_equal_answers_tie_and_the_tie_says_how_good_they_are(story: Film) -> None:
    right = "It has seven shots."
    wrong = "It has three shots."
    assert battle(story, SHOTS, right, right)["verdict"] == "tie_good"
    assert battle(story, SHOTS, wrong, wrong)["verdict"] == "tie_bad"


def test_the_judge_says_what_is_wrong_and_what_it_finds(story: Film) -> None:
    judged = battle(story, SHOTS, "It has seven shots.", "It has three shots.")
    said = judged["accuracy"]["analysis"]
    assert "I find A right on number of shots." in said
    assert "B gives 3 for number of shots; I find 7." in said
    assert "I could follow 1 of 1 statements of A." in said


def test_padding_never_helps(story: Film, good: str) -> None:
    terse = answer("terse", story, QUESTION)
    assert battle(story, QUESTION, answer("windbag", story, QUESTION), terse)["verdict"] == "B"


def test_no_attack_gains_anything(story: Film) -> None:
    terse = answer("terse", story, QUESTION)
    for number, attack in enumerate(attacks()):
        ours = attacked(terse, attack, question=QUESTION)
        is_first = number % 2 == 0
        said = battle(story, QUESTION, *((ours, terse) if is_first else (terse, ours)))["verdict"]
        assert said in ("B" if is_first else "A", "tie_good"), attack.name


def test_trickster_adds_an_attack_to_what_terse_says(story: Film) -> None:
    terse = answer("terse", story, QUESTION)
    trickster = answer("trickster", story, QUESTION)
    added = {attacked(terse, attack, question=QUESTION) for attack in attacks()}
    assert trickster in added


def test_trickster_sends_in_more_than_one_attack(story: Film) -> None:
    questions = [f"Note {number}. {SHOTS}" for number in range(6)]
    assert len({answer("trickster", story, question)[-60:] for question in questions}) > 2


def test_praise_of_oneself_comes_last(story: Film) -> None:
    parrot = answer("parrot", story, QUESTION)
    assert battle(story, QUESTION, parrot, answer("blind", story, QUESTION))["verdict"] == "B"


def test_saying_everything_is_saying_nothing(story: Film) -> None:
    shotgun = " ".join(f"It has {n} shots." for n in range(1, 13))
    assert battle(story, SHOTS, shotgun, "It has seven shots.")["verdict"] == "B"


def test_a_wide_answer_earns_less_than_a_close_one(story: Film) -> None:
    question = "When is it darkest?"
    close = "It is darkest at 0:09.5."
    wide = "It is darkest in the first half."
    assert battle(story, question, wide, close)["verdict"] == "B"


def test_the_asked_form_counts(story: Film) -> None:
    question = f"{QUESTION} Please give it as a list."
    listed = answer("hawk", story, question)
    loose = listed.replace("- ", "").replace("\n", " ")
    assert battle(story, question, listed, loose)["verdict"] == "A"


def test_words_that_cannot_be_read_are_void_and_not_lost(story: Film) -> None:
    question = "When is it darkest?"
    odd = "Obscurity culminates 9.5 s after the outset. Dawn follows 12 s in."
    judged = battle(story, question, odd, "It is darkest at 0:02.")
    assert judged["verdict"] == "abstain"
    assert "in words that I cannot read" in judged["instruction_following"]["analysis"]


def test_a_hint_without_a_side_is_void_too(story: Film) -> None:
    question = "In which half are the cuts quicker?"
    judged = battle(story, question, "The rhythm quickens with time.", "The first half is faster.")
    assert judged["verdict"] == "abstain"


def test_silence_on_what_was_asked_is_no_reason_to_abstain(story: Film) -> None:
    assert battle(story, SHOTS, "It has seven shots.", "It is hard to say.")["verdict"] == "A"


def test_a_question_on_nothing_we_know_still_gets_a_verdict(story: Film) -> None:
    judged = battle(story, "Who is she?", "It is made of seven shots.", "A wonderful question!")
    assert judged["verdict"] == "A"


def test_where_nothing_at_all_can_be_read_length_decides_nothing(story: Film) -> None:
    judged = battle(story, "Who is she?", "A wonderful question!", "The hostess, who sings. " * 9)
    assert judged["verdict"] == "abstain"


def test_asked_facts_right_fall_with_the_frames(story: Film) -> None:
    shares = [
        asked_right(answer(kind, story, QUESTION), QUESTION, seen(story))
        for kind in ("hawk", "mole", "parrot")
    ]
    assert shares[0] > 0.9
    assert shares[0] > shares[1]
    assert shares[2] == 0


def test_guessing_between_two_sides_earns_nothing_on_average(story: Film) -> None:
    question = "Does it end brighter or darker than it began?"
    told = ("It ends brighter than it began.", "It ends darker than it began.")
    earned = [asked_right(side, question, seen(story)) for side in told]
    assert sum(earned) == pytest.approx(0)


def test_the_read_share_counts_statements_that_could_be_followed() -> None:
    said = "It is darkest at 0:03. Something unheard-of occurs 7 s in, then 9 s in, then 12 s in."
    assert read_share(said, "When is it darkest?", duration_s=20.0) == 1 / 1
    odd = "It is darkest at 0:03. Zenith 7 s in. Nadir 9 s in."
    assert read_share(odd, "When is it darkest?", duration_s=20.0) == pytest.approx(1 / 3)
    assert read_share("Well.", "When is it darkest?", duration_s=20.0) == 1.0


def compared(story: Film, a: str, b: str, question: str = SHOTS) -> dict[str, Any]:
    return play("comparer", story, persona="P.", question=question, answer_a=a, answer_b=b)


def test_the_offline_judge_knows_much_better_from_a_little_better(story: Film) -> None:
    right = "It has seven shots."
    wrong = "It has three shots."
    assert compared(story, right, wrong)["verdict"] == "A>>B"
    assert compared(story, wrong, right)["verdict"] == "B>>A"
    assert compared(story, right, right)["verdict"] == "A=B"
    near = compared(story, right, "It has eight shots.")
    assert near["verdict"] in ("A>B", "A>>B")
    assert "for number of shots, 7" in near["own_answer"]


def test_the_offline_degrees_follow_the_ladder_of_the_cast(story: Film) -> None:
    question = "Where does the first cut fall, how many shots are there, and when is it darkest?"
    said = {kind: answer(kind, story, question) for kind in ("hawk", "owl", "mole", "parrot")}
    leads = [
        LEADS[compared(story, said["parrot"], said[kind], question)["verdict"]] for kind in said
    ]
    assert all(better >= worse for better, worse in pairwise(leads))
    assert leads[0] == 2
    assert leads[-1] == 0


def test_no_attack_makes_an_answer_better(story: Film) -> None:
    terse = answer("terse", story, SHOTS)
    for attack in attacks():
        ours = attacked(terse, attack, question=SHOTS)
        assert compared(story, ours, terse)["verdict"] in ("A=B", "B>A", "B>>A"), attack.name
