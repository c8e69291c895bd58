"""That the offline models go by what they are sent, and by nothing else."""

from __future__ import annotations

import ast
import asyncio
import re
from pathlib import Path

import pytest
from langchain_core.callbacks import BaseCallbackHandler

import videoautoarena.agents.offline
from tests.support.pictures import Film, answer, battle, film, message, play, task, thinned
from videoautoarena.agents.offline import KINDS, OfflineModel
from videoautoarena.agents.offline.players import scoring
from videoautoarena.agents.offline.vision import frame_features, sequence
from videoautoarena.agents.offline.vision.frame_features import Memo

QUESTIONS = (
    "When is the picture brightest, and how many shots are there?",
    "In what order do the main colours of the scenes follow one another?",
    "Where does the first cut fall, and from when to when does the longest shot run?",
    "What is the main colour overall? Please answer as JSON.",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_hawk_given_four_frames_answers_exactly_as_mole(story: Film, question: str) -> None:
    assert answer("hawk", story, question, count=4) == answer("mole", story, question)


@pytest.mark.parametrize("question", QUESTIONS)
def test_renaming_those_who_look_changes_no_word(story: Film, question: str) -> None:
    said = {answer(kind, story, question, count=16) for kind in ("hawk", "owl", "mole", "terse")}
    assert len(said) == 1


def test_without_a_frame_everybody_has_the_same_habits(story: Film) -> None:
    assert answer("hawk", story, QUESTIONS[0], count=0) == answer("blind", story, QUESTIONS[0])


def test_the_blind_speak_of_no_time_in_particular(story: Film) -> None:
    said = answer("blind", story, "When is the picture darkest, and where does the last cut fall?")
    assert not any(letter.isdigit() for letter in said)


@pytest.mark.parametrize("question", QUESTIONS[:3])
def test_an_answer_made_from_another_video_loses(
    story: Film, other_story: Film, question: str
) -> None:
    mine = answer("hawk", story, question)
    other = answer("hawk", other_story, question)
    assert battle(story, question, mine, other)["verdict"] == "A"
    assert battle(other_story, question, mine, other)["verdict"] == "B"


def test_shuffled_frames_make_order_claims_false_and_the_judge_says_so(story: Film) -> None:
    times = [t for t, _ in story]
    frame_features = [jpeg for _, jpeg in story][::-1]
    backwards = tuple(zip(times, frame_features, strict=True))
    question = "Where does the first cut fall, and at what point is the picture darkest?"
    straight = answer("hawk", story, question)
    turned = answer("hawk", backwards, question)
    judged = battle(story, question, turned, straight)
    assert judged["verdict"] == "B"
    assert "for first cut; I find 0:03.1" in judged["accuracy"]["analysis"]


def forget(patch: pytest.MonkeyPatch) -> None:
    """Let nothing be remembered of what was seen, by digest or by question."""
    for module in (frame_features, sequence, scoring):
        memos = [name for name, value in vars(module).items() if isinstance(value, Memo)]
        assert memos
        for name in memos:
            patch.setattr(module, name, Memo(4096))


def test_a_warm_answer_is_a_cold_one(story: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    warm = [_everything(story) for _ in range(2)]
    forget(monkeypatch)
    assert [_everything(story)] * 2 == warm


def test_what_others_saw_does_not_show(story: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)
    alone = answer("mole", story, QUESTIONS[2])
    answer("hawk", story, QUESTIONS[2])
    play("examiner", story)
    assert answer("mole", story, QUESTIONS[2]) == alone


def test_equal_content_gives_equal_words_whatever_the_fence(story: Film) -> None:
    blocks = {"brief": "{}", "persona": "A person.", "asked": "[]"}
    first = play("questioner", story, seed=1, **blocks)
    assert play("questioner", story, seed=2, **blocks) == first


def test_swapping_the_seats_mirrors_the_verdict(story: Film) -> None:
    mirror = {"A": "B", "B": "A"}
    for question in QUESTIONS:
        a = answer("owl", story, question)
        b = answer("mole", story, question)
        there = battle(story, question, a, b)
        back = battle(story, question, b, a)
        assert back["verdict"] == mirror.get(there["verdict"], there["verdict"])


def test_the_judge_is_told_neither_who_spoke_nor_from_how_many_frames(story: Film) -> None:
    a, b = (answer(kind, story, QUESTIONS[0]) for kind in ("hawk", "mole"))
    text = task("judge", persona="A person.", question=QUESTIONS[0], answer_a=a, answer_b=b)
    assert not [kind for kind in KINDS if kind in text.replace("judge", "", 1) and kind != "judge"]
    assert "64" not in text
    assert re.search(r"\d+ (of the )?frames", text) is None


def test_no_name_decides_how_well_anybody_sees() -> None:
    folder = Path(videoautoarena.agents.offline.__file__).parent
    named = [
        node.value
        for file in folder.rglob("*.py")
        if file != folder / "__init__.py"
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and node.value in KINDS
    ]
    weak = ["goldfish", "eager"]
    assert {*named} <= {"parrot", "windbag", "trickster", *weak, "examiner", "judge"}
    assert [named.count(name) for name in weak] == [1, 1]


def test_the_offline_models_open_no_file_socket_or_store() -> None:
    folder = Path(videoautoarena.agents.offline.__file__).parent
    imported = {
        name.removeprefix("videoautoarena.").removeprefix("memory.records.").split(".")[0]
        for file in folder.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for name in _imports(node)
    }
    assert not imported & {"os", "pathlib", "sqlite3", "socket", "memory", "video", "random"}


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_any_number_of_frames_will_do(story: Film, count: int) -> None:
    assert answer("hawk", story, QUESTIONS[0], count=count)


@pytest.mark.parametrize("listeners", [[], [BaseCallbackHandler()]])
def test_asked_asynchronously_the_answer_is_the_same(
    story: Film, listeners: list[BaseCallbackHandler]
) -> None:
    sent = message(thinned(story, 4), f"Look.\n\nQuestion:\n{QUESTIONS[0]}")
    said = asyncio.run(OfflineModel(kind="mole").ainvoke(sent, {"callbacks": listeners}))
    assert said.content == answer("mole", story, QUESTIONS[0])
    assert said.usage_metadata


def test_usage_counts_words_and_images() -> None:
    frames = thinned(film(frames=8), 3)
    said = OfflineModel(kind="owl").invoke(message(frames, "Look.\n\nQuestion:\nWhen?"))
    assert said.usage_metadata is not None
    assert said.usage_metadata["output_tokens"] == len(str(said.content).split())
    fewer = OfflineModel(kind="owl").invoke(message(frames[:2], "Look.\n\nQuestion:\nWhen?"))
    assert fewer.usage_metadata is not None
    assert said.usage_metadata["input_tokens"] - fewer.usage_metadata["input_tokens"] == 2


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def _everything(frames: Film) -> list[object]:
    question = QUESTIONS[0]
    a = answer("hawk", frames, question)
    b = answer("mole", frames, question)
    blocks = {"persona": "A person.", "question": question, "answer_a": a, "answer_b": b}
    evolved = play("evolver", frames, **blocks, analyses="", refused="")
    return [a, b, play("examiner", frames), play("judge", frames, **blocks), evolved]
