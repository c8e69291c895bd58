"""How likely text alone names a key: even where nothing is found, and true where it is said."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.support.choice_sets import clean, plant
from videoautoarena.scoring.questions.items import (
    ChoiceItem,
    lay_out,
    measure_leaks,
    pick,
    score_length,
)
from videoautoarena.scoring.questions.probes import cut_folds, probe_items

BY_TEXT = ("longest", "shortest", "overlap", "centre")


def test_a_clean_set_gives_nothing_away() -> None:
    items = [*clean(80, 2), ChoiceItem("q", ("a", "b"), 0), ChoiceItem("r", ("a", "b", "c"), 1)]
    report = probe_items(items, probes=BY_TEXT)
    assert report.leak.tolist() == pytest.approx([0.25] * 80 + [1 / 2, 1 / 3])
    assert not report.given_away.any()


def test_where_every_longest_option_is_right_all_is_given_away() -> None:
    report = probe_items(plant("longest", 200, 0, share=1.0), probes=BY_TEXT)
    assert report.given_away.all()
    assert report.leak.min() > 0.95


def test_of_options_that_stand_out_as_many_are_right_as_is_said() -> None:
    items = plant("longest", 800, 1)
    report = probe_items(items, probes=["longest"])
    lengths = np.array([[len(option) for option in item.options] for item in items])
    alone = (lengths == lengths.max(axis=1, keepdims=True)).sum(axis=1) == 1
    right = alone & (report.results[0].credits == 1.0)
    assert report.leak[right].mean() == pytest.approx(right.sum() / alone.sum(), abs=0.02)
    assert report.leak[alone & ~right].mean() < 0.15
    assert report.given_away[alone].tolist() == right[alone].tolist()


def test_weights_are_those_of_the_penalised_conditional_likelihood() -> None:
    layout = lay_out(plant("longest", 80, 3))
    picks = pick(score_length(layout), layout)
    told = (picks.top / picks.shared[layout.owner])[:, None]
    fold = cut_folds(80, 0)
    found = measure_leaks(layout, told, fold)
    rows = told.reshape(80, 4)
    keys = layout.key - layout.start
    for part in range(5):
        inner = fold != part

        def loss(w: np.ndarray, inner: np.ndarray = inner) -> float:
            scores = rows[inner] * w[0]
            own = scores[np.arange(inner.sum()), keys[inner]]
            return float((np.log(np.exp(scores).sum(1)) - own).sum() + w[0] ** 2 / 2)

        w = minimize(loss, [0.0]).x[0]
        chances = np.exp(rows * w) / np.exp(rows * w).sum(1, keepdims=True)
        assert found[~inner] == pytest.approx(chances[np.arange(80), keys][~inner], abs=1e-4)


def test_a_single_item_is_a_guess() -> None:
    layout = lay_out([ChoiceItem("q", ("a", "bb", "c"), 1)])
    found = measure_leaks(layout, np.array([[0.0], [1.0], [0.0]]), cut_folds(1, 0))
    assert found.tolist() == pytest.approx([1 / 3])
