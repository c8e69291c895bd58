from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.latency import Calls, calls_of, least_s
from videoautoarena.memory.records.records import Nonce, Role


def chains(*lengths: int) -> Calls:
    calls = Calls()
    for length in lengths:
        after: list[int] = []
        for _ in range(length):
            after = calls.add(1, after)
    return calls


def nonces(scope: str, *roles: Role) -> list[Nonce]:
    return [Nonce(scope=scope, role=role, ordinal=k) for k, role in enumerate(roles)]


def test_three_chains_of_two_calls_take_three_calls_time_on_two_places() -> None:
    assert least_s(chains(2, 2, 2), places=2, call_s=0.5) == pytest.approx(1.5)


def test_a_chain_takes_as_long_as_its_calls_however_many_places_there_are() -> None:
    assert least_s(chains(4, 1), places=9, call_s=1.0) == 4.0
    assert chains(4, 1).longest == 4


def test_nothing_takes_no_time() -> None:
    assert least_s(Calls(), places=3, call_s=1.0) == 0.0
    assert Calls().longest == 0


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(1, 6))
def test_no_schedule_is_shorter_than_its_calls_or_its_longest_chain(
    lengths: list[int], places: int
) -> None:
    least = least_s(chains(*lengths), places=places, call_s=1.0)
    assert least >= max(max(lengths), sum(lengths) / places)
    assert least <= sum(lengths)


def test_answers_stand_side_by_side_and_everything_else_waits_its_turn() -> None:
    video = nonces("v", "examiner", "persona")
    first = nonces("v-p1-r0", "questioner", "contestant", "contestant", "judge")
    second = nonces("v-p1-r1", "evolver", "grader", "contestant", "contestant", "judge", "judge")
    calls = calls_of([*second, *first, *video])
    assert calls.longest == 2 + 3 + 4
    assert least_s(calls, places=2, call_s=1.0) == 9.0
    assert least_s(calls, places=1, call_s=1.0) == 2 + 4 + 6


def test_the_users_of_a_video_wait_for_its_personas_alone() -> None:
    slots = [nonces(f"v-p{p}-r0", "questioner", "contestant", "judge") for p in (1, 2, 3)]
    calls = calls_of([*nonces("v", "examiner", "persona"), *(n for slot in slots for n in slot)])
    assert least_s(calls, places=3, call_s=1.0) == 5.0
