"""Items drawn by chance from a seed: the question, its options, the key last, and the film's plan.

Nothing is balanced: where keys or places were dealt out evenly, what was right less often so far
would be the answer. A film's length follows from the options, and never from the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Literal, NamedTuple

from videoautoarena.agents.offline.language.tasks import (
    in_order,
    word_count,
    word_needle,
    word_order,
)
from videoautoarena.agents.offline.language.values import Dice
from videoautoarena.runs.tasks.options import Bank, Ground, Stretch, draw_ground, draw_stretches
from videoautoarena.runs.tasks.sight import LOOKS_A_SECOND
from videoautoarena.video.synth.timeline import Plan, Probe

Kind = Literal["needle", "order", "count"]
KINDS: tuple[Kind, ...] = ("needle", "order", "count")
Reason = Literal["alike", "repeated"]
"""Why a ground gave no item: too few options passed the checks, or they were asked before."""
REASONS: tuple[Reason, ...] = ("alike", "repeated")
MAKER = "1"
"""Goes up whenever the same folder and seed would give other items by this code."""
OPTIONS = 4
LENGTHS_S: Mapping[Kind, tuple[float, float]] = {
    "needle": (2.0, 8.0),
    "order": (2.0, 5.0),
    "count": (2.0, 4.0),
}
"""How long what is set in may last; all that is set into one film lasts as long."""
LENGTH_STEP_S = 0.5
MOST_COUNTED = 6
PROBES = (3, 5)
"""The fewest and the most that a question for the order may be about."""
EDGE_S, GAP_S = 0.5, 2.0
"""Ground at either end of a film, and between what is set in, at least."""
SECONDS = (15, 3600)
"""The shortest and the longest ground."""
TRIES = 200
"""So many grounds in a row without an item, and there are no more."""


@dataclass(frozen=True)
class Wish:
    """What is to be drawn."""

    kinds: tuple[Kind, ...] = KINDS
    n: int = 60
    """Items in all, dealt to kinds and lengths in turn."""
    seconds: tuple[int, ...] = (60,)
    probes: tuple[int, int] = PROBES
    seed: int = 0
    longest_px: int = 640
    """The longer side of a film's pictures, at most."""

    @property
    def cells(self) -> list[tuple[Kind, int]]:
        """Each kind at each length of the ground."""
        return list(product(self.kinds, self.seconds))


class Item(NamedTuple):
    """An item without its file."""

    kind: Kind
    seconds: int
    question: str
    options: tuple[str, ...]
    key: int
    plan: Plan
    stretches: tuple[Stretch, ...]
    """What the options are about, all that passed the checks; of a needle one in turn each."""
    texts: tuple[str, ...]
    """What is set in, in the order of the film."""
    ground: Ground
    """That the options were checked by; the film's is as long or shorter."""

    @property
    def asked(self) -> tuple[str, ...]:
        """What no other item of a set may ask: the options in any order, and of what."""
        about = [self.stretches[0].text] if self.kind == "count" else []
        return (self.kind, *about, *sorted(self.options))

    @property
    def ground_s(self) -> float:
        """How long the film's ground is."""
        return sum(excerpt.seconds for excerpt in self.plan.ground)

    @property
    def film_s(self) -> float:
        """How long the film is."""
        return sum(excerpt.seconds for excerpt in self.plan.excerpts)


@dataclass
class Cell:
    """How many items there are of one kind at one length."""

    kind: Kind
    seconds: int
    wanted: int = 0
    made: int = 0
    tries_in_vain: int = 0
    why: Counter[Reason] = field(default_factory=Counter)
    """Of the last grounds in vain."""

    @property
    def is_exhausted(self) -> bool:
        """Whether there are no more."""
        return self.made < self.wanted


class Drawn(NamedTuple):
    """What a folder gives."""

    items: list[Item]
    cells: list[Cell]

    @property
    def wanted(self) -> int:
        """How many were asked for."""
        return sum(cell.wanted for cell in self.cells)


def draw_items(bank: Bank, wish: Wish) -> Drawn:
    """Return the items of a wish, or those that there are; the same for the same footage."""
    cells = [Cell(*cell) for cell in wish.cells]
    items: list[Item] = []
    asked: set[tuple[str, ...]] = set()
    for number in range(wish.n):
        cell = cells[number % len(cells)]
        cell.wanted += 1
        if cell.tries_in_vain < TRIES and bank.grounds and len(bank.footage) > 1:
            item = _next_item(bank, wish, cell, number=number, asked=asked)
            if item is not None:
                items.append(item)
                asked.add(item.asked)
    return Drawn(items, cells)


def _next_item(
    bank: Bank, wish: Wish, cell: Cell, *, number: int, asked: set[tuple[str, ...]]
) -> Item | None:
    cell.tries_in_vain = 0
    cell.why.clear()
    while cell.tries_in_vain < TRIES:
        of = (wish.seed, cell.kind, cell.seconds, number, cell.tries_in_vain)
        dice = Dice("tasks", MAKER, *of)
        item = draw_item(bank, wish, cell.kind, cell.seconds, dice=dice)
        if item is not None and item.asked not in asked:
            cell.made += 1
            return item
        cell.tries_in_vain += 1
        cell.why["alike" if item is None else "repeated"] += 1
    return None


def draw_item(bank: Bank, wish: Wish, kind: Kind, seconds: int, *, dice: Dice) -> Item | None:
    """Return an item; None where the ground that was drawn has too few options."""
    length_s = _length_s(kind, dice)
    rows = int(length_s * LOOKS_A_SECOND) + 1
    numbers = dice.shuffled(range(1, MOST_COUNTED + 1))[:OPTIONS] if kind == "count" else [1]
    # Of the longest film that a key could ask for: where more is set in there is less ground.
    spread_s = (max(numbers) - min(numbers)) * length_s
    ground = draw_ground(bank, seconds + spread_s, dice)
    low, high = wish.probes
    count = {"needle": OPTIONS, "order": low + dice.below(high - low + 1), "count": 1}[kind]
    stretches = draw_stretches(bank, ground, dice, rows=rows, count=count)
    if len(stretches) < count:
        return None
    if kind == "needle":
        options, built = [one.text for one in stretches], [[one] for one in stretches]
        question = word_needle(dice)
    elif kind == "order":
        built = [list(order) for order in dice.shuffled(list(permutations(stretches)))[:OPTIONS]]
        options = [in_order([one.text for one in order]) for order in built]
        question = word_order(dice)
    else:
        options, built = [str(m) for m in numbers], [stretches * m for m in numbers]
        question = word_count(stretches[0].text, dice)
    key = dice.below(OPTIONS)
    ground_s = seconds + (max(numbers) - len(built[key])) * length_s if kind == "count" else seconds
    plan = _plan(ground, built[key], ground_s, dice).model_copy(
        update={"longest_px": wish.longest_px}
    )
    texts = tuple(one.text for one in built[key])
    return Item(kind, seconds, question, tuple(options), key, plan, tuple(stretches), texts, ground)


def _length_s(kind: Kind, dice: Dice) -> float:
    shortest, longest = LENGTHS_S[kind]
    return shortest + LENGTH_STEP_S * dice.below(int((longest - shortest) / LENGTH_STEP_S) + 1)


def _plan(ground: Ground, built: Sequence[Stretch], ground_s: float, dice: Dice) -> Plan:
    places = zip(built, _places_s(len(built), ground_s, dice), strict=True)
    return Plan(
        ground=ground.shortened(ground_s),
        probes=tuple(
            Probe(**stretch.excerpt.model_dump(), before=round(place_s * ground.fps))
            for stretch, place_s in places
        ),
    )


def _places_s(count: int, seconds: float, dice: Dice) -> list[float]:
    """Return when each is set in, on the clock of the ground; any places are as likely."""
    free_ms = round(1000 * (seconds - 2 * EDGE_S - (count - 1) * GAP_S))
    drawn = sorted(dice.below(free_ms + 1) / 1000 for _ in range(count))
    return [EDGE_S + place_s + number * GAP_S for number, place_s in enumerate(drawn)]
