"""Which frames stand for a video: both ends always, and what each policy promises between them."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pages import section
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.frame_policies import FRAME_POLICIES, PolicyName
from videoautoarena.memory.records.records import Sampling
from videoautoarena.video.decode.index import Index
from videoautoarena.video.sampling.policies import (
    CHOICES,
    at_keys,
    choose_ticks,
    over_scenes,
    so_many_a_second,
)

TICKS = st.sets(st.integers(0, 20_000), min_size=1, max_size=300).map(sorted)


def steady(seconds: float, rate: int = 10, keys: int = 1) -> Index:
    """Return the index of a video with a key frame every `keys` frames."""
    shown = tuple(range(round(seconds * rate)))
    return Index(shown, shown[::keys], Fraction(1, rate), Fraction(rate))


def of_ticks(ticks: list[int], keys: int = 1) -> Index:
    return Index(tuple(ticks), tuple(ticks[::keys]), Fraction(1, 100), None)


def test_every_policy_has_words_and_chooses_frames() -> None:
    assert list(FRAME_POLICIES) == list(CHOICES) == list(get_args(PolicyName))


@pytest.mark.parametrize("policy", FRAME_POLICIES)
def test_the_page_on_tournaments_explains_every_policy(policy: str) -> None:
    told = section("commands/tournament.md", "Frames")
    assert re.search(rf"^- `{policy}` \w", told, re.MULTILINE)


def test_two_a_second_of_three_seconds_are_six_and_the_last() -> None:
    assert so_many_a_second(steady(3), 2, 128) == [0, 5, 10, 15, 20, 25, 29]


def test_too_many_a_second_are_thinned_evenly_and_both_ends_kept() -> None:
    assert so_many_a_second(steady(10.1), 10, 5) == [0, 25, 50, 75, 100]


def test_a_still_that_lasts_counts_once_however_many_a_second() -> None:
    assert so_many_a_second(of_ticks([0, 1000, 1010]), 5, 128) == [0, 1000, 1010]


def test_without_a_number_there_is_one_a_second() -> None:
    assert choose_ticks(Sampling(policy="fps"), steady(3)) == [0, 10, 20, 29]


def test_every_scene_has_a_frame_and_four_times_as_long_has_twice_as_many() -> None:
    scenes = [(0.0, 4.0), (4.0, 5.0), (5.0, 9.0), (9.0, 10.0)]
    chosen = over_scenes(steady(10), scenes, 12)
    counts = [sum(start <= tick / 10 < end for tick in chosen) for start, end in scenes]
    assert counts == [4, 2, 4, 2]
    assert (chosen[0], chosen[-1]) == (0, 99)


def test_of_more_scenes_than_frames_some_are_left_out_evenly() -> None:
    scenes = [(float(second), second + 1.0) for second in range(9)]
    assert [tick // 10 for tick in over_scenes(steady(9), scenes, 5)] == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("scenes", [[], [(0.0, 3.0)]])
def test_one_scene_is_looked_at_uniformly(scenes: list[tuple[float, float]]) -> None:
    uniform = choose_ticks(Sampling(frames=7), steady(3))
    assert choose_ticks(Sampling(frames=7, policy="scenes"), steady(3), scenes) == uniform


def test_key_frames_and_the_last() -> None:
    assert at_keys(steady(20, keys=10), 128) == [*range(0, 200, 10), 199]


@pytest.mark.parametrize(("seconds", "keys"), [(30, 75), (2, 12), (100, 90)])
def test_key_frames_that_are_too_few_do_not_stand_for_a_video(seconds: int, keys: int) -> None:
    with pytest.raises(UnusableVideo, match=f"in {seconds} s.; the policy uniform goes without"):
        at_keys(steady(seconds, keys=keys), 128)


def test_key_frames_crowded_at_one_end_do_not_stand_for_a_video() -> None:
    shown = tuple(range(1000))
    with pytest.raises(UnusableVideo, match="too few key frames"):
        at_keys(Index(shown, shown[:40], Fraction(1, 10), None), 128)


def test_a_video_of_one_frame_is_that_frame_by_any_policy() -> None:
    for policy in get_args(PolicyName):
        assert choose_ticks(Sampling(policy=policy), steady(0.1), [(0.0, 0.1)]) == [0]


@given(TICKS, st.integers(2, 128), st.floats(0.01, 240), st.integers(1, 9))
def test_by_any_policy_frames_are_those_of_the_video_and_hold_both_ends(
    ticks: list[int], most: int, fps: float, scenes: int
) -> None:
    index = of_ticks(ticks)
    width = index.duration_s / scenes
    cuts = [(width * i, width * (i + 1)) for i in range(scenes)]
    for chosen in (so_many_a_second(index, fps, most), over_scenes(index, cuts, most)):
        assert set(chosen) <= set(ticks)
        assert chosen == sorted(set(chosen))
        assert (chosen[0], chosen[-1]) == (ticks[0], ticks[-1])
        assert len(chosen) <= most


@given(st.lists(st.floats(0.2, 50), min_size=2, max_size=40), st.integers(2, 60))
def test_no_scene_goes_unseen_while_there_are_frames_for_all(
    lengths: list[float], spare: int
) -> None:
    rounded = [round(length * 10) for length in lengths]
    ends = [sum(rounded[: i + 1]) for i in range(len(rounded))]
    scenes = [(start / 10, end / 10) for start, end in zip([0, *ends], ends, strict=False)]
    chosen = over_scenes(steady(ends[-1] / 10), scenes, len(scenes) + spare)
    for start, end in scenes:
        assert any(round(start * 10) <= tick < round(end * 10) for tick in chosen)


def test_frames_of_two_stretches_are_spread_over_both_as_if_one_followed_the_other() -> None:
    sampling = Sampling(frames=6, spans=((1.0, 2.0), (5.0, 7.0)))
    assert choose_ticks(sampling, steady(10)) == [10, 15, 52, 57, 63, 69]


def test_all_frames_of_short_stretches_are_taken_once_each() -> None:
    sampling = Sampling(frames=128, spans=((0.0, 0.3), (9.8, 10.0)))
    assert choose_ticks(sampling, steady(10)) == [0, 1, 2, 98, 99]


def test_a_stretch_in_which_no_frame_begins_has_the_one_on_screen() -> None:
    sampling = Sampling(spans=((3.0, 4.0),))
    assert choose_ticks(sampling, of_ticks([0, 200, 1000])) == [200]


@pytest.mark.parametrize("end", [10.0, 1e308])
def test_a_stretch_behind_the_begin_of_the_last_frame_has_that_one(end: float) -> None:
    assert choose_ticks(Sampling(spans=((9.96, end),)), steady(10)) == [99]


@pytest.mark.parametrize("span", [(10.5, 11.0), (4.0, 4.0), (5.0, 2.0)])
def test_a_stretch_outside_the_video_or_without_length_is_refused(
    span: tuple[float, float],
) -> None:
    with pytest.raises(UnusableVideo, match="has no stretch from"):
        choose_ticks(Sampling(spans=(span,)), steady(10))


@given(ticks=TICKS, count=st.integers(2, 40), cut=st.floats(0.1, 0.9))
def test_frames_of_a_stretch_lie_within_it_and_are_no_more_than_asked_for(
    ticks: list[int], count: int, cut: float
) -> None:
    index = of_ticks(ticks)
    end = cut * index.duration_s
    if index.tick(end) <= index.shown[0]:
        return
    chosen = choose_ticks(Sampling(frames=count, spans=((0.0, end),)), index)
    assert 1 <= len(chosen) <= count
    assert all(0 <= index.seconds(tick) <= end + 0.01 for tick in chosen)
    assert chosen == sorted(set(chosen))
