"""A line a battle: counted, cut to the terminal, and harmless whatever a model said."""

from __future__ import annotations

from itertools import count

import pytest

from tests.support.runfiles import battle
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.console.progress.live import LEAST_QUESTION, BattleLines

HOSTILE = "Why\x1b[2J\n\u202egnirts\u2066 \x00{0} %s $persona [red]x[/red] \ud800?"


def asked(question: str | None, **more: object) -> Battle:
    told = {"question": question, "model_a": "left", "model_b": "right", "verdict": "a"}
    return battle("0123456789ab-p1-r0").model_copy(update={**told, "reason": None, **more})


def lines(*battles: Battle, columns: int = 100, total: int = 12) -> list[str]:
    said: list[str] = []
    progress = BattleLines(total=total, done=0, say=said.append, columns=columns)
    for one in battles:
        progress.settled(one)
    return said


def test_a_line_counts_and_tells_who_won_what_question() -> None:
    assert lines(asked("What is thrown?")) == [
        "[ 1/12] left beat right  0123456789ab-p1-r0  What is thrown?"
    ]


@pytest.mark.parametrize("columns", range(40, 120, 7))
def test_a_question_never_makes_a_line_longer_than_the_terminal(columns: int) -> None:
    [line] = lines(asked("long " * 99), columns=columns)
    bare = lines(asked(None))[0]
    assert len(line) <= max(columns, len(bare))
    assert line == bare or len(line) >= len(bare) + LEAST_QUESTION


@pytest.mark.parametrize("columns", [60, 100, 4000])
def test_hostile_words_stay_on_one_printable_line(columns: int) -> None:
    hostile = asked(HOSTILE * 9, verdict="void", reason=HOSTILE, model_a="a\x1b[m", model_b=None)
    assert all(line.isprintable() for line in lines(hostile, asked(HOSTILE), columns=columns))


def test_the_time_left_is_told_once_ten_battles_have_been_timed() -> None:
    said: list[str] = []
    seconds = count(step=2.0)
    progress = BattleLines(
        total=120, done=100, say=said.append, columns=100, clock=seconds.__next__
    )
    for _ in range(20):
        progress.settled(asked(None))
    assert all("~" not in line for line in said[:9] + said[19:])
    assert said[9].startswith("[110/120 ~20 s] ")
    assert said[18].startswith("[119/120 ~2 s] ")


def test_as_much_of_a_question_is_told_however_long_the_rest_takes() -> None:
    def told(step: float) -> set[str]:
        said: list[str] = []
        seconds = count(step=step)
        progress = BattleLines(
            total=99, done=0, say=said.append, columns=90, clock=seconds.__next__
        )
        for _ in range(30):
            progress.settled(asked("long " * 99))
        assert max(map(len, said)) <= 90
        return {line.partition("] ")[2] for line in said}

    assert told(0.001) == told(50.0)
    assert len(told(50.0)) == 1
