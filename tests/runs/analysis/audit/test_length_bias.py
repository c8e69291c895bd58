"""What an audit says of length."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.audited import audited, by_key, fought
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.audit.biases import audit_length

LONG = "word " * 40
SHORT = "word " * 12


def written(number: int, verdict: str, a: str, b: str) -> Battle:
    return fought(number, "x", "y", verdict, answer_a=a, answer_b=b)


def test_the_longer_answer_wins_235_of_255_published_pairs() -> None:
    battles = [written(k, "a" if k < 235 else "b", LONG, SHORT) for k in range(255)]
    found = by_key(audit_length(audited(battles)))
    longer = found["length.longer"]
    assert (longer.value, longer.low, longer.high) == pytest.approx((0.922, 0.882, 0.949), abs=6e-4)
    assert longer.is_alarm
    assert found["length.only"].value == longer.value
    assert found["length.matched"].n == 0
    assert "cannot be separated" in found["length.matched"].sentence


def test_a_tie_is_a_miss_of_the_judge_of_lengths_of_equal_answers_too() -> None:
    words = [("a", LONG, SHORT), ("tie", LONG, SHORT), ("tie_good", LONG, LONG), ("b", LONG, LONG)]
    found = by_key(audit_length(audited([written(k, *word) for k, word in enumerate(words)])))
    assert (found["length.only"].value, found["length.only"].n) == (0.25, 4)


def test_no_tie_tells_of_a_taste_for_length() -> None:
    battles = [written(0, "tie", LONG, SHORT), written(1, "tie_good", LONG, LONG)]
    found = by_key(audit_length(audited(battles)))
    assert found["length.only"].value == 0.0
    assert found["length.longer"].n == 0


def test_answers_within_a_tenth_are_matched() -> None:
    battles = [
        written(0, "a", "x" * 110, "x" * 100),
        written(1, "b", "x" * 111, "x" * 100),
        written(2, "b", "x" * 104, "x" * 100),
    ]
    found = by_key(audit_length(audited(battles)))
    assert (found["length.matched"].value, found["length.matched"].n) == (0.5, 2)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 300), st.integers(1, 300)), max_size=8)
)
def test_the_seats_do_not_matter(rows: list[tuple[str, int, int]]) -> None:
    turned = {"a": "b", "b": "a"}
    here = [written(k, v, "x" * m, "x" * n) for k, (v, m, n) in enumerate(rows)]
    there = [written(k, turned[v], "x" * n, "x" * m) for k, (v, m, n) in enumerate(rows)]
    assert [f.to_json() for f in audit_length(audited(here))] == [
        f.to_json() for f in audit_length(audited(there))
    ]


def test_without_two_answers_it_says_so() -> None:
    (found,) = audit_length(audited([fought(0, "x", "y", "void", answer_b=None)]))
    assert found.n == 0
