"""Whether two samples of clustered units differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.scoring.questions.two_samples import (
    LEAST_CLUSTERS,
    UnitSample,
    compare_samples,
    hold_error,
)

ROUNDS = 199


def sample(values: object, each: int = 1, *, first: int = 0) -> UnitSample:
    """Return figures, `each` of which belong together."""
    read: Floats = np.array(values, dtype=np.float64)
    read = read.reshape(-1, 1) if read.ndim == 1 else read
    return UnitSample(read, first + np.arange(len(read)) // each)


def test_holms_steps_are_those_of_his_example_by_hand() -> None:
    # Sorted .01, .03, .04, .05: times 4, 3, 2 and 1, and none below the one before it.
    assert hold_error([0.04, 0.01, 0.05, 0.03]) == pytest.approx([0.09, 0.04, 0.09, 0.09])
    assert hold_error([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert hold_error([]).tolist() == []


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan])
def test_what_is_no_probability_is_held_against_nobody(p: float) -> None:
    with pytest.raises(ValueError, match="probabilities"):
        hold_error([0.1, p])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holding_the_error_keeps_the_order_and_makes_nothing_surer(ps: list[float]) -> None:
    held = hold_error(ps)
    assert (held >= np.array(ps)).all()
    assert (held <= 1.0).all()
    assert (np.diff(held[np.argsort(ps, kind="stable")]) >= 0).all()


def test_the_same_units_twice_are_not_told_apart() -> None:
    values = np.random.default_rng(0).normal(size=(60, 3))
    found = compare_samples(sample(values, 3), sample(values, 3), rounds=ROUNDS, seed=1)
    assert found.p == 1.0
    assert found.clusters == (20, 20)


def test_a_shift_is_found_in_the_column_that_it_lies_in() -> None:
    rng = np.random.default_rng(0)
    one = rng.normal(size=(80, 3))
    other = rng.normal(size=(40, 3))
    other[:, 1] += 1.5
    found = compare_samples(sample(one, 2), sample(other, first=99), rounds=ROUNDS, seed=1)
    assert found.p == found.columns[1] == 1 / (ROUNDS + 1)
    assert found.columns[[0, 2]].min() > 0.05


def test_alike_units_of_a_cluster_do_not_make_a_difference_sure() -> None:
    # Ten clusters of thirty equal units each: three hundred independent ones would be sure of it.
    one, other = np.repeat([np.linspace(-0.6, 1.4, 10), np.linspace(-1, 1, 10)], 30, axis=1)
    clustered = compare_samples(sample(one, 30), sample(other, 30, first=99), rounds=ROUNDS, seed=1)
    alone = compare_samples(sample(one), sample(other, first=999), rounds=ROUNDS, seed=1)
    assert clustered.p is not None
    assert clustered.p > 0.1
    assert alone.p == 1 / (ROUNDS + 1)


def test_a_cluster_of_both_sides_is_held_against_itself() -> None:
    rng = np.random.default_rng(2)
    hard = rng.normal(0, 5, 20)
    one = hard + rng.normal(0.5, 0.3, 20)
    other = hard + rng.normal(0, 0.3, 20)
    apart = compare_samples(sample(one), sample(other, first=99), rounds=ROUNDS, seed=1)
    shared = compare_samples(sample(one), sample(other), rounds=ROUNDS, seed=1)
    assert apart.p is not None
    assert apart.p > 0.2
    assert shared.p is not None
    assert shared.p < 0.02


@pytest.mark.parametrize(("ones", "of"), [((2, 60), (30, 250)), ((3, 40), (40, 160))])
def test_noughts_and_ones_are_told_apart_as_surely_as_fishers_exact_test_does(
    ones: tuple[int, int], of: tuple[int, int]
) -> None:
    sides = [np.arange(many) < few for few, many in zip(ones, of, strict=True)]
    exact = fisher_exact([[few, many - few] for few, many in zip(ones, of, strict=True)]).pvalue
    found = compare_samples(sample(sides[0]), sample(sides[1], first=999), rounds=1999, seed=1)
    assert found.p == pytest.approx(exact, rel=0.2)


def test_of_few_clusters_or_a_rare_value_nothing_is_said() -> None:
    few = np.arange(LEAST_CLUSTERS - 1.0)
    found = compare_samples(sample(few), sample(np.arange(50.0), first=99), rounds=ROUNDS, seed=0)
    assert found.p is None
    assert np.isnan(found.columns).all()
    rare = np.column_stack([np.arange(40) < 3, np.arange(40)])
    found = compare_samples(sample(rare), sample(rare, first=99), rounds=ROUNDS, seed=0)
    assert np.isnan(found.columns[0])
    assert found.columns[1] == found.p == 1.0


def test_few_clusters_that_scatter_widely_do_not_look_like_another_population() -> None:
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        few = rng.normal(0, 4, 12)
        many = rng.normal(0, 0.5, 60)
        p = compare_samples(sample(few), sample(many, first=99), rounds=99, seed=seed).p
        alarms += p is not None and p <= 0.05
    assert alarms <= 8


def test_a_value_is_rare_by_what_the_smaller_sample_would_hold_of_it() -> None:
    # One in ten: twenty of two hundred, and three of thirty.
    many, few = (sample(np.arange(count) % 10 == 0, first=count) for count in (200, 30))
    for one, other in ((many, few), (few, many)):
        assert compare_samples(one, other, rounds=ROUNDS, seed=0).p is None
    assert compare_samples(many, sample(np.arange(60) % 10 == 0), rounds=ROUNDS, seed=0).p


def test_of_nothing_nothing_is_said() -> None:
    nothing = UnitSample(np.empty((0, 2)), np.empty(0, dtype=np.int64))
    found = compare_samples(nothing, nothing, rounds=ROUNDS, seed=0)
    assert (found.p, found.clusters) == (None, (0, 0))
    columns = UnitSample(np.empty((9, 0)), np.arange(9))
    assert compare_samples(columns, columns, rounds=ROUNDS, seed=0).p is None


@pytest.mark.parametrize(
    ("one", "other", "rounds", "why"),
    [
        (sample([1.0]), sample([1.0]), 18, "too few"),
        (sample([np.nan]), sample([1.0]), 19, "finite"),
        (UnitSample(np.ones((3, 1)), np.arange(2)), sample([1.0]), 19, "for each unit"),
        (UnitSample(np.ones(3), np.arange(3)), sample([1.0]), 19, "for each unit"),
        (sample([[1.0, 2.0]]), sample([1.0]), 19, "same columns"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    one: UnitSample, other: UnitSample, rounds: int, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        compare_samples(one, other, rounds=rounds, seed=0)


@settings(max_examples=15)
@given(seed=st.integers(0, 50), scale=st.floats(0.1, 100), paired=st.booleans())
def test_swapped_sides_other_units_and_renamed_clusters_change_no_p(
    seed: int, scale: float, paired: bool
) -> None:
    rng = np.random.default_rng(seed)
    one = sample(rng.normal(size=24), 2)
    other = sample(rng.normal(size=12), first=0 if paired else 50)
    before = compare_samples(one, other, rounds=99, seed=seed)
    scaled = compare_samples(
        UnitSample(one.values * scale + 3, one.cluster + 7),
        UnitSample(other.values * scale + 3, other.cluster + 7),
        rounds=99,
        seed=seed,
    )
    assert before.p is not None
    assert scaled.p == pytest.approx(before.p, abs=0.011)
    swapped = compare_samples(other, one, rounds=999, seed=seed)
    longer = compare_samples(one, other, rounds=999, seed=seed)
    assert swapped.p == pytest.approx(longer.p, abs=0.1)


def test_one_population_is_told_apart_as_often_as_is_said() -> None:
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        # Large alike clusters beside single units, a shared video every now and then.
        hard = rng.normal(size=12)
        one = np.repeat(hard, 6)[:, None] + rng.normal(size=(72, 1))
        other = rng.normal(size=(60, 1)) * np.sqrt(2)
        test = compare_samples(
            UnitSample(np.column_stack([one, one > 1]), np.repeat(np.arange(12), 6)),
            UnitSample(np.column_stack([other, other > 1]), np.arange(60) + 10),
            rounds=99,
            seed=seed,
        )
        assert test.p is not None
        alarms += test.p <= 0.05
    assert 2 <= alarms <= 20
