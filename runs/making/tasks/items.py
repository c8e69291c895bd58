"""Items drawn by chance from a seed: the question, its options, the key last, and the film's plan.

Nothing is balanced: where keys or places were dealt out evenly, what was right less often so far
would be the answer. A film's length follows from the options, and never from the key. The line of
an item whose film is encoded says what stands where in it.

A ladder is one item at several lengths: drawn and checked on the longest ground, of which each
shorter one is the beginning, with the same stretches at the same places of the room between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, cast

from pydantic import JsonValue

from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.memory.records.records import Record, Video
from videoautoarena.runs.bench.format.schema import BenchVideo, TaskItem
from videoautoarena.runs.making.tasks.kinds import CUT_KINDS, MOST_COUNTED, OPTIONS, Kind
from videoautoarena.runs.making.tasks.options import (
    Bank,
    Ground,
    Stretch,
    draw_ground,
    draw_stretches,
)
from videoautoarena.runs.making.tasks.sight import LOOKS_A_SECOND
from videoautoarena.video.synth.timeline import Film, FilmPlan, Probe

Reason = Literal["alike", "repeated"]
"""Why no item came of a ground: too few options passed the checks, or they were asked before."""
REASONS: tuple[Reason, ...] = ("alike", "repeated")
MAKER = "3"
"""Goes up whenever the same folder and seed would give other items by this code."""
LENGTH_STEP_S = 0.5
PROBES = (3, 5)
"""The fewest and the most that a question for the order may be about."""
EDGE_S, GAP_S = 0.5, 2.0
"""Least ground at either end of a film, and between the stretches that are set in."""
SECONDS = (15, 3600)
"""The shortest and the longest ground."""
BITS_A_PIXEL = 0.25
"""Size of an encoded film. Real clips take .02 to .3 at 640 pixels, .04 to .4 at 320."""
TRIES = 200
"""Grounds in a row without an item after which there are no more."""


@dataclass(frozen=True)
class ItemRequest:
    """What is to be drawn."""

    kinds: tuple[Kind, ...] = tuple(CUT_KINDS)
    n: int = 60
    """Items in all, dealt to kinds and lengths in turn."""
    seconds: tuple[int, ...] = (60,)
    probes: tuple[int, int] = PROBES
    seed: int = 0
    longest_px: int = 640
    """The longer side of a film's pictures, at most."""
    is_ladder: bool = False
    """Whether each item is made at every length; `n` then counts it once."""

    @property
    def cells(self) -> list[tuple[Kind, tuple[int, ...]]]:
        """Each kind, and the lengths of the ground at which an item of it is made."""
        lengths = [tuple(sorted(self.seconds))] if self.is_ladder else [(s,) for s in self.seconds]
        return list(product(self.kinds, lengths))


class DraftItem(NamedTuple):
    """An item without its file."""

    kind: Kind
    seconds: int
    question: str
    options: tuple[str, ...]
    key: int
    plan: FilmPlan
    stretches: tuple[Stretch, ...]
    """The stretches that the options are about, all of which passed the checks."""
    texts: tuple[str, ...]
    """Words of what is set in, in the order of the film."""
    ground: Ground
    """The ground that the options were checked against; the film's is as long or shorter."""
    ladder: str | None = None
    """A name that the same item has at all lengths: the id of the longest film."""
    rung: int = 1
    """Which of these lengths it is, from the shortest on."""

    # In MLVU 179 of 355 needle questions repeat, and 91 % of the answers follow from other items.
    @property
    def asked(self) -> tuple[str, ...]:
        """What no other item of a set may ask: the same options, in any order, of one thing."""
        about = [self.stretches[0].text] if CUT_KINDS[self.kind].is_counted else []
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
class ItemQuota:
    """How many items there are of one kind at one length, or at each of a ladder."""

    kind: Kind
    lengths: tuple[int, ...]
    """Seconds of the ground, ascending."""
    wanted: int = 0
    made: int = 0
    tries_in_vain: int = 0
    why: Counter[Reason] = field(default_factory=Counter)
    """Why the last grounds gave no item."""

    @property
    def is_exhausted(self) -> bool:
        """Whether there are no more."""
        return self.made < self.wanted

    @property
    def where(self) -> str:
        """Return kind and lengths in words."""
        every = "each of " * (len(self.lengths) > 1)
        return f"{self.kind} at {every}{', '.join(map(str, self.lengths))} s"


class Drawn(NamedTuple):
    """The items that a folder gives."""

    items: list[DraftItem]
    cells: list[ItemQuota]

    @property
    def wanted(self) -> int:
        """How many were asked for."""
        return sum(cell.wanted * len(cell.lengths) for cell in self.cells)


def expect_bytes(items: Sequence[DraftItem], videos: Sequence[Video]) -> int:
    """Return roughly what the films take on disk; some clips need a tenth of it."""
    shapes = {video.sha256: (video.width_px, video.height_px) for video in videos}
    bits = 0.0
    for item in items:
        width, height = item.plan.size_of(shapes[item.plan.ground[0].video])
        bits += BITS_A_PIXEL * width * height * item.ground.rate * item.film_s
    return round(bits / 8)


def draw_items(bank: Bank, wish: ItemRequest) -> Drawn:
    """Return the items of a wish, or those that there are; the same for the same footage."""
    cells = [ItemQuota(*cell) for cell in wish.cells]
    items: list[DraftItem] = []
    asked: set[tuple[str, ...]] = set()
    for number in range(wish.n):
        cell = cells[number % len(cells)]
        cell.wanted += 1
        if cell.tries_in_vain < TRIES and bank.grounds and len(bank.footage) > 1:
            rungs = _next_rungs(bank, wish, cell, number=number, asked=asked)
            items += rungs
            asked.update(item.asked for item in rungs)
    return Drawn(items, cells)


def _next_rungs(
    bank: Bank, wish: ItemRequest, cell: ItemQuota, *, number: int, asked: set[tuple[str, ...]]
) -> list[DraftItem]:
    cell.tries_in_vain = 0
    cell.why.clear()
    while cell.tries_in_vain < TRIES:
        of: tuple[str | int, ...] = (
            wish.seed,
            cell.kind,
            *cell.lengths,
            number,
            cell.tries_in_vain,
        )
        # Dice of its own for each try: one in vain moves no other item.
        dice = Dice("tasks", MAKER, *of)
        rungs = draw_rungs(bank, wish, cell.kind, cell.lengths, dice=dice)
        if rungs and rungs[0].asked not in asked:
            cell.made += 1
            return rungs
        cell.tries_in_vain += 1
        cell.why["repeated" if rungs else "alike"] += 1
    return []


def draw_rungs(
    bank: Bank, wish: ItemRequest, kind: Kind, lengths: Sequence[int], *, dice: Dice
) -> list[DraftItem]:
    """Return one item at each of the lengths; none if the ground has too few options."""
    cut = CUT_KINDS[kind]
    shortest, longest = cut.lengths_s
    length_s = shortest + LENGTH_STEP_S * dice.below(int((longest - shortest) / LENGTH_STEP_S) + 1)
    # Rows are instants: there is one more of them than steps between.
    rows = int(length_s * LOOKS_A_SECOND) + 1
    numbers = dice.shuffled(range(1, MOST_COUNTED + 1))[:OPTIONS] if cut.is_counted else [1]
    # Long enough for every key: films are equally long, so the fewer are set in, the more ground.
    spread_s = (max(numbers) - min(numbers)) * (length_s + 1 / LOOKS_A_SECOND)
    ground = draw_ground(bank, max(lengths) + spread_s, dice)
    low, high = wish.probes
    count = cut.stretches(low + dice.below(high - low + 1))
    stretches = draw_stretches(bank, ground, dice, rows=rows, count=count)
    if len(stretches) < count:
        return []
    question, options, films = cut.build(stretches, numbers, dice)
    # Drawn last and never dealt out: with places balanced to the item, guessing from the other
    # items was never right in 200 of 200 sets, so that the rarest place was the answer.
    key = dice.below(OPTIONS)
    grounds_s = [float(seconds) for seconds in lengths]
    if cut.is_counted:
        # In whole frames, like what is set in, so that every key would give exactly as long a film.
        more = (max(numbers) - len(films[key])) * max(1, round(length_s * ground.rate))
        grounds_s = [float((round(s * ground.rate) + more) / ground.rate) for s in lengths]
    plans = _plans(ground, films[key], grounds_s, dice=dice, longest_px=wish.longest_px)
    ladder = plans[-1].id if wish.is_ladder else None
    texts = tuple(one.text for one in films[key])
    same = (question, tuple(options), key)
    return [
        DraftItem(kind, seconds, *same, plan, tuple(stretches), texts, ground, ladder, rung)
        for rung, (seconds, plan) in enumerate(zip(lengths, plans, strict=True), start=1)
    ]


def _plans(
    ground: Ground,
    built: Sequence[Stretch],
    grounds_s: Sequence[float],
    *,
    dice: Dice,
    longest_px: int,
) -> list[FilmPlan]:
    """Return the film of each length, the longest last."""
    rooms_s = [_room_s(len(built), ground_s) for ground_s in grounds_s]
    # In whole milliseconds of the longest film; all places are equally likely.
    drawn = sorted(dice.below(round(1000 * rooms_s[-1]) + 1) / 1000 for _ in built)
    shares = [room_s / rooms_s[-1] for room_s in rooms_s]
    return [
        FilmPlan(
            ground=ground.shortened(ground_s),
            probes=tuple(
                Probe(
                    **stretch.excerpt.model_dump(),
                    before=round((EDGE_S + at_s * share + place * GAP_S) * ground.rate),
                )
                for place, (stretch, at_s) in enumerate(zip(built, drawn, strict=True))
            ),
            longest_px=longest_px,
        )
        for ground_s, share in zip(grounds_s, shares, strict=True)
    ]


def _room_s(count: int, ground_s: float) -> float:
    """Return how far what is set in can be moved between the ends, keeping its gaps."""
    return ground_s - 2 * EDGE_S - (count - 1) * GAP_S


ID_LENGTH = 12
"""Of the digest of a video, which it is known by."""


class Encoded(Record):
    """A film of the draft, beside its file."""

    sha256: str
    size_bytes: int
    film: Film


class _OnLadder(TypedDict):
    ladder: NotRequired[str]
    rung: NotRequired[int]


class ItemOrigin(TypedDict):
    """How an item that was cut together came about, as `made` of its line says it."""

    kind: str
    """Of the task, such as `needle`."""
    maker: str
    """Version of the rules by which it was made."""
    seed: int
    """Of all draws."""
    background_s: int
    """Seconds of ground that were asked for."""
    ladder: NotRequired[str]
    """With `--ladder`: what the same item at other lengths has, too."""
    rung: NotRequired[int]
    """With `--ladder`: which of the lengths it is, from 1."""
    ground_s: float
    """Seconds of ground that it has."""
    ground: list[dict[str, Any]]
    """What its ground was cut from: `video` by sha256, `start_s`, `seconds`."""
    probes: list[dict[str, Any]]
    """The same of what was set in, with its `text`, `before` which frame of the ground it stands,
    its `first` frame and `frames` in the film, `at_s` and `lasts_s`."""
    described: list[dict[str, Any]]
    """All stretches that the options are about."""
    frames: int
    """Of the film."""
    rate: str
    """Of the film, in frames a second, as a fraction."""


def video_of(encoded: Encoded) -> BenchVideo:
    """Return the manifest's entry of a film."""
    film = encoded.film
    rate = Fraction(film.rate)
    return BenchVideo(
        sha256=encoded.sha256,
        path=f"{encoded.sha256[:ID_LENGTH]}.mp4",
        size_bytes=encoded.size_bytes,
        duration_s=_duration_s(film),
        width_px=film.width_px,
        height_px=film.height_px,
        fps=round(float(rate), 3),
        codec="h264",
    )


def _duration_s(film: Film) -> float:
    return round(float(film.frames / Fraction(film.rate)), 3)


def entry_of(item: DraftItem, encoded: Encoded, seed: int) -> TaskItem:
    """Return the line of an item whose film is there."""
    draft = TaskItem(
        qid="",
        video_id=encoded.sha256[:ID_LENGTH],
        task=item.kind,
        question=item.question,
        options=list(item.options),
        answer=item.options[item.key],
        duration_s=_duration_s(encoded.film),
        made=cast(dict[str, JsonValue], _about(item, encoded.film, seed)),
    )
    return draft.model_copy(update={"qid": draft.own_qid()})


def _about(item: DraftItem, film: Film, seed: int) -> ItemOrigin:
    """Return where everything stands in a film, and what its options were checked by."""
    set_in = zip(item.plan.probes, item.texts, film.probes, strict=True)
    on_ladder: _OnLadder = {"ladder": item.ladder, "rung": item.rung} if item.ladder else {}
    return {
        "kind": item.kind,
        "maker": MAKER,
        "seed": seed,
        "background_s": item.seconds,
        **on_ladder,
        "ground_s": item.ground_s,
        "ground": [excerpt.model_dump() for excerpt in item.plan.ground],
        "probes": [
            {
                **probe.model_dump(),
                "text": text,
                "first": place.first,
                "frames": place.frames,
                "at_s": round(place.start_s, 3),
                "lasts_s": round(place.seconds, 3),
            }
            for probe, text, place in set_in
        ],
        "described": [{"text": one.text, **one.excerpt.model_dump()} for one in item.stretches],
        "frames": film.frames,
        "rate": film.rate,
    }
