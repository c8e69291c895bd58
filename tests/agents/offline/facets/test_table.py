from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.pictures import Film, Shot, battle, film, seen
from videoautoarena.agents.offline.facets.table import FACETS, Extremes, ExtremeWindow
from videoautoarena.agents.offline.players.scoring import askable
from videoautoarena.agents.offline.vision.sequence import FrameSequence, sight

BLANK = Shot("blue", 2.0, boxes=0)
BROKEN_UP = (BLANK, Shot("green", 5.0, boxes=40), BLANK, Shot("grey", 4.0), BLANK)
"""Every other shot of a film fades from side to side."""


def view(shots: tuple[Shot, ...], *, frames: int = 128) -> FrameSequence:
    return sight(seen(film(shots, frames=frames)))


def test_stretches_of_one_flat_colour_are_counted() -> None:
    assert FACETS["blanks"].measure(view(BROKEN_UP)) == 3
    assert FACETS["blanks"].measure(view((BLANK,))) == 1


def test_footage_with_anything_in_it_is_not_blank(story: Film) -> None:
    assert FACETS["blanks"].measure(sight(seen(story))) == 0


def test_blanks_are_asked_about_where_there_are_several_that_nobody_can_miss(story: Film) -> None:
    assert "blanks" in askable(view(BROKEN_UP))
    assert "blanks" not in askable(view(BROKEN_UP[:2]))
    assert "blanks" not in askable(view(BROKEN_UP, frames=12))
    assert "blanks" not in askable(sight(seen(story)))


def test_the_judge_tells_a_right_count_of_blanks_from_a_wrong_one() -> None:
    question = "How many times does flat blue fill the screen?"
    shown = film(BROKEN_UP)
    told = ("Flat blue fills it three times.", "Flat blue fills it once.")
    assert battle(shown, question, *told)["verdict"] == "A"
    assert battle(shown, question, *told[::-1])["verdict"] == "B"


RAMP = [0.2] * 8 + [0.6, 0.9, 1.0, 0.9, 0.6] + [0.2] * 7
"""One a second; from 9 to 11 s it is near its highest."""


def shown(heights: list[float]) -> FrameSequence:
    """Return a sight whose light, and whose motion half a second later, take this course."""
    times = np.arange(len(heights), dtype=float)
    return replace(
        sight(seen(film(frames=2))),
        times=times,
        luma=np.array(heights),
        mids=times[:-1] + 0.5,
        motion=np.array(heights[:-1]),
        duration_s=times[-1],
        gap_s=1.0,
    )


def test_what_is_near_the_extreme_is_right_and_little_around_it() -> None:
    found = Extremes(shown(RAMP)).window("brightest", (0, 19))
    assert found == ExtremeWindow(10.0, 9 - 2.2, 11 + 2.2)
    assert found.holds(6.9)
    assert not found.holds(6.7)
    assert found.holds(6.7, margin_s=0.2)


@pytest.mark.parametrize(
    ("heights", "part"),
    [
        ([0.2] * 10 + [1.0] * 10, (0, 19)),
        ([0.2] * 10 + [1.0] + [0.2] * 9, (0, 19)),
        ([0.5] * 20, (0, 19)),
        (RAMP, (8, 14)),
        (RAMP * 3, (0, 10)),
    ],
    ids=["near it for half of the time", "in one frame alone", "no extreme", "few frames", "short"],
)
def test_nothing_is_asked_where_an_extreme_does_not_stand_out(
    heights: list[float], part: tuple[float, float]
) -> None:
    assert Extremes(shown(RAMP)).window("brightest", (5, 16)) is not None
    assert Extremes(shown(heights)).window("brightest", part) is None


def test_what_moves_into_a_part_does_not_move_in_it() -> None:
    moving = Extremes(shown([0.1] * 5 + [1.0] + [0.3] * 14))
    assert moving.at("liveliest", (0, 19)) == 5.5
    assert moving.at("liveliest", (5.2, 19)) == 6.5
    assert moving.at("liveliest", (0, 5.8)) == 0.5
    assert moving.at("brightest", (30, 40)) is None
