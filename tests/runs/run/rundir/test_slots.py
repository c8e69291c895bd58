"""Slots stand in one stored order, and growth only ever appends."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.memory.records.records import Slot, Video
from videoautoarena.memory.records.slots import Slots
from videoautoarena.runs.run.rundir.slots import (
    LineageLanguages,
    Lineup,
    in_order,
    new_slots,
    superseding_slots,
)
from videoautoarena.runs.tournament.schedule import blocks_of


def video(number: int) -> Video:
    sha = f"{number:064x}"[::-1]
    return Video(
        id=sha[:12],
        sha256=sha,
        path=f"{number}.mp4",
        size_bytes=1,
        duration_s=8.0,
        width_px=64,
        height_px=36,
        fps=25.0,
        codec="h264",
    )


VIDEOS = [video(number) for number in range(5)]


def test_a_video_has_three_lineages_of_as_many_slots_as_rounds() -> None:
    slots = new_slots(VIDEOS[:1], rounds=2, block=21, existing=[])
    assert [slot.id[13:] for slot in slots] == [
        "p1-r0",
        "p2-r0",
        "p3-r0",
        "p1-r1",
        "p2-r1",
        "p3-r1",
    ]
    assert [slot.ordinal for slot in slots] == list(range(6))


def test_slots_stand_by_block_then_round() -> None:
    slots = new_slots(VIDEOS, rounds=2, block=2, existing=[])
    assert [(s.block, s.round) for s in slots[::3]] == [
        *[(0, 0)] * 2, *[(0, 1)] * 2, *[(1, 0)] * 2, *[(1, 1)] * 2, (2, 0), (2, 1)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "block", "sizes"),
    [
        (1, 21, [1]),
        (22, 21, [22]),
        (31, 21, [31]),
        (32, 21, [16, 16]),
        (66, 21, [22, 22, 22]),
        (7, 1, [1] * 7),
    ],
)
def test_videos_are_cut_into_blocks_of_about_the_same_size(
    count: int, block: int, sizes: list[int]
) -> None:
    slots = new_slots([video(n) for n in range(count)], rounds=1, block=block, existing=[])
    assert [n // 3 for n in Counter(slot.block for slot in slots).values()] == sizes


def test_a_video_stays_in_its_block_and_new_ones_get_new_blocks() -> None:
    slots = new_slots(VIDEOS[:3], rounds=1, block=2, existing=[])
    more = new_slots(VIDEOS, rounds=2, block=2, existing=slots)
    blocks = {slot.video: slot.block for slot in slots}
    assert {slot.block for slot in more if slot.video not in blocks} == {max(blocks.values()) + 1}
    assert all(slot.block == blocks.get(slot.video, slot.block) for slot in more)


@given(
    rounds=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(sorted),
    videos=st.lists(st.integers(1, 5), min_size=3, max_size=3).map(sorted),
)
def test_growing_appends_a_generation_and_changes_nothing_before(
    rounds: list[int], videos: list[int]
) -> None:
    slots = []
    for r, v in zip(rounds, videos, strict=False):
        before = list(slots)
        slots += new_slots(VIDEOS[:v], rounds=r, block=2, existing=slots)
        assert slots[: len(before)] == before
        assert len({slot.id for slot in slots}) == len(slots) == 3 * r * v
        assert [slot.ordinal for slot in slots] == list(range(len(slots)))


def test_the_order_of_videos_follows_from_the_seed_not_from_the_folder() -> None:
    assert in_order(VIDEOS, 1) == in_order(VIDEOS[::-1], 1)
    assert in_order(VIDEOS, 1) != in_order(VIDEOS, 2)


def test_blocks_hold_their_videos_in_stored_order() -> None:
    slots = new_slots(VIDEOS, rounds=2, block=2, existing=[])
    ids = [video.id for video in VIDEOS]
    seen = [[visit.video for visit in block] for block in blocks_of(slots)]
    assert seen == [ids[:2], ids[2:4], ids[4:]]


def ending(slots: list[Slot]) -> list[str]:
    return [slot.id[13:] for slot in slots]


def test_a_failed_slot_takes_the_rounds_after_it_along() -> None:
    slots = new_slots(VIDEOS[:1], rounds=3, block=21, existing=[])
    again = superseding_slots({f"{VIDEOS[0].id}-p2-r1"}, existing=slots)
    assert ending(again) == ["p2-r1~1", "p2-r2~1"]
    assert [(slot.ordinal, slot.generation) for slot in again] == [(9, 1), (10, 1)]
    lineup = Lineup([*slots, *again])
    assert lineup.current(f"{VIDEOS[0].id}-p2-r2") == f"{VIDEOS[0].id}-p2-r2~1"
    assert lineup.generations(f"{VIDEOS[0].id}-p2-r2") == (0, 1)
    assert lineup.generations(f"{VIDEOS[0].id}-p2-r0") == (0,)
    assert lineup.generations(VIDEOS[0].id) == (0, 1)


def test_nothing_is_left_of_a_repaired_run_in_which_all_is_settled() -> None:
    slots = new_slots(VIDEOS[:1], rounds=1, block=21, existing=[])
    again = superseding_slots({slots[0].id}, existing=slots)
    repaired = Lineup([*slots, *again])
    assert [*Lineup(repaired.slots.without(repaired.ids)).slots] == []


def test_nothing_failed_is_nothing_superseded() -> None:
    slots = new_slots(VIDEOS, rounds=2, block=2, existing=[])
    assert superseding_slots(set(), existing=slots) == []


@given(st.lists(st.sets(st.integers(0, 11)), min_size=1, max_size=4))
def test_of_each_place_one_slot_counts_however_often_it_was_played(
    failures: list[set[int]],
) -> None:
    slots = new_slots(VIDEOS[:2], rounds=2, block=1, existing=[])
    blocks = {slot.video: slot.block for slot in slots}
    for failed in failures:
        standing = Lineup(slots).slots
        slots += superseding_slots({standing[place].id for place in failed}, existing=slots)
    lineup = Lineup(slots)
    assert len(lineup.slots) == 12
    assert len({slot.id for slot in slots}) == len(slots)
    assert [slot.ordinal for slot in slots] == list(range(len(slots)))
    assert all(slot.block == blocks[slot.video] for slot in lineup.slots)
    for video in VIDEOS[:2]:
        for persona in (1, 2, 3):
            mine = [s for s in lineup.slots if (s.video, s.persona) == (video.id, persona)]
            by_round = [slot.generation for slot in sorted(mine, key=lambda slot: slot.round)]
            assert by_round == sorted(by_round)
    assert new_slots(VIDEOS[:2], rounds=2, block=1, existing=slots) == []


def spoken(slots: Slots, codes: tuple[str, ...], seed: int = 0) -> list[str | None]:
    """Return the language of each lineage, in stored order."""
    lineup = Lineup(slots)
    languages = LineageLanguages(codes, lineup.lineages, seed=seed)
    return [languages.of(*lineage) for lineage in lineup.lineages()]


@given(
    count=st.integers(1, 40),
    codes=st.integers(1, 7),
    seed=st.integers(0, 9),
    block=st.integers(1, 9),
)
def test_languages_fall_to_equally_many_lineages(
    count: int, codes: int, seed: int, block: int
) -> None:
    videos = [video(number) for number in range(count)]
    names = tuple("abcdefg"[:codes])
    found = spoken(new_slots(videos, rounds=2, block=block, existing=[]), names, seed)
    tally = Counter(found)
    assert len(found) == 3 * count
    assert max(tally[name] for name in names) - min(tally[name] for name in names) <= 1


def test_a_lineage_keeps_its_language_whatever_is_added_to_the_run() -> None:
    first = new_slots(VIDEOS[:3], rounds=2, block=2, existing=[])
    again = first + superseding_slots([first[4].id], existing=first)
    more = again + new_slots(VIDEOS, rounds=4, block=2, existing=again)
    now = spoken(more, ("de", "en", "zh"))
    then = spoken(first, ("de", "en", "zh"))
    assert now[: len(then)] == then
    assert len(now) == 15


def test_languages_follow_the_seed() -> None:
    videos = [video(number) for number in range(12)]
    slots = new_slots(videos, rounds=1, block=21, existing=[])
    drawn = [spoken(slots, ("de", "en"), seed) for seed in range(4)]
    assert len({tuple(map(str, one)) for one in drawn}) == 4
    assert spoken(slots, ("de", "en"), 3) == drawn[3]


def test_a_run_without_languages_draws_none() -> None:
    assert set(spoken(new_slots(VIDEOS, rounds=1, block=21, existing=[]), ())) == {None}
