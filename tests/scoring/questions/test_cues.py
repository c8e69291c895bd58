"""What points at an option: by hand, and over by the plain way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.support.choice_sets import clean, count, needle, order, plant
from videoautoarena.scoring.questions.items import (
    NO_OPTION,
    ChoiceItem,
    lay_out,
    measure_unevenness,
    pick,
    score_centre,
    score_length,
    score_overlap,
    score_rates,
)

MIXED = [*clean(60, 3, (needle, order, count)), *plant("prior (repeated)", 60, 4)]


def by_text(items: list[ChoiceItem], scores: np.ndarray) -> dict[str, float]:
    return dict(zip(lay_out(items).options, scores.tolist(), strict=True))


def test_length_counts_characters_and_alike_ones_share() -> None:
    layout = lay_out(
        [ChoiceItem("q", ("one", "three", "seven", "x"), 2), ChoiceItem("r", ("a", "b"), 0)]
    )
    picks = pick(score_length(layout), layout)
    assert picks.shared.tolist() == [2, 2]
    assert picks.earn(layout.key).tolist() == [0.5, 0.5]


def test_overlap_is_the_share_of_the_words_of_an_option() -> None:
    items = [ChoiceItem("Is the red car here?", ("Red car", "the car and a dog", "bus", ""), 0)]
    found = by_text(items, score_overlap(lay_out(items)))
    assert found == pytest.approx({"Red car": 1.0, "the car and a dog": 0.4, "bus": 0.0, "": 0.0})


def test_the_centre_is_what_the_others_were_made_of() -> None:
    items = [ChoiceItem("q", ("a b c d", "b a c d", "a c b d", "a b d c"), 0)]
    found = by_text(items, score_centre(lay_out(items)))
    assert max(found, key=lambda text: found[text]) == "a b c d"
    assert found["a b c d"] == pytest.approx(2 * 6 / 4)


def test_a_word_more_at_the_front_leaves_an_option_near() -> None:
    items = [ChoiceItem("q", ("a man eats soup", "then a man eats soup", "eats a soup man"), 0)]
    found = by_text(items, score_centre(lay_out(items)))
    assert min(found, key=lambda text: found[text]) == "eats a soup man"


@pytest.mark.parametrize("label", ["text", "place"])
def test_rates_are_those_of_the_other_items(label: str) -> None:
    items = [*MIXED, ChoiceItem("q", MIXED[0].options, NO_OPTION)]
    layout = lay_out(items)
    labels = layout.text if label == "text" else layout.place
    keys = np.stack([layout.key, layout.start[: len(layout.key)]])
    rows = [np.flatnonzero(layout.owner == i) for i in range(len(layout.given))]
    for draw, found in zip(keys, score_rates(layout, labels, keys), strict=True):
        for i, own in enumerate(rows):
            others = [row for k, row in enumerate(rows) if k != i]
            offered = Counter(labels[np.concatenate(others)].tolist())
            right = Counter(labels[np.delete(draw, i) if i < len(draw) else draw].tolist())
            by_hand = [(right[n] + 0.25) / (offered[n] + 1) for n in labels[own].tolist()]
            assert found[own] == pytest.approx(by_hand)


def test_one_of_four_is_as_even_as_it_can_be() -> None:
    items = [ChoiceItem(f"{i}", ("a", "b", "c", "d"), i % 4) for i in range(40)]
    layout = lay_out(items)
    even = layout.key
    skewed = layout.start
    found = measure_unevenness(layout, layout.place, np.stack([even, skewed]))
    assert found[0] == 0.0
    assert found[1] == pytest.approx((30**2 + 3 * 10**2) / (40 * 3 / 16))
