"""Options are drawn first and all pass the same checks; the key comes last, each as likely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.support.footage import alike_footage
from videoautoarena.agents.offline.language.tasks import fits, sought
from videoautoarena.agents.offline.vision.frame_features import FrameMeasurement
from videoautoarena.agents.prompting.fences import offered, with_options
from videoautoarena.runs.making.tasks.items import (
    EDGE_S,
    GAP_S,
    TRIES,
    DraftItem,
    Drawn,
    ItemRequest,
    draw_items,
)
from videoautoarena.runs.making.tasks.kinds import CUT_KINDS, OPTIONS, Kind
from videoautoarena.runs.making.tasks.options import FOREIGN, MARGIN, Bank, Stretch
from videoautoarena.runs.making.tasks.sight import LOOKS_A_SECOND, Footage, Looked
from videoautoarena.video.decode.index import Index
from videoautoarena.video.synth.timeline import lay_out

SEEDS = range(2)
EMPTY = np.zeros(0, np.float32)


@pytest.fixture(scope="session")
def drawn(bank: Bank) -> list[Drawn]:
    """What two seeds give."""
    return [draw_items(bank, ItemRequest(n=12, seconds=(15, 20), seed=seed)) for seed in SEEDS]


@pytest.fixture(scope="session")
def items(drawn: list[Drawn]) -> list[DraftItem]:
    found = [item for one in drawn for item in one.items]
    assert {item.kind for item in found} == set(CUT_KINDS)
    assert len(found) == 12 * len(SEEDS)
    return found


def glances(footage: Footage, shape: float, rows: Sequence[int]) -> list[FrameMeasurement]:
    """Return what was seen of a video, frame by frame."""
    luma, shares, histograms = footage.seen[shape]
    thumb = EMPTY.astype(np.float16)
    return [
        FrameMeasurement(float(luma[row]), 0.0, shares[row], histograms[row], EMPTY, thumb)
        for row in rows
    ]


def own_frames(stretch: Stretch, shape: float) -> list[FrameMeasurement]:
    rows = range(stretch.row, stretch.row + stretch.rows)
    return glances(stretch.footage, shape, rows)


def ground_frames(item: DraftItem, bank: Bank) -> list[FrameMeasurement]:
    """Return every look at the film's ground, found again from its plan."""
    by_video = {one.video.sha256: one for one in bank.footage}
    found: list[FrameMeasurement] = []
    for excerpt in item.plan.ground:
        first = round(excerpt.start_s * LOOKS_A_SECOND)
        last = first + int(excerpt.seconds * LOOKS_A_SECOND)
        found += glances(by_video[excerpt.video], item.ground.shape, range(first, last + 1))
    return found


def likeness(text: str, seen: Sequence[FrameMeasurement]) -> list[float]:
    """Return how well each frame fits a description, 0 to 1."""
    shares = np.stack([one.shares for one in seen])
    found: list[float] = fits(text, np.array([one.luma for one in seen]), shares).tolist()
    return found


@pytest.fixture(scope="session")
def alike() -> tuple[Bank, list[DraftItem]]:
    """Footage that is hard to tell apart, and what a seed makes of it."""
    bank = Bank(alike_footage())
    return bank, draw_items(bank, ItemRequest(n=12, seconds=(15, 20))).items


def test_every_option_passes_the_same_checks_whether_it_is_the_key_or_not(
    items: list[DraftItem], bank: Bank
) -> None:
    assert {item.kind for item in items} == set(CUT_KINDS)
    check_options(items, bank)


@pytest.mark.slow
def test_so_it_does_where_most_stretches_are_like_others(
    alike: tuple[Bank, list[DraftItem]],
) -> None:
    bank, items = alike
    assert {item.kind for item in items} == set(CUT_KINDS)
    check_options(items, bank)


def check_options(items: list[DraftItem], bank: Bank) -> None:
    for item in items:
        shape = item.ground.shape
        ground = ground_frames(item, bank)
        for stretch in item.stretches:
            own = own_frames(stretch, shape)
            worst = min(likeness(stretch.text, own))
            others = [one for one in item.stretches if one is not stretch]
            strange = [*ground, *(seen for one in others for seen in own_frames(one, shape))]
            assert max(likeness(stretch.text, strange)) <= worst - MARGIN + 1e-6
            mean = np.mean([one.histogram for one in own], axis=0)
            assert min(0.5 * np.abs(one.histogram - mean).sum() for one in ground) >= FOREIGN - 1e-6
            cuts = stretch.footage.cuts[stretch.row : stretch.row + stretch.rows - 1]
            assert not cuts.any()
            assert stretch.excerpt.video not in {one.video for one in item.plan.ground}


@pytest.fixture(scope="session")
def many(bank: Bank) -> dict[Kind, list[DraftItem]]:
    """Three hundred items of each kind, of 25 seeds."""
    found: dict[Kind, list[DraftItem]] = {}
    for kind in CUT_KINDS:
        wishes = (ItemRequest((kind,), n=12, seconds=(15,), seed=seed) for seed in range(100, 125))
        found[kind] = [item for wish in wishes for item in draw_items(bank, wish).items]
        assert len(found[kind]) == 300
    return found


def evenness(items: Sequence[DraftItem]) -> float:
    """Return how likely keys are so uneven by chance, if every place is as likely."""
    keys = Counter(item.key for item in items)
    return float(chisquare([keys[place] for place in range(OPTIONS)]).pvalue)


def test_every_place_of_the_key_is_as_likely_in_a_set(items: list[DraftItem]) -> None:
    assert evenness(items) > 0.001


@pytest.mark.slow
def test_every_place_of_the_key_is_as_likely(many: dict[Kind, list[DraftItem]]) -> None:
    every = [item for items in many.values() for item in items]
    assert min(map(evenness, [*many.values(), every])) > 0.001


@pytest.mark.slow
def test_what_is_set_in_may_lie_in_any_part_of_a_film(many: dict[Kind, list[DraftItem]]) -> None:
    for items in many.values():
        places = [place for item in items for place in free_places(item)]
        of_each_tenth = np.histogram(places, 10, (0.0, 1.01))[0] / len(places)
        assert of_each_tenth == pytest.approx(0.1, abs=0.03)


@pytest.mark.slow
def test_a_ground_may_begin_anywhere_in_its_video(many: dict[Kind, list[DraftItem]]) -> None:
    starts = {(one.video, one.start_s) for item in many["needle"] for one in item.plan.ground}
    assert len(starts) > 4 * len({video for video, _ in starts})


def test_two_counts_are_told_apart_by_what_they_count(bank: Bank) -> None:
    # Of six numbers there are but fifteen sets of four.
    items = draw_items(bank, ItemRequest(("count",), n=24, seconds=(15,))).items
    assert len(items) == 24
    subjects: dict[frozenset[str], set[str]] = {}
    for item in items:
        subjects.setdefault(frozenset(item.options), set()).add(item.stretches[0].text)
    assert max(map(len, subjects.values())) > 1


def test_nothing_is_asked_twice_in_a_set(drawn: list[Drawn]) -> None:
    for one in drawn:
        for kind in ("needle", "order"):
            sets = [frozenset(item.options) for item in one.items if item.kind == kind]
            assert len(set(sets)) == len(sets)
        counted = [
            (item.stretches[0].text, frozenset(item.options))
            for item in one.items
            if item.kind == "count"
        ]
        assert len(set(counted)) == len(counted)


def test_what_is_set_in_is_what_the_key_says(items: list[DraftItem]) -> None:
    for item in items:
        offer = offered(with_options(item.question, list(item.options)))
        assert offer is not None
        wanted = sought(offer)
        assert wanted is not None
        assert wanted.kind == item.kind
        assert len(set(item.options)) == OPTIONS
        if item.kind == "count":
            assert wanted.counts[item.key] == len(item.plan.probes)
            assert len(set(item.texts)) == 1
        else:
            assert item.options[item.key] == "; then ".join(item.texts)
        by_text = {one.text: one.excerpt for one in item.stretches}
        for probe, text in zip(item.plan.probes, item.texts, strict=True):
            assert probe.model_dump(exclude={"before"}) == by_text[text].model_dump()


def test_the_length_of_a_film_does_not_tell_the_key(items: list[DraftItem]) -> None:
    for item in items:
        (length_s,) = {probe.seconds for probe in item.plan.probes}
        shortest, longest = CUT_KINDS[item.kind].lengths_s
        assert shortest <= length_s <= longest
        most = max(map(int, item.options)) if item.kind == "count" else len(item.plan.probes)
        assert item.film_s == pytest.approx(item.seconds + most * length_s)


@pytest.mark.parametrize("rate", [Fraction(25), Fraction(25, 2), Fraction(179, 6)])
def test_to_the_frame_neither_and_a_ground_of_many_pieces_has_room_for_all(
    looked: Looked, rate: Fraction
) -> None:
    # At the first half of the stretches are no whole number of frames, at the others the ground is
    # none; of the last, which a phone recorded, a video's `fps` knows three digits.
    footage = [replace(one, rate=rate) for one in looked.footage]
    indexes = {
        one.video.sha256: Index(
            tuple(range(round(one.video.duration_s * rate))), (0,), 1 / rate, rate
        )
        for one in footage
    }
    for seed in range(2):
        wish = ItemRequest(("count", "needle"), n=8, seconds=(15, 600), seed=seed)
        for item in draw_items(Bank(footage), wish).items:
            most = max(map(int, item.options)) if item.kind == "count" else 1
            of_each = round(item.plan.probes[0].seconds * rate)
            whole = round(item.seconds * rate)
            assert lay_out(item.plan, indexes).frames == whole + most * of_each


def test_what_is_set_in_stands_apart_and_never_at_an_end(items: list[DraftItem]) -> None:
    for item in items:
        fps = item.ground.rate
        places = [probe.before / fps for probe in item.plan.probes]
        assert min(places) >= EDGE_S - 1 / fps
        assert max(places) <= item.ground_s - EDGE_S + 1 / fps
        assert all(b - a >= GAP_S - 1 / fps for a, b in pairwise(places))


def test_the_rungs_of_a_ladder_differ_in_their_length_alone(bank: Bank) -> None:
    lengths = (15, 30, 90)
    drawn = draw_items(bank, ItemRequest(n=3, seconds=(30, 90, 15), is_ladder=True))
    assert (len(drawn.items), drawn.wanted) == (9, 9)
    check_options(drawn.items, bank)
    for at in range(0, 9, 3):
        rungs = drawn.items[at : at + 3]
        assert [(one.seconds, one.rung) for one in rungs] == list(
            zip(lengths, (1, 2, 3), strict=True)
        )
        assert len({(i.ladder, i.question, i.options, i.key, i.texts) for i in rungs}) == 1
        assert (
            len({tuple(p.model_copy(update={"before": 0}) for p in i.plan.probes) for i in rungs})
            == 1
        )
        longest = rungs[-1]
        for one in rungs:
            check_beginning(one, longest)
            # Where each stands in the room that there is, to a frame.
            for mine, theirs in zip(free_places(one), free_places(longest), strict=True):
                assert mine == pytest.approx(theirs, abs=1.1 / one.ground.rate / room_s(one))
    assert len({item.ladder for item in drawn.items}) == 3


def check_beginning(item: DraftItem, longest: DraftItem) -> None:
    """Check that a film's ground is the beginning of another's."""
    *whole, last = item.plan.ground
    same = longest.plan.ground[len(whole)]
    assert whole == list(longest.plan.ground[: len(whole)])
    assert (last.video, last.start_s) == (same.video, same.start_s)
    assert last.seconds <= same.seconds
    assert item.ground_s - item.seconds == pytest.approx(longest.ground_s - longest.seconds)


def room_s(item: DraftItem) -> float:
    return item.ground_s - 2 * EDGE_S - (len(item.plan.probes) - 1) * GAP_S


def free_places(item: DraftItem) -> list[float]:
    """Return where each stretch stands in the room that gaps and ends leave, 0 to 1."""
    return [
        (probe.before / item.ground.rate - EDGE_S - place * GAP_S) / room_s(item)
        for place, probe in enumerate(item.plan.probes)
    ]


def test_an_order_is_about_as_many_as_were_asked_for(bank: Bank) -> None:
    for low, high in ((3, 3), (4, 5)):
        wish = ItemRequest(("order",), n=12, seconds=(15,), probes=(low, high))
        found = {len(item.plan.probes) for item in draw_items(bank, wish).items}
        assert found == set(range(low, high + 1))


def test_the_same_seed_draws_the_same_items_in_whatever_order_the_videos_come(bank: Bank) -> None:
    wish = ItemRequest(n=9, seconds=(15,), seed=3)

    def plans(bank: Bank) -> list[tuple[str, int, str]]:
        return [(i.question, i.key, i.plan.sha256) for i in draw_items(bank, wish).items]

    assert plans(bank) == plans(Bank(bank.footage[::-1]))
    other = draw_items(bank, ItemRequest(n=9, seconds=(15,), seed=4)).items
    assert plans(bank) != [(i.question, i.key, i.plan.sha256) for i in other]


@pytest.mark.parametrize("kind", ["needle", pytest.param("count", marks=pytest.mark.slow)])
def test_a_folder_that_gives_no_more_is_said_to_be_exhausted(bank: Bank, kind: Kind) -> None:
    few = Bank(bank.footage[:5])
    drawn = draw_items(few, ItemRequest((kind,), n=400, seconds=(15,)))
    (cell,) = drawn.cells
    assert len(drawn.items) == cell.made < cell.wanted == 400
    assert cell.is_exhausted
    assert sum(cell.why.values()) == TRIES


def test_one_video_gives_no_item(bank: Bank) -> None:
    assert draw_items(Bank(bank.footage[:1]), ItemRequest(n=3)).items == []
    assert draw_items(Bank([]), ItemRequest(n=3)).items == []
