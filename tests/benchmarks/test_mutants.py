"""The faults of `benchmarks/mutants.py`, in a house of one module."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutants import Checkout, Mutant, drawn, faults_of, is_noticed

MODULE = Path("scoring", "shares.py")
TEXT = """
def share(part, whole):
    return part / whole if whole > 0 else 0.0
"""
TESTS = """
from scoring.shares import share

def test_a_half_is_a_half():
    assert share(1, 2) == 0.5

def test_nothing_has_no_share():
    assert share(0, 0) == 0.0
"""


@pytest.fixture
def house(tmp_path: Path) -> Checkout:
    place = tmp_path / "house"
    for path, text in ((MODULE, TEXT), (Path("tests", "scoring", "test_shares.py"), TESTS)):
        (place / path).parent.mkdir(parents=True)
        (place / path).write_text(text)
    (place / "pytest.ini").write_text("[pytest]\npythonpath = .\nmarkers =\n slow\n live\n")
    return Checkout("now", place)


def test_every_kind_of_fault_is_made_and_nothing_else_changes() -> None:
    text = "a = x < y and not z\nb = 1 + c if d is None else True\n"
    assert {mutant.change for mutant in faults_of(MODULE, text)} == {
        "x < y -> x <= y",
        "x < y and (not z) -> x < y or not z",
        "not z -> z",
        "1 + c -> 1 - c",
        "1 -> 2",
        "d is None -> d is not None",
        "1 + c if d is None else True -> True if d is None else 1 + c",
    }


def test_the_same_mutants_are_drawn_for_a_seed(house: Checkout) -> None:
    assert drawn([house], 5, seed=3) == drawn([house, house], 5, seed=3)
    assert len(drawn([house], 5, seed=3)) == 1


def test_a_module_that_differs_between_revisions_is_left_alone(
    house: Checkout, tmp_path: Path
) -> None:
    other = Checkout("before", tmp_path / "before")
    for path in (MODULE, Path("tests", "scoring", "test_shares.py")):
        (other.place / path).parent.mkdir(parents=True)
        (other.place / path).write_text("# nothing yet\n")
    assert drawn([house, other], 5, seed=3) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "noticed"), [("whole > 0 -> whole >= 0", True), ("0 -> 1", False)]
)
def test_a_fault_is_noticed_where_a_test_fails_with_it(
    house: Checkout, change: str, noticed: bool
) -> None:
    [mutant] = [each for each in faults_of(MODULE, TEXT) if each.change == change]
    assert is_noticed(house, mutant) is noticed
    assert (house.place / MODULE).read_text() == TEXT


@pytest.mark.slow
def test_tests_that_fail_without_a_fault_tell_nothing(house: Checkout) -> None:
    (house.place / "tests" / "scoring" / "test_shares.py").write_text("assert False\n")
    assert is_noticed(house, Mutant(MODULE, 1, "", TEXT)) is None
