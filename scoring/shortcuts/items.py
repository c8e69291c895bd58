"""Choice items as values, laid out as arrays, and what is wrong with them.

Items are laid out in an order of their own, and options within an item by their text, so that no
figure hangs on how a file listed them; only places of options do.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from videoautoarena.scoring.fitting.counts import Ints

NO_OPTION = -1
"""The key of an item whose right answer is none of its options."""
FEWEST, MOST = 2, 6
"""Options of an item without a defect."""
_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\\W\u3040-\u30ff\u3400-\u9fff]+")
"""A run of letters or digits; of Chinese and Japanese, which leave no gaps, each sign."""

Flaw = Literal[
    "key is no option",
    "options repeat",
    "video and question repeat",
    "question and options repeat",
    "fewer than two options",
    "more than six options",
]


@dataclass(frozen=True)
class Item:
    """A question with options."""

    question: str
    options: tuple[str, ...]
    key: int | None
    """Place of the right option, from 0; any other number where it is none of them, None where
    nobody says which it is."""
    task: str = ""
    video: str = ""
    """Items about one video belong together; empty where there is no saying."""

    @property
    def asked(self) -> bool:
        """Whether it has at least two options, and somebody says which is right."""
        return self.key is not None and len(self.options) >= FEWEST

    @property
    def keyed(self) -> bool:
        """Whether the right one is among them."""
        return self.key is not None and 0 <= self.key < len(self.options)


class Defect(NamedTuple):
    """What is wrong, and with which items by their place in the list: one, or those that repeat."""

    flaw: Flaw
    items: tuple[int, ...]


class Layout(NamedTuple):
    """n items and their N options, one item after another; at first those k with a key."""

    given: Ints
    """Shape (n,), where each item stands in the list that was given."""
    start: Ints
    """Shape (n,), the first row of each item."""
    size: Ints
    """Shape (n,), options of each item."""
    key: Ints
    """Shape (k,), the row of the right option; that of the other items is no option."""
    owner: Ints
    """Shape (N,), the item of each option."""
    place: Ints
    """Shape (N,), where each option stands in its item."""
    text: Ints
    """Shape (N,), the same number for the same text."""
    questions: tuple[str, ...]
    options: tuple[str, ...]


def plain(text: str) -> str:
    """Return a text without what makes no other text of it: case, gaps, how signs are coded."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def words(text: str) -> list[str]:
    """Return the words of a text in order, without case and punctuation."""
    return _WORD.findall(unicodedata.normalize("NFC", text).casefold())


def lay_out(items: Sequence[Item]) -> Layout:
    """Return the items that are asked, laid out."""
    given = [i for i, item in enumerate(items) if item.asked]
    given.sort(key=lambda i: (not items[i].keyed, _rank(items[i])))
    kept = [items[i] for i in given]
    orders = [sorted(range(len(x.options)), key=lambda k: (x.options[k], k)) for x in kept]
    size = np.array([len(order) for order in orders], dtype=np.int64)
    start = np.cumsum(size) - size
    right = [order.index(x.key or 0) for x, order in zip(kept, orders, strict=True) if x.keyed]
    options = [x.options[k] for x, order in zip(kept, orders, strict=True) for k in order]
    numbers: dict[str, int] = {}
    texts = [numbers.setdefault(plain(text), len(numbers)) for text in options]
    return Layout(
        given=np.array(given, dtype=np.int64),
        start=start,
        size=size,
        key=start[: len(right)] + np.array(right, dtype=np.int64),
        owner=np.repeat(np.arange(len(kept)), size),
        place=np.array([k for order in orders for k in order], dtype=np.int64),
        text=np.array(texts, dtype=np.int64),
        questions=tuple(x.question for x in kept),
        options=tuple(options),
    )


def find_defects(items: Sequence[Item]) -> tuple[Defect, ...]:
    """Return what is wrong with each item, and then which of them repeat each other."""
    alone = [Defect(flaw, (i,)) for i, item in enumerate(items) for flaw in _flaws(item)]
    return (
        *alone,
        *_repeats("video and question repeat", items, of=_by_video),
        *_repeats("question and options repeat", items, of=_by_options),
    )


def _rank(item: Item) -> tuple[object, ...]:
    right = item.options[item.key] if item.keyed and item.key is not None else ""
    alike = (item.question, sorted(item.options), item.task, item.video, right)
    return (*alike, item.options)


def _flaws(item: Item) -> list[Flaw]:
    found: list[Flaw] = []
    if item.key is not None and not 0 <= item.key < len(item.options):
        found.append("key is no option")
    if len({plain(option) for option in item.options}) < len(item.options):
        found.append("options repeat")
    if len(item.options) < FEWEST:
        found.append("fewer than two options")
    if len(item.options) > MOST:
        found.append("more than six options")
    return found


def _repeats(
    flaw: Flaw, items: Sequence[Item], *, of: Callable[[Item], Hashable | None]
) -> list[Defect]:
    places: dict[Hashable, list[int]] = defaultdict(list)
    for i, item in enumerate(items):
        if (mark := of(item)) is not None:
            places[mark].append(i)
    return [Defect(flaw, tuple(same)) for same in places.values() if len(same) > 1]


def _by_video(item: Item) -> Hashable | None:
    return (item.video, plain(item.question)) if item.video else None


def _by_options(item: Item) -> Hashable:
    return plain(item.question), frozenset(map(plain, item.options))
