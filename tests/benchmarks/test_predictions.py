"""How often sampling hits a short stretch, counted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.tasks import share_hit


@settings(max_examples=25)
@given(st.data())
def test_the_share_is_that_of_all_places_counted(data: st.DataObject) -> None:
    frames = data.draw(st.integers(3, 60))
    length = data.draw(st.integers(1, frames - 2))
    sampled = data.draw(st.lists(st.integers(0, frames - 1), max_size=12))
    places = range(1, frames - length)
    hit = [any(start <= frame < start + length for frame in sampled) for start in places]
    assert share_hit(sampled, frames, length) == pytest.approx(sum(hit) / len(hit))


def test_the_two_ends_never_hold_it() -> None:
    assert share_hit([0, 99], 100, 20) == 0.0
    assert share_hit([], 100, 98) == 0.0
    assert share_hit([50], 100, 98) == 1.0


def test_four_frames_of_which_two_are_ends_hit_like_two() -> None:
    # 1,800 frames, 50 long: the frames 600 and 1,199 are hit from 50 places each, of 1,749.
    assert share_hit([0, 600, 1199, 1799], 1800, 50) == pytest.approx(100 / 1749)


@pytest.mark.parametrize(("sampled", "frames", "length"), [([], 10, 9), ([], 10, 0), ([10], 10, 3)])
def test_what_fits_nowhere_is_refused(sampled: list[int], frames: int, length: int) -> None:
    with pytest.raises(ValueError, match=r"must be of the video|fits nowhere"):
        share_hit(sampled, frames, length)
