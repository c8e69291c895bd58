"""Whole tables: components apart, one-sided models, and every degenerate tournament."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.cells import count_cells
from scoring.ratings import rate
from tests.support.tournament import fought

FOUR_VIDEOS = "A>B*3@1 B>A@1 A>B*2@2 B>C*3@2 C>B@3 A>C*2@3 C>A@4 B>C@4"


def test_a_plain_tournament_is_rated_ranked_and_bounded() -> None:
    table = rate(fought(FOUR_VIDEOS))
    assert table.rating.mean() == pytest.approx(1000)
    assert table.place.tolist() == [1, 2, 3]
    assert table.clusters == [4]
    assert (table.low < table.rating).all()
    assert (table.rating < table.high).all()
    assert not table.one_sided.any()


def test_two_islands_have_a_scale_each() -> None:
    table = rate(fought("A>B*10 B>A C>D C=D E=C"))
    assert [group.tolist() for group in table.components] == [[2, 3, 4], [0, 1]]
    assert table.rating[:2] == pytest.approx([1200, 800])
    assert table.rating[2:].mean() == pytest.approx(1000)
    assert table.place.tolist() == [1, 2, 1, 3, 1]
    assert table.clusters == [3, 11]


def test_a_battle_on_one_island_does_not_move_the_other() -> None:
    before, after = rate(fought("A>B*3 B>A C=D")), rate(fought("A>B*3 B>A C=D C>D*9"))
    assert after.rating[:2].tolist() == before.rating[:2].tolist()
    assert after.low[:2].tolist() == before.low[:2].tolist()


def test_an_unbeaten_model_is_first_flagged_and_less_sure_than_the_rest() -> None:
    table = rate(fought("A>B*5 A>C*5 B>C*6 C>B*4"))
    assert table.one_sided.tolist() == [True, False, False]
    assert table.place.tolist()[0] == 1
    width = table.high - table.low
    assert width[0] > 1.5 * width[1:].max()


def test_more_wins_leave_an_unbeaten_model_higher_but_finite() -> None:
    leads = [rate(fought(f"A>B*{n}")).rating[0] for n in (5, 20, 100)]
    assert leads == sorted(leads)
    assert leads[-1] < 1600


def test_all_ties_are_equal_and_not_certain() -> None:
    table = rate(fought("A=B*4@1 B=C*4@2 A=C*4@3"))
    assert table.rating == pytest.approx([1000] * 3)
    assert (table.high - table.low > 20).all()
    assert table.best.tolist() == [1, 1, 1]
    assert table.worst.tolist() == [3, 3, 3]


def test_a_star_and_a_chain_of_single_wins_are_held_by_the_prior() -> None:
    star, chain = rate(fought("A>B A>C A>D")), rate(fought("A>B B>C C>D"))
    assert star.one_sided.all()
    assert star.rating[1:] == pytest.approx([star.rating[1]] * 3)
    assert chain.one_sided.all()
    assert chain.place.tolist() == [1, 2, 3, 4]
    assert chain.rating[0] - 1000 == pytest.approx(1000 - chain.rating[3])


def test_an_even_star_and_an_even_chain_need_no_prior() -> None:
    for text in ("A=B A=C A=D", "A=B B=C C=D"):
        table = rate(fought(text))
        assert not table.one_sided.any()
        assert table.rating == pytest.approx([1000] * 4)


@pytest.mark.parametrize("text", ["A>B", "A=B", "A>B*9@1", "A>B*50 B>C*50", FOUR_VIDEOS])
def test_no_interval_is_ever_a_point(text: str) -> None:
    table = rate(fought(text))
    assert (table.high - table.low > 1).all()


def test_one_video_leaves_every_place_open() -> None:
    table = rate(fought("A>B*30@1 B>A*3@1 B>C*9@1 C>B@1"))
    assert table.place.tolist() == [1, 2, 3]
    assert np.isinf(table.high).all()
    assert table.worst.tolist() == [3, 3, 3]


@pytest.mark.parametrize("models", [0, 1, 4])
def test_no_battles_rate_nobody(models: int) -> None:
    table = rate(count_cells([], [], outcome=[], models=models))
    assert table.components == []
    assert np.isnan(table.rating).all()
    assert table.place.tolist() == [0] * models


def test_a_model_without_a_battle_does_not_disturb_the_others() -> None:
    with_it, without = rate(fought(FOUR_VIDEOS, models=4)), rate(fought(FOUR_VIDEOS))
    assert with_it.rating[:3].tolist() == without.rating.tolist()
    assert np.isnan(with_it.rating[3])


def test_a_wider_level_is_a_wider_interval() -> None:
    narrow, wide = rate(fought(FOUR_VIDEOS), level=0.8), rate(fought(FOUR_VIDEOS))
    assert (wide.high > narrow.high).all()


tournaments = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 3)
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=200, deadline=None)
@given(tournaments)
def test_every_tournament_has_a_table(rows: list[tuple[int, int, float, int]]) -> None:
    a, step, y, video = (np.array(column) for column in zip(*rows, strict=True))
    table = rate(count_cells(a, (a + step) % 6, outcome=y, models=6, cluster=video))
    for members, videos in zip(table.components, table.clusters, strict=True):
        assert table.rating[members].mean() == pytest.approx(1000)
        assert np.isfinite(table.high[members]).all() == (videos > 1)
        assert (table.high - table.low)[members].min() > 1
        assert (table.best <= table.place)[members].all()
        assert (table.place <= table.worst)[members].all()


@settings(max_examples=50, deadline=None)
@given(tournaments, st.permutations(range(6)))
def test_renaming_the_models_renames_the_table(
    rows: list[tuple[int, int, float, int]], order: list[int]
) -> None:
    a, step, y, video = (np.array(column) for column in zip(*rows, strict=True))
    b, name = (a + step) % 6, np.array(order)
    plain = rate(count_cells(a, b, outcome=y, models=6, cluster=video))
    renamed = rate(count_cells(name[b], name[a], outcome=1 - y, models=6, cluster=video + 7))
    assert renamed.rating[name] == pytest.approx(plain.rating, abs=1e-6, nan_ok=True)
    assert renamed.high[name] == pytest.approx(plain.high, rel=1e-6, nan_ok=True)
    assert renamed.one_sided[name].tolist() == plain.one_sided.tolist()
    assert renamed.place[name].tolist() == plain.place.tolist()
