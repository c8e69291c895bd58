"""What a picture looks like is said only where a second look would say the same."""

from __future__ import annotations

import pytest

from tests.support.looks import PROBES, frame, glance_at
from videoautoarena.agents.offline.vision.frame_features import measured
from videoautoarena.agents.offline.vision.looks import FITS, Look, distance, likeness_to, look_of


def test_two_colours_and_the_light_are_said_of_a_picture() -> None:
    assert look_of([glance_at("blue", "white")]) == Look("half-lit", "blue", "white")
    assert look_of([glance_at("yellow", "white")]) == Look("bright", "yellow", "white")
    assert look_of([glance_at("black", "blue")]) == Look("dark", "black", "blue")


@pytest.mark.parametrize("part", [0.0, 0.05, 0.45, 0.48, 0.55])
def test_nothing_is_said_where_no_colour_leads_or_none_follows(part: float) -> None:
    assert look_of([glance_at("blue", "white", part)]) is None


def test_nothing_is_said_of_a_stretch_with_one_frame_that_does_not_fit() -> None:
    steady = [glance_at("blue", "white")] * 9
    assert look_of(steady) == look_of(steady[:1])
    assert look_of([*steady, glance_at("red", "yellow")]) is None


def test_a_frame_fits_its_own_words_and_no_others() -> None:
    for own in PROBES:
        look = look_of([glance_at(*own)])
        assert look is not None
        for other in PROBES:
            assert (likeness_to(look, glance_at(*other)) > FITS) == (own == other)


def test_colours_that_change_places_are_another_look() -> None:
    look = look_of([glance_at("blue", "white")])
    assert look is not None
    assert likeness_to(look, glance_at("white", "blue")) < 0.5


def test_pictures_lie_apart_by_their_colours() -> None:
    assert distance(glance_at("blue", "white"), glance_at("blue", "white")) == 0
    near = distance(glance_at("blue", "white"), glance_at("blue", "white", 0.4))
    assert 0 < near < 0.3 < distance(glance_at("blue", "white"), glance_at("red", "yellow")) <= 1


def test_a_picture_is_measured_by_its_bytes_alone() -> None:
    one, again = (measured(frame("red", "yellow")) for _ in range(2))
    assert one is not again
    assert (one.luma, one.shares.tolist()) == (again.luma, again.shares.tolist())
