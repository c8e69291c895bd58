"""What a failure means, how long to wait, and what is told of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.retry import LONGEST_REASON, fault_of, pause_s, reply_without_keys, told


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


SECRETS = [
    "Incorrect API key provided: sk-proj-abc***wxyz.",
    "GET http://user:hunter2hunter2@proxy.example/v1 failed",
    "Illegal header value b'Bearer abcdefgh12345678'",
    "{'authorization': 'Basic dXNlcjpwYXNz'}",
    "https://example.org/v1?key=AIzaSyA-123456789012345",
    'x-goog-api-key: "AIzaSyA-123456789012345"',
    "token=ghp_abcdefghijk",
]
PARTS = ("wxyz", "hunter2", "abcdefgh", "dXNlcj", "AIza", "ghp_")


@pytest.mark.parametrize("text", SECRETS)
def test_nothing_that_looks_like_a_key_is_told(text: str) -> None:
    assert not [part for part in PARTS if part in told(text)]


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=8).map(str.strip))
def test_the_key_itself_is_never_told_whatever_it_is(key: str) -> None:
    if len(key) < 8 or key in "[key]" * 3:
        return
    with pytest.MonkeyPatch.context() as env:
        env.setenv("MY_KEY", key)
        assert key not in told(f"the key {key} is refused", key_env="MY_KEY")


def test_of_a_key_that_begins_with_another_nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "abc-123")
    monkeypatch.setenv("GEMINI_API_KEY", "abc-123-rest")
    assert told("refused: abc-123-rest and abc-123") == "refused: [key] and [key]"


@pytest.mark.parametrize(
    "key",
    [
        *("k", "the", "any-word", "EMPTY", "none", "not-needed", "lm-studio", "ollama", "sk-1234"),
        *("no-key-required", "placeholder key", "Not_Needed_Here", "does-not-matter-at-all"),
    ],
)
def test_a_word_that_stands_for_a_key_stays_in_replies_and_is_told_of_no_error(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    reply = f"They look alike: {key} and the rest"
    assert reply_without_keys(reply, "MY_KEY") == reply
    assert "[key]" in told(reply, key_env="MY_KEY")


@pytest.mark.parametrize(
    "key",
    [
        *("sk-planted-first-0123456789", "0123456789ab", "hunter2hunter2", "AbCdEfGhIjKl"),
        *("abcdefghijklmnopqrstuvwxyzabcdefgh", "correct-horse-battery-9", "p@ss-word-here"),
    ],
)
def test_a_key_that_can_be_a_secret_stands_in_no_reply(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    assert reply_without_keys(f"it is {key}, I think", "MY_KEY") == "it is [key], I think"


def test_a_long_text_is_cut_only_after_its_keys_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "q" * 40)
    reason = told("x" * (LONGEST_REASON - 20) + " " + "q" * 40)
    assert "qq" not in reason
    assert len(reason) <= LONGEST_REASON


@given(st.text())
def test_what_is_told_is_one_printable_line_that_can_be_stored(text: str) -> None:
    reason = told(text)
    assert "\x1b" not in reason
    assert len(reason.splitlines()) <= 1
    reason.encode()
