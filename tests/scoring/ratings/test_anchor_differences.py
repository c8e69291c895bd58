"""Gaps to an anchor: a worked example, scikit-learn as the oracle, and how sure they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import Cells, count_cells, count_rows
from videoautoarena.scoring.ratings.differences import measure_gaps, to_win_rates

Games = list[tuple[int, float, float, int]]
"""The model, its points, the weight and the video of each."""


def fight(games: Games, models: int, **more: Any) -> Cells:
    model, points, weight, video = map(np.array, zip(*games, strict=True))
    return count_cells(
        model,
        np.full(len(model), models),
        outcome=points,
        models=models + 1,
        cluster=video,
        weight=weight / weight.mean(),
        **more,
    )


def regressed(games: Games, models: int, x: np.ndarray[Any, Any] | None = None) -> Any:
    """Return the gaps to the anchor as arena-hard's own fit has them, a tie half a win to both."""
    from sklearn.linear_model import LogisticRegression

    model, points, weight, _ = map(np.array, zip(*games, strict=True))
    design = np.zeros((len(model), models))
    design[np.arange(len(model)), model.astype(int)] = 1.0
    design = design if x is None else np.hstack([design, x])
    fit = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000)
    fit.fit(
        np.vstack([design, design]),
        np.repeat([1, 0], len(model)),
        sample_weight=np.concatenate([weight * points, weight * (1 - points)]),
    )
    return fit.coef_[0]


@st.composite
def tournaments(draw: st.DrawFn) -> tuple[Games, int]:
    """Each model has won a game and lost one, so that there is a finite fit."""
    models = draw(st.integers(1, 5))
    game = st.tuples(
        st.integers(0, models - 1),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.sampled_from([1.0, 3.0]),
        st.integers(0, 9),
    )
    surely = [(k, points, 1.0, k % 3) for k in range(models) for points in (0.0, 1.0)]
    return [*surely, *draw(st.lists(game, max_size=60))], models


def test_three_games_in_four_are_75_percent_and_191_points() -> None:
    games: Games = [*((0, 1.0, 1.0, video) for video in range(3)), (0, 0.0, 1.0, 3)]
    gaps = measure_gaps(fight(games, 1), 1)
    assert gaps.gap == pytest.approx([np.log(3), 0.0])
    assert to_win_rates(gaps.gap) == pytest.approx([0.75, 0.5])
    assert SCALE * gaps.gap[0] == pytest.approx(190.85, abs=0.01)


def test_much_better_is_three_games() -> None:
    # Won much better, lost by a little, and a tie: 3.5 of 5.
    gaps = measure_gaps(fight([(0, 1.0, 3, 0), (0, 0.0, 1, 1), (0, 0.5, 1, 2)], 1), 1)
    assert to_win_rates(gaps.gap)[0] == pytest.approx(0.7)


@given(tournaments())
@settings(max_examples=12, deadline=None)
def test_the_gaps_are_those_of_scikit_learn(found: tuple[Games, int]) -> None:
    games, models = found
    gaps = measure_gaps(fight(games, models), models)
    assert gaps.gap[:-1] == pytest.approx(regressed(games, models), abs=1e-3)


def test_with_style_the_gaps_are_those_of_scikit_learn() -> None:
    dice = np.random.default_rng(3)
    games = [(k % 3, float(dice.choice([0.0, 0.5, 1.0])), 1.0, k % 7) for k in range(120)]
    x = dice.normal(size=(120, 2))
    model, points, _, video = map(np.array, zip(*games, strict=True))
    rows = count_rows(model, np.full(120, 3), outcome=points, models=4, x=x, cluster=video)
    gaps = measure_gaps(rows, 3)
    assert gaps.terms is not None
    found = [*gaps.gap[:-1], *gaps.terms.gamma]
    assert found == pytest.approx(list(regressed(games, 3, x)), abs=1e-3)


def test_the_scale_of_weights_changes_nothing() -> None:
    games: Games = [(0, 1.0, 3, 0), (0, 0.0, 1, 1), (0, 0.5, 1, 2), (0, 0.0, 3, 3)]
    heavy: Games = [(m, p, 10 * w, v) for m, p, w, v in games]
    one, other = (measure_gaps(fight(found, 1), 1) for found in (games, heavy))
    assert one.gap == pytest.approx(other.gap)
    assert one.low == pytest.approx(other.low)


def test_one_video_tells_nothing_of_another() -> None:
    gaps = measure_gaps(fight([(0, 1.0, 1, 0), (0, 0.0, 1, 0)], 1), 1)
    assert (gaps.low[0], gaps.high[0]) == (-np.inf, np.inf)
    assert (gaps.low[1], gaps.high[1]) == (0.0, 0.0)


def test_who_won_everything_is_held_by_a_prior() -> None:
    gaps = measure_gaps(fight([(0, 1.0, 1, v) for v in range(10)], 1), 1)
    assert gaps.one_sided[0]
    assert 0.9 < to_win_rates(gaps.gap)[0] < 1.0
    assert gaps.low[0] < gaps.gap[0] < gaps.high[0]


def test_who_never_met_the_anchor_has_no_gap() -> None:
    with pytest.raises(ValueError, match="must have met"):
        measure_gaps(fight([(0, 1.0, 1, 0)], 2), 2)


def drawn(seed: int, *, videos: int = 60, strength: float = 0.8) -> Games:
    dice = np.random.default_rng(seed)
    games: Games = []
    for video in range(videos):
        for model, gap in enumerate((strength, -0.4)):
            chance = 1 / (1 + np.exp(-(gap + 0.7 * dice.normal())))
            for _ in range(4):
                games.append(
                    (model, float(dice.random() < chance), float(dice.choice([1, 3])), video)
                )
    return games


def test_drawing_videos_again_says_about_what_the_sandwich_says() -> None:
    battles = fight(drawn(1), 2)
    plain, redrawn = (measure_gaps(battles, 2, rounds=rounds, seed=5) for rounds in (0, 1000))
    widths = [(found.high - found.low)[:2] for found in (plain, redrawn)]
    assert widths[1] == pytest.approx(widths[0], rel=0.15)
    again = measure_gaps(battles, 2, rounds=1000, seed=5)
    assert (again.low == redrawn.low).all()


def test_style_can_be_drawn_again_as_well() -> None:
    games = drawn(2, videos=12)
    model, points, _, video = map(np.array, zip(*games, strict=True))
    x = np.random.default_rng(0).normal(size=(len(games), 1))
    rows = count_rows(model, np.full(len(games), 2), outcome=points, models=3, x=x, cluster=video)
    gaps = measure_gaps(rows, 2, rounds=20)
    assert (gaps.low[:2] < gaps.gap[:2]).all()
    assert (gaps.gap[:2] < gaps.high[:2]).all()


@pytest.mark.slow
def test_intervals_hold_what_is_true_as_often_as_they_say() -> None:
    """Two models of one video share its quirk; the truth is that of very many videos."""
    true = measure_gaps(fight(drawn(0, videos=5_000), 2), 2).gap
    held = 0
    for seed in range(1, 301):
        gaps = measure_gaps(fight(drawn(seed, videos=40), 2), 2)
        held += sum(bool(gaps.low[model] <= true[model] <= gaps.high[model]) for model in (0, 1))
    assert 0.92 <= held / 600 <= 0.985
