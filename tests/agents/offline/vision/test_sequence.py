from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.pictures import STORY, Film, Shot, film, seen, thinned
from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.vision.frame_features import COLOURS, glance
from videoautoarena.agents.offline.vision.sequence import coarser, longest_run, sight


def test_every_cut_is_found_where_it_is(story: Film) -> None:
    ends = np.cumsum([shot.length_s for shot in STORY])[:-1]
    assert sight(seen(story)).cuts == pytest.approx(ends, abs=0.1)


@pytest.mark.parametrize("colour", ["red", "green", "blue", "yellow", "grey"])
def test_a_plain_picture_has_the_colour_it_was_painted_in(colour: str) -> None:
    [frame] = seen(film([Shot(colour, 1.0, boxes=0)], frames=2)[:1])
    assert COLOURS[int(glance(frame).shares.argmax())] == colour


def test_a_single_take_has_no_cut_and_is_one_shot() -> None:
    take = sight(seen(film([Shot("green", 5.0, boxes=20, speed=40)], frames=32)))
    assert take.cuts == ()
    assert FACETS["shots"].measure(take) == 1
    assert FACETS["longest"].measure(take) == (0.0, 5.0)


def test_a_flash_is_no_cut() -> None:
    calm = film([Shot("green", 5.0)], frames=20)
    odd = film([Shot("red", 5.0)], frames=20)
    assert sight(seen((*calm[:9], odd[9], *calm[10:]))).cuts == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("shots", 7),
        ("open_colour", "red"),
        ("close_colour", "red"),
        ("colour_order", ("red", "green", "blue", "yellow", "green", "grey", "red")),
        ("returns", "yes"),
    ],
)
def test_what_is_measured_is_what_was_drawn(story: Film, key: str, value: object) -> None:
    assert FACETS[key].measure(sight(seen(story))) == value


def test_three_scenes_that_differ_do_not_return(other_story: Film) -> None:
    assert FACETS["returns"].measure(sight(seen(other_story))) == "no"


def test_the_longest_and_the_shortest_shot_are_found(story: Film) -> None:
    view = sight(seen(story))
    assert FACETS["longest"].measure(view) == pytest.approx((3.1, 8.3), abs=0.1)
    assert FACETS["shortest"].measure(view) == pytest.approx((19.2, 20.0), abs=0.1)


def test_a_coarser_sight_is_that_of_the_thinned_frames(story: Film) -> None:
    assert coarser(sight(seen(story)), 16) is sight(seen(thinned(story, 16)))


def test_more_frames_never_reach_a_viewer_of_fewer(story: Film) -> None:
    sight(seen(story))
    few = sight(seen(thinned(story, 4)))
    assert len(few.times) == 4
    assert len(few.cuts) <= 3


def test_one_frame_alone_is_a_sight() -> None:
    alone = sight(seen(film(frames=2)[:1]))
    assert alone.cuts == ()
    assert FACETS["liveliest"].measure(alone) is None


def test_the_stamps_belong_to_what_is_seen(story: Film) -> None:
    later = tuple((t * 2, jpeg) for t, jpeg in story)
    assert sight(seen(later)).duration_s == 2 * sight(seen(story)).duration_s


@pytest.mark.parametrize("key", sorted(FACETS))
def test_who_says_what_is_measured_is_right(story: Film, key: str) -> None:
    view = sight(seen(story))
    facet = FACETS[key]
    value = facet.measure(view)
    score = None if value is None else facet.score(value, view, fine=True)
    assert score is None or score.right == 1.0


def test_the_longest_stretch_of_a_fifth_of_a_colour_is_found() -> None:
    shares = np.zeros((12, len(COLOURS)), np.float32)
    shares[[1, 2, 5, 6, 7, 10], COLOURS.index("red")] = 0.21
    shares[:, COLOURS.index("blue")] = 0.19
    drawn = replace(sight(seen(film(frames=2))), times=np.arange(12.0), shares=shares)
    assert longest_run(drawn, "red") == (5.0, 7.0)
    assert longest_run(drawn, "blue") is None
