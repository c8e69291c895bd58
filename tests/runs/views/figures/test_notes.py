"""What stands above and under a figure: three lines of notes at most, and nothing on a bare one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from tests.support.drawn import size_of, texts_of
from tests.support.figured import DRAWN, sliced, table
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.views.figures.canvas import SMALL, Picture, render
from videoautoarena.runs.views.figures.ranking import battles, ladder, panels, wins


@cache
def noisy() -> RatedLeaderboard:
    """Return a leaderboard with more to say than fits."""
    three = table("three")
    found = [
        Finding(
            f"k{k}", 0.9, 0.8, 1.0, 40, f"Verdicts of judge {chr(97 + k)} follow the seats.", True
        )
        for k in range(4)
    ]
    more = (
        "a judge or the examiner of this run also competed",
        *(f"caution {k}" for k in range(9)),
    )
    return replace(three, audit=tuple(found), settings=replace(three.settings, warnings=more))


LOUD: dict[str, Callable[[], Picture]] = {
    "ladder": lambda: ladder(noisy()),
    "wins": lambda: wins(noisy()),
    "battles": lambda: battles(noisy()),
    "slices": lambda: panels(replace(sliced("islands"), audit=noisy().audit)),
    **{name: drawn for name, drawn in DRAWN.items() if "forty" not in name},
}


@pytest.mark.parametrize("name", LOUD)
def test_three_lines_of_notes_at_most_stand_under_a_figure(name: str) -> None:
    drawn = LOUD[name]().draw(False)
    left = [text for text in drawn.texts if text.get_horizontalalignment() == "left"]
    notes = [text for text in left if text.get_fontsize() == SMALL]
    assert 1 <= len({text.get_position()[1] for text in notes}) == len(notes) <= 3


def test_what_must_be_known_has_room_before_what_may_be_left_out() -> None:
    told = " ".join(texts_of(render(ladder(noisy()), "svg")))
    assert "AUDIT ALARM: Verdicts of judge a follow the seats." in told
    assert "Note: a judge or the examiner of this run also competed." in told
    assert re.search(r"\d+ more notes: arena leaderboard --notes\.", told)
    assert "caution 8" not in told


def test_a_caution_without_room_is_cut_and_counted() -> None:
    three = table("three")
    long = f"a judge or the examiner of this run also competed {'and so on ' * 40}"
    board = replace(three, settings=replace(three.settings, warnings=(long,)))
    told = " ".join(texts_of(render(ladder(board), "svg")))
    assert "also competed and so on" in told
    assert re.search(r"and so( on)? … \d more notes: arena leaderboard --notes\.", told)


@pytest.mark.parametrize("name", ["ladder of rude", "panels of rude"])
def test_a_bare_figure_has_neither_title_nor_notes_and_all_else(name: str) -> None:
    full, bare = (render(DRAWN[name](), "svg", bare=of) for of in (False, True))
    assert size_of(bare)[0] == size_of(full)[0]
    assert size_of(bare)[1] < size_of(full)[1]
    said = [text.get_text() for text in DRAWN[name]().draw(False).texts]
    assert set(texts_of(full)) - set(texts_of(bare)) == set(said) - {
        "rating within each slice",
        "rating",
        "rating points",
        "grey: cannot be best",
    }
    assert set(texts_of(bare)) <= set(texts_of(full))


def test_a_bare_figure_still_says_that_it_rates_stand_ins() -> None:
    three = table("three")
    settings = replace(three.settings, stand_ins=True)
    bare = render(ladder(replace(three, settings=settings)), "svg", bare=True)
    assert "rates stand-ins: every model is an offline one" in texts_of(bare)
