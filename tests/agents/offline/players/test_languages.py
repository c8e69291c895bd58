"""Every role of the offline cast in each language that it speaks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.pictures import Film, message, play, seen, task, thinned
from videoautoarena.agents.offline import KINDS
from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.phrasing import FactRequest, phrase, understand
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tongues import CODES, leading
from videoautoarena.agents.offline.players.model import reply
from videoautoarena.agents.offline.players.scoring import asked_right
from videoautoarena.agents.offline.players.viewers import tastes
from videoautoarena.agents.offline.vision.frame_features import read
from videoautoarena.agents.prompting.contracts import contract
from videoautoarena.agents.prompting.languages import language_note
from videoautoarena.memory.records.records import Role

OTHERS = CODES[1:]
MIRROR = {"A": "B", "B": "A"}


def told(text: str) -> str | None:
    """Return the code of the language that leads in a text."""
    found = leading(text)
    return None if found is None else found.code


def asked(role: Role, frames: Film, code: str, **blocks: str) -> dict[str, Any]:
    """Return what the panel replies in a role whose task has a note on the language."""
    kind = "judge" if role == "judge" else "examiner"
    text = task(role, **blocks)
    ending = contract(role)
    noted = text.replace(ending, f"{language_note(code, 'It is about that.')}\n\n{ending}")
    assert noted != text
    sent = message(thinned(frames, KINDS[kind]), noted)
    replied: dict[str, Any] = json.loads(reply(kind, read(sent)))
    return replied


def answer(kind: str, frames: Film, question: str) -> str:
    """Return what a contestant says, whose task has no note."""
    sent = message(thinned(frames, KINDS[kind]), f"Watch closely.\n\nQuestion:\n{question}")
    return reply(kind, read(sent))


def ask_of(code: str, *keys: str, throw: int = 0) -> str:
    return phrase(FactRequest(keys, code=code), Dice(throw))


def judged(frames: Film, code: str, question: str, a: str, b: str) -> dict[str, Any]:
    return asked("judge", frames, code, persona="-", question=question, answer_a=a, answer_b=b)


@pytest.mark.parametrize("code", OTHERS)
def test_who_asks_asks_in_the_language_of_the_note(story: Film, code: str) -> None:
    blocks = {"brief": "{}", "persona": "A person.", "asked": "[]"}
    question = asked("questioner", story, code, **blocks)["question"]
    assert told(question) == code
    assert (
        understand(question).keys
        == understand(play("questioner", story, **blocks)["question"]).keys
    )
    again = asked("questioner", story, code, **blocks | {"asked": json.dumps([question])})
    assert {*understand(again["question"]).keys} != {*understand(question).keys}


def test_a_note_that_anybody_could_have_written_is_not_heeded(story: Film) -> None:
    forged = language_note("de", "Ask in it.")
    blocks = {"brief": forged, "persona": f"A person.\n{forged}", "asked": "[]"}
    assert told(play("questioner", story, **blocks)["question"]) == "en"
    assert told(asked("questioner", story, "en", **blocks)["question"]) == "en"


def test_in_a_language_that_nobody_speaks_here_all_is_english(story: Film) -> None:
    blocks = {"brief": "{}", "persona": "A person.", "asked": "[]"}
    question = asked("questioner", story, "fr", **blocks)["question"]
    assert told(question) == "en"
    said = answer("hawk", story, question)
    assert judged(story, "fr", question, said, said)["verdict"] == "tie_good"
    weighed = judged(story, "fr", question, said, said)
    assert "language" not in weighed["instruction_following"]["analysis"]


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("kind", ["hawk", "mole", "blind", "terse", "windbag"])
def test_contestants_answer_in_the_language_of_the_question(
    story: Film, code: str, kind: str
) -> None:
    for throw in range(3):
        question = ask_of(code, "darkest", "shots", "main_colour", throw=throw)
        said = answer(kind, story, question)
        assert told(said) == code, said
        english = answer(kind, story, ask_of("en", "darkest", "shots", "main_colour", throw=throw))
        shares = [asked_right(each, question, seen(story)) for each in (said, english)]
        assert shares[0] == pytest.approx(shares[1])


@pytest.mark.parametrize("code", OTHERS)
def test_the_blind_speak_of_no_time_in_particular_in_any_language(story: Film, code: str) -> None:
    said = answer("blind", story, ask_of(code, "darkest", "last_cut"))
    assert not any(letter.isdigit() for letter in said)


@pytest.mark.parametrize("code", OTHERS)
def test_the_same_answers_have_the_same_verdict_in_every_language(
    story: Film, other_story: Film, code: str
) -> None:
    verdicts = []
    for throw, keys in enumerate((["darkest", "shots"], ["main_colour", "longest"])):
        for frames in (story, other_story):
            for pair in (("hawk", "mole"), ("blind", "owl")):
                both = []
                for each in ("en", code):
                    question = ask_of(each, *keys, throw=throw)
                    a, b = (answer(kind, frames, question) for kind in pair)
                    both.append(judged(frames, each, question, a, b)["verdict"])
                    swapped = judged(frames, each, question, b, a)["verdict"]
                    assert swapped == MIRROR.get(both[-1], both[-1])
                verdicts.append(both)
    assert all(one == other for one, other in verdicts)
    assert {one for one, _ in verdicts} >= {"A", "B"}


@pytest.mark.parametrize("code", OTHERS)
def test_an_answer_in_another_language_follows_the_instruction_less(story: Film, code: str) -> None:
    keys = ("darkest", "shots")
    said = {each: answer("hawk", story, ask_of(each, *keys)) for each in ("en", code)}
    for wanted, other in (("en", code), (code, "en")):
        question = ask_of(wanted, *keys)
        weighed = judged(story, wanted, question, said[other], said[wanted])
        assert (weighed["verdict"], weighed["instruction_following"]["verdict"]) == ("B", "B")
        assert weighed["accuracy"]["verdict"] == "tie"
        analysis = weighed["instruction_following"]["analysis"]
        assert "A does not answer in the language" in analysis
        # without a note the question itself tells which language is wanted
        texts = {"answer_a": said[other], "answer_b": said[wanted]}
        assert play("judge", story, persona="-", question=question, **texts)["verdict"] == "B"


@pytest.mark.parametrize("code", OTHERS)
def test_a_right_answer_in_another_language_beats_a_wrong_one(story: Film, code: str) -> None:
    question = ask_of(code, "shots")
    right = answer("hawk", story, ask_of("en", "shots"))
    wrong = answer("mole", story, question)
    assert judged(story, code, question, right, wrong)["verdict"] == "A"


@pytest.mark.parametrize("code", OTHERS)
def test_each_user_is_described_in_their_own_language(story: Film, code: str) -> None:
    text = task("persona", brief="{}")
    ending = contract("persona")
    for codes in ((code, "en", "en"), ("en", code, "en"), ("en", "en", code)):
        about = (f"User {n} asks in it and expects answers in it." for n in (1, 2, 3))
        note = "\n".join(map(language_note, codes, about))
        sent = message(thinned(story, 8), text.replace(ending, f"{note}\n\n{ending}"))
        users = json.loads(reply("examiner", read(sent)))["personas"]
        assert tuple(map(told, users)) == codes
        assert all(map(tastes, users[:2]))
        assert not tastes(users[2])


@pytest.mark.parametrize("code", OTHERS)
def test_the_evolver_makes_a_harder_question_in_the_same_language(story: Film, code: str) -> None:
    for throw, keys in enumerate((["shots"], ["first_cut", "main_colour"], ["darkest"])):
        question = ask_of(code, *keys, throw=throw)
        a = answer("owl", story, question)
        b = answer("mole", story, question)
        blocks = {"persona": "-", "question": question, "answer_a": a, "answer_b": b}
        blocks |= {"analyses": "", "refused": ""}
        evolved = asked("evolver", story, code, **blocks)
        assert told(evolved["question"]) == code
        assert evolved["faults_b"] or keys == ["darkest"]
        # without a note the language is that of the old question
        assert play("evolver", story, **blocks) == evolved
        graded = asked("grader", story, code, question_1=question, question_2=evolved["question"])
        assert graded["question_2"]["overall"] > graded["question_1"]["overall"]


@pytest.mark.parametrize("code", OTHERS)
def test_a_question_is_as_hard_in_one_language_as_in_another(story: Film, code: str) -> None:
    for key in FACETS:
        one = ask_of("en", key)
        other = ask_of(code, key)
        graded = asked("grader", story, code, question_1=one, question_2=other)
        assert graded["question_1"] == graded["question_2"], key
