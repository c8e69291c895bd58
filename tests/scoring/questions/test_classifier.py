"""The classifier held against scikit-learn used by hand, and its linear form against Newton."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from tests.support.choice_sets import plant
from videoautoarena.scoring.questions.items import NO_OPTION, ChoiceItem, lay_out
from videoautoarena.scoring.questions.probes import (
    SOFTNESS,
    classify,
    cut_folds,
    describe,
    learn_linearly,
)

LAYOUT = lay_out(plant("overlap", 60, 2))
FOLD = cut_folds(60, seed=3)


def by_hand() -> tuple[np.ndarray, np.ndarray]:
    """Return features and right options of items of four plain words each."""
    texts = list(LAYOUT.options)
    tfidf = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\w+", sublinear_tf=True)
    lengths = np.array([len(text) for text in texts], float).reshape(-1, 4)
    off = (lengths - lengths.mean(1, keepdims=True)) / (lengths.std(1, keepdims=True) + 1)
    asked = [set(q.lower().replace("?", "").replace(",", "").split()) for q in LAYOUT.questions]
    said = [set(text.replace(",", "").replace("half-lit", "half lit").split()) for text in texts]
    overlap = [len(own & asked[k // 4]) / len(own) for k, own in enumerate(said)]
    places = np.eye(4)[LAYOUT.place]
    others = np.column_stack([off.ravel(), overlap, places])
    right = np.zeros(len(texts))
    right[LAYOUT.key] = 1
    return np.hstack([tfidf.fit_transform(texts).toarray(), others]), right


def test_it_is_the_regression_of_scikit_learn_on_words_length_overlap_and_place() -> None:
    x, right = by_hand()
    found = classify(LAYOUT, describe(LAYOUT), FOLD)
    of = FOLD[LAYOUT.owner]
    for part in range(5):
        model = LogisticRegression(C=3, solver="liblinear", max_iter=200)
        model.fit(x[of != part], right[of != part])
        expected = model.decision_function(x[of == part])
        assert found[of == part] == pytest.approx(expected, abs=0.01)


def test_its_linear_form_is_the_first_step_of_newton() -> None:
    x, right = by_hand()
    x = np.column_stack([x, np.ones(len(x))])
    learned = learn_linearly(LAYOUT, describe(LAYOUT), FOLD)
    of = FOLD[LAYOUT.owner]
    for part in range(5):
        inner = x[of != part]
        test = of == part
        # Where every weight is 0 but for odds of 1 to 3, the slope is C X'(y - 1/4).
        bend = np.eye(x.shape[1]) + SOFTNESS * 3 / 16 * inner.T @ inner
        step = np.linalg.solve(bend, SOFTNESS * inner.T @ (right[of != part] - 0.25))
        found = (learned @ (right - 0.25))[test] * 16 / 3
        assert found == pytest.approx(x[test] @ step, abs=1e-8)


def test_no_option_is_scored_by_what_was_learned_from_its_own_key() -> None:
    learned = learn_linearly(LAYOUT, describe(LAYOUT), FOLD)
    of = FOLD[LAYOUT.owner]
    assert not learned[of[:, None] == of[None, :]].any()


def test_parts_are_of_equal_size_and_none_is_empty() -> None:
    assert np.bincount(cut_folds(52, 0)).tolist() == [11, 11, 10, 10, 10]
    assert sorted(cut_folds(3, 0)) == [0, 1, 2]
    assert cut_folds(0, 0).tolist() == []


def test_where_there_is_nothing_to_learn_from_all_options_look_the_same() -> None:
    layout = lay_out([ChoiceItem("q", ("a", "b"), 0)])
    assert not classify(layout, describe(layout), cut_folds(1, 0)).any()
    empty = lay_out([ChoiceItem("", ("", "?"), 0), ChoiceItem("", ("!", ""), 1)])
    assert describe(empty).shape == (4, 4)


def test_other_items_whose_key_is_no_option_teach_nothing() -> None:
    items = [
        ChoiceItem(f"q{k}", ("a", "b", "c"), key) for k, key in enumerate((0, NO_OPTION, NO_OPTION))
    ]
    layout = lay_out(items)
    scores = classify(layout, describe(layout), np.arange(3))
    assert [scores[layout.owner == item].any() for item in range(3)] == [False, True, True]
