"""Weights from one mix to another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.scoring.questions.two_samples import calibrate, effective_units


def test_of_cells_that_exclude_each_other_it_is_post_stratification_by_hand() -> None:
    cells = np.repeat(np.eye(3), [50, 30, 20], axis=0)
    found = calibrate(cells, [0.2, 0.3, 0.5], cap=5)
    expected = np.repeat([0.2 / 0.5, 1.0, 0.5 / 0.2], [50, 30, 20])
    assert found.weights == pytest.approx(expected, abs=1e-3)
    assert found.reached == pytest.approx([0.2, 0.3, 0.5], abs=1e-4)
    assert effective_units(found.weights) == pytest.approx(
        100**2 / (50 * 0.16 + 30 + 20 * 6.25), 1e-3
    )


def test_a_unit_in_two_cells_counts_in_both() -> None:
    cells = [[1, 1], [1, 0], [0, 1], [0, 0]]
    found = calibrate(np.repeat(cells, 25, axis=0), [0.8, 0.5], cap=5)
    assert found.reached == pytest.approx([0.8, 0.5], abs=1e-4)
    # Raking of independent margins stays independent.
    by_kind = found.weights[::25] / 4
    assert by_kind == pytest.approx([0.4, 0.4, 0.1, 0.1], abs=0.03)


def test_the_cap_holds_and_what_is_missed_is_said() -> None:
    cells = np.repeat(np.eye(2), [90, 10], axis=0)
    found = calibrate(cells, [0.1, 0.9], cap=3)
    assert found.weights.max() <= 3.0
    assert found.weights.mean() == pytest.approx(1.0)
    assert found.reached == pytest.approx([0.7, 0.3], abs=1e-3)


def test_a_mix_that_cannot_be_had_keeps_the_cap_and_an_average_of_1() -> None:
    # Newton's method does not come to rest here, and left an average of .94 below the cap.
    kinds = [
        (0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 1), (0, 0, 0, 1, 0, 0), (0, 0, 0, 1, 0, 1),
        (0, 1, 0, 0, 0, 0), (0, 1, 0, 1, 1, 0), (1, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 1),
        (1, 0, 0, 0, 1, 0), (1, 0, 0, 1, 0, 0), (1, 0, 0, 1, 0, 1), (1, 0, 1, 0, 0, 0),
        (1, 0, 1, 0, 0, 1), (1, 0, 1, 1, 0, 0), (1, 1, 0, 0, 0, 0), (1, 1, 0, 0, 0, 1),
    ]  # fmt: skip
    cells = np.repeat(
        kinds,
        [3, 5, 1, 1, 2, 1, 9, 5, 2, 3, 2, 3, 5, 3, 2, 2],
        axis=0,
    )
    found = calibrate(cells, [0.42, 0.0, 0.036, 0.345, 0.0, 0.035], cap=2)
    assert found.weights.max() <= 2.0
    assert found.weights.mean() == pytest.approx(1.0, abs=1e-12)


def test_a_mix_that_is_there_already_weighs_nothing() -> None:
    cells = np.repeat(np.eye(2), [60, 40], axis=0)
    assert calibrate(cells, [0.6, 0.4], cap=5).weights == pytest.approx(np.ones(100), abs=1e-6)
    assert calibrate(np.zeros((4, 0)), [], cap=5).weights == pytest.approx(np.ones(4))


@given(data=st.data(), units=st.integers(1, 60), cells=st.integers(1, 6))
@settings(max_examples=25)
def test_weights_of_any_mix_lie_below_the_cap_and_are_1_on_average(
    data: st.DataObject, units: int, cells: int
) -> None:
    seed = data.draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    table = rng.random((units, cells)) < rng.random(cells)
    cap = data.draw(st.sampled_from([1.01, 2.0, 5.0, 100.0]))
    found = calibrate(table, rng.random(cells) * rng.integers(0, 2, cells), cap=cap)
    assert ((found.weights >= 0) & (found.weights <= cap)).all()
    assert found.weights.mean() == pytest.approx(1.0, abs=1e-9)
    assert found.reached == pytest.approx((found.weights[:, None] * table).mean(axis=0), abs=1e-9)


@pytest.mark.parametrize(
    ("cells", "shares", "cap", "why"),
    [
        (np.ones((0, 1)), [0.5], 5, "row for each unit"),
        (np.ones(3), [0.5], 5, "row for each unit"),
        (np.ones((3, 2)), [0.5], 5, "column for each share"),
        (np.ones((3, 1)), [1.5], 5, "between 0 and 1"),
        (np.ones((3, 1)), [np.nan], 5, "between 0 and 1"),
        (np.ones((3, 1)), [0.5], 1.0, "cap of 1.0"),
        (np.ones((3, 1)), [0.5], np.inf, "cap of inf"),
    ],
)
def test_what_is_no_mix_is_refused(cells: object, shares: object, cap: float, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        calibrate(cells, shares, cap=cap)  # type: ignore[arg-type]


def test_unequal_weights_count_as_fewer_units() -> None:
    assert effective_units([1, 1, 1, 1]) == 4
    assert effective_units([3, 1]) == pytest.approx(16 / 10)
    assert effective_units([]) == effective_units([0.0]) == 0.0
    with pytest.raises(ValueError, match="below 0"):
        effective_units([-1.0])
