"""Refusals for no reason of ours: when they are believed to be noise, and until when."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.weather import Weather, endure
from videoautoarena.agents.limits.rate_limit import (
    TUNING,
    AdaptiveLimit,
    Outcome,
    RefusalNoise,
    SentTry,
)


def send(
    noise: RefusalNoise, outcomes: str, *, places: float = 8.0, calm: float = 32.0, epoch: int = 0
) -> list[SentTry]:
    """Send a try for each letter, all of them after so many cuts.

    A "." is taken, an "x" refused, of a "?" nothing is known, and a "-" stays under way.
    """
    ends: dict[str, Outcome] = {".": "taken", "x": "refused", "?": "unknown"}
    tries = []
    for letter in outcomes:
        sent = SentTry(epoch, 0.0, places, calm)
        noise.enter(sent)
        if letter in ends:
            noise.leave(sent, ends[letter], 0.1)
        tries.append(sent)
    return tries


def noisy(share: float = 0.1) -> RefusalNoise:
    noise = RefusalNoise()
    send(noise, ("." * int(1 / share - 0.5) + "x") * 6)
    assert noise.find(0.0) is not None
    return noise


def test_four_refusals_in_forty_calls_after_cuts_are_a_noise_of_a_tenth() -> None:
    noise = RefusalNoise()
    send(noise, "...", places=32.0)
    send(noise, ("." * 10 + "x") * 4, places=TUNING.after_cut_share * 32.0, calm=30.0)
    assert noise.find(0.0) == (32.0, 32.0)
    assert noise.share == 0.1


def test_a_try_under_way_counts_as_taken_and_a_time_out_as_nothing() -> None:
    noise = RefusalNoise()
    send(noise, ("..-..?-...-" + "x?x") * 4)
    assert noise.find(0.0) is not None
    assert noise.share == 0.1


def test_noise_that_is_known_is_found_again_only_where_it_is_half_as_much_more() -> None:
    noise = noisy()
    assert noise.find(1.0) is None
    send(noise, "....x" * 12)
    assert noise.find(1.0) is not None


def test_refusals_of_calls_at_full_places_alone_show_no_noise() -> None:
    noise = RefusalNoise()
    send(noise, ("." * 10 + "x") * 20, places=32.0)
    send(noise, "." * 40)
    assert noise.find(0.0) is None


def test_a_storm_is_no_noise() -> None:
    noise = RefusalNoise()
    send(noise, "." * 100 + "x" * 30 + "." * 100)
    assert noise.find(0.0) is None


def test_more_than_a_third_is_no_noise() -> None:
    noise = RefusalNoise()
    send(noise, ".x" * 20)
    assert noise.find(0.0) is None


def test_what_is_as_rare_as_noise_is_explained_and_a_run_is_not() -> None:
    noise = noisy()
    assert noise.explains(send(noise, "..........x", epoch=1)[-1], 1.0)
    assert not noise.explains(send(noise, "xxxxx", epoch=1)[-1], 1.0)


def test_what_is_refused_later_makes_no_refusal_worse() -> None:
    noise = noisy()
    first, *_ = send(noise, "x" * 6, epoch=1)
    assert noise.explains(first, 1.0)


def test_nothing_is_explained_while_no_noise_is_known() -> None:
    noise = RefusalNoise()
    assert not noise.explains(send(noise, "...x")[-1], 0.0)


def test_noise_is_forgotten_after_a_while_until_it_shows_again() -> None:
    noise = noisy()
    assert noise.explains(send(noise, "....x")[-1], TUNING.trust_s)
    assert not noise.explains(send(noise, "....x")[-1], TUNING.trust_s + 1)
    assert noise.share == 0.0
    assert noise.find(TUNING.trust_s + 1) is not None
    assert noise.explains(send(noise, "....x")[-1], 2 * TUNING.trust_s)


def test_a_try_that_is_kept_longer_than_refusals_take_parts_two_of_them() -> None:
    noise = RefusalNoise()
    noise.enter(SentTry(0, 0.0, 8.0, math.inf))
    refused = SentTry(0, 0.0, 8.0, math.inf)
    noise.enter(refused)
    noise.leave(refused, "refused", 0.1)
    assert not noise.is_between(0, 0.15)
    assert noise.is_between(0, 0.25)
    assert not noise.is_between(1, 0.25)


def test_refusals_take_as_long_as_the_slowest_of_late_and_time_outs_say_nothing_of_it() -> None:
    noise = RefusalNoise()
    slow, quick, silent, kept = (SentTry(0, 0.0, 8.0, math.inf) for _ in range(4))
    for sent in (slow, quick, silent, kept):
        noise.enter(sent)
    noise.leave(slow, "refused", 1.0)
    noise.leave(quick, "refused", 0.1)
    noise.leave(silent, "unknown", 300.0)
    assert not noise.is_between(0, 1.7)
    assert noise.is_between(0, 1.9)


OUTCOMES = st.lists(st.sampled_from(["taken", "taken", "taken", "refused", "unknown"]))


@given(st.integers(1, 64), OUTCOMES)
def test_whatever_comes_back_a_gate_stays_within_bounds_and_does_the_same_again(
    ceiling: int, outcomes: list[Outcome]
) -> None:
    def places() -> list[int]:
        gate = AdaptiveLimit(ceiling)
        now_s = 0.0
        found = []
        for outcome in outcomes * 8:
            now_s = max(now_s, gate.opens_at(now_s))
            gate.leave(gate.enter(now_s), outcome, now_s + 1.0)
            assert 1 <= gate.places <= ceiling
            assert 0.0 <= gate.noise.share <= 0.35
            found.append(gate.places)
        return found

    assert places() == places()


@pytest.mark.parametrize(
    "weather",
    [
        pytest.param(Weather(concurrent=16, every_s=2.0, hint_s=89.0), marks=pytest.mark.slow),
        Weather(concurrent=12, unlucky=0.1, hint_s=89.0),
        pytest.param(Weather(concurrent=16, unlucky=0.05, hint_s=1.0), marks=pytest.mark.slow),
    ],
    ids=["one every 2 s", "a tenth", "a twentieth"],
)
def test_a_server_that_refuses_for_no_reason_is_used_nearly_as_fully(weather: Weather) -> None:
    fared = endure(weather, seed=5, until_s=100.0, lineages=2 * int(weather.concurrent))
    # Where no refusal is taken for noise, it is two thirds.
    assert fared.share >= 0.85
    assert fared.failed == 0
