"""Who can be compared with whom."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.tournament import fought
from videoautoarena.scoring.fitting.counts import count_cells
from videoautoarena.scoring.fitting.separation import find_components, find_one_sided


def groups(text: str, *, models: int | None = None) -> list[str]:
    """The components as letters."""
    found = find_components(fought(text, models=models))
    return ["".join(chr(65 + k) for k in group) for group in found]


def one_sided(text: str) -> str:
    """The one-sided models as letters."""
    return "".join(chr(65 + k) for k in np.flatnonzero(find_one_sided(fought(text))))


def test_models_joined_by_a_chain_of_battles_are_one_group() -> None:
    assert groups("A>B C>B C>D") == ["ABCD"]


def test_two_islands_are_two_groups_the_larger_first() -> None:
    assert groups("A>B C>D D>E") == ["CDE", "AB"]


def test_of_equally_large_islands_the_busier_is_first_then_the_earlier() -> None:
    assert groups("A>B C>D*2") == ["CD", "AB"]
    assert groups("C>D A>B") == ["AB", "CD"]


def test_a_model_without_a_battle_is_in_no_group() -> None:
    assert groups("A>C", models=5) == ["AC"]


def test_no_battles_are_no_groups() -> None:
    assert find_components(count_cells([], [], outcome=[], models=3)) == []


@pytest.mark.parametrize(
    ("battles", "flagged"),
    [
        ("A>B B>A", ""),
        ("A=B", ""),
        ("A>B", "AB"),
        ("A>B B>C C>A", ""),
        ("A>B B>C A>C", "ABC"),
        ("A>B A>C B>C C>B", "A"),
        ("A>B B>A A>C B>C", "C"),
        ("A>B B>C C>B C>D", "AD"),
        ("A=B C=D A>C B>D", "ABCD"),
        ("A=B B=C D=E A>D", "DE"),
        ("A>B A>C A>D", "ABCD"),
    ],
)
def test_whom_the_data_do_not_bound_is_one_sided(battles: str, flagged: str) -> None:
    assert one_sided(battles) == flagged
