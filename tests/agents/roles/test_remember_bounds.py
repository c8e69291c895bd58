"""What an examiner says of a video is bounded, and what it leaves open stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.roles.test_remember import (
    THREE,
    blocks_of,
    found,
    lines_of,
    merges,
    plain,
    recall,
)
from videoautoarena.agents.roles.remember import BATCH, MOST_OBJECTS, MOST_SHOWN
from videoautoarena.memory.records.errors import ProviderFailed
from videoautoarena.memory.records.scenes import Span

Say = Callable[[str, Span | None, dict[str, str]], Any]


def finding(*objects: dict[str, Any], otherwise: Say = plain) -> Say:
    """Say that these objects are in every scene, and that none of them comes back."""

    def say(role: str, span: Span | None, blocks: dict[str, str]) -> Any:
        if role == "object_finder":
            return {"objects": objects}
        if role == "object_matcher":
            return {"same": ["no"] * len(lines_of(blocks["pairs"]))}
        return otherwise(role, span, blocks)

    return say


def test_objects_of_a_scene_their_texts_and_the_pairs_of_a_call_are_bounded() -> None:
    objects = [found(f"{k} red cup" + "p" * 90, "d" * 500, 0.0) for k in range(3 * MOST_OBJECTS)]
    memory, script = recall(THREE, finding(*objects), colours=["red"])
    assert MOST_OBJECTS == 8
    assert [sum(one.scenes == (n,) for one in memory.objects) for n in (1, 2, 3, 4)] == [8] * 4
    assert [one.name[:2] for one in memory.objects[:3]] == ["0 ", "1 ", "2 "]
    assert {len(one.name) for one in memory.objects} == {80}
    assert {len(one.appearances[0].description) for one in memory.objects} == {400}
    asked = [blocks_of(one)["pairs"] for one in script.seen if one.role == "object_matcher"]
    # Each of the 24 finds that have earlier ones beside them is held against four.
    assert sorted(len(lines_of(pairs)) for pairs in asked) == [96 - 2 * BATCH, BATCH, BATCH]


@pytest.mark.parametrize(("time_s", "is_seen"), [(3.0, True), (3.1, False)])
def test_a_region_is_seen_where_a_frame_is_a_second_away_at_most(
    time_s: float, is_seen: bool
) -> None:
    # Of three seconds the last frame unlike the one before it is that of 2.0.
    memory, _ = recall([(0.0, 3.0)], finding(found("cup", "red", time_s)), colours=["red", "blue"])
    assert (memory.objects[0].appearances[0].box is not None) == is_seen


def test_a_long_stretch_is_shown_by_as_many_frames_as_a_call_carries() -> None:
    _, script = recall([(0.0, 60.0)], plain)
    assert [len(one.frames.frames) for one in script.seen] == [MOST_SHOWN] * 2 == [12] * 2


def joined(role: str, _span: Span | None, blocks: dict[str, str]) -> Any:
    """Say of two shots that they are one, at once; the whole of them cannot be captioned."""
    if role == "scene_merger":
        return {"together": ["yes"] + ["no"] * (len(lines_of(blocks["scenes"])) - 2)}
    return plain(role, _span, blocks)


def test_a_merged_scene_is_known_by_both_captions_until_it_is_captioned_as_a_whole() -> None:
    def first_pass_alone(role: str, span: Span | None, blocks: dict[str, str]) -> Any:
        if role == "scene_captioner" and span and span[1] - span[0] == 5.0:
            return ProviderFailed("no", kind="http-400")
        if role == "scene_captioner" and span:
            return {"caption": "x" * 400 + f" {span[0]:g}", "theme": f"theme {span[0]:g}"}
        if role == "scene_merger" and len(lines_of(blocks["scenes"])) == 2:
            return {"together": ["no"]}
        return joined(role, span, blocks)

    memory, script = recall(THREE[:3], first_pass_alone)
    first, second = (lines_of(blocks_of(one)["scenes"]) for one in merges(script))
    assert first[0] == "x" * 400 + " 0"
    assert second[0] == f"{first[0]} {'x' * 400}"[:600]
    assert memory.scenes[0].shots == ((0.0, 3.0), (3.0, 5.0))
    assert (memory.scenes[0].caption, memory.scenes[0].theme) == (second[0], "theme 0")
    assert [one.partition(":")[2] for one in memory.failures] == ["shots-1-2"]


def test_failures_are_listed_by_name_whatever_failed_first() -> None:
    def fail(_role: str, _span: Span | None, _blocks: dict[str, str]) -> Any:
        return ProviderFailed("no", kind="http-400")

    memory, _ = recall([(float(n), n + 1.0) for n in range(11)], fail)
    assert list(memory.failures) == sorted(memory.failures)
    assert len(memory.failures) == 22
