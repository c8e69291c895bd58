"""When a question counts as harder than another: by its grades, old one first."""

from __future__ import annotations

import pytest

from videoautoarena.agents.roles.question import is_harder
from videoautoarena.memory.records.records import DIFFICULTY_SCALES, Grade


def a_grade(overall: float, others: float = 2.0) -> Grade:
    return Grade(**dict.fromkeys(DIFFICULTY_SCALES, others), overall=overall)


@pytest.mark.parametrize(
    ("old", "new", "overall_only", "harder"),
    [
        (a_grade(2.0), a_grade(2.1), False, True),
        (a_grade(2.1), a_grade(2.0, 5.0), False, False),
        (a_grade(2.0), a_grade(2.0, 2.1), False, True),
        (a_grade(2.0), a_grade(2.0, 2.1), True, False),
        (a_grade(2.0), a_grade(2.0), False, False),
    ],
)
def test_harder_is_a_higher_overall_then_a_higher_sum(
    old: Grade, new: Grade, overall_only: bool, harder: bool
) -> None:
    assert is_harder(old, new, overall_only=overall_only) == harder
