"""Questions about one thing have one topic, whatever order they come in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.played import battle, invoke, play, slot, video
from tests.support.typed import Terminal
from videoautoarena import open_run as open_from_python
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.categories.topics import (
    OTHER,
    RunTopics,
    topic_report,
    topics_in,
    topics_of,
)
from videoautoarena.runs.analysis.leaderboard.board import slices_of
from videoautoarena.runs.run.rundir.reader import open_run
from videoautoarena.runs.views.page.data import PageData

WORDS = {
    "cooking": ["onion", "pan", "butter", "salt", "knife", "recipe", "dough", "oven"],
    "chess": ["rook", "bishop", "pawn", "castle", "queen", "check", "board", "opening"],
    "sailing": ["mast", "rudder", "anchor", "harbour", "wind", "tide", "sail", "hull"],
}


def asked(each: int = 30) -> tuple[list[str], list[str]]:
    """Return questions about three things, and what each is about."""
    rng = np.random.default_rng(3)
    about = [subject for subject in WORDS for _ in range(each)]
    return [" ".join(rng.choice(WORDS[subject], 5, replace=False)) for subject in about], about


def test_three_subjects_become_three_topics_of_their_own_words() -> None:
    questions, about = asked()
    topics = topics_of(questions, seed=0)
    for subject, words in WORDS.items():
        found = [topic for topic, of in zip(topics, about, strict=True) if of == subject]
        name = max(set(found), key=found.count)
        assert found.count(name) >= 25
        assert set(str(name).split()) <= set(words)
    assert len(set(topics) - {"other"}) == 3


def test_the_same_questions_have_the_same_topics_each_time() -> None:
    questions, _ = asked()
    assert topics_of(questions, seed=5) == topics_of(questions, seed=5)


def test_few_wordless_or_unlike_questions_have_no_topic() -> None:
    assert topics_of(asked(3)[0], seed=0) == [None] * 9
    assert topics_of([], seed=0) == []
    assert topics_of(["?"] * 30, seed=0) == [None] * 30
    assert topics_of(["the of and"] * 30, seed=0) == [None] * 30
    assert topics_of(["\ud800 \x1b[2J"] * 30, seed=0) == [None] * 30


def test_a_seed_may_be_any_whole_number() -> None:
    questions, _ = asked()
    assert len(topics_of(questions, seed=-(2**70))) == len(questions)


FILMS = [video(f"film {k}".encode(), path=f"film{k}.mp4") for k in range(3)]


def fought(each: int = 30) -> list[Battle]:
    """Return battles over questions about three things, a third of them on each of three videos.

    hawk wins but about chess, where both answers are bad; a void has no question.
    """
    questions, about = asked(each)
    battles = [
        battle(
            slot(FILMS[k % 3], k),
            question=f"{question} {k}?",
            model_b=("owl", "mole")[k % 2],
            verdict="tie_bad" if of == "chess" else "a",
        )
        for k, (question, of) in enumerate(zip(questions, about, strict=True))
    ]
    void = battle(
        slot(FILMS[0], len(battles)), question=None, verdict="void", reason="none", verdicts=()
    )
    return [*battles, void]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("topics") / "out", fought(), videos=FILMS)


@pytest.fixture(scope="module")
def found(out: Path) -> RunTopics:
    with open_run(out) as run:
        return topic_report(run)


def test_the_topics_of_a_run_part_its_questions_the_largest_first(found: RunTopics) -> None:
    sizes = [one.questions for one in found.topics if one.topic != OTHER]
    assert sum(one.questions for one in found.topics) == found.questions == 90
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 3
    assert OTHER not in [one.topic for one in found.topics[:-1]]
    for one in found.topics:
        assert one.share.value == pytest.approx(one.questions / 90, abs=1e-6)
        assert (one.videos, one.is_thin) == (3, True)


def test_a_topic_counts_its_own_battles_and_those_both_answers_lost(found: RunTopics) -> None:
    (chess,) = [one for one in found.topics if set(one.topic.split()) <= set(WORDS["chess"])]
    (cooking,) = [one for one in found.topics if set(one.topic.split()) <= set(WORDS["cooking"])]
    assert (chess.battles, chess.both_bad_share.value) == (chess.questions, 1.0)
    assert (cooking.battles, cooking.both_bad_share.value) == (cooking.questions, 0.0)


def test_an_example_is_a_question_of_its_topic_with_its_words(found: RunTopics) -> None:
    for one in found.topics:
        if one.topic != OTHER:
            assert set(one.topic.split()) & set(one.example.rstrip("?").split())


def test_an_equal_question_counts_once_about_each_video(tmp_path: Path) -> None:
    twice = [
        battle(slot(FILMS[k % 2], k), question=one.question)
        for k, one in enumerate(b for b in fought()[:60] for _ in range(4))
    ]
    with open_run(play(tmp_path / "out", twice, videos=FILMS)) as run:
        report = topic_report(run)
    assert report.questions == 120
    assert sum(one.battles for one in report.topics) == 240


def test_a_board_by_topic_holds_each_battle_once_and_voids_apart(
    out: Path, found: RunTopics
) -> None:
    parts = {part.name: part.battles for part in slices_of(out, "topic").parts}
    assert parts == {one.topic: one.battles for one in found.topics} | {"unknown": 0}
    own = [name for name in parts if name not in (OTHER, "unknown")]
    assert list(parts) == [*own, *[OTHER] * (OTHER in parts), "unknown"]
    assert [parts[name] for name in own] == sorted((parts[n] for n in own), reverse=True)


def test_one_run_has_the_same_topics_each_time(out: Path) -> None:
    with open_run(out) as run:
        assert topics_in(run) == topics_in(run)
    one, other = (invoke("topics", out, "--json").output for _ in range(2))
    assert one == other


def test_the_command_prints_what_python_returns(out: Path, found: RunTopics) -> None:
    printed = json.loads(invoke("topics", out, "--json").output)
    with open_from_python(out) as run:
        topics = run.topics()
    assert printed == topics.to_json() == found.to_json()
    assert [row["topic"] for row in topics.rows] == [one.topic for one in found.topics]
    assert topics.record == found


def test_a_run_without_topics_says_why_in_one_line(tmp_path: Path, terminal: Terminal) -> None:
    out = play(tmp_path / "out", fought()[:3], videos=FILMS)
    for words in (("topics", out), ("leaderboard", out, "--by", "topic")):
        said = terminal.arena(*words)
        assert (said.code, said.out) == (1, "")
        assert said.err.count("\n") == 1
        assert "3 questions make no cluster, which takes 20 questions at least" in said.err


def test_words_of_questions_move_no_terminal(tmp_path: Path, terminal: Terminal) -> None:
    questions, _ = asked()
    odd = [battle(slot(FILMS[0], k), question=f"{text} \x1b[2J\u202eevil <b>")
           for k, text in enumerate(questions)]  # fmt: skip
    out = play(tmp_path / "out", odd, videos=FILMS)
    for words in (("topics", out), ("leaderboard", out, "--by", "topic")):
        said = terminal.arena(*words)
        assert said.code == 0
        assert "\x1b" not in said.out
        assert "\u202e" not in said.out


def test_a_page_has_topics_only_where_they_were_asked_for(out: Path, found: RunTopics) -> None:
    assert "topic" not in PageData.read(out).summary["slices"]
    slices = PageData.read(out, topics=True).summary["slices"]["topic"]
    shown = {one["slice"]: one["battles"] for one in slices}
    assert shown == {one.topic: one.battles for one in found.topics} | {"unknown": 0}


def test_a_report_of_a_run_without_topics_is_not_written(
    tmp_path: Path, terminal: Terminal
) -> None:
    out = play(tmp_path / "out", fought()[:3], videos=FILMS)
    said = terminal.arena("report", out, "--topics", "--to", tmp_path / "r.html")
    assert (said.code, (tmp_path / "r.html").exists()) == (1, False)
    assert "3 questions make no cluster" in said.err


def test_topics_are_drawn_as_a_heat_map_and_left_out_where_there_are_none(
    out: Path, tmp_path: Path
) -> None:
    drawn = json.loads(
        invoke("pictures", out, "--to", tmp_path / "p", "--only", "topics", "--json").output
    )
    assert [one["shows"] for one in drawn["pictures"]] == ["how models are rated in each topic"]
    few = play(tmp_path / "few", fought()[:3], videos=FILMS)
    left = json.loads(
        invoke("pictures", few, "--to", tmp_path / "q", "--only", "topics", "--json").output
    )
    assert (left["pictures"], [one["name"] for one in left["left_out"]]) == ([], ["topics"])
