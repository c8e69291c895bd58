"""How a run stands after its events: what is in flight, what was settled, what calls came to."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.support.events import begun, call, judged, slots
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    CallsDraining,
    RunEnded,
    VideoWatched,
)
from videoautoarena.runs.console.progress.snapshot import KEPT_WHOLE, TIMED, RunSnapshot


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def standing(*events: object, clock: Clock | None = None) -> RunSnapshot:
    stands = RunSnapshot(clock or Clock())
    for event in (begun(), *events):
        stands.hear(event)  # type: ignore[arg-type]
    return stands


def test_a_video_is_in_flight_until_its_lineages_are() -> None:
    watched = standing(VideoWatched("v0"), call("started", "v0", "examiner"))
    assert list(watched.flights) == ["v0"]
    watched.hear(call("finished", "v0", "persona"))
    watched.hear(call("started", "v0-p2-r0", "questioner"))
    assert list(watched.flights) == ["v0-p2"]


def test_both_contestants_speak_at_once_and_fall_silent_one_by_one() -> None:
    seats = [call("started", "v0-p1-r0", "contestant", ordinal=n) for n in (0, 2)]
    stands = standing(*seats)
    assert stands.speaking == 2
    stands.hear(call("finished", "v0-p1-r0", "contestant", ordinal=2))
    assert stands.speaking == 1
    assert stands.flights["v0-p1"].after == "contestant"


def test_a_lineage_lands_with_its_last_battle() -> None:
    stands = standing(call("started", "v0-p1-r0", "judge"), BattleSettled(judged("v0-p1-r0")))
    assert stands.flights["v0-p1"].round == 1
    stands.hear(BattleSettled(judged("v0-p1-r1")))
    assert stands.flights == {}
    assert (stands.done, stands.total) == (2, 12)


def test_a_call_that_comes_after_its_battle_takes_off_nothing() -> None:
    stands = standing(BattleSettled(judged("v0-p1-r1")), BattleSettled(judged("v0-p1-r0")))
    stands.hear(call("finished", "v0-p1-r1", "judge"))
    assert stands.flights == {}


def test_voids_of_a_whole_video_take_it_out_of_flight() -> None:
    lost = [BattleSettled(judged(f"v0-p{p}-r{r}", "void")) for p in (1, 2, 3) for r in (0, 1)]
    stands = standing(VideoWatched("v0"), *lost)
    assert (stands.flights, stands.voids) == ({}, 6)


def test_calls_about_a_settled_video_are_those_of_no_video_being_read() -> None:
    ids = [f"v0-p{p}-r{r}" for p in (1, 2, 3) for r in (0, 1)]
    late = RunSnapshot(Clock())
    late.hear(begun(battles=[judged(id_) for id_ in ids]))
    for scope, role in (("v0", "examiner"), ("v0", "persona"), ("v1", "examiner")):
        late.hear(call("finished", scope, role))
    assert list(late.flights) == ["v1"]
    assert late.calls == 3


def test_a_video_of_which_a_battle_is_settled_is_not_being_read() -> None:
    late = RunSnapshot(Clock())
    late.hear(begun(battles=[judged("v0-p1-r0")]))
    late.hear(call("finished", "v0", "examiner"))
    late.hear(call("finished", "v0-p1-r0", "judge"))
    assert late.flights == {}


@pytest.mark.parametrize("scope", ["trial:rejudge:v0-p1-r0:owl", "tag:v0:owl", "tag:topic:v0"])
def test_calls_of_a_job_about_the_run_are_counted_and_in_no_flight(scope: str) -> None:
    stands = standing(call("finished", scope, "judge"))
    assert (stands.flights, stands.calls) == ({}, 1)


def test_a_battle_counts_once_and_a_forfeit_is_no_void() -> None:
    forfeit = BattleSettled(judged("v0-p1-r0", "forfeit_b"))
    assert (standing(forfeit, forfeit).done, standing(forfeit).forfeits) == (1, 1)


def test_a_recalled_call_is_counted_apart_and_costs_no_token() -> None:
    stands = standing(call("finished", "v0", "examiner"), call("recalled", "v0", "persona"))
    assert (stands.calls, stands.recalled, stands.tokens_in, stands.tokens_out) == (1, 1, 100, 10)


def test_a_call_that_is_tried_again_pauses() -> None:
    stands = standing(call("started", "v0", "examiner"), call("retry", "v0", "examiner", seconds=9))
    (voice,) = stands.flights["v0"].voices.values()
    assert (voice.paused_until_s, stands.retries) == (9, 1)


def test_the_time_left_is_told_once_battles_say_how_long_one_takes() -> None:
    clock = Clock()
    stands = standing(clock=clock)
    for n, slot in enumerate(begun().slots[:TIMED]):
        assert stands.left_s is None, n
        clock.now += 10
        stands.hear(BattleSettled(judged(slot.id)))
    assert stands.left_s == 60
    stands.hear(CallsDraining(3))
    assert stands.left_s is None


def test_who_comes_late_tells_the_age_of_the_run_and_the_pace_it_saw_itself() -> None:
    clock = Clock()
    late = RunSnapshot(clock)
    late.hear(begun(3, played_s=600.0))
    clock.now = 12.0
    for n in range(TIMED):
        late.hear(BattleSettled(judged(f"v{n // 3}-p{n % 3 + 1}-r0")))
    assert late.elapsed_s == 612.0
    assert late.left_s == 12.0 / TIMED * (late.total - late.done)


def test_battles_come_back_in_stored_order_and_without_their_words() -> None:
    stands = standing(BattleSettled(judged("v1-p1-r0")), BattleSettled(judged("v0-p1-r0")))
    assert [battle.id for battle in stands.battles()] == ["v0-p1-r0", "v1-p1-r0"]
    assert not hasattr(stands.battles()[0], "question")
    assert [battle.question for battle in stands.latest] == ["What is thrown?"] * 2


def test_what_is_kept_of_a_battle_is_small_however_much_was_said() -> None:
    stands = RunSnapshot()
    stands.hear(begun(50, 1))
    ids = [slot.id for slot in slots(50, 1)]
    words = judged(ids[0])

    def settle(some: list[str]) -> None:
        for number, slot in enumerate(some):
            told = {"id": slot, "answer_a": f"{number} {'word ' * 2000}"}
            stands.hear(BattleSettled(words.model_copy(update=told)))

    settle(ids[:60])  # those whose words are kept, among them
    tracemalloc.start()
    settle(ids[60:])
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert stands.done == 150
    # The latest sixty hold their answers of 10 KB; all that came meanwhile would hold .9 MB.
    assert kept < KEPT_WHOLE * 13_000 + 90 * 400


def test_nothing_is_in_flight_after_the_end() -> None:
    stands = standing(VideoWatched("v0"), RunEnded(True))
    assert (stands.flights, stands.ended) == ({}, True)


def test_what_is_played_again_takes_the_place_of_what_failed() -> None:
    stands = standing(BattleSettled(judged("v0-p1-r0")), BattleSettled(judged("v0-p1-r1", "void")))
    again = [s for s in slots() if s.id != "v0-p1-r1"]
    again.append(slots()[0].model_copy(update={"id": "v0-p1-r1~1", "round": 1, "generation": 1}))
    stands.hear(begun(slots=again, battles=[judged("v0-p1-r0")]))
    assert (stands.done, stands.total, stands.voids) == (1, 12, 0)
    stands.hear(call("started", "v0-p1-r1", "judge"))
    assert stands.flights["v0-p1"].round == 1
    stands.hear(BattleSettled(judged("v0-p1-r1~1")))
    assert (stands.flights, stands.done) == ({}, 2)
