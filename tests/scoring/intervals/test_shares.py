"""Shares and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.scoring.intervals.proportions import (
    NOTHING,
    Share,
    bound_share,
    measure_excess,
    measure_share,
    read_clusters,
)

HITS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 6)), min_size=1, max_size=40
)


def votes(hits: int, misses: int) -> list[float]:
    return [1.0] * hits + [0.0] * misses


def test_the_longer_answer_wins_235_of_255_published_pairs() -> None:
    found = measure_share(votes(235, 20))
    assert found.value == pytest.approx(0.922, abs=0.0005)
    assert (found.low, found.high) == pytest.approx((0.882, 0.949), abs=0.0006)


def test_the_second_seat_gains_in_the_published_battles() -> None:
    found = measure_share(votes(5941, 5620))
    assert found.value == pytest.approx(0.514, abs=0.0005)
    error = (found.high - found.low) / (2 * 1.96)
    assert (found.value - 0.5) / error == pytest.approx(2.99, abs=0.01)
    assert found.low > 0.5
    assert found.n == 11561


def covering(share: float, videos: int, alike: float, *, rounds: int = 400) -> float:
    """How often the interval holds the share, where videos have shares of their own."""
    rng = np.random.default_rng(7)
    spread = 1.0 / max(alike, 1e-9) - 1.0
    held = 0
    for _ in range(rounds):
        chance = rng.beta(share * spread, (1 - share) * spread, videos) if alike else share
        video = np.repeat(np.arange(videos), rng.integers(1, 12, videos))
        chances = np.broadcast_to(chance, videos)[video]
        found = measure_share((rng.random(len(video)) < chances).astype(float), video)
        held += found.low <= share <= found.high
    return held / rounds


@pytest.mark.parametrize(
    ("share", "videos", "alike"),
    [(0.5, 10, 0.2), (0.5, 40, 0.6), (0.1, 15, 0.2), (0.1, 40, 0.0), (0.9, 40, 0.3)],
)
def test_the_interval_covers_where_battles_share_videos(
    share: float, videos: int, alike: float
) -> None:
    assert covering(share, videos, alike) >= 0.925


def test_battles_of_one_video_that_go_together_tell_less() -> None:
    hits = np.tile([1.0, 0.0], 20).repeat(10)
    video = np.arange(400) // 10
    alone = measure_share(hits)
    together = measure_share(hits, video)
    assert together.high - together.low > 2.5 * (alone.high - alone.low)


@settings(max_examples=25)
@given(HITS)
def test_bounds_hold_the_value_and_are_never_both_at_it(rows: list[tuple[float, int]]) -> None:
    found = measure_share([hit for hit, _ in rows], [video for _, video in rows])
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.low < found.high


@settings(max_examples=25)
@given(HITS)
def test_misses_are_the_mirror_of_hits(rows: list[tuple[float, int]]) -> None:
    video = [video for _, video in rows]
    hits = measure_share([hit for hit, _ in rows], video)
    misses = measure_share([1.0 - hit for hit, _ in rows], video)
    assert (1 - hits.value, 1 - hits.high, 1 - hits.low) == pytest.approx(misses[:3])


@settings(max_examples=25)
@given(HITS, st.integers(-9, 9))
def test_names_of_clusters_mean_nothing(rows: list[tuple[float, int]], shift: int) -> None:
    hits = [hit for hit, _ in rows]
    one = measure_share(hits, [video for _, video in rows])
    other = measure_share(hits, [shift - 7 * video for _, video in rows])
    assert one == pytest.approx(other)


@pytest.mark.parametrize("hit", [0.0, 1.0])
def test_all_or_none_is_never_certain(hit: float) -> None:
    alone = measure_share([hit] * 30)
    video = measure_share([hit] * 30, [0, 1, 2] * 10)
    assert max(alone.high - alone.low, 0.05) < video.high - video.low < 1.0


def test_one_video_tells_nothing_of_others() -> None:
    assert measure_share([1.0, 0.0, 1.0, 1.0], [3, 3, 3, 3]) == Share(0.75, 0.0, 1.0, 4)
    assert measure_excess([1.0, 0.0], [0.5, 0.5], [3, 3]) == Share(0.0, -1.0, 1.0, 2)


def test_of_nothing_nothing_is_known() -> None:
    for found in (NOTHING, measure_share([]), measure_share([], []), measure_excess([], [])):
        assert np.isnan(found[:3]).all()
        assert found.n == 0


def test_a_wider_promise_is_a_wider_interval() -> None:
    wide, narrow = (measure_share(votes(7, 13), level=level) for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_share_is_told_at_another_level_as_if_measured_at_it(level: float) -> None:
    hits = votes(7, 13)
    hoped = votes(9, 11)[::-1]
    video = list(range(5)) * 4
    for one, other in (
        (measure_share(hits, video), measure_share(hits, video, level=level)),
        (measure_excess(hits, hoped, video), measure_excess(hits, hoped, video, level=level)),
    ):
        assert one.at(level) == pytest.approx(other)
    alone = measure_share(hits, [1] * 20)
    assert alone.at(level) == alone
    assert NOTHING.at(level).n == 0
    with pytest.raises(ValueError, match="level"):
        alone.at(1.0)


@pytest.mark.parametrize(
    ("hits", "cluster", "level"),
    [
        ([1.5], None, 0.95),
        ([float("nan")], None, 0.95),
        ([[1.0]], None, 0.95),
        ([1.0], [1, 2], 0.95),
        ([1.0], [0.5], 0.95),
        ([1.0], None, 1.0),
    ],
)
def test_what_is_no_share_is_refused(hits: list[float], cluster: list[int], level: float) -> None:
    with pytest.raises(ValueError, match=r"hits|cluster|level"):
        measure_share(hits, cluster, level=level)


def test_an_expectation_is_needed_for_each_hit() -> None:
    with pytest.raises(ValueError, match="expectation"):
        measure_excess([1.0], [0.5, 0.5])


def test_an_excess_is_the_mean_gap_to_what_was_expected() -> None:
    rng = np.random.default_rng(3)
    expected = rng.uniform(0.2, 0.8, 2000)
    hits = (rng.random(2000) < expected + 0.1).astype(float)
    found = measure_excess(hits, expected)
    assert found.value == pytest.approx((hits - expected).mean())
    assert found.low < 0.1 < found.high
    error = (hits - expected).std() / np.sqrt(2000)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.12)


def test_bounds_of_a_share_are_wilsons() -> None:
    # Newcombe (1998), Stat. Med. 17, table I: 81 of 263; t of so many degrees is the normal's z.
    found = bound_share(81 / 263, 263, 10**9)
    assert found == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert bound_share(0.0, 20, 10**9) == (0.0, pytest.approx(0.1611, abs=5e-5))
    # Few clusters make it wider, and what is sure needs no room.
    assert bound_share(81 / 263, 263, 5)[1] > found[1]
    assert bound_share(0.25, np.inf, 5) == (0.25, 0.25)


def test_clusters_are_numbered_and_every_unit_is_its_own_without_any() -> None:
    assert read_clusters([7, -2, 7], (3,)).tolist() == [1, 0, 1]
    assert read_clusters(None, (3,)).tolist() == [0, 1, 2]
    assert read_clusters([], (0,)).tolist() == []
    for wrong in ([1, 2], [0.5, 1.0, 2.0], [[1, 2, 3]]):
        with pytest.raises(ValueError, match="cluster"):
            read_clusters(wrong, (3,))
