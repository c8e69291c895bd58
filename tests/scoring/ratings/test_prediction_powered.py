"""Ratings on the scale of people: what they agree with, what they hold, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from videoautoarena.scoring.design.pairing import roster_pairs
from videoautoarena.scoring.fitting.bradley_terry import fit_strengths, to_ratings
from videoautoarena.scoring.fitting.counts import Cells, Floats, count_cells
from videoautoarena.scoring.ratings.prediction_powered import (
    JudgedBattles,
    count_labels,
    rate_on_labels,
)
from videoautoarena.scoring.ratings.ratings import Anchor, FitMethod, rate

STRENGTH = np.array([0.9, 0.4, 0.0, -0.4, -0.9])
FAVOUR = np.array([0.0, 0.0, 0.0, 0.8, 0.0])
"""What the judge sees in the fourth model and people do not, in nats."""

PLAIN = FitMethod()
BARE = FitMethod(likelihood="mle")
"""In which the closed forms hold that the inference is checked against."""


def drawn(
    seed: int, *, battles: int = 600, videos: int = 60, labels: int = 200, noise: float = 1.0
) -> JudgedBattles:
    """A tournament of five whose judge has a favourite, and labels of a random subset."""
    rng = np.random.default_rng(seed)
    pairs = roster_pairs(5)
    models = 5
    a, b = rng.permuted(pairs[rng.integers(0, len(pairs), battles)], axis=1).T
    video = np.arange(battles) % videos
    suits = rng.normal(0, 0.5, (videos, models))
    gap = STRENGTH[a] - STRENGTH[b] + suits[video, a] - suits[video, b] + rng.logistic(size=battles)
    right = np.where(rng.random(battles) < 0.07, 0.5, gap > 0)
    seen = gap + FAVOUR[a] - FAVOUR[b] + rng.normal(0, noise, battles)
    people = np.full(battles, np.nan)
    asked = rng.choice(battles, labels, replace=False)
    people[asked] = right[asked]
    judge = np.where(rng.random(battles) < 0.07, 0.5, seen > 0)
    return JudgedBattles(models, a, b, judge, people, np.full(battles, labels / battles), video)


def truth() -> Floats:
    """What endless battles on endless videos would give people, by Gauss-Hermite."""
    i, j = roster_pairs(5).T
    at, weight = np.polynomial.hermite_e.hermegauss(40)
    share = expit((STRENGTH[i] - STRENGTH[j])[:, None] + np.sqrt(2) * 0.5 * at) @ weight
    share = 0.035 + 0.93 * share / weight.sum()
    return to_ratings(fit_strengths(Cells(5, i, j, np.stack([1 - share, 0 * i, share], axis=1))))


def test_lambda_zero_takes_the_labels_alone() -> None:
    data = drawn(1)
    mine = data.is_labelled
    alone = rate(
        count_cells(
            data.a[mine],
            data.b[mine],
            outcome=data.people[mine],
            models=5,
            cluster=data.cluster[mine],
        ),
        BARE,
    )
    found = rate_on_labels(data, BARE, lam=0.0).ratings
    np.testing.assert_allclose(found.rating, alone.rating, atol=1e-6)
    np.testing.assert_allclose(found.fits[0].spread.robust, alone.fits[0].spread.robust, rtol=1e-6)
    assert found.clusters == alone.clusters


def test_where_people_say_what_the_judge_says_lambda_is_one_and_nothing_is_corrected() -> None:
    data = drawn(2)
    data = replace(data, people=np.where(data.is_labelled, data.judge, np.nan))
    (tuning,) = (found := rate_on_labels(data, BARE)).tunings
    assert tuning.lam == pytest.approx(1.0)
    whole = rate(
        count_cells(data.a, data.b, outcome=data.judge, models=5, cluster=data.cluster), BARE
    )
    np.testing.assert_allclose(found.ratings.rating, whole.rating, atol=1e-6)
    assert tuning.gain == pytest.approx(600 / 200, rel=0.35)


@pytest.mark.parametrize(("by_judge", "by_people"), [(0.7, 0.6), (0.95, 0.5)])
def test_lambda_one_is_plain_prediction_powered_inference(
    by_judge: float, by_people: float
) -> None:
    # With two models the share of a has a closed form: the judge's mean, plus what labels lack.
    rng = np.random.default_rng(3)
    judge = (rng.random(400) < by_judge).astype(float)
    people = np.where(np.arange(400) < 100, rng.random(400) < by_people, np.nan)
    pair = np.zeros(400, dtype=np.int64), np.ones(400, dtype=np.int64)
    data = JudgedBattles(2, *pair, judge, people, np.ones(400), np.arange(400))
    share = judge.mean() + (people[:100] - judge[:100]).mean()
    found = rate_on_labels(data, BARE, lam=1.0).ratings
    assert expit(found.theta[0] - found.theta[1]) == pytest.approx(share, abs=1e-9)
    # Angelopoulos et al. (2023): the variances of both means add up, but for the overlap.
    scatter = judge.var() / 400 + (people[:100] - judge[:100]).var() / 100
    scatter += 2 * np.cov(judge[:100], people[:100] - judge[:100])[0, 1] / 400
    error = np.sqrt(found.fits[0].spread.robust[0, 0]) * 2 * share * (1 - share)
    assert error == pytest.approx(np.sqrt(scatter), rel=0.02)


@pytest.mark.parametrize(
    ("tournaments", "least"), [(25, 0.88), pytest.param(150, 0.92, marks=pytest.mark.slow)]
)
def test_the_judge_alone_misses_the_scale_of_people_and_the_corrected_ratings_hold_it(
    tournaments: int, least: float
) -> None:
    right = truth()
    judged = []
    held = []
    narrower = []
    for seed in range(tournaments):
        data = drawn(seed)
        alone = rate(
            count_cells(data.a, data.b, outcome=data.judge, models=5, cluster=data.cluster)
        )
        found = rate_on_labels(data, PLAIN).ratings
        people = rate_on_labels(data, PLAIN, lam=0.0).ratings
        judged.append((alone.low <= right) & (right <= alone.high))
        held.append((found.low <= right) & (right <= found.high))
        narrower.append(np.mean(found.high - found.low) / np.mean(people.high - people.low))
    assert np.mean(judged) < 0.7
    assert least < np.mean(held) < 0.98
    assert np.mean(narrower) < 0.9


def test_a_judge_that_throws_dice_costs_nothing() -> None:
    data = drawn(4)
    dice = np.random.default_rng(4).integers(0, 3, len(data.a)) / 2
    (tuning,) = rate_on_labels(replace(data, judge=dice), PLAIN).tunings
    assert tuning.lam < 0.25
    assert 1.0 <= tuning.gain < 1.15


def test_battles_that_were_likelier_to_be_labelled_weigh_less() -> None:
    data = drawn(5, labels=600)
    rng = np.random.default_rng(5)
    # Twice as likely where the strongest model plays: by weight as if all had been equally likely.
    chance = np.where((data.a == 0) | (data.b == 0), 0.8, 0.4)
    shown = np.where(rng.random(600) < chance, data.people, np.nan)
    whole = rate_on_labels(data, BARE, lam=0.0).ratings.theta
    weighed = rate_on_labels(replace(data, people=shown, chance=chance), BARE, lam=0.0)
    assert np.abs(weighed.ratings.theta - whole).max() < 0.2
    copies = np.repeat(np.arange(600), np.where(chance < 0.6, 2, 1))
    plain = replace(
        data,
        a=data.a[copies],
        b=data.b[copies],
        judge=data.judge[copies],
        people=shown[copies],
        chance=np.ones(len(copies)),
        cluster=data.cluster[copies],
    )
    again = rate_on_labels(plain, BARE, lam=0.0).ratings.theta
    np.testing.assert_allclose(weighed.ratings.theta, again, atol=1e-8)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_seats_names_order_and_a_common_factor_of_the_chances_do_not_matter(seed: int) -> None:
    data = drawn(6)
    rng = np.random.default_rng(seed)
    found = rate_on_labels(data, PLAIN).ratings
    swapped = rng.random(600) < 0.5
    order = rng.permutation(600)
    names = rng.permutation(5)
    moved = JudgedBattles(
        5,
        names[np.where(swapped, data.b, data.a)][order],
        names[np.where(swapped, data.a, data.b)][order],
        np.where(swapped, 1 - data.judge, data.judge)[order],
        np.where(swapped, 1 - data.people, data.people)[order],
        3.0 * data.chance,
        data.cluster[order] + 7,
    )
    again = rate_on_labels(moved, PLAIN).ratings
    np.testing.assert_allclose(again.rating[names], found.rating, atol=1e-6)
    np.testing.assert_allclose(again.high[names], found.high, atol=1e-5)


def test_a_model_that_people_never_saw_win_is_marked_and_has_a_finite_wide_interval() -> None:
    data = drawn(7)
    people = np.where(data.a == 4, 0.0, np.where(data.b == 4, 1.0, data.people))
    people = np.where(data.is_labelled, people, np.nan)
    found = rate_on_labels(replace(data, people=people), PLAIN).ratings
    assert found.one_sided.tolist() == [False, False, False, False, True]
    assert np.isfinite(found.high).all()
    assert found.high[4] - found.low[4] > (found.high[:4] - found.low[:4]).max()


def test_labels_that_contradict_every_verdict_leave_the_judge_unheard() -> None:
    data = drawn(8, labels=60)
    data = replace(data, people=np.where(data.is_labelled, 1.0 - data.judge, np.nan))
    (tuning,) = rate_on_labels(data, PLAIN).tunings
    assert tuning.lam == 0.0
    assert tuning.gain == pytest.approx(1.0)


@pytest.mark.parametrize("more", [0, 8, 16])
def test_corrected_shares_at_one_have_no_strengths_unless_lambda_gives_way(more: int) -> None:
    # Of eight battles the judge gives a half; of the four that people saw they give it three and
    # the judge one: corrected it is all of them. A third model beside hides that from the solver.
    judge = np.concatenate([[0, 0, 1, 0, 1, 1, 1, 0], np.arange(more) % 2])
    people = np.full(8 + more, np.nan)
    people[:4] = [1, 1, 1, 0]
    people[8 : 8 + more // 2] = np.arange(more // 2) % 2
    a = np.repeat([0, 1], [8, more])
    every = np.arange(8 + more)
    data = JudgedBattles(3, a, a + 1, judge.astype(float), people, np.ones(8 + more), every)
    with pytest.raises(ArithmeticError, match="run away"):
        rate_on_labels(data, BARE, lam=1.0)
    # Bias-reduced, half a battle more on both sides leaves some strengths.
    assert np.isfinite(rate_on_labels(data, PLAIN, lam=1.0).ratings.theta[:2]).all()
    assert np.isfinite(rate_on_labels(data, PLAIN).ratings.high[: 2 + (more > 0)]).all()


def test_where_half_of_the_judge_leads_beyond_one_the_labels_stand_alone() -> None:
    judge = np.ones(200)
    people = np.full(200, np.nan)
    judge[:20] = 0.5
    people[:20] = np.arange(20) > 0
    pair = np.zeros(200, dtype=np.int64), np.ones(200, dtype=np.int64)
    data = JudgedBattles(2, *pair, judge, people, np.ones(200), np.arange(200))
    # 19 of 20, and with half a point more to both 19.5 of 21.
    for method, share in ((BARE, 19 / 20), (PLAIN, 19.5 / 21)):
        found = rate_on_labels(data, method)
        assert found.tunings[0].lam == 0.0
        assert expit(np.ptp(found.ratings.theta)) == pytest.approx(share)


def test_islands_are_rated_apart() -> None:
    one = drawn(9)
    two = drawn(10)
    both = JudgedBattles(
        10,
        np.concatenate([one.a, two.a + 5]),
        np.concatenate([one.b, two.b + 5]),
        np.concatenate([one.judge, two.judge]),
        np.concatenate([one.people, two.people]),
        np.concatenate([one.chance, two.chance]),
        np.concatenate([one.cluster, two.cluster + 1000]),
    )
    found = rate_on_labels(both, PLAIN)
    np.testing.assert_allclose(found.ratings.rating[:5], rate_on_labels(one, PLAIN).ratings.rating)
    assert len(found.tunings) == 2
    assert [tuning.labels for tuning in found.tunings] == [200, 200]


def test_an_anchor_moves_all() -> None:
    data = drawn(11)
    moved = rate_on_labels(data, FitMethod(anchor=Anchor(2, 1200.0))).ratings.rating
    plain = rate_on_labels(data, PLAIN).ratings.rating
    assert moved[2] == pytest.approx(1200.0)
    np.testing.assert_allclose(np.diff(moved), np.diff(plain))


def test_labels_are_counted_for_both_seats() -> None:
    data = drawn(12, labels=0)
    people = data.people.copy()
    people[0] = 0.5
    counts = count_labels(replace(data, people=people))
    assert counts.sum() == 2
    assert counts[data.a[0]] == counts[data.b[0]] == 1


def test_fewer_than_two_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="two labelled battles"):
        rate_on_labels(drawn(13, labels=1), PLAIN)


def test_labels_on_one_video_bound_nothing() -> None:
    data = replace(drawn(14), cluster=np.zeros(600, dtype=np.int64))
    found = rate_on_labels(data, PLAIN).ratings
    assert np.isinf(found.high).all()
    assert np.isfinite(found.rating).all()


@pytest.mark.parametrize(
    ("changed", "lam", "why"),
    [
        ({}, 1.5, "lambda 1.5 is not between 0 and 1"),
        ({"chance": np.zeros(600)}, None, "chances of being labelled"),
        ({"judge": np.full(600, 2.0)}, None, "a share from 0 to 1"),
    ],
)
def test_what_is_no_share_and_no_chance_is_refused(
    changed: dict[str, Floats], lam: float | None, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        rate_on_labels(replace(drawn(15), **changed), PLAIN, lam=lam)  # type: ignore[arg-type]
