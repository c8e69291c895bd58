"""Battles counted into cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tournament import fought, in_cells
from videoautoarena.scoring.fitting.counts import count_cells, select_models

battles = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 4), st.sampled_from([0.0, 0.5, 1.0])), max_size=40
)


def test_three_battles_of_one_pair_are_one_cell() -> None:
    assert in_cells(fought("A>B B>A A=B")) == [(0, 1, [1, 1, 1])]


def test_a_win_from_the_other_seat_is_a_loss_of_the_lower_index() -> None:
    cells = count_cells([2], [0], outcome=[1.0], models=3)
    assert in_cells(cells) == [(0, 2, [1, 0, 0])]
    assert cells.points.tolist() == [0.0]


def test_a_tie_is_half_a_point() -> None:
    assert fought("A=B*3").points.tolist() == [1.5]
    assert fought("A=B*3").battles.tolist() == [3.0]


def test_clusters_are_counted_whatever_their_numbers() -> None:
    cells = count_cells([0, 0, 0], [1, 1, 1], outcome=[1, 0, 1], models=2, cluster=[70, -3, 70])
    assert cells.clusters == 2
    assert cells.parts is not None
    assert cells.parts.counts.tolist() == [[1, 0, 0], [0, 0, 2]]


def test_clusters_may_have_numbers_far_apart() -> None:
    far = count_cells([0] * 3, [1] * 3, outcome=[1, 0, 1], models=2, cluster=[10**15, -5, 10**15])
    assert far.clusters == 2


def test_without_clusters_every_battle_is_its_own() -> None:
    assert fought("A>B*5 B>C").clusters == 6


def test_no_battles_are_no_cells() -> None:
    cells = count_cells([], [], outcome=[], models=3, cluster=[])
    assert in_cells(cells) == []
    assert cells.clusters == 0


@given(battles)
def test_no_battle_is_lost_or_made_up(rows: list[tuple[int, int, float]]) -> None:
    a = [row[0] for row in rows]
    b = [(row[0] + row[1]) % 5 for row in rows]
    cells = count_cells(a, b, outcome=[row[2] for row in rows], models=5, cluster=a)
    assert cells.counts.sum() == len(rows)
    assert cells.parts is not None
    assert cells.parts.counts.sum() == len(rows)


@given(battles)
def test_seats_do_not_matter(rows: list[tuple[int, int, float]]) -> None:
    a = [row[0] for row in rows]
    b = [(row[0] + row[1]) % 5 for row in rows]
    forth = count_cells(a, b, outcome=[row[2] for row in rows], models=5)
    back = count_cells(b, a, outcome=[1 - row[2] for row in rows], models=5)
    assert in_cells(forth) == in_cells(back)


def test_a_selection_keeps_only_battles_among_its_own() -> None:
    cells = select_models(fought("A>B@1 C>D*2@2 B>C@3"), np.array([2, 3]))
    assert in_cells(cells) == [(0, 1, [0, 0, 2])]
    assert cells.clusters == 1


def test_a_selection_without_clusters_has_none() -> None:
    assert select_models(fought("A>B C>D"), np.array([0, 1])).parts is None


def count(**changes: Any) -> None:
    rows: dict[str, Any] = {"a": [0, 0], "b": [1, 1], "outcome": [1, 0], "models": 2}
    rows.update(changes)
    count_cells(rows.pop("a"), rows.pop("b"), **rows)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"a": [0, 1]}, "row 1 is a model against itself"),
        ({"a": [0, float("nan")]}, "a must hold whole numbers"),
        ({"a": [0, 0.5]}, "a must hold whole numbers"),
        ({"a": ["0", "0"]}, "a must be a row"),
        ({"a": [[0, 0]]}, "a must be a row"),
        ({"b": [1, 2]}, r"b\[1\] is 2; there are 2 models"),
        ({"a": [-1, 0]}, r"a\[0\] is -1"),
        ({"outcome": [1, 0.3]}, "outcome must"),
        ({"outcome": [1, float("nan")]}, "outcome must"),
        ({"outcome": [1]}, "equally long"),
        ({"cluster": [1, float("nan")]}, "cluster must hold whole numbers"),
        ({"cluster": [1]}, "equally long"),
    ],
)
def test_a_broken_row_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        count(**changes)
