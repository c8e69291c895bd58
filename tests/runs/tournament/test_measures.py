"""What calls took is told by sums: within videos, between them, and how little they may say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.ledger import Ledger
from videoautoarena.memory.records.records import Attempt, CallRow, Nonce, Usage
from videoautoarena.runs.tournament.measures import (
    CALL_CV,
    SIZE,
    VIDEO_CV,
    CallCount,
    CallMeasure,
    Spread,
    guessed_sum,
    taken_by,
    vector_of,
    video_of,
    whole_of,
)

OUTPUT = np.array([0.0, 0.0, 0.0, 1.0, 0.0])


def measure(groups: dict[str, list[float]]) -> CallMeasure:
    """Return the measure of calls by the tokens that they wrote about each video."""
    return CallMeasure.of(
        (video, OUTPUT * tokens) for video, said in groups.items() for tokens in said
    )


def test_the_variances_are_those_of_a_textbook_table() -> None:
    """Groups of two: means 2, 4 and 9; within 2, between 2 * 13 with two degrees of freedom."""
    found = measure({"a": [1, 3], "b": [3, 5], "c": [8, 10]})
    assert found.mean @ OUTPUT == 5
    inside, outside = 6 / 3, 52 / 2
    within, between = found._variances(OUTPUT, 5.0)
    assert within == pytest.approx((3 * inside + 5 * (CALL_CV * 5) ** 2) / 8)
    component = (outside - inside) / 2
    assert between == pytest.approx((2 * component + 4 * (VIDEO_CV * 5) ** 2) / 6)


def test_measures_of_two_runs_add_up_to_that_of_both() -> None:
    one = measure({"a": [1, 3], "b": [3, 5]})
    both = one.plus(measure({"c": [8, 10]}))
    whole = measure({"a": [1, 3], "b": [3, 5], "c": [8, 10]})
    assert both.to_json() == whole.to_json()


def test_half_a_measure_says_the_same_with_less_certainty() -> None:
    whole = measure({name: [1.0, 3.0 + k] for k, name in enumerate("abcdef")})
    half = whole.weighed(0.5)
    count = CallCount(20, videos=10)
    (sure, narrow), (same, wide) = (one.sum_of(OUTPUT, count) for one in (whole, half))
    assert sure == pytest.approx(same)
    assert wide.bound90(same) > narrow.bound90(sure)


def test_a_scaled_measure_is_that_of_scaled_calls() -> None:
    factors = np.array([1.0, 1.0, 1.0, 3.0, 1.0])
    scaled = measure({"a": [1, 3], "b": [4]}).scaled(factors)
    assert scaled.to_json() == measure({"a": [3, 9], "b": [12]}).to_json()


def test_calls_about_one_video_say_less_than_calls_about_many() -> None:
    count = CallCount(100, videos=10)
    said = [80.0, 120.0, 100.0, 90.0, 110.0, 95.0, 105.0, 100.0]
    one = measure({"a": said}).sum_of(OUTPUT, count)[1]
    many = measure({str(k): [tokens] for k, tokens in enumerate(said)}).sum_of(OUTPUT, count)[1]
    assert one.shared > 1.5 * many.shared


def test_the_more_calls_are_to_come_the_nearer_the_bound_is_to_what_is_expected() -> None:
    known = measure({str(k): [50.0, 150.0] for k in range(40)})
    above = []
    for calls in (1, 10, 100):
        expected, spread = known.sum_of(OUTPUT, CallCount(calls, videos=calls))
        above.append(spread.bound90(expected) / expected)
    assert above == sorted(above, reverse=True)
    assert above[0] > 1.4
    assert above[-1] < 1.15


def test_a_bound_is_the_quantile_of_a_log_normal_distribution() -> None:
    rng = np.random.default_rng(1)
    deviation = math.sqrt(math.log1p(0.5**2))
    drawn = rng.lognormal(math.log(10) - deviation**2 / 2, deviation, 200_000)
    assert Spread(shared=5.0).bound90(10.0) == pytest.approx(np.quantile(drawn, 0.9), rel=0.01)
    assert Spread().bound90(10.0) == 10.0
    assert Spread(1.0, 1.0).bound90(0.0) == 0.0


def test_one_measured_call_is_a_measure_with_a_wide_bound() -> None:
    expected, spread = measure({"a": [100.0]}).sum_of(OUTPUT, CallCount(10, videos=5))
    assert expected == 1_000
    assert 1_300 < spread.bound90(expected) < 2_500


def test_a_guess_is_as_wide_as_what_fails_if_its_hope_does() -> None:
    (expected, near), (same, far) = (
        guessed_sum(1.0, CallCount(100), most=most) for most in (1.0, 2.0)
    )
    assert expected == same == 100
    assert far.shared == pytest.approx(2 * near.shared)


def test_what_a_call_took_holds_all_its_tries_and_waits() -> None:
    usage = Usage(input_tokens=100, output_tokens=7, cached_tokens=60, written_tokens=30)
    tried = Attempt(kind="empty", reason="", waited_s=2.0, usage=usage)
    row = CallRow(
        key="k",
        nonce=Nonce(scope="0123456789ab-p1-r0", role="judge"),
        model="openai:x",
        alias="x",
        endpoint="h",
        prompt="",
        reply="yes",
        usage=usage,
        latency_s=3.0,
        attempts=(tried,),
    )
    found = taken_by(row)
    assert found is not None
    assert found.tolist() == [20, 120, 60, 14, 5]
    assert taken_by(row.model_copy(update={"usage": Usage(output_tokens=3)})) is None


def test_more_cached_tokens_than_there_were_are_no_negative_ones() -> None:
    usage = Usage(input_tokens=10, output_tokens=0, cached_tokens=50, written_tokens=50)
    assert vector_of(usage, 0.0).tolist() == [0, 10, 0, 0, 0]


def test_the_video_of_a_scope_is_found_in_it() -> None:
    video = "0123456789ab"
    scopes = (video, f"{video}-p1-r0", f"trial:swap:{video}-p2-r1:ab", f"tag:{video}-p1-r0:owl")
    assert {video_of(scope) for scope in scopes} == {video}
    assert video_of("topics:questions") == "topics"


def test_symmetric_sums_come_back_from_their_upper_half() -> None:
    rows = Ledger(("a", "b"), "e", {}, "h").run(2, 1, name=1)
    found = CallMeasure.of(
        ("v", taken) for row in rows for taken in (taken_by(row),) if taken is not None
    )
    upper = found.to_json()["products"]
    assert len(upper) == SIZE * (SIZE + 1) // 2
    assert np.array_equal(whole_of(upper), found.products)
