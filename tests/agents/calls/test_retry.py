"""What a failure means, and how long to wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.calls.retry import fault_of, pause_s


def error_with(**facts: object) -> Exception:
    error = Exception("it failed")
    for name, value in facts.items():
        setattr(error, name, value)
    return error


def response(**headers: str) -> object:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return type("Response", (), {"headers": named})()


def test_a_status_on_the_cause_counts() -> None:
    error = error_with(__cause__=error_with(code=429, response=response(retry_after="1.5")))
    fault = fault_of(error)
    assert fault is not None
    assert (fault.kind, fault.is_transient, fault.hint_s) == ("http-429", True, 1.5)


def test_a_status_on_the_response_alone_counts() -> None:
    answer = response(retry_after="7")
    answer.status_code = 429  # type: ignore[attr-defined]
    fault = fault_of(error_with(response=answer))
    assert fault is not None
    assert (fault.kind, fault.hint_s) == ("http-429", 7.0)


def test_whatever_a_chat_model_raises_that_is_not_known_here_is_its_own() -> None:
    assert fault_of(error_with()) is None
    fault = fault_of(error_with(), is_foreign=True)
    assert fault is not None
    assert (fault.kind, fault.is_transient) == ("provider", False)


def test_a_cause_that_leads_back_to_itself_ends() -> None:
    error = error_with()
    error.__cause__ = error
    assert fault_of(error) is None


def test_a_word_for_a_code_is_no_status() -> None:
    assert fault_of(error_with(code="insufficient_quota")) is None


def test_retry_after_may_be_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    fault = fault_of(error_with(status_code=503, response=response(retry_after=date)))
    assert fault is not None
    assert fault.hint_s == pytest.approx(60, abs=5)


@pytest.mark.parametrize("value", ["soon", "", "-", "Mon, 99 Foo 2026", "1e9", "nan"])
def test_a_retry_after_that_says_nothing_is_passed_over(value: str) -> None:
    fault = fault_of(error_with(status_code=429, response=response(retry_after=value)))
    assert fault is not None
    assert fault.hint_s is None


def test_a_date_long_past_means_soon() -> None:
    fault = fault_of(
        error_with(
            status_code=429, response=response(retry_after="Fri, 01 Jan 2021 00:00:00 -0000")
        )
    )
    assert fault is not None
    assert 0.05 <= pause_s(0, "key", tries=1, hint_s=fault.hint_s) <= 0.1


@given(st.integers(0), st.text(), st.integers(1, 6), st.none() | st.floats(0, 1e9))
def test_no_pause_is_longer_than_two_minutes(
    seed: int, key: str, tries: int, hint: float | None
) -> None:
    assert 0.0 <= pause_s(seed, key, tries=tries, hint_s=hint) <= 120.0
