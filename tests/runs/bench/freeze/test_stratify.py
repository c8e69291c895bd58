"""An even draw gives every part its share, and long and short winners the same."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.runs.bench.freeze.selection import draw_evenly


def test_a_rare_part_gives_as_many_as_a_common_one() -> None:
    strata = [("common",)] * 90 + [("rare",)] * 10
    drawn = draw_evenly(strata, 12)
    assert Counter(strata[place] for place in drawn) == {("common",): 6, ("rare",): 6}


def test_a_part_with_too_few_gives_all_it_has_and_others_the_rest() -> None:
    strata = [("a",)] * 50 + [("b",)] * 2 + [("c",)] * 50
    drawn = draw_evenly(strata, 20)
    assert Counter(strata[place] for place in drawn) == {("a",): 9, ("b",): 2, ("c",): 9}


def test_a_draw_is_even_over_two_dimensions_at_once() -> None:
    # Every short video cooks, but for one; nearly every long one is art.
    strata = [("short", "cooking")] * 60 + [("short", "art")] * 10
    strata += [("long", "art")] * 60 + [("long", "cooking")] * 10
    drawn = [strata[place] for place in draw_evenly(strata, 40)]
    assert Counter(one for one, _ in drawn) == {"short": 20, "long": 20}
    assert Counter(other for _, other in drawn) == {"cooking": 20, "art": 20}


def test_within_a_part_what_is_preferred_comes_first() -> None:
    strata = [("a",), ("b",), ("a",), ("b",), ("a",), ("b",)]
    assert sorted(draw_evenly(strata, 4)) == [0, 1, 2, 3]


def test_sides_are_balanced_though_one_is_rare() -> None:
    sides = [1] * 90 + [-1] * 10
    drawn = draw_evenly([("a",)] * 100, 60, sides)
    assert len(drawn) == 20
    assert sum(sides[place] for place in drawn) == 0


def test_an_odd_size_gives_one_less_where_nothing_stands_between() -> None:
    assert len(draw_evenly([("a",)] * 10, 5, [1, -1] * 5)) == 4
    for place in range(11):
        sides = [1, -1] * 5
        sides.insert(place, 0)
        assert len(draw_evenly([("a",)] * 11, 5, sides)) == 5
        assert len(draw_evenly([("a",)] * 11, 6, sides)) == 6


def test_nothing_to_draw_from_gives_nothing() -> None:
    assert draw_evenly([], 5) == []
    assert draw_evenly([("a",)], 5, [1]) == []
    assert draw_evenly([()] * 3, 2) == [0, 1]


PARTS = st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"))


@given(st.lists(st.tuples(PARTS, st.sampled_from([-1, 0, 1])), max_size=40), st.integers(1, 50))
def test_a_draw_never_repeats_exceeds_or_tips(
    items: list[tuple[tuple[str, str], int]], size: int
) -> None:
    strata = [parts for parts, _ in items]
    sides = [side for _, side in items]
    drawn = draw_evenly(strata, size)
    assert len(drawn) == len(set(drawn)) == min(size, len(items))
    drawn = draw_evenly(strata, size, sides)
    assert len(drawn) == len(set(drawn)) <= size
    assert sum(sides[place] for place in drawn) == 0
    pairs = 2 * min(sides.count(1), sides.count(-1)) + sides.count(0)
    # One less where pairs alone cannot fill an odd size, or nothing else is left.
    assert len(drawn) >= min(size, pairs) - 1
    if sides.count(0) >= 2 and min(sides.count(1), sides.count(-1)) >= size:
        assert len(drawn) == size
