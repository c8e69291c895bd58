"""Sets of choice items whose keys were drawn, and shortcuts planted in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from random import Random

from videoautoarena.scoring.questions.items import ChoiceItem

DULL = ("black", "grey", "white", "brown")
COLOURS = (*DULL, "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")
LIGHTS = ("dark", "half-lit", "bright")
ASKED = "Which of these pictures is on the screen for a moment?"
Draw = Random


def needle(draw: Draw) -> ChoiceItem:
    """Return a question for one of four pictures; its key is drawn last, as of all makers here."""
    texts: list[str] = []
    while len(texts) < 4:
        first, second = draw.sample(COLOURS, 2)
        text = f"a {draw.choice(LIGHTS)} picture, mostly {first} with some {second}"
        texts += [text] if text not in texts else []
    return ChoiceItem(ASKED, tuple(texts), draw.randrange(4), "needle")


def order(draw: Draw) -> ChoiceItem:
    """Return a question for one of four orders of three."""
    names = draw.sample(COLOURS, 3)
    texts = tuple(map(", then ".join, draw.sample(list(permutations(names)), 4)))
    question = f"In which order do the {', the '.join(sorted(names))} pictures come?"
    return ChoiceItem(question, texts, draw.randrange(4), "order")


def count(draw: Draw) -> ChoiceItem:
    """Return a question for one of four numbers that follow each other."""
    least = draw.randrange(1, 4)
    texts = tuple(map(str, draw.sample(range(least, least + 4), 4)))
    question = f"How many times does the mostly {draw.choice(COLOURS)} picture come?"
    return ChoiceItem(question, texts, draw.randrange(4), "count")


def clean(
    n: int, seed: int, makers: tuple[Callable[[Draw], ChoiceItem], ...] = (needle,)
) -> list[ChoiceItem]:
    """Return n items of the makers in turn, with nothing to be had from their texts."""
    draw = Random(seed)
    return [makers[i % len(makers)](draw) for i in range(n)]


def key_text(item: ChoiceItem) -> str:
    """Return the right option of an item that has one."""
    assert item.key is not None
    return item.options[item.key]


def say(item: ChoiceItem, text: str) -> ChoiceItem:
    """Return the item with its right option in other words."""
    at = item.key
    return replace(item, options=tuple(text if k == at else o for k, o in enumerate(item.options)))


def longest(item: ChoiceItem, _: Draw, __: list[ChoiceItem]) -> ChoiceItem:
    return say(item, key_text(item) + " and a thin line of another colour")


def frequent(item: ChoiceItem, draw: Draw, others: list[ChoiceItem]) -> ChoiceItem:
    return say(item, others[draw.randrange(5)].options[0])


def repeated(item: ChoiceItem, draw: Draw, others: list[ChoiceItem]) -> ChoiceItem:
    """The question of an earlier item, over another video and with its options in another order."""
    if item not in others[len(others) // 2 :]:
        return item
    other = others[draw.randrange(len(others) // 2)]
    return shuffled(other, draw)


def overlap(item: ChoiceItem, _: Draw, __: list[ChoiceItem]) -> ChoiceItem:
    return replace(item, question=f"{ASKED[:-1]}, {key_text(item).split('mostly ')[1]}?")


def place(item: ChoiceItem, _: Draw, __: list[ChoiceItem]) -> ChoiceItem:
    texts = list(item.options)
    assert item.key is not None
    texts[2], texts[item.key] = texts[item.key], texts[2]
    return replace(item, options=tuple(texts), key=2)


def central(_: ChoiceItem, draw: Draw, __: list[ChoiceItem]) -> ChoiceItem:
    """An order, among three that swap two neighbours of it."""
    truth = draw.sample(COLOURS, 4)
    swapped = [[*truth[:i], truth[i + 1], truth[i], *truth[i + 2 :]] for i in range(3)]
    texts = tuple(", then ".join(names) for names in (truth, *swapped))
    return shuffled(ChoiceItem("In which order do they come?", texts, 0, "order"), draw)


PLANTED = {
    "longest": longest,
    "prior": frequent,
    "prior (repeated)": repeated,
    "overlap": overlap,
    "place": place,
    "centre": central,
}
"""By the probe that must find it."""


def plant(name: str, n: int, seed: int, share: float = 0.5) -> list[ChoiceItem]:
    """Return needle items of which about such a share carry a shortcut."""
    items = clean(n, seed)
    draw = Random(f"{seed} planted")
    return [PLANTED[name](item, draw, items) if draw.random() < share else item for item in items]


def shuffled(item: ChoiceItem, draw: Draw) -> ChoiceItem:
    """Return the item with its options in another order, its key the same text."""
    assert item.key is not None
    turn = draw.sample(range(len(item.options)), len(item.options))
    return replace(item, options=tuple(item.options[k] for k in turn), key=turn.index(item.key))


def place_quota(n: int, seed: int) -> list[ChoiceItem]:
    """Return items whose keys stand at each of four places equally often."""
    places = Random(f"{seed} places").sample(range(n), n)
    return [replace(item, key=k % 4) for item, k in zip(clean(n, seed), places, strict=True)]


def answer_quota(n: int, seed: int) -> list[ChoiceItem]:
    """Return items of which fours share their options, and each option is right once."""
    draw = Random(f"{seed} answers")
    items = list[ChoiceItem]()
    for four in clean(n // 4, seed):
        items += [shuffled(replace(four, key=k), draw) for k in range(4)]
    return items
