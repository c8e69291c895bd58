"""Figures as a person reads them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.runs.formats.words import dollars, short


def test_numbers_are_short() -> None:
    assert [short(n) for n in (0, 950, 1_250, 999_600, 12_345_678)] == [
        "0",
        "950",
        "1.25k",
        "1M",
        "12.3M",
    ]


@given(st.floats(0, 1e12))
def test_no_number_is_longer_than_six_characters(number: float) -> None:
    assert len(short(number)) <= 6


def test_amounts_are_in_cents_and_small_ones_finer() -> None:
    assert [dollars(usd) for usd in (None, 0.0, 0.01234, 1234.5)] == [
        "unknown",
        "$0.00",
        "$0.0123",
        "$1,234.50",
    ]


@given(st.floats(1e-12, 1e9))
def test_what_cost_something_never_reads_as_nothing(usd: float) -> None:
    assert any(digit in dollars(usd) for digit in "123456789")
