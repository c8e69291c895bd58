"""Kinds of items that are cut together: an entry each, and how an item of it is built.

Commands, cards and drawing follow from this table. What words a question, and what answers one
offline, is in `agents/offline`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from videoautoarena.agents.offline.language.tables import Dice
    from videoautoarena.runs.making.tasks.options import Stretch

Kind = str
OPTIONS = 4
MOST_COUNTED = 6


class FilmOptions(NamedTuple):
    """A question, and the film that each of its options would need."""

    question: str
    options: list[str]
    films: list[list[Stretch]]
    """What is set into the ground for each option, in its order."""


class CutKind(NamedTuple):
    """A kind of item whose film is cut to its key."""

    about: str
    """What cards say of it."""
    lengths_s: tuple[float, float]
    """How long a stretch that is set in may last; all those of one film are equally long."""
    stretches: Callable[[int], int]
    """Turns the number drawn for an order into how many different stretches the kind takes."""
    build: Callable[[list[Stretch], Sequence[int], Dice], FilmOptions]
    """Takes the stretches and, if one is counted, the numbers of times that it may come."""
    is_counted: bool = False
    """Whether films differ in how often the same stretch comes."""


def _build_needle(stretches: list[Stretch], _: Sequence[int], dice: Dice) -> FilmOptions:
    from videoautoarena.agents.offline.language.tasks import word_needle

    texts = [one.text for one in stretches]
    return FilmOptions(word_needle(dice), texts, [[one] for one in stretches])


def _build_order(stretches: list[Stretch], _: Sequence[int], dice: Dice) -> FilmOptions:
    from videoautoarena.agents.offline.language.tasks import in_order, word_order

    # Any orders at random: wrong ones made from the right one would leave it as the one most like
    # the others, which a probe for that finds without the video.
    films = [list(order) for order in dice.shuffled(list(permutations(stretches)))[:OPTIONS]]
    options = [in_order([one.text for one in order]) for order in films]
    return FilmOptions(word_order(dice), options, films)


def _build_count(stretches: list[Stretch], numbers: Sequence[int], dice: Dice) -> FilmOptions:
    from videoautoarena.agents.offline.language.tasks import word_count

    question = word_count(stretches[0].text, dice)
    return FilmOptions(question, [str(m) for m in numbers], [stretches * m for m in numbers])


CUT_KINDS: Mapping[Kind, CutKind] = {
    "needle": CutKind(
        "one short stretch; which of four descriptions is it?",
        (2.0, 8.0),
        lambda _: OPTIONS,
        _build_needle,
    ),
    "order": CutKind(
        "several stretches; in which order do they come?",
        (2.0, 5.0),
        lambda drawn: drawn,
        _build_order,
    ),
    "count": CutKind(
        "one stretch several times; how often does it come?",
        (2.0, 4.0),
        lambda _: 1,
        _build_count,
        is_counted=True,
    ),
}
