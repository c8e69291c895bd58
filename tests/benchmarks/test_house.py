"""The counts of `benchmarks/house.py`, on a house of two modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.house import PACKAGES, House, count

RECORD = '''"""Owns a record."""

from dataclasses import dataclass


@dataclass
class Record:
    """A record."""

    a: int
    b: int
    c: int
    d: int
    e: int
'''
CALLS = '''"""Owns calls."""


def once():
    one, other = 1, 2  # one of each
    return one


def whole():
    return once()


class Twin:
    a: int
    b: int
    c: int
    d: int
    e: int
    f: int
'''


@pytest.fixture
def house(tmp_path: Path) -> House:
    for package in PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f'"""Owns {package}."""\n')
    (tmp_path / "memory" / "record.py").write_text(RECORD)
    (tmp_path / "agents" / "calls.py").write_text(CALLS)
    return count(tmp_path)


def test_words_for_readers_and_imports_are_no_tokens(house: House) -> None:
    assert house.tokens == {"memory": 5 + 5 * 3, "agents": 5 + 7 + 2 + 5 + 4 + 3 + 6 * 3}
    assert house.lines.total() == 6 + RECORD.count("\n") + CALLS.count("\n")


def test_a_module_that_only_says_what_a_room_owns_is_none(house: House) -> None:
    assert house.modules.total() == 2


def test_what_is_said_twice_is_found(house: House) -> None:
    assert house.alike == [("agents:Twin", "memory:Record")]
    assert house.called_once == 1
    assert house.paired == 1
    assert house.comment_lines == 1
