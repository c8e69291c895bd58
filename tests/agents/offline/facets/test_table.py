from __future__ import annotations

from tests.support.pictures import Film, Shot, battle, film, seen
from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.players.scoring import askable
from videoautoarena.agents.offline.vision.sequence import FrameSequence, sight

BLANK = Shot("blue", 2.0, boxes=0)
BROKEN_UP = (BLANK, Shot("green", 5.0, boxes=40), BLANK, Shot("grey", 4.0), BLANK)
"""Every other shot of a film fades from side to side."""


def view(shots: tuple[Shot, ...], *, frames: int = 128) -> FrameSequence:
    return sight(seen(film(shots, frames=frames)))


def test_stretches_of_one_flat_colour_are_counted() -> None:
    assert FACETS["blanks"].measure(view(BROKEN_UP)) == 3
    assert FACETS["blanks"].measure(view((BLANK,))) == 1


def test_footage_with_anything_in_it_is_not_blank(story: Film) -> None:
    assert FACETS["blanks"].measure(sight(seen(story))) == 0


def test_blanks_are_asked_about_where_there_are_several_that_nobody_can_miss(story: Film) -> None:
    assert "blanks" in askable(view(BROKEN_UP))
    assert "blanks" not in askable(view(BROKEN_UP[:2]))
    assert "blanks" not in askable(view(BROKEN_UP, frames=12))
    assert "blanks" not in askable(sight(seen(story)))


def test_the_judge_tells_a_right_count_of_blanks_from_a_wrong_one() -> None:
    question = "How many times does flat blue fill the screen?"
    shown = film(BROKEN_UP)
    told = ("Flat blue fills it three times.", "Flat blue fills it once.")
    assert battle(shown, question, *told)["verdict"] == "A"
    assert battle(shown, question, *told[::-1])["verdict"] == "B"
