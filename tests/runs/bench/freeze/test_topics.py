"""Questions about one thing have one topic, whatever order they come in."""

from __future__ import annotations

import numpy as np

from videoautoarena.runs.bench.freeze.topics import topics_of

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
