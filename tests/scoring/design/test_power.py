"""Made-up tournaments, and what they say of how many battles a gap needs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.scoring.design.power import (
    PlayPlan,
    StrengthLadder,
    battles_needed,
    judge,
    look,
    make_ladder,
    play,
    separable_gap,
)
from videoautoarena.scoring.fitting.bradley_terry import SCALE, fit_strengths
from videoautoarena.scoring.fitting.counts import Floats
from videoautoarena.scoring.fitting.separation import find_components
from videoautoarena.scoring.ratings.ratings import rate

ALIKE = PlayPlan(is_mixed=False)


def judged(ladder: StrengthLadder, *, battles: int = 200_000, seed: int = 0) -> Floats:
    """Half points of the better of two in many battles, each about a video of its own."""
    rng = np.random.default_rng(seed)
    sides = np.tile([0, 1], (battles, 1))
    quirks = ladder.quirk * rng.standard_normal((battles, 2))
    return judge(ladder, rng, sides, quirks=quirks)


def test_a_gap_known_by_formula_needs_the_battles_of_the_formula() -> None:
    """Of two models, each battle tells 1/4 nats^-2: (1.96 + 0.84)^2 * 4 / gap^2 for 0.8."""
    gap = 60.0
    at = [63 * k for k in (1, 2, 3, 4, 5, 6, 8, 10)]
    ladder = make_ladder(2, gap, ties=0.0, quirk=0.0)
    hits = np.array(
        [[look(c).apart.mean() for c in play(ladder, ALIKE, seed=s, at=at)] for s in range(30)]
    )
    found = battles_needed(hits, at, power=0.8)
    formula = (1.96 + 0.8416) ** 2 * 4 / (gap / SCALE) ** 2
    assert found.low <= formula <= found.high
    assert found.high < 2.0 * found.low


def test_the_gap_that_is_told_apart_is_the_one_of_a_worked_example() -> None:
    """100 battles of two models about 100 videos alike: 2.8 standard errors of .2 nats."""
    gap = separable_gap(2, battles=100, videos=100_000, quirk=0.0)
    assert gap == pytest.approx((1.96 + 0.8416) * 0.2, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("models", "points"), [(3, 50.0), (11, 60.0)])
def test_the_formula_of_a_gap_agrees_with_simulated_tournaments(models: int, points: float) -> None:
    at = [63 * k for k in (2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 36, 46)]
    ladder = make_ladder(models, points, ties=0.07, quirk=0.5)
    hits = np.array(
        [[look(c).apart.mean() for c in play(ladder, PlayPlan(), seed=s, at=at)] for s in range(30)]
    )
    battles = round(battles_needed(hits, at, power=0.8).value)
    gap = separable_gap(models, battles=battles, videos=battles // 9)
    assert 0.85 * points < gap * SCALE < 1.25 * points


@given(st.integers(2, 50), st.integers(2, 5000), st.integers(2, 500))
def test_more_battles_videos_and_fewer_models_tell_smaller_gaps_apart(
    models: int, battles: int, videos: int
) -> None:
    gap = separable_gap(models, battles=battles, videos=videos)
    assert gap > separable_gap(models, battles=battles + 1, videos=videos)
    assert gap > separable_gap(models, battles=battles, videos=videos + 1)
    assert gap < separable_gap(models + 1, battles=battles, videos=videos)


def test_one_video_tells_nothing_apart() -> None:
    assert separable_gap(2, battles=9, videos=1) == np.inf


@pytest.mark.parametrize(("quirk", "ties"), [(0.0, 0.3), (0.5, 0.07), (1.5, 0.0)])
def test_neighbours_win_as_often_as_the_gap_says_whatever_hides_it(
    quirk: float, ties: float
) -> None:
    points = judged(make_ladder(2, 100.0, ties=ties, quirk=quirk)) / 2
    assert points.mean() == pytest.approx(1 / (1 + 10**-0.25), abs=0.004)


def test_ties_among_equals_are_as_frequent_as_asked() -> None:
    points = judged(StrengthLadder(np.zeros(2), ties=0.2, quirk=0.0))
    assert (points == 1).mean() == pytest.approx(0.2, abs=0.004)
    assert points.mean() == pytest.approx(1.0, abs=0.01)


def test_a_judge_who_errs_now_and_then_makes_gaps_smaller() -> None:
    points = judged(StrengthLadder(np.array([8.0, 0.0]), ties=0.1, quirk=0.0, blind=0.13)) / 2
    assert (points == 0.5).mean() == pytest.approx(0.1, abs=0.004)
    assert points.mean() == pytest.approx(0.05 + 0.9 * 0.87, abs=0.004)


def test_the_seat_read_first_favours_neither_in_the_end() -> None:
    points = judged(StrengthLadder(np.zeros(2), quirk=0.0, seat=1.0))
    assert points.mean() == pytest.approx(1.0, abs=0.01)


def test_new_videos_come_block_by_block_and_stay_for_its_rounds() -> None:
    clusters = [
        cells.clusters
        for cells in play(
            StrengthLadder(np.zeros(3)),
            PlayPlan(block=5, users=2, rounds=3),
            seed=1,
            at=[10, 30, 31, 60],
        )
    ]
    assert clusters == [5, 5, 10, 10]


def test_few_videos_are_played_again() -> None:
    few = PlayPlan(block=21, videos=4)
    (cells,) = play(StrengthLadder(np.zeros(3)), few, seed=1, at=[400])
    assert cells.clusters == 4
    assert cells.battles.sum() == 408


def test_the_same_seed_plays_the_same_tournament() -> None:
    ladder = make_ladder(4, 50.0)
    one, two, other = (next(play(ladder, PlayPlan(), seed=s, at=[200])) for s in (3, 3, 4))
    assert (one.counts == two.counts).all()
    assert not np.array_equal(one.counts, other.counts)


def test_the_first_two_waves_know_nothing() -> None:
    ladder = StrengthLadder(np.array([3.0, 0.0, -3.0]))
    at = [63, 126]
    mixed = list(play(ladder, PlayPlan(), seed=5, at=at))
    alike = list(play(ladder, ALIKE, seed=5, at=at))
    assert all((a.counts == b.counts).all() for a, b in zip(mixed, alike, strict=True))


def test_a_mixed_course_plays_close_pairs_more_often() -> None:
    ladder = StrengthLadder(np.array([3.0, 0.1, 0.0]), quirk=0.0)
    (mixed,) = play(ladder, PlayPlan(), seed=5, at=[2000])
    (alike,) = play(ladder, ALIKE, seed=5, at=[2000])
    assert mixed.battles[2] > 1.5 * alike.battles[2]


def test_a_look_shows_what_the_table_shows() -> None:
    (cells,) = play(make_ladder(3, 200.0), PlayPlan(), seed=0, at=[600])
    seen = look(cells)
    table = rate(cells)
    assert seen.theta == pytest.approx(fit_strengths(cells, likelihood="firth"))
    assert seen.separation.width == pytest.approx(float((table.high - table.low).mean()))
    assert seen.is_right
    assert seen.apart.all()


def test_models_that_never_met_show_nothing() -> None:
    (cells,) = play(make_ladder(9, 30.0), PlayPlan(block=1, users=2), seed=0, at=[2])
    assert len(find_components(cells)[0]) < 9
    seen = look(cells)
    assert not seen.is_right
    assert not seen.apart.any()
    assert not seen.separation.is_separated


def test_a_share_reached_between_two_looks_is_reached_between_them() -> None:
    hits = np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    found = battles_needed(hits, [100, 200, 400], power=0.75)
    assert found.value == pytest.approx(200 * 2**0.5)
    assert found.low <= found.value <= found.high


def test_a_share_never_reached_needs_endless_battles() -> None:
    found = battles_needed(np.zeros((20, 2)), [100, 200], power=0.5)
    assert found == (np.inf, np.inf, np.inf)


def test_a_share_reached_at_the_first_look_needs_no_more() -> None:
    assert battles_needed(np.ones((20, 2)), [100, 200], power=0.5) == (100.0, 100.0, 100.0)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.floats(0.3, 0.95))
def test_the_interval_holds_the_estimate(seed: int, power: float) -> None:
    rng = np.random.default_rng(seed)
    at = [100, 200, 400, 800]
    hits = (rng.random((30, 1)) * 1000 < np.array(at)).astype(float)
    found = battles_needed(hits, at, power=power, seed=seed)
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize(
    ("models", "gap", "ties", "quirk"),
    [(1, 30, 0, 0), (3, 0, 0, 0), (3, np.inf, 0, 0), (3, 30, 1, 0), (3, 30, 0, -1)],
)
def test_a_ladder_out_of_range_is_refused(
    models: int, gap: float, ties: float, quirk: float
) -> None:
    with pytest.raises(ValueError, match="ladder"):
        make_ladder(models, gap, ties=ties, quirk=quirk)
