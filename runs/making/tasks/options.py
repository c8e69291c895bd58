"""Options of one item, drawn first and all under the same checks, and the ground that they suit.

Whoever does not see what is set into a film has nothing to go by: each option could be the right
one, and the ground fits none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tasks import describe_stretches, fits
from videoautoarena.agents.offline.vision.looks import FITS, Values
from videoautoarena.runs.making.tasks.sight import LOOKS_A_SECOND, Footage, Seen, Shape
from videoautoarena.video.synth.timeline import Excerpt

# Of 64 frames over 3 minutes, stand-ins that were shown a needle named it always with this margin,
# .965 of the time without it, and .849 without margin and distance (150 items each).
MARGIN = 0.12
"""By how much the worst frame of a stretch has to fit its words better than any other frame."""
FOREIGN = 0.45
"""Least distance of a stretch's mean histogram from that of every frame of the ground."""
MOST_SOURCES = 3
"""The most videos that the ground of a film is cut from."""
STRETCHES = 8
"""Stretches of one description that are tried before it is given up for a ground."""


class Stretch(NamedTuple):
    """A piece of a video that may be set into a film, and the words for it."""

    footage: Footage
    row: int
    """The first row of it, at the instant of a look."""
    rows: int
    """How many rows it has; it ends with the last of them."""
    text: str

    @property
    def excerpt(self) -> Excerpt:
        """The part of the video that is set in."""
        start_s = self.row / LOOKS_A_SECOND
        seconds = (self.rows - 1) / LOOKS_A_SECOND
        return Excerpt(video=self.footage.video.sha256, start_s=start_s, seconds=seconds)

    def seen(self, shape: Shape) -> Seen:
        """Return what it looks like."""
        return Seen(*(every[self.row : self.row + self.rows] for every in self.footage.seen[shape]))

    def worst(self, shape: Shape) -> float:
        """Return how well the worst of its frames fits its own words."""
        return float(fits(self.text, *self.seen(shape)[:2]).min())


@dataclass(frozen=True)
class Ground:
    """The part of a film in which nothing is set in."""

    excerpts: tuple[Excerpt, ...]
    rate: Fraction
    """Rate of its first video, and so of the film."""
    shape: Shape
    seen: Seen
    """What it looks like, each look once."""

    @property
    def videos(self) -> frozenset[str]:
        """Digests of the videos that it is made of."""
        return frozenset(excerpt.video for excerpt in self.excerpts)

    def shortened(self, seconds: float) -> tuple[Excerpt, ...]:
        """Return its excerpts up to a length."""
        kept = []
        left = seconds
        for excerpt in self.excerpts:
            if left <= 0:
                break
            kept.append(excerpt.model_copy(update={"seconds": min(left, excerpt.seconds)}))
            left -= excerpt.seconds
        return tuple(kept)


class Bank:
    """The footage of a folder, by what can be said of it."""

    def __init__(self, footage: Sequence[Footage]) -> None:
        # By content: the names of files do not change what is drawn.
        self.footage = sorted(footage, key=lambda one: one.video.sha256)
        self._stretches: dict[tuple[Shape, int], Mapping[str, list[Stretch]]] = {}

    @cached_property
    def grounds(self) -> list[Footage]:
        """The videos that may give a film its shape."""
        return [one for one in self.footage if one.shape in one.seen]

    def stretches(self, shape: Shape, rows: int) -> Mapping[str, list[Stretch]]:
        """Return all stretches of that length that have words and no cut, by these words."""
        if (shape, rows) not in self._stretches:
            found: dict[str, list[Stretch]] = {}
            for footage in self.footage:
                seen = footage.seen[shape]
                said = describe_stretches(seen.luma, seen.shares, frames=rows)
                for row, text in enumerate(said):
                    if text is not None and not footage.cuts[row : row + rows - 1].any():
                        found.setdefault(text, []).append(Stretch(footage, row, rows, text))
            self._stretches[shape, rows] = dict(sorted(found.items()))
        return self._stretches[shape, rows]


def draw_ground(bank: Bank, seconds: float, dice: Dice) -> Ground:
    """Return a ground of one to three videos, which follow each other until it is long enough."""
    first = dice.one(bank.grounds)
    others = [one for one in dice.shuffled(bank.footage) if one is not first]
    # At least one video is left over to be set in.
    most = max(1, min(MOST_SOURCES, len(bank.footage) - 1))
    sources = [first, *others[: dice.below(most)]]
    excerpts: list[Excerpt] = []
    rows: dict[str, set[int]] = {one.video.sha256: set() for one in sources}
    left = seconds
    while left > 0:
        for one in sources:
            piece_s = min(left, one.seconds)
            start = dice.below(int((one.seconds - piece_s) * LOOKS_A_SECOND) + 1)
            start_s = start / LOOKS_A_SECOND
            excerpt = Excerpt(video=one.video.sha256, start_s=start_s, seconds=piece_s)
            excerpts.append(excerpt)
            # The look behind its end belongs to it: an excerpt may end between two looks.
            end = min(len(one.cuts) + 1, start + int(piece_s * LOOKS_A_SECOND) + 2)
            rows[one.video.sha256].update(range(start, end))
            left -= piece_s
            if left <= 0:
                break
        sources = [sources[0], *dice.shuffled(sources[1:])]
    parts = [_rows(one.seen[first.shape], sorted(rows[one.video.sha256])) for one in sources]
    seen = Seen(*(np.concatenate(every) for every in zip(*parts, strict=True)))
    return Ground(tuple(excerpts), first.rate, first.shape, seen)


def _rows(seen: Seen, rows: Sequence[int]) -> Seen:
    return Seen(*(every[rows] for every in seen))


def draw_stretches(
    bank: Bank, ground: Ground, dice: Dice, *, rows: int, count: int
) -> list[Stretch]:
    """Return `count` stretches that pass all checks, or fewer if there are no more."""
    picked: list[Stretch] = []
    by_text = bank.stretches(ground.shape, rows)
    for text in dice.shuffled(list(by_text)):
        for stretch in dice.shuffled(by_text[text])[:STRETCHES]:
            if is_foreign(stretch, ground) and all(
                are_apart(stretch, other, ground.shape) for other in picked
            ):
                picked.append(stretch)
                break
        if len(picked) == count:
            break
    return picked


def is_foreign(stretch: Stretch, ground: Ground) -> bool:
    """Return whether a stretch is foreign to the ground: by source, by words and by colours."""
    if stretch.footage.video.sha256 in ground.videos:
        return False
    if not _is_below(stretch, fits(stretch.text, *ground.seen[:2]), ground.shape):
        return False
    mean = stretch.seen(ground.shape).histograms.mean(axis=0)
    distances = 0.5 * np.abs(ground.seen.histograms - mean).sum(axis=1)
    return bool(distances.min() >= FOREIGN)


def are_apart(one: Stretch, other: Stretch, shape: Shape) -> bool:
    """Return whether neither of two stretches could be taken for the other by its words."""
    return one.text != other.text and all(
        _is_below(mine, fits(mine.text, *yours.seen(shape)[:2]), shape)
        for mine, yours in ((one, other), (other, one))
    )


def _is_below(stretch: Stretch, others: Values, shape: Shape) -> bool:
    """Return whether other frames fit a stretch's words clearly worse than its own do."""
    # Below `FITS` as well, from which on a stand-in takes a frame for one that is meant.
    return bool(others.max() <= min(stretch.worst(shape) - MARGIN, FITS))
