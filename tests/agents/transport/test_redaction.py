"""No key, and nothing that looks like one, is in what is printed or stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.transport.redaction import LONGEST_REASON, redacted, reply_without_keys

SECRETS = [
    "Incorrect API key provided: sk-proj-abc***wxyz.",
    "GET http://user:hunter2hunter2@proxy.example/v1 failed",
    "Illegal header value b'Bearer abcdefgh12345678'",
    "{'authorization': 'Basic dXNlcjpwYXNz'}",
    "https://example.org/v1?key=AIzaSyA-123456789012345",
    'x-goog-api-key: "AIzaSyA-123456789012345"',
    "token=ghp_abcdefghijk",
    "refused gsk_abcdefgh1234 of yours",
    "refused hf_abcdefgh1234 of yours",
    "refused xai-abcdefgh1234 of yours",
    "refused sk-proj\u200b-1234\u2060wxyz",
]
PARTS = ("wxyz", "hunter2", "abcdefgh", "dXNlcj", "AIza", "ghp_")


@pytest.mark.parametrize("text", SECRETS)
def test_nothing_that_looks_like_a_key_is_told(text: str) -> None:
    assert not [part for part in PARTS if part in redacted(text)]


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=8).map(str.strip))
def test_the_key_itself_is_never_told_whatever_it_is(key: str) -> None:
    if len(key) < 8 or key in "[key]" * 3:
        return
    with pytest.MonkeyPatch.context() as env:
        env.setenv("MY_KEY", key)
        assert key not in redacted(f"the key {key} is refused", key_env="MY_KEY")


@pytest.mark.parametrize(
    "between",
    ["\u200b", "\u00ad", "\u2060", "\x00", "\n", "\x1b[1m", "\u202e", "</b> <i class='x'>", "  "],
)
def test_a_key_that_something_splits_is_not_told(
    between: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "zq9KLmPPw71nnvBx55tt")
    halves = redacted(f"refused: zq9KLmPPw7{between}1nnvBx55tt here")
    letters = redacted(f"refused: {between.join('zq9KLmPPw71nnvBx55tt')} here")
    assert halves == letters == "refused: [key] here"


def test_a_key_that_is_a_word_of_its_mark_is_replaced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    assert redacted("refused: key") == "refused: [key]"


def test_of_a_key_that_begins_with_another_nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "abc-123")
    monkeypatch.setenv("GEMINI_API_KEY", "abc-123-rest")
    assert redacted("refused: abc-123-rest and abc-123") == "refused: [key] and [key]"


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
    assert "[key]" in redacted(reply, key_env="MY_KEY")


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
    reason = redacted("x" * (LONGEST_REASON - 20) + " " + "q" * 40)
    assert "qq" not in reason
    assert len(reason) <= LONGEST_REASON


@given(st.text())
def test_what_is_told_is_one_printable_line_that_can_be_stored(text: str) -> None:
    reason = redacted(text)
    assert "\x1b" not in reason
    assert len(reason.splitlines()) <= 1
    reason.encode()
