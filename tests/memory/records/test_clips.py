"""Clips for dialogues are single scenes, scenes that share something, and the whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from videoautoarena.memory.records.scenes import (
    MOST_ACROSS,
    MOST_SCENES,
    Appearance,
    Scene,
    SceneMemory,
    SceneObject,
    clips_of,
)


def memory_of(
    lengths: list[float], objects: Sequence[Sequence[int]] = (), themes: Sequence[str] = ()
) -> SceneMemory:
    """A video of scenes of these lengths, objects in these scenes, and a theme for each."""
    starts = [sum(lengths[:place]) for place in range(len(lengths) + 1)]
    scenes = tuple(
        Scene(
            number=place + 1,
            start_s=starts[place],
            end_s=starts[place + 1],
            caption="c",
            theme=themes[place] if themes else "",
            shots=((starts[place], starts[place + 1]),),
        )
        for place in range(len(lengths))
    )
    known = tuple(
        SceneObject(
            id=f"o{n}",
            name="x",
            appearances=tuple(Appearance(scene=one, description="d", time_s=0) for one in where),
        )
        for n, where in enumerate(objects, 1)
    )
    return SceneMemory(video="v", duration_s=starts[-1], scenes=scenes, objects=known)


def test_three_scenes_two_of_which_share_an_object_by_hand() -> None:
    clips = clips_of(memory_of([5, 2, 6], [[1, 3], [2]], ["a walk", "a meal", "A  Walk"]))
    assert [(one.id, one.scenes, one.spans, one.why, one.shared) for one in clips] == [
        ("s1", (1,), ((0, 5),), "scene", None),
        ("s3", (3,), ((7, 13),), "scene", None),
        # Theme and object give the same scenes, which are one clip.
        ("c1-3", (1, 3), ((0, 5), (7, 13)), "object", "o1"),
        ("whole", (1, 2, 3), (), "whole", None),
    ]
    assert [one.is_cross_scene for one in clips] == [False, False, True, True]


def test_scenes_that_share_a_theme_however_it_is_spelt_are_a_clip() -> None:
    clips = clips_of(memory_of([2, 2, 2], themes=["a walk", "", "A  Walk"]))
    assert [(one.id, one.why, one.shared) for one in clips] == [
        ("c1-3", "theme", "a walk"),
        ("whole", "whole", None),
    ]


def test_scenes_that_touch_are_one_stretch() -> None:
    clip = clips_of(memory_of([2, 3, 4], [[1, 2]]))[1]
    assert (clip.id, clip.spans) == ("c1-2", ((0, 5),))


def test_a_single_scene_is_the_whole_alone_and_what_is_too_short_is_none() -> None:
    assert [one.id for one in clips_of(memory_of([9]))] == ["whole"]
    assert [one.id for one in clips_of(memory_of([1, 1, 1], [[1, 3]]))] == ["whole"]


def test_objects_of_more_scenes_come_first_and_four_scenes_stand_for_many() -> None:
    clips = clips_of(memory_of([2.0] * 9, [[1, 3, 5], [1, 2, 3, 4, 6, 9], [2, 4, 6]]))
    assert [(one.id, one.shared) for one in clips] == [
        ("c1-2-4-9", "o2"),
        ("c1-3-5", "o1"),
        ("c2-4-6", "o3"),
        ("whole", None),
    ]


@given(st.integers(1, 120), st.lists(st.sets(st.integers(0, 119), min_size=1), max_size=30))
@settings(max_examples=25, deadline=None)
def test_clips_are_bounded_unique_and_the_same_each_time(
    count: int, objects: list[set[int]]
) -> None:
    where = [sorted({1 + place % count for place in one}) for one in objects]
    memory = memory_of([3.0] * count, where)
    clips = clips_of(memory)
    assert clips == clips_of(memory)
    assert len({one.id for one in clips}) == len(clips)
    across = [one for one in clips if one.why in ("object", "theme")]
    assert len(across) <= MOST_ACROSS
    assert all(2 <= len(one.scenes) <= MOST_SCENES for one in across)
    for one in clips:
        assert all(start < end for start, end in one.spans)
        assert all(a[1] < b[0] for a, b in pairwise(one.spans))
