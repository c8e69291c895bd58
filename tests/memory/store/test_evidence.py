"""Labels and trials are kept beside the battles, and never overwritten."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Judging
from videoautoarena.memory.store.evidence import (
    Label,
    LabelSample,
    Trial,
    generation_of,
    standing_trials,
    trial_id,
)
from videoautoarena.memory.store.store import Store


def trial(id_: str, verdict: str = "a") -> Trial:
    said = Judging.model_validate({"judge": "j", "seats": "ab", "verdict": verdict})
    return Trial(id=id_, kind="repeat", video="v", model="offline:judge", judging=said)


def test_labels_come_back_as_they_were_added(path: Path) -> None:
    first = Label(battle="v-p1-r0", labeller="x", verdict="tie_bad", standards={"accuracy": "b"})
    second = Label(battle="v-p1-r0", labeller="y", verdict="a")
    with Store.create(path, {}) as store:
        store.evidence.add_labels([first, second])
    with Store.open(path, write=False) as store:
        assert store.evidence.labels() == [first, second]


def test_a_labellers_second_word_on_a_battle_is_passed_over(path: Path) -> None:
    with Store.create(path, {}) as store:
        store.evidence.add_labels([Label(battle="v-p1-r0", labeller="x", verdict="a")])
        store.evidence.add_labels([Label(battle="v-p1-r0", labeller="x", verdict="b")])
        assert [label.verdict for label in store.evidence.labels()] == ["a"]


def test_trials_come_back_by_their_ids(path: Path) -> None:
    async def put(store: Store) -> None:
        for one in (trial("b"), trial("a"), trial("b", "b")):
            await store.evidence.put_trial(one)

    with Store.create(path, {}) as store:
        asyncio.run(put(store))
        assert store.evidence.trials() == [trial("a"), trial("b")]


def test_a_run_that_is_read_takes_no_evidence(path: Path) -> None:
    Store.create(path, {}).close()
    with (
        Store.open(path, write=False) as store,
        pytest.raises(StoreError, match="opened for reading"),
    ):
        store.evidence.add_labels([Label(battle="v-p1-r0", labeller="x", verdict="a")])


def test_draws_come_back_in_the_order_in_which_they_were_made(path: Path) -> None:
    one = LabelSample(seed=3, of=("v-p1-r0", "w-p1-r0"), chance=0.5, drawn=("w-p1-r0",))
    with Store.create(path, {}) as store:
        store.evidence.add_samples([one, one])
        store.evidence.add_samples([one.model_copy(update={"seed": 4})])
        assert [sample.seed for sample in store.evidence.samples()] == [3, 3, 4]
        assert store.evidence.samples()[0] == one


def test_of_trials_in_one_place_the_last_counts() -> None:
    first = trial("repeat:x:0", "failed")
    again = trial("repeat:x:0~1")
    other = trial("attack:y~2:0")
    assert standing_trials([again, other, first]) == [again, other]
    assert generation_of("repeat:x:0~1") == ("repeat:x:0", 1)
    assert generation_of("attack:y~2:0") == ("attack:y~2:0", 0)
    assert trial_id("repeat:x:0", 1) == "repeat:x:0~1"
