"""What is left of a run is what nobody was paid for yet, and what was paid is known."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.played import battle, call, play, video
from tests.support.played import slot as slot_of
from tests.support.small_runs import TRIO
from videoautoarena.graph.slot_ids import newcomer_id, slot_id
from videoautoarena.memory.records.records import CallRow, Nonce, Role
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.run.rundir.slots import new_slots, superseding_slots
from videoautoarena.runs.tournament.forecast import newcomers_left, work_left
from videoautoarena.runs.tournament.plan import Whole
from videoautoarena.video.folder.find import Findings

FILM = video()
OTHER = video(b"other", path="other.mp4")
SLOTS = new_slots([FILM, OTHER], rounds=3, block=21, existing=[])
OVER = [slot for slot in SLOTS if slot.video == OTHER.id]
"""Of the other video everything is settled; of the first two rounds of the first persona are."""


def place(persona: int, round_: int, *, of: str = FILM.id) -> str:
    return slot_id(of, persona, round_)


def said(scope: str, role: Role, alias: str, *, ordinal: int = 0, fails: bool = False) -> CallRow:
    end = {"reply": None, "failure": "refused", "failure_kind": "http-400"} if fails else {}
    nonce = Nonce(scope=scope, role=role, ordinal=ordinal)
    return call(scope, nonce=nonce, alias=alias, model=f"offline:{alias}", cost_usd=0.25, **end)


CALLS = (
    said(OTHER.id, "examiner", "examiner"),
    said(OTHER.id, "persona", "examiner"),
    *(said(slot.id, "contestant", "hawk") for slot in OVER),
    said(FILM.id, "examiner", "examiner"),
    said(FILM.id, "persona", "examiner", fails=True),
    said(place(1, 0), "questioner", "examiner"),
    said(place(1, 0), "contestant", "hawk"),
    said(place(1, 1), "contestant", "hawk"),
    said(place(1, 2), "evolver", "examiner"),
    said(place(1, 2), "evolver", "examiner", ordinal=2),
    said(place(1, 2), "grader", "examiner"),
    said(place(2, 0), "contestant", "hawk"),
    said(place(2, 0), "contestant", "owl", ordinal=2, fails=True),
    said(place(3, 0), "contestant", "hawk"),
    said(place(3, 1), "contestant", "owl"),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    settled = {place(1, 0), place(1, 1), *(slot.id for slot in OVER)}
    battles = [battle(slot) for slot in SLOTS if slot.id in settled]
    play(tmp_path, battles, videos=[FILM, OTHER], slots=SLOTS, calls=CALLS)
    with Store.open(tmp_path / RUN_FILE, write=True) as opened:
        yield opened


def config(**changed: object) -> RunConfig:
    return resolve(RunRequest(models=TRIO, rounds=3)).config.model_copy(update=changed)


def test_a_run_that_goes_on_has_left_what_is_open_and_no_call_that_was_answered(
    store: Store,
) -> None:
    left = work_left(config(), store)
    assert (left.first, left.later, left.videos, left.slots) == (2, 5, 1, 7)
    assert left.done == {
        ("examiner", "examiner"): 1,
        ("examiner", "evolver"): 2,
        ("examiner", "grader"): 1,
        ("hawk", "contestant"): 2,
        ("owl", "contestant"): 1,
    }
    assert left.spent_usd == len(CALLS) * 0.25
    assert left.rows == tuple(reversed(CALLS))


def test_what_is_left_knows_the_whole_run_in_which_what_is_played_again_counts_once(
    store: Store,
) -> None:
    left = work_left(config(), store)
    assert left.whole == Whole(models=3, battles=18, videos=2)
    assert left.rounds == 3
    assert work_left(config(), store, failed={place(1, 0)}).whole == left.whole
    assert work_left(config(rounds=4), store).whole == Whole(models=3, battles=24, videos=2)


def test_first_questions_are_told_from_later_ones(store: Store) -> None:
    first = next(slot for slot in SLOTS if slot.id == place(2, 0))
    asyncio.run(store.put_battle(battle(first)))
    left = work_left(config(), store)
    assert (left.first, left.later) == (1, 5)


def test_rounds_and_videos_that_would_be_added_are_left_too(store: Store) -> None:
    longer = work_left(config(rounds=4), store)
    assert (longer.first, longer.later, longer.videos) == (2, 5 + 6, 2)
    assert longer.done[("examiner", "examiner")] == 2
    third = video(b"third", path="third.mp4")
    wider = work_left(config(), store, Findings([FILM, third], [], []))
    assert (wider.first, wider.later, wider.videos) == (2 + 3, 5 + 6, 2)


def test_what_is_played_again_asks_anew_from_its_second_round_on(store: Store) -> None:
    left = work_left(config(), store, failed={place(1, 0)})
    assert (left.first, left.later) == (3, 6)
    # The first question of each persona stands, and so do its answers; what came after does not.
    assert left.done == {
        ("examiner", "examiner"): 1,
        ("examiner", "questioner"): 1,
        ("hawk", "contestant"): 3,
    }


def test_a_newcomer_has_left_what_it_and_its_judge_have_not_said(store: Store) -> None:
    guests = [
        slot_of(FILM, round_, ordinal=len(SLOTS) + round_, generation=1).model_copy(
            update={"id": newcomer_id(place(1, round_), 1)}
        )
        for round_ in (0, 1)
    ]
    store.add_slots(guests)
    asyncio.run(store.put_battle(battle(guests[0], model_a="mole")))
    for row in (said(guest.id, "contestant", "mole") for guest in guests):
        asyncio.run(store.journal.record(row))
    known = config(guests={"mole": (1,)})
    added = guests[1].model_copy(update={"id": newcomer_id(place(1, 0), 2), "generation": 2})
    grown = config(guests={"mole": (1,), "owl": (2,)})
    alone = newcomers_left(known, store)
    assert (alone.slots, alone.guests, alone.videos, alone.newcomer_videos) == (
        1,
        {"mole": 1},
        0,
        1,
    )
    assert alone.done == {("mole", "contestant"): 1}
    assert newcomers_left(grown, store, [added]).guests == Counter(mole=1, owl=1)
    again = superseding_slots({guests[0].id}, existing=store.slots())
    assert newcomers_left(known, store, again).done == {("mole", "contestant"): 2}
    whole = work_left(known, store)
    assert (whole.first, whole.later, whole.guests) == (2, 5, {"mole": 1})
    assert whole.done[("mole", "contestant")] == 1
    assert whole.spent_usd == (len(CALLS) + 2) * 0.25
