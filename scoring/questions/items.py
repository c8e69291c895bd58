"""Choice items as arrays: what is wrong with them, and what their texts and keys give away.

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
from scipy.fft import next_fast_len
from scipy.special import bdtrc

from videoautoarena.scoring.fitting.counts import Floats, Ints

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
class ChoiceItem:
    """A question with options."""

    question: str
    options: tuple[str, ...]
    key: int | None
    """Place of the right option, from 0; another number where no option is right, None where the
    key is unknown."""
    task: str = ""
    video: str = ""
    """Items about one video belong together; empty where the video is unknown."""

    @property
    def asked(self) -> bool:
        """Whether it has at least two options, and somebody says which is right."""
        return self.key is not None and len(self.options) >= FEWEST

    @property
    def keyed(self) -> bool:
        """Whether the right answer is among its options."""
        return self.key is not None and 0 <= self.key < len(self.options)


class ItemDefect(NamedTuple):
    """What is wrong, and with which items by their place in the list: one, or those that repeat."""

    flaw: Flaw
    items: tuple[int, ...]


class ItemLayout(NamedTuple):
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
    """Return a text without differences that do not count: case, blanks, forms of Unicode."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def words(text: str) -> list[str]:
    """Return the words of a text in order, without case and punctuation."""
    return _WORD.findall(unicodedata.normalize("NFC", text).casefold())


def lay_out(items: Sequence[ChoiceItem]) -> ItemLayout:
    """Return the items that are asked, laid out."""
    given = [i for i, item in enumerate(items) if item.asked]
    # Items with a key come first, so that arrays of keys line up with the first rows.
    given.sort(key=lambda i: (not items[i].keyed, _rank(items[i])))
    kept = [items[i] for i in given]
    orders = [sorted(range(len(x.options)), key=lambda k: (x.options[k], k)) for x in kept]
    size = np.array([len(order) for order in orders], dtype=np.int64)
    start = np.cumsum(size) - size
    right = [order.index(x.key or 0) for x, order in zip(kept, orders, strict=True) if x.keyed]
    options = [x.options[k] for x, order in zip(kept, orders, strict=True) for k in order]
    numbers: dict[str, int] = {}
    texts = [numbers.setdefault(plain(text), len(numbers)) for text in options]
    return ItemLayout(
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


def find_defects(items: Sequence[ChoiceItem]) -> tuple[ItemDefect, ...]:
    """Return what is wrong with each item, and then which of them repeat each other."""
    alone = [ItemDefect(flaw, (i,)) for i, item in enumerate(items) for flaw in _flaws(item)]
    return (
        *alone,
        *_repeats("video and question repeat", items, of=_by_video),
        *_repeats("question and options repeat", items, of=_by_options),
    )


def _rank(item: ChoiceItem) -> tuple[object, ...]:
    right = item.options[item.key] if item.keyed and item.key is not None else ""
    alike = (item.question, sorted(item.options), item.task, item.video, right)
    return (*alike, item.options)


def _flaws(item: ChoiceItem) -> list[Flaw]:
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
    flaw: Flaw, items: Sequence[ChoiceItem], *, of: Callable[[ChoiceItem], Hashable | None]
) -> list[ItemDefect]:
    places: dict[Hashable, list[int]] = defaultdict(list)
    for i, item in enumerate(items):
        if (mark := of(item)) is not None:
            places[mark].append(i)
    return [ItemDefect(flaw, tuple(same)) for same in places.values() if len(same) > 1]


def _by_video(item: ChoiceItem) -> Hashable | None:
    return (item.video, plain(item.question)) if item.video else None


def _by_options(item: ChoiceItem) -> Hashable:
    return plain(item.question), frozenset(map(plain, item.options))


FOUND = 0.001
LOOK = 0.01
Reading = Literal["found", "look", "balanced too exactly", "clean"]
_WIDEST, _FINEST = 6, 60
"""Widest tie that credits divide by exactly, and the parts of a credit beyond it; 60 is the least
number that 1 to 6 divide."""
_SLACK = 1e-6
_ROUNDING = 1e-13
"""How far adding up in the frequency domain may be off."""


class TailChances(NamedTuple):
    """How likely keys drawn evenly give a probe at least, and at most, what it earned."""

    above: float
    below: float


def measure_tails(hit: Ints, shared: Ints, offered: Ints) -> TailChances:
    """Return both tails of a probe's credits.

    Args:
        hit: shape (items,), 1 where the key is among the options pointed at, else 0.
        shared: shape (items,), how many options are pointed at.
        offered: shape (items,), how many there are.
    """
    # A probe that points at all options earns the same whatever the key is.
    said = shared < offered
    hit, shared, chance = hit[said], shared[said], shared[said] / offered[said]
    if len(hit) == 0:
        return TailChances(1.0, 1.0)
    parts = int(np.lcm.reduce(shared)) if shared.max() <= _WIDEST else _FINEST
    # Rounded against the probe where ties are too wide to divide, so that no p is too small.
    low = parts // shared
    high = -(-parts // shared)
    earned = int((hit * low).sum())
    missed = int(((1 - hit) * low).sum())
    # At most so much is earned exactly where at least so much is missed.
    return TailChances(_at_least(earned, high, chance), _at_least(missed, high, 1.0 - chance))


def measure_rough_tails(credits: Floats, offered: Ints) -> TailChances:
    """Return both tails as if one of the options that share a pick had been drawn.

    That scatters more than the credits do. The sum of credits is rounded down for the upper tail
    and up for the lower one.
    """
    one = np.ones_like(offered)
    few, many = (
        np.arange(len(one)) < round_off(credits.sum() + slack)
        for round_off, slack in ((np.floor, _SLACK), (np.ceil, -_SLACK))
    )
    return TailChances(
        measure_tails(few.astype(np.int64), one, offered).above,
        measure_tails(many.astype(np.int64), one, offered).below,
    )


def _at_least(least: int, worth: Ints, chance: Floats) -> float:
    """Return how likely independent terms, each 0 or its worth, add up to `least` or more.

    Source: Hong (2013), Comput. Stat. Data Anal. 59, the Poisson binomial by its characteristic
        function.
    """
    if least <= 0:
        return 1.0
    kinds, times = np.unique(np.stack([worth, chance]), axis=1, return_counts=True)
    # Equal terms are a plain binomial, which is exact far out in its tail.
    if len(times) == 1:
        return float(bdtrc(-(-least // worth[0]) - 1, len(worth), chance[0]))
    size = int(next_fast_len(int(worth.sum()) + 1, real=True))
    turn = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    waves = np.ones_like(turn)
    for (each, likely), count in zip(kinds.T, times, strict=True):
        waves *= (1.0 - likely + likely * turn**each) ** count
    tail = float(np.fft.irfft(waves, size)[least : int(worth.sum()) + 1].sum())
    # A tail that the transform cannot tell from nothing is small and never 0.
    return min(max(tail, 0.0) + _ROUNDING, 1.0)


GIVEN_AWAY = 0.5
"""An item is given away where text alone is more likely right than wrong."""
_STEPS = 50
_STILL = 1e-9


def measure_leaks(layout: ItemLayout, picks: Floats, fold: Ints) -> Floats:
    """Return the chance of the right option of each item by what probes pick, shape (k,).

    A conditional logit of the key on the picks, learned from the other parts of the items: of
    options that are given some chance, about that share is right. Without a probe it is 1/m for m
    options.

    Args:
        layout: the items.
        picks: shape (N, probes), 1/t for each of the t options that a probe picks, else 0.
        fold: shape (n,), the part of each item.

    Source: McFadden (1974), Conditional logit analysis of qualitative choice behavior.
    """
    chances = np.empty(len(layout.owner))
    keyed = np.arange(len(fold)) < len(layout.key)
    for part in range(int(fold.max(initial=-1)) + 1):
        chosen = (fold == part)[layout.owner]
        weights = _fit(layout, picks, ((fold != part) & keyed).astype(np.float64))
        chances[chosen] = _share_out(layout, picks @ weights)[chosen]
    return np.asarray(chances[layout.key], dtype=np.float64)


def _share_out(layout: ItemLayout, scores: Floats) -> Floats:
    """Return the chance of each option: exponentials of scores that sum to 1 in each item."""
    # Less the highest score of the item, so that no exponential overflows.
    raised = np.exp(scores - np.maximum.reduceat(scores, layout.start)[layout.owner])
    return np.asarray(raised / np.add.reduceat(raised, layout.start)[layout.owner])


def _fit(layout: ItemLayout, picks: Floats, counted: Floats) -> Floats:
    """Return what each probe's pick is worth, drawn to 0 by a normal prior of unit variance."""
    weights = np.zeros(picks.shape[1])
    right = np.zeros(len(picks))
    right[layout.key] = 1.0
    for _ in range(_STEPS):
        chance = _share_out(layout, picks @ weights)
        each = chance * counted[layout.owner]
        mean = np.add.reduceat(picks * chance[:, None], layout.start)
        pull = picks.T @ ((right - chance) * counted[layout.owner]) - weights
        bend = (picks * each[:, None]).T @ picks - (mean * counted[:, None]).T @ mean
        # The identity is the curvature of the prior, without which a probe that is always right
        # runs away.
        step = np.linalg.solve(bend + np.eye(len(weights)), pull)
        weights += step
        if not np.abs(step).max(initial=0.0) > _STILL:
            break
    return weights


_SAME = 1e-9
_UNSEEN, _ONE = 0.25, 1.0
"""A label never offered elsewhere counts as right one time in four, with the weight of one
offer."""


class ProbePicks(NamedTuple):
    """What a probe picks; several rows where keys were drawn several times."""

    top: Ints
    """Shape (.., N), 1 for the options of the highest score of their item, else 0."""
    shared: Ints
    """Shape (.., n), how many these are."""

    def hits(self, key: Ints) -> Ints:
        """Return 1 where the key is among the picks, else 0, shape (.., k)."""
        return np.asarray(np.take_along_axis(self.top, key, axis=-1), dtype=np.int64)

    def earn(self, key: Ints) -> Floats:
        """Return what the picks earn, 1/t where the key is one of t, shape (.., n)."""
        earned = np.zeros(self.shared.shape)
        earned[..., : key.shape[-1]] = self.hits(key)
        return earned / self.shared


def pick(scores: Floats, layout: ItemLayout) -> ProbePicks:
    """Return which options have the highest score of their item; equal ones share the pick."""
    best = np.maximum.reduceat(scores, layout.start, axis=-1)
    top = (scores >= best[..., layout.owner] - _SAME).astype(np.int64)
    return ProbePicks(top, np.add.reduceat(top, layout.start, axis=-1))


def score_length(layout: ItemLayout) -> Floats:
    """Return how many characters each option has."""
    return np.array([len(option) for option in layout.options], dtype=np.float64)


def score_overlap(layout: ItemLayout) -> Floats:
    """Return the share of each option's words that the question has, too; 0 without a word."""
    asked = [set(words(question)) for question in layout.questions]
    said = [set(words(option)) for option in layout.options]
    return np.array(
        [
            len(own & asked[item]) / max(len(own), 1)
            for own, item in zip(said, layout.owner, strict=True)
        ]
    )


def score_centre(layout: ItemLayout) -> Floats:
    """Return how much each option is like the others of its item.

    Two are alike by the share of words that stand at the same place in both, counted from the front
    and from the back; so among orders made of one by swaps, that one is most like the others.
    """
    said = [words(option) for option in layout.options]
    ends = zip(layout.start.tolist(), (layout.start + layout.size).tolist(), strict=True)
    return np.array([near for start, end in ends for near in _nearness(said[start:end])])


def score_rates(layout: ItemLayout, labels: Ints, keys: Ints) -> Floats:
    """Return how often what an option is labelled with was right in the other items.

    That is (right + 1/4) / (offered + 1), the own item left out, shape (draws, N).

    Args:
        layout: the items.
        labels: shape (N,), whole numbers from 0, such as texts or places.
        keys: shape (draws, n), rows of right options.
    """
    marked = labels[keys]
    sure = _keyed(layout, keys)
    right = _count(marked, int(labels.max()) + 1)
    _, own, times = np.unique(
        layout.owner * right.shape[1] + labels, return_inverse=True, return_counts=True
    )
    elsewhere = np.bincount(labels)[labels] - times[own]
    won = right[:, labels]
    won[:, :sure] -= marked[:, layout.owner[:sure]] == labels[:sure]
    return np.asarray((won + _UNSEEN) / (elsewhere + _ONE), dtype=np.float64)


def measure_unevenness(layout: ItemLayout, labels: Ints, keys: Ints) -> Floats:
    """Return how unevenly right answers spread over labels offered twice or more, (draws,).

    It sums squared deviations from expectation, each over its variance if keys are drawn evenly.
    """
    sure = _keyed(layout, keys)
    kinds = int(labels.max()) + 1
    chance = (1.0 / layout.size)[layout.owner[:sure]]
    of = labels[:sure]
    often = np.bincount(of, minlength=kinds) > 1
    hoped = np.bincount(of, chance, minlength=kinds)[often]
    scatter = np.bincount(of, chance * (1.0 - chance), minlength=kinds)[often]
    right = _count(labels[keys], kinds)[:, often]
    return np.asarray(((right - hoped) ** 2 / scatter).sum(axis=1), dtype=np.float64)


def _keyed(layout: ItemLayout, keys: Ints) -> int:
    """Return how many options the items with a key have; they come first."""
    return int(layout.size[: keys.shape[1]].sum())


def _count(marked: Ints, kinds: int) -> Ints:
    """Return how often each label is marked in each row, shape (rows, kinds)."""
    rows = len(marked)
    flat = (np.arange(rows)[:, None] * kinds + marked).ravel()
    return np.bincount(flat, minlength=rows * kinds).reshape(rows, kinds)


def _nearness(said: Sequence[list[str]]) -> list[float]:
    near = [0.0] * len(said)
    for i, one in enumerate(said):
        for j, other in enumerate(said[:i]):
            alike = _likeness(one, other)
            near[i] += alike
            near[j] += alike
    return near


def _likeness(one: list[str], other: list[str]) -> float:
    front = sum(x == y for x, y in zip(one, other, strict=False))
    back = sum(x == y for x, y in zip(reversed(one), reversed(other), strict=False))
    return (front + back) / max(len(one), len(other), 1)
