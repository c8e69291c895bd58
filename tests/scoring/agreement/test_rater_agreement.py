"""Agreement of raters: published examples, scikit-learn, and what nothing can be told from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from videoautoarena.scoring.agreement.rater_agreement import agree, krippendorff

NAN = -1
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T
"""Four observers, twelve units: Krippendorff (2011), section C."""


def test_alpha_is_that_of_krippendorffs_worked_example() -> None:
    alpha = krippendorff(OBSERVERS)
    assert alpha.value == pytest.approx(0.743, abs=5e-4)
    assert alpha.n == 11  # the twelfth unit has one word
    assert -1.0 <= alpha.low < alpha.value < alpha.high < 1.0


def test_alpha_of_two_is_that_of_krippendorffs_binary_example() -> None:
    # Krippendorff (2011), section A: two observers, ten units, alpha 0.095.
    one = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    two = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff(np.array([one, two]).T).value == pytest.approx(0.095, abs=5e-4)


def test_kappa_is_that_of_a_table_worked_by_hand() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: 0.7 observed, 0.5 by chance.
    one = np.repeat([1, 1, 0, 0], [20, 5, 10, 15])
    two = np.repeat([1, 0, 1, 0], [20, 5, 10, 15])
    found = agree(one, two)
    assert found.kappa.value == pytest.approx(0.4)
    assert found.share.value == pytest.approx(0.7)
    # Fleiss, Cohen and Everitt's (1969) error of this table is 0.129.
    assert found.kappa.high - found.kappa.low == pytest.approx(2 * 2.01 * 0.129, rel=0.05)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60).filter(
        lambda pairs: len({code for pair in pairs for code in pair}) > 1
    )
)
def test_kappa_is_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    one, two = np.array(pairs).T
    found = agree(one, two).kappa
    assert found.value == pytest.approx(cohen_kappa_score(one, two), abs=1e-12)
    assert -1.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.high - found.low > 0.0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_names_of_categories_and_order_of_raters_and_units_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ratings = rng.integers(-1, 3, (30, 4))
    moved = np.where(ratings < 0, -1, np.array([7, 0, 3])[ratings])
    moved = moved[rng.permutation(30)][:, rng.permutation(4)]
    np.testing.assert_allclose(krippendorff(moved), krippendorff(ratings), atol=1e-12)
    pair = np.maximum(ratings[:, :2], 0)
    one = agree(*pair.T)
    other = agree(*pair.T[::-1])
    np.testing.assert_allclose(one.kappa, other.kappa, atol=1e-12)


def test_a_higher_level_is_a_wider_interval_of_agreement() -> None:
    ratings = np.random.default_rng(1).integers(0, 2, (40, 2))
    alpha = krippendorff(ratings)
    wide = krippendorff(ratings).at(0.999)
    assert alpha.at(0.95) == alpha
    assert -1.0 <= wide.low < alpha.low < alpha.value < alpha.high < wide.high <= 1.0


def test_units_all_said_ten_times_over_are_no_more_evidence_within_their_clusters() -> None:
    rng = np.random.default_rng(3)
    one = rng.integers(0, 2, 40)
    two = np.where(rng.random(40) < 0.3, 1 - one, one)
    once = agree(one, two).kappa
    tenfold = agree(np.repeat(one, 10), np.repeat(two, 10), np.repeat(np.arange(40), 10)).kappa
    naive = agree(np.repeat(one, 10), np.repeat(two, 10)).kappa
    assert tenfold.value == pytest.approx(once.value)
    assert tenfold.high - tenfold.low == pytest.approx(once.high - once.low, rel=0.02)
    assert naive.high - naive.low < 0.4 * (once.high - once.low)


@pytest.mark.parametrize(("units", "videos"), [(60, 60), (120, 20)])
def test_intervals_hold_the_truth_nineteen_times_in_twenty(units: int, videos: int) -> None:
    rng = np.random.default_rng(11)
    held = []
    for _ in range(400):
        video = np.arange(units) % videos
        often = np.clip(rng.normal(0.2, 0.1, videos), 0, 1)[video]  # differs by video
        one = rng.integers(0, 2, units)
        two = np.where(rng.random(units) < often, 1 - one, one)
        three = np.where(rng.random(units) < often, 1 - one, one)
        # Two that copy one with 0.2 wrong: kappa 0.6 to it.
        kappa = agree(one, two, video).kappa
        alpha = krippendorff(np.column_stack([one, two, three]), video)
        held.append((kappa.low <= 0.6 <= kappa.high, alpha.low <= _ALPHA <= alpha.high))
    assert np.all(np.mean(held, axis=0) > 0.92)
    assert np.all(np.mean(held, axis=0) < 0.985)


_WRONG = 0.2
_UNEVEN = 0.01
_BOTH = 2 * (_WRONG - _WRONG**2 - _UNEVEN)
_ALPHA = 1.0 - (_WRONG + _WRONG + _BOTH) / 3 / 0.5
"""Pairs differ with 0.2, 0.2 and, both wrong by the same video, 2 E[p(1 - p)]; by chance half."""


def test_full_agreement_on_a_few_units_is_not_certainty() -> None:
    words = np.array([0, 1, 0, 1, 1])
    found = agree(words, words)
    assert (found.kappa.value, found.kappa.high) == (1.0, 1.0)
    assert found.kappa.low < 0.6
    assert found.share.low < 0.8
    alpha = krippendorff(np.column_stack([words, words, words]))
    assert (alpha.value, alpha.high) == (1.0, 1.0)
    assert alpha.low < 0.6


@pytest.mark.parametrize("words", [[], [2], [2, 2, 2]])
def test_from_one_category_nothing_can_be_told(words: list[int]) -> None:
    column = np.array(words, dtype=np.int64)
    assert np.isnan(agree(column, column).kappa[:3]).all()
    found = krippendorff(np.column_stack([column, column]))
    assert np.isnan(found[:3]).all()
    assert found.n == len(words)


def test_where_nobody_was_rated_twice_nothing_can_be_told() -> None:
    found = krippendorff(np.array([[0, -1], [-1, 1], [-1, -1]]))
    assert np.isnan(found[:3]).all()
    assert found.n == 0


def test_one_unit_or_one_cluster_bounds_nothing() -> None:
    assert agree([0], [1]).kappa[:3] == (0.0, -1.0, 1.0)
    assert agree([0, 1, 1], [0, 1, 0], [4, 4, 4]).kappa[1:3] == (-1.0, 1.0)
    assert krippendorff([[0, 1, 0]]).low == -1.0


@pytest.mark.parametrize(
    ("first", "second", "cluster"),
    [
        ([0, -1], [0, 1], None),
        ([0, 1], [0, 1, 1], None),
        ([0.5, 1.0], [0, 1], None),
        ([[0], [1]], [[0], [1]], None),
        ([0, 1], [0, 1], [1]),
        ([0, 1], [0, 1], ["x", "y"]),
    ],
)
def test_what_is_no_rating_is_refused(first: object, second: object, cluster: object) -> None:
    with pytest.raises(ValueError, match=r"codes|raters|cluster"):
        agree(first, second, cluster)  # type: ignore[arg-type]


def test_ratings_without_raters_are_refused() -> None:
    with pytest.raises(ValueError, match="a column for each rater"):
        krippendorff([0, 1, 0])
    with pytest.raises(ValueError, match="from -1"):
        krippendorff([[0, -2]])
