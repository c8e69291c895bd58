"""How long work goes on: by its newest pieces, once there are enough of them."""

from __future__ import annotations

import pytest

from videoautoarena.runs.console.progress.live import NEWEST, RemainingTime


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def after(pace: RemainingTime, clock: Clock, seconds: float, *, done: int, total: int) -> str:
    clock.now += seconds
    return pace.words(done, total)


def test_a_tenth_of_the_pieces_says_how_long_one_takes_and_ten_of_many(clock: Clock) -> None:
    few = RemainingTime(clock=clock)
    many = RemainingTime(clock=clock)
    assert after(few, clock, 60.0, done=1, total=12) == " ~11 min"
    assert after(few, clock, 60.0, done=12, total=12) == ""
    assert many.words(9, 1000) == ""
    assert many.words(10, 1000) == " ~3.3 h"


def test_what_was_known_before_makes_nothing_faster(clock: Clock) -> None:
    pace = RemainingTime(clock=clock)
    for done in range(1, 501):
        pace.words(done, 1000)
    for done in range(501, 501 + NEWEST):
        words = after(pace, clock, 3.0, done=done, total=1000)
    assert words == " ~20 min"


def test_what_went_before_the_first_piece_takes_no_time_of_any(clock: Clock) -> None:
    pace = RemainingTime(clock=clock)
    assert after(pace, clock, 600.0, done=0, total=20) == ""
    assert after(pace, clock, 2.0, done=2, total=20) == " ~18 s"


def test_what_takes_less_than_a_second_is_not_said(clock: Clock) -> None:
    pace = RemainingTime(clock=clock)
    assert after(pace, clock, 0.5, done=10, total=20) == ""
