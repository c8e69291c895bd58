"""What all cards have in common."""

from __future__ import annotations

from videoautoarena.runs.bench.format.writer import (
    BEFORE_PASSING_ON,
    UNSTATED,
    count_table,
    licence_section,
)


def test_a_card_counts_what_there_is_and_says_where_there_is_nothing() -> None:
    head = "| by name | items |\n| --- | ---: |\n"
    assert count_table("by name", {"a|b": 2}, of="items") == f"{head}| a\\|b | 2 |\n"
    assert count_table("by name", {}, of="items") == f"{head}| none | 0 |\n"


def test_a_card_states_a_licence_or_asks_for_one_and_says_what_to_look_at() -> None:
    assert licence_section("CC *BY*", "Copies.") == (
        f"## Licence\n\nCC \\*BY\\*\n\nCopies.\n\n{BEFORE_PASSING_ON}\n"
    )
    assert licence_section(None).startswith(f"## Licence\n\n{UNSTATED}\n\n")
