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


def test_a_date_to_come_back_at_is_read_on_the_servers_own_clock() -> None:
    now = datetime(2031, 5, 4, 3, 2, 1, tzinfo=UTC)
    dates = {
        "retry_after": format_datetime(now + timedelta(seconds=42), usegmt=True),
        "date": format_datetime(now, usegmt=True),
    }
    fault = fault_of(error_with(status_code=503, response=response(**dates)))
    assert fault is not None
    assert fault.hint_s == 42.0


def test_a_date_beside_a_clock_that_cannot_be_read_is_read_on_ours() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    answer = response(retry_after=date, date="yesterday")
    fault = fault_of(error_with(status_code=503, response=answer))
    assert fault is not None
    assert fault.hint_s == pytest.approx(60, abs=5)


@pytest.mark.parametrize(
    ("words", "hint_s"),
    [
        ("Please try again in 13.345s.", 13.345),
        ("Please try again in 9m38s.", 578.0),
        ("Try again in 60 seconds.", 60.0),
        ("Please retry after 2 minutes", 120.0),
        ("try again in 250ms", 0.25),
        ("try again in 0h14m3s", 843.0),
        ("try again in a while", None),
        ("try again in 5 months", None),
        ("", None),
    ],
)
def test_where_no_header_says_how_long_to_wait_the_words_may(
    words: str, hint_s: float | None
) -> None:
    fault = fault_of(error_with(status_code=429, body={"message": f"Too busy. {words}"}))
    assert fault is not None
    assert (fault.kind, fault.hint_s) == ("http-429", hint_s)


@pytest.mark.parametrize(
    "words", ["budget has been exceeded", "insufficient_quota", "50 requests per day"]
)
@pytest.mark.parametrize(
    ("wait_s", "nature"), [(None, "quota"), ("901", "quota"), ("900", "transient")]
)
def test_what_is_spent_is_waited_for_where_it_comes_back_soon(
    words: str, wait_s: str | None, nature: str
) -> None:
    answer = response(**({"retry_after": wait_s} if wait_s else {}))
    fault = fault_of(error_with(status_code=429, response=answer, body={"message": words}))
    assert fault is not None
    assert fault.nature == nature


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


class ContextOverflowError(Exception):
    """Stands for LangChain's class, which is known by its name."""


def test_what_a_client_finds_too_long_for_the_model_is_too_large() -> None:
    error = ContextOverflowError("no such words are known here")
    error.status_code = 400  # type: ignore[attr-defined]
    fault = fault_of(error)
    assert fault is not None
    assert (fault.kind, fault.nature) == ("too-large", "too-large")


def test_a_clients_word_for_too_long_says_nothing_of_a_full_minute() -> None:
    error = ContextOverflowError("token limit per minute")
    error.status_code = 429  # type: ignore[attr-defined]
    fault = fault_of(error)
    assert fault is not None
    assert fault.kind == "http-429"


def test_a_cloud_client_that_keeps_its_answer_as_a_dict_is_read() -> None:
    said = {"Code": "ValidationException", "Message": "Input is too long for requested model."}
    error = error_with(response={"Error": said, "ResponseMetadata": {"HTTPStatusCode": 400}})
    fault = fault_of(error)
    assert fault is not None
    assert fault.kind == "too-large"
    assert fault.reason == "HTTP 400: Input is too long for requested model."
