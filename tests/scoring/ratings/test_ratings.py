"""Whole tables: components apart, one-sided models, and every degenerate tournament."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.battles import draw_battles
from tests.support.tournament import fought
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import BattleRows, Cells, count_cells, count_rows
from videoautoarena.scoring.intervals.sandwich import gap_errors, half_widths
from videoautoarena.scoring.ratings.ratings import Anchor, FitMethod, chances_better, rate

FOUR_VIDEOS = "A>B*3@1 B>A@1 A>B*2@2 B>C*3@2 C>B@3 A>C*2@3 C>A@4 B>C@4"


def test_a_plain_tournament_is_rated_ranked_and_bounded() -> None:
    table = rate(fought(FOUR_VIDEOS))
    assert table.fits[0].spread.zero @ table.rating == pytest.approx(1000)
    assert table.place.tolist() == [1, 2, 3]
    assert table.clusters == [4]
    assert (table.low < table.rating).all()
    assert (table.rating < table.high).all()
    assert not table.one_sided.any()


def test_two_islands_have_a_scale_each() -> None:
    table = rate(fought("A>B*10 B>A C>D C=D E=C"))
    assert [group.tolist() for group in table.components] == [[2, 3, 4], [0, 1]]
    half = SCALE * np.log(10.5 / 1.5) / 2
    assert table.rating[:2] == pytest.approx([1000 + half, 1000 - half])
    assert table.fits[0].spread.zero @ table.rating[2:] == pytest.approx(1000)
    assert table.place.tolist() == [1, 2, 1, 3, 1]
    assert table.clusters == [3, 11]


def test_a_battle_on_one_island_does_not_move_the_other() -> None:
    before = rate(fought("A>B*3 B>A C=D"))
    after = rate(fought("A>B*3 B>A C=D C>D*9"))
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
    star = rate(fought("A>B A>C A>D"))
    chain = rate(fought("A>B B>C C>D"))
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
    with_it = rate(fought(FOUR_VIDEOS, models=4))
    without = rate(fought(FOUR_VIDEOS))
    assert with_it.rating[:3].tolist() == without.rating.tolist()
    assert np.isnan(with_it.rating[3])


def test_a_wider_level_is_a_wider_interval() -> None:
    narrow = rate(fought(FOUR_VIDEOS), FitMethod(level=0.8))
    wide = rate(fought(FOUR_VIDEOS))
    assert (wide.high > narrow.high).all()


def test_an_anchor_takes_its_component_along_and_has_no_width() -> None:
    plain = rate(fought(FOUR_VIDEOS + " D>E@1 E>D@2"))
    moved = rate(fought(FOUR_VIDEOS + " D>E@1 E>D@2"), FitMethod(anchor=Anchor(1, 1200.0)))
    assert moved.rating[1] == pytest.approx(1200)
    assert moved.rating[:3] - plain.rating[:3] == pytest.approx([1200 - plain.rating[1]] * 3)
    half = half_widths(gap_errors(plain.fits[0].spread)[:, 1], plain.fits[0].spread.effective)
    assert (moved.high - moved.rating)[1:3] == pytest.approx(SCALE * half[1:])
    assert moved.low[1] == moved.high[1] == moved.rating[1]
    assert (moved.high - moved.low)[3:].tolist() == (plain.high - plain.low)[3:].tolist()
    assert moved.rating[3:].tolist() == plain.rating[3:].tolist()
    assert moved.worst.tolist() == plain.worst.tolist()


def test_an_anchor_without_a_battle_moves_nobody() -> None:
    text = fought(FOUR_VIDEOS, models=4)
    moved = rate(text, FitMethod(anchor=Anchor(3)))
    assert moved.rating[:3].tolist() == rate(text).rating[:3].tolist()


@pytest.mark.parametrize("rating", [np.nan, np.inf])
def test_an_anchor_has_a_finite_rating(rating: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        rate(fought(FOUR_VIDEOS), FitMethod(anchor=Anchor(0, rating)))


def many_videos(*, seed: int = 1) -> tuple[Cells, BattleRows]:
    a, b, y = draw_battles(seed, 5, battles=1500)
    given = {"outcome": y, "models": 5, "cluster": np.arange(len(a)) % 80}
    return count_cells(a, b, **given), count_rows(a, b, seat=True, **given)


def test_bootstrapped_intervals_are_much_the_sandwichs() -> None:
    # A draw of rows is a fit of its own, so there are fewer of them.
    for battles, rounds in zip(many_videos(), (400, 100), strict=True):
        plain = rate(battles)
        drawn = rate(battles, FitMethod(rounds=rounds, seed=3))
        assert drawn.rating.tolist() == plain.rating.tolist()
        assert drawn.high - drawn.low == pytest.approx(plain.high - plain.low, rel=0.25)
        assert (drawn.low < drawn.rating).all()


def test_a_bootstrap_of_all_ties_or_of_one_video_is_no_certainty() -> None:
    tied = rate(fought("A=B*4@1 B=C*4@2 A=C*4@3"), FitMethod(rounds=50))
    assert (tied.high - tied.low > 20).all()
    alone = rate(fought("A>B*3@1 B>A@1"), FitMethod(rounds=50))
    assert np.isinf(alone.high).all()


def test_a_bootstrap_leaves_an_unbeaten_model_at_least_the_width_of_its_prior() -> None:
    text = "A>B*5 A>C*5 B>C*6 C>B*4"
    drawn = rate(fought(text), FitMethod(rounds=200))
    width = drawn.high - drawn.low
    assert width[0] >= (rate(fought(text)).high - rate(fought(text)).low)[0] - 1e-9


def test_davidson_spreads_the_models_wider_and_keeps_their_order() -> None:
    a, b, y = draw_battles(4, 5, battles=900)
    rows = count_rows(a, b, outcome=y, models=5)
    half = rate(rows)
    davidson = rate(rows, FitMethod(davidson=True))
    assert davidson.place.tolist() == half.place.tolist()
    assert np.ptp(davidson.rating) > np.ptp(half.rating)
    assert davidson.fits[0].terms is not None
    assert davidson.fits[0].terms.log_nu is not None
    assert len(davidson.fits[0].errors) == 1


def test_rows_fall_into_components_as_cells_do() -> None:
    rows = count_rows([0, 1, 2, 3, 2], [1, 0, 3, 2, 3], outcome=[1, 1, 1, 1, 0.5], models=5)
    table = rate(rows)
    assert [group.tolist() for group in table.components] == [[2, 3], [0, 1]]
    assert table.rating[:4] == pytest.approx([1000] * 4)
    assert np.isnan(table.rating[4])


def test_places_at_once_are_no_narrower() -> None:
    cells, _ = many_videos()
    loose = rate(cells)
    strict = rate(cells, FitMethod(simultaneous=True, level=0.999))
    assert strict.place.tolist() == loose.place.tolist()
    assert (strict.best <= strict.place).all()
    assert strict.worst.tolist() != [1, 2, 3, 4, 5]


def test_who_is_better_is_known_within_a_component_only() -> None:
    table = rate(fought("A>B*10@1 B>A@2 A>B@2 C>D@1 D>C@2"))
    chances = chances_better(table)
    assert chances[0, 1] + chances[1, 0] == pytest.approx(1)
    assert chances[0, 1] > 0.5
    assert np.isnan(chances[0, 2:]).all()


tournaments = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 3)
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=40)
@given(tournaments)
def test_every_tournament_has_a_table(rows: list[tuple[int, int, float, int]]) -> None:
    a, step, y, video = (np.array(column) for column in zip(*rows, strict=True))
    table = rate(count_cells(a, (a + step) % 6, outcome=y, models=6, cluster=video))
    for members, videos, fit in zip(table.components, table.clusters, table.fits, strict=True):
        assert fit.spread.zero @ table.rating[members] == pytest.approx(1000)
        assert np.isfinite(table.high[members]).all() == (videos > 1)
        assert (table.high - table.low)[members].min() > 1
        assert (table.best <= table.place)[members].all()
        assert (table.place <= table.worst)[members].all()


@settings(max_examples=20)
@given(tournaments, st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_every_tournament_has_a_table_whatever_the_way(
    rows: list[tuple[int, int, float, int]],
    davidson: bool,
    style: bool,
    drawn: bool,
    shared: bool,
) -> None:
    a, step, y, video = (np.array(column) for column in zip(*rows, strict=True))
    x = np.column_stack([y - 0.5, np.sin(np.arange(len(a)))]) if style else None
    battles = count_rows(
        a, (a + step) % 6, outcome=y, models=6, x=x, seat=True, cluster=video if shared else None
    )
    method = FitMethod(davidson=davidson, rounds=5 * drawn, simultaneous=drawn)
    table = rate(battles, method)
    for members, pieces, fit in zip(table.components, table.clusters, table.fits, strict=True):
        assert fit.spread.zero @ table.rating[members] == pytest.approx(1000)
        assert (table.high - table.low)[members].min() > 1
        assert np.isfinite(table.high[members]).all() == (pieces > 1)
        assert fit.terms is not None
        assert np.isfinite(fit.terms.gamma).all()
        assert (fit.errors > 0).all()
        assert (table.best <= table.place)[members].all()
        assert (table.place <= table.worst)[members].all()


@settings(max_examples=25)
@given(tournaments, st.booleans())
def test_every_tournament_can_be_drawn_again(
    rows: list[tuple[int, int, float, int]], shared: bool
) -> None:
    a, step, y, video = (np.array(column) for column in zip(*rows, strict=True))
    cells = count_cells(a, (a + step) % 6, outcome=y, models=6, cluster=video if shared else None)
    table = rate(cells, FitMethod(rounds=10, simultaneous=True))
    chances = chances_better(table)
    for members in table.components:
        assert (table.high - table.low)[members].min() > 1
        assert (table.low <= table.rating)[members].all()
        assert (table.rating <= table.high)[members].all()
        within = chances[np.ix_(members, members)]
        assert within + within.T == pytest.approx(np.ones_like(within))


@settings(max_examples=20)
@given(tournaments, st.permutations(range(6)))
def test_renaming_the_models_renames_the_table(
    rows: list[tuple[int, int, float, int]], order: list[int]
) -> None:
    a, step, y, video = (np.array(column) for column in zip(*rows, strict=True))
    b = (a + step) % 6
    name = np.array(order)
    plain = rate(count_cells(a, b, outcome=y, models=6, cluster=video))
    renamed = rate(count_cells(name[b], name[a], outcome=1 - y, models=6, cluster=video + 7))
    assert renamed.rating[name] == pytest.approx(plain.rating, abs=1e-6, nan_ok=True)
    assert renamed.high[name] == pytest.approx(plain.high, rel=1e-6, nan_ok=True)
    assert renamed.one_sided[name].tolist() == plain.one_sided.tolist()
    assert renamed.place[name].tolist() == plain.place.tolist()
