"""The offline judge in five degrees: further apart is more, and nothing is gained by begging."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.support.pictures import Film, answer, play
from videoautoarena.agents.prompting.fences import attacked, attacks
from videoautoarena.agents.roles.judge import LEADS

SHOTS = "How many shots are there?"


def battle(story: Film, a: str, b: str, question: str = SHOTS) -> dict[str, Any]:
    return play("comparer", story, persona="P.", question=question, answer_a=a, answer_b=b)


def test_the_offline_judge_knows_much_better_from_a_little_better(story: Film) -> None:
    right = "It has seven shots."
    wrong = "It has three shots."
    assert battle(story, right, wrong)["verdict"] == "A>>B"
    assert battle(story, wrong, right)["verdict"] == "B>>A"
    assert battle(story, right, right)["verdict"] == "A=B"
    near = battle(story, right, "It has eight shots.")
    assert near["verdict"] in ("A>B", "A>>B")
    assert "for number of shots, 7" in near["own_answer"]


def test_the_offline_degrees_follow_the_ladder_of_the_cast(story: Film) -> None:
    question = "Where does the first cut fall, how many shots are there, and when is it darkest?"
    said = {kind: answer(kind, story, question) for kind in ("hawk", "owl", "mole", "parrot")}
    leads = [LEADS[battle(story, said["parrot"], said[kind], question)["verdict"]] for kind in said]
    assert all(better >= worse for better, worse in pairwise(leads))
    assert leads[0] == 2
    assert leads[-1] == 0


@pytest.mark.slow
def test_no_attack_makes_an_answer_better(story: Film) -> None:
    terse = answer("terse", story, SHOTS)
    for attack in attacks():
        ours = attacked(terse, attack, question=SHOTS)
        assert battle(story, ours, terse)["verdict"] in ("A=B", "B>A", "B>>A"), attack.name
