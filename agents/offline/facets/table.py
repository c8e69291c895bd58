"""The table of facets: everything the offline models can ask, say and check, of parts, too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from videoautoarena.agents.offline.vision.frame_features import COLOURS, Vector, glance
from videoautoarena.agents.offline.vision.sequence import (
    Curve,
    FrameSequence,
    comeback,
    sight,
    still_stretch,
)

Stretch: TypeAlias = tuple[float, float]
"""Start and end in seconds; equal for one instant."""
Value: TypeAlias = Stretch | int | str | tuple[str, ...]
Type = Literal["instant", "stretch", "count", "colour", "colours", "choice", "order"]

NEVER: Stretch = (-1.0, -1.0)
"""The claim that there is no such instant."""


# Chance is taken off because guessing pays: without that a model that sees nothing drew level with
# one that sees four frames.
class ClaimScore(NamedTuple):
    """How right a claim is, and how right a guess would have been; both 0 to 1."""

    right: float
    chance: float

    @property
    def room(self) -> float:
        """What is left to know once chance is taken off."""
        return 1 - self.chance

    @property
    def credit(self) -> float:
        """What the claim earns; below 0 if a guess would have done better."""
        return self.right - self.chance


@dataclass(frozen=True, eq=False)
class Facet(ABC):
    """One kind of fact."""

    key: str
    label: str
    """Its name for people."""
    type: ClassVar[Type]

    @property
    def is_timed(self) -> bool:
        """Whether a question may ask for its times to the tenth of a second."""
        return self.type in ("instant", "stretch")

    @abstractmethod
    def measure(self, seen: FrameSequence) -> Value | None:
        """Return what these frames show; None if they do not show it."""

    @abstractmethod
    def is_salient(self, seen: FrameSequence) -> bool:
        """Return whether these frames leave no doubt, so that it is fair to ask."""

    @abstractmethod
    def score(self, claim: Value, seen: FrameSequence, *, fine: bool) -> ClaimScore | None:
        """Return how well the claim fits these frames; None if they do not show it."""


def clip(value: float) -> float:
    return float(min(1.0, max(0.0, value)))


def is_stretch(claim: Value) -> bool:
    return isinstance(claim, tuple) and len(claim) == 2 and not isinstance(claim[0], str)


def stretch(claim: Value) -> Stretch:
    """Return the claim as a stretch; TypeError if it is something else."""
    if isinstance(claim, tuple) and len(claim) == 2:
        start, end = claim
        if not isinstance(start, str) and not isinstance(end, str):
            return start, end
    raise TypeError(f"{claim!r} is no stretch of time")


def sharpness(half_width_s: float, seen: FrameSequence, *, fine: bool) -> float:
    """Return the worth of a claim that wide: much less if the tenth of a second was asked for."""
    # Else "near the end" would be worth as much as a time.
    allowed = 0.3 + 0.01 * seen.duration_s if fine else 0.06 * seen.duration_s
    return min(1.0, (allowed / half_width_s) ** 0.5) if half_width_s > allowed else 1.0


NEIGHBOURS = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        "black/grey", "grey/white", "red/orange", "red/brown", "orange/brown", "orange/yellow",
        "green/teal", "teal/blue", "blue/purple", "purple/pink", "red/pink", "brown/grey",
    )
)  # fmt: skip
"""Colours that two people may call by either name."""


@dataclass(frozen=True, eq=False)
class MainColour(Facet):
    """The colour with the largest share of some part."""

    part: Callable[[FrameSequence], Vector]

    type: ClassVar[Type] = "colour"

    def measure(self, seen: FrameSequence) -> str:
        return COLOURS[int(np.argmax(self.part(seen)))]

    def is_salient(self, seen: FrameSequence) -> bool:
        second, first = np.sort(self.part(seen))[-2:]
        return bool(first > 0.3 and first > 1.25 * second)

    def score(self, claim: Value, seen: FrameSequence, *, fine: bool) -> ClaimScore | None:  # noqa: ARG002
        """Right for a colour nearly as common as the first, partly for its neighbours."""
        if claim not in COLOURS:
            return None
        shares = self.part(seen)
        share = shares[COLOURS.index(str(claim))] / shares.max()
        near = share >= 0.6 or {claim, self.measure(seen)} in NEIGHBOURS
        return ClaimScore(1.0 if share >= 0.85 else 0.6 if near else 0.0, chance=0.15)


@dataclass(frozen=True, eq=False)
class ColourOrder(Facet):
    """The main colour of each scene in turn, repeats folded."""

    type: ClassVar[Type] = "colours"

    def measure(self, seen: FrameSequence) -> tuple[str, ...]:
        mains = (COLOURS[int(np.argmax(scene.shares))] for scene in seen.scenes)
        return tuple(colour for colour, _ in groupby(mains))

    def is_salient(self, seen: FrameSequence) -> bool:
        return 2 <= len(self.measure(seen)) <= 9

    def score(self, claim: Value, seen: FrameSequence, *, fine: bool) -> ClaimScore | None:
        """Score by the longest order both share."""
        if not isinstance(claim, tuple) or not all(isinstance(c, str) for c in claim):
            return None
        true = self.measure(seen)
        # the longest common subsequence, row by row
        best = [0] * (len(true) + 1)
        for colour in claim:
            before = list(best)
            for place, other in enumerate(true):
                same = before[place] + 1
                best[place + 1] = same if colour == other else max(before[place + 1], best[place])
        share = best[-1] / max(len(claim), len(true))
        return ClaimScore(clip((share - (0.3 if fine else 0.2)) / 0.6), chance=0.05)


_FLAT = 16
"""Grey levels between the parts of a picture up to which it is one colour; a sky that fades has
more."""
_SURE_FRAMES = 4
"""Fewest frames of a blank that a viewer of half of the frames cannot miss."""


@dataclass(frozen=True, eq=False)
class BlankCount(Facet):
    """How many stretches there are in which the picture is blank."""

    type: ClassVar[Type] = "count"

    def measure(self, seen: FrameSequence) -> int:
        return len(_blanks(seen))

    def is_salient(self, seen: FrameSequence) -> bool:
        """Return whether there are several, each of them long enough to be sure of."""
        blanks = _blanks(seen)
        return len(blanks) > 1 and min(blanks) >= _SURE_FRAMES

    def score(self, claim: Value, seen: FrameSequence, *, fine: bool) -> ClaimScore | None:  # noqa: ARG002
        if not isinstance(claim, int):
            return None
        return ClaimScore(1.0 if claim == self.measure(seen) else 0.0, chance=0.2)


def _blanks(seen: FrameSequence) -> list[int]:
    layouts = (glance(picture).layout.reshape(-1, 3) for picture in seen.pictures)
    flat = [bool(np.ptp(layout, axis=0).max() <= _FLAT) for layout in layouts]
    return [len(list(run)) for is_flat, run in groupby(flat) if is_flat]


# Instants spread over the video; the share of them that would be right is what a guess earns.
_GUESSES = 240


@dataclass(frozen=True, eq=False)
class ExtremeMoment(Facet):
    """The extreme of one curve, scored by the curve's value at the claimed time."""

    curve: Literal["luma", "edge", "motion"]
    highest: bool
    floor: float
    """The curve must range over more than this to be asked about."""

    type: ClassVar[Type] = "instant"

    def measure(self, seen: FrameSequence) -> Stretch | None:
        """Return the instant of the extreme; None if there is no curve."""
        times, heights = self.points(seen)
        if not len(times):
            return None
        at = float(times[int(np.argmax(heights))])
        return at, at

    def is_salient(self, seen: FrameSequence) -> bool:
        heights = self.points(seen)[1]
        return len(heights) > 1 and float(np.ptp(heights)) > self.floor

    def score(self, claim: Value, seen: FrameSequence, *, fine: bool) -> ClaimScore | None:
        """Score by the height reached near the claimed time, so that plateaus count as right."""
        times, heights = self.points(seen)
        reach = float(np.ptp(heights)) if len(heights) else 0.0
        if reach <= self.floor / 2:
            return None
        start, end = stretch(claim)
        half = (end - start) / 2
        slack = max(1.1 * seen.gap_s, 0.1 if fine else 0.02 * seen.duration_s + 0.25)
        below = (heights.max() - heights) / reach
        guesses = np.append(np.linspace(0, seen.duration_s, _GUESSES), (start + end) / 2)
        # The least of the curve within reach of each instant, else what lies between two frames.
        near = np.abs(times[None, :] - guesses[:, None]) <= (half or slack)
        least = np.where(near, below[None, :], np.inf).min(axis=1)
        least = np.where(np.isinf(least), np.interp(guesses, times, below), least)
        # By height and not by time: on a plateau every instant is as right as the very extreme.
        none_at, ramp = (0.22, 0.15) if fine else (0.35, 0.20)
        fits = np.clip((none_at - least) / ramp, 0, 1)
        return ClaimScore(
            right=float(fits[-1]) * sharpness(half, seen, fine=fine),
            chance=clip(float(np.mean(fits[:-1] >= 0.5))),
        )

    def points(self, seen: FrameSequence) -> tuple[Curve, Curve]:
        """Return the curve as times and heights, turned so that its highest point is meant."""
        if self.curve == "motion":
            times = seen.mids
            heights = seen.motion
        else:
            times = seen.times
            heights = seen.luma if self.curve == "luma" else seen.edge
        return times, heights if self.highest else -heights


@dataclass(frozen=True, eq=False)
class SideChoice(Facet):
    """One of two sides, or neither, by a lead that is measured."""

    lead: Callable[[FrameSequence], float | None]
    """Above `margin` the first side holds, below -`margin` the second."""
    margin: float
    sides: tuple[str, str, str | None]
    """The last is what holds in between; None if nothing can be said there."""

    type: ClassVar[Type] = "choice"

    def measure(self, seen: FrameSequence) -> str | None:
        lead = self.lead(seen)
        if lead is None:
            return None
        return self.sides[0 if lead > self.margin else 1 if lead < -self.margin else 2]

    def is_salient(self, seen: FrameSequence) -> bool:
        lead = self.lead(seen)
        return lead is not None and abs(lead) > 1.6 * self.margin

    def score(self, claim: Value, seen: FrameSequence, *, fine: bool) -> ClaimScore | None:  # noqa: ARG002
        """Right or wrong, half right next to the doubtful band."""
        lead = self.lead(seen)
        true = self.measure(seen)
        if lead is None or true is None:
            return None
        near = abs(lead) < 1.6 * self.margin and self.sides[2] in (claim, true)
        return ClaimScore(1.0 if claim == true else 0.5 if near else 0.0, chance=0.5)


@dataclass(frozen=True, eq=False)
class MomentOrder(Facet):
    """Which of three landmark moments comes first, second and third."""

    landmarks: dict[str, ExtremeMoment]

    type: ClassVar[Type] = "order"

    def measure(self, seen: FrameSequence) -> tuple[str, ...]:
        at = self._at(seen)
        return tuple(sorted(at, key=lambda name: at[name]))

    def is_salient(self, seen: FrameSequence) -> bool:
        if not all(moment.is_salient(seen) for moment in self.landmarks.values()):
            return False
        ordered = sorted(self._at(seen).values())
        return min(b - a for a, b in pairwise(ordered)) > 0.12 * seen.duration_s

    def score(self, claim: Value, seen: FrameSequence, *, fine: bool) -> ClaimScore | None:  # noqa: ARG002
        """Right if every pair stands in order; two that lie close may stand either way."""
        if not isinstance(claim, tuple) or not set(claim) <= set(self.landmarks):
            return None
        at = self._at(seen)
        pairs = list(combinations([str(name) for name in claim], 2))
        kept = sum(at[a] < at[b] + 0.05 * seen.duration_s for a, b in pairs)
        right = 1.0 if kept == len(pairs) else 0.34 if kept >= 2 else 0.0
        return ClaimScore(right if len(claim) == 3 else 0.7 * right, chance=0.2)

    def _at(self, seen: FrameSequence) -> dict[str, float]:
        found: dict[str, Stretch | None] = {n: m.measure(seen) for n, m in self.landmarks.items()}
        return {name: stretch(value)[0] if value else 0.0 for name, value in found.items()}


def cut_lead(seen: FrameSequence) -> float:
    """Return the lead of the first half as a share of all cuts; 0 with fewer than three cuts."""
    if len(seen.cuts) < 3:
        return 0.0
    early = sum(cut < seen.duration_s / 2 for cut in seen.cuts)
    return (2 * early - len(seen.cuts)) / len(seen.cuts)


def light_gain(seen: FrameSequence) -> float:
    """Return how much brighter the last sixteenth is than the first, 0 to 1."""
    n = max(1, len(seen.luma) // 16)
    return float(seen.luma[-n:].mean() - seen.luma[:n].mean())


def motion_lead(seen: FrameSequence) -> float | None:
    """Return how much more the first half moves, -1 to 1; None if one half was not seen."""
    early = seen.mids < seen.duration_s / 2
    if not early.any() or early.all():
        return None
    first = float(seen.motion[early].mean())
    second = float(seen.motion[~early].mean())
    return (first - second) / (first + second + 1e-6)


@dataclass(frozen=True, eq=False)
class ShotCount(Facet):
    """How many shots there are."""

    type: ClassVar[Type] = "count"

    def measure(self, seen: FrameSequence) -> int:
        return len(seen.scenes)

    def is_salient(self, seen: FrameSequence) -> bool:
        return len(seen.scenes) > 1

    def score(self, claim: Value, seen: FrameSequence, *, fine: bool) -> ClaimScore | None:
        """Exact up to seven, within some percent from eight; off by one is half right from four."""
        if not isinstance(claim, int):
            return None
        true = self.measure(seen)
        off = abs(claim - true)
        slack = 0.0 if true < 8 else (0.07 if fine else 0.12) * true
        # two viewers who both watched well differ by one where a shot lasts a few frames only
        near = 0.5 if true >= 4 and off <= 1 + slack else 0.0
        return ClaimScore(1.0 if off <= slack else near, chance=0.15)


@dataclass(frozen=True, eq=False)
class CutTime(Facet):
    """When the first or the last cut falls."""

    last: bool

    type: ClassVar[Type] = "instant"

    def measure(self, seen: FrameSequence) -> Stretch:
        if not seen.cuts:
            return NEVER
        at = seen.cuts[-1 if self.last else 0]
        return at, at

    def is_salient(self, seen: FrameSequence) -> bool:
        return bool(seen.cuts)

    def score(self, claim: Value, seen: FrameSequence, *, fine: bool) -> ClaimScore | None:
        """Right within a small distance, falling to nothing at twice that."""
        start, end = stretch(claim)
        true = self.measure(seen)[0]
        if true < 0 or start < 0:
            return ClaimScore(1.0 if true == start else 0.0, chance=0.5 if true < 0 else 0.1)
        slack = 0.75 * seen.gap_s + (0.1 if fine else 0.3 + 0.03 * seen.duration_s)
        half = (end - start) / 2
        off = max(0.0, abs((start + end) / 2 - true) - half)
        chance = clip(2 * (1.5 * slack + half) / seen.duration_s)
        return ClaimScore(clip(2 - off / slack) * sharpness(half, seen, fine=fine), chance)


@dataclass(frozen=True, eq=False)
class SpanFacet(Facet):
    """When something begins and ends; rivals are stretches that nearly qualify, too."""

    find: Callable[[FrameSequence], Stretch | None]
    rivals: Callable[[FrameSequence, Stretch], list[Stretch]]

    type: ClassVar[Type] = "stretch"

    def measure(self, seen: FrameSequence) -> Stretch | None:
        return self.find(seen)

    def is_salient(self, seen: FrameSequence) -> bool:
        """Return whether there is one, and not half of the video full of rivals."""
        true = self.find(seen)
        if true is None:
            return False
        return sum(b - a for a, b in self.rivals(seen, true)) < 0.8 * seen.duration_s

    def score(self, claim: Value, seen: FrameSequence, *, fine: bool) -> ClaimScore | None:
        """Score by the overlap with the best rival, over what both cover together."""
        true = self.find(seen)
        if true is None:
            return None
        shared = max(_overlap(stretch(claim), rival) for rival in self.rivals(seen, true))
        chance = clip(0.8 * (true[1] - true[0]) / seen.duration_s)
        return ClaimScore(clip((shared - 0.25) / (0.6 if fine else 0.4)), chance)


def _overlap(claim: Stretch, true: Stretch) -> float:
    """Return intersection over union; an instant inside counts .6."""
    if claim[0] == claim[1]:
        return 0.6 if true[0] - 0.3 <= claim[0] <= true[1] + 0.3 else 0.0
    both = max(0.0, min(claim[1], true[1]) - max(claim[0], true[0]))
    return both / (max(claim[1], true[1]) - min(claim[0], true[0]))


def shots(seen: FrameSequence) -> list[Stretch]:
    """Return every shot from start to end."""
    return list(pairwise((0.0, *seen.cuts, seen.duration_s)))


def shots_as_long(seen: FrameSequence, shot: Stretch) -> list[Stretch]:
    """Return every shot within 12 % of this one's length."""
    slack = 0.12 * _length(shot) + 0.1
    return [s for s in shots(seen) if abs(_length(s) - _length(shot)) <= slack]


def _length(span: Stretch) -> float:
    return span[1] - span[0]


# Short dips of light are no facet: claims of them were right in .40 to .76 of the cases.
_MOMENTS = (
    ExtremeMoment("darkest", "darkest moment", curve="luma", highest=False, floor=0.10),
    ExtremeMoment("brightest", "brightest moment", curve="luma", highest=True, floor=0.10),
    ExtremeMoment("liveliest", "liveliest moment", curve="motion", highest=True, floor=0.02),
    ExtremeMoment("busiest", "most crowded picture", curve="edge", highest=True, floor=0.6),
    ExtremeMoment("plainest", "plainest picture", curve="edge", highest=False, floor=0.6),
)
_CUTTING = (
    ShotCount("shots", "number of shots"),
    CutTime("first_cut", "first cut", last=False),
    CutTime("last_cut", "last cut", last=True),
    SpanFacet(
        "longest",
        "longest shot",
        find=lambda seen: max(shots(seen), key=_length),
        rivals=shots_as_long,
    ),
    SpanFacet(
        "shortest",
        "shortest shot",
        find=lambda seen: min(shots(seen), key=_length),
        rivals=shots_as_long,
    ),
    SpanFacet("still", "stillest stretch", find=still_stretch, rivals=lambda _, itself: [itself]),
    BlankCount("blanks", "number of blank pictures"),
)
_COLOURS = (
    MainColour("main_colour", "main colour", part=lambda seen: seen.shares.mean(axis=0)),
    MainColour("open_colour", "colour of the opening", part=lambda seen: seen.scenes[0].shares),
    MainColour("close_colour", "colour of the ending", part=lambda seen: seen.scenes[-1].shares),
    ColourOrder("colour_order", "colours in order"),
)
_LIGHTS = ("brighter", "darker", "same")
_HALVES = ("first", "second", "even")
_LANDMARKS = {m.key: m for m in _MOMENTS if m.key in ("darkest", "brightest", "busiest")}
_COMPARISONS = (
    SideChoice("ending_light", "light at the end against the beginning", light_gain, 0.04, _LIGHTS),
    SideChoice("pace", "pace of the cutting by half", cut_lead, 0.2, _HALVES),
    SideChoice("motion_half", "movement by half", motion_lead, 0.12, _HALVES),
    SideChoice("returns", "scenes that return", comeback, 0.5, ("yes", "no", None)),
    MomentOrder("sequence", "order of moments", _LANDMARKS),
)

FACETS: dict[str, Facet] = {f.key: f for f in (*_MOMENTS, *_CUTTING, *_COLOURS, *_COMPARISONS)}
"""Key to facet, in the order in which an examiner thinks of them."""


@dataclass(frozen=True)
class VideoPart:
    """What is seen of it, and when it begins."""

    seen: FrameSequence
    start_s: float = 0.0

    def measure(self, key: str) -> Value | None:
        """Return what these frames show of a facet; None where they do not show it."""
        value = FACETS[key].measure(self.seen)
        return None if value is None else _shifted(value, self.start_s)

    def right(self, key: str, claim: Value) -> float:
        """Return how right a claim is, 0 to 1; 0 where these frames do not show it."""
        facet = FACETS[key]
        score = facet.score(_shifted(claim, -self.start_s), self.seen, fine=False)
        return score.right if score else 0.0


def part_of(seen: FrameSequence, span: Stretch) -> VideoPart | None:
    """Return what is seen from one time to another; None where no frame falls there."""
    first = seen.pictures[0].time_s
    pictures = [one for one in seen.pictures if span[0] <= one.time_s - first <= span[1]]
    return VideoPart(sight(pictures), pictures[0].time_s - first) if pictures else None


def _shifted(value: Value, by_s: float) -> Value:
    if not is_stretch(value) or stretch(value)[0] < 0:
        return value
    start, end = stretch(value)
    return start + by_s, end + by_s


MOMENTS = {key: facet for key, facet in FACETS.items() if isinstance(facet, ExtremeMoment)}
# A window instead of one best frame: that served two of nine real clips, this serves six.
NEAR_SHARE = 0.2
"""How far below the extreme a frame still counts as near it, as a share of the curve's range."""
MOST_NEAR = 0.4
"""How many of a part's frames may come near."""
SLACK = 2.2
"""How many gaps between frames a time may lie outside of those that come near."""
LEAST_FRAMES = 8
LEAST_SHARE = 0.2
"""Of the video, that a part has to take."""


class ExtremeWindow(NamedTuple):
    """When an extreme is, and from when to when an answer counts as right."""

    at_s: float
    start_s: float
    end_s: float

    def holds(self, time_s: float, *, margin_s: float = 0.0) -> bool:
        """Return whether a time is right, or less than `margin_s` from being so."""
        return self.start_s - margin_s <= time_s <= self.end_s + margin_s


@dataclass(frozen=True, eq=False)
class Extremes:
    """Those of one sight.

    A part is cut out of its curves: to look at its frames alone would take a hundred times as long.
    """

    seen: FrameSequence

    def at(self, key: str, part: Stretch) -> float | None:
        """Return when a part comes to its extreme, whether that stands out or not."""
        times, heights = self._cut(key, part)
        return float(times[int(np.argmax(heights))]) if len(times) else None

    def window(self, key: str, part: Stretch) -> ExtremeWindow | None:
        """Return the extreme of a part; None where it does not stand out, or the part is short."""
        times, heights = self._cut(key, part)
        reach = float(np.ptp(heights)) if len(times) else 0.0
        is_long = part[1] - part[0] >= LEAST_SHARE * self.seen.duration_s
        if not is_long or len(times) < LEAST_FRAMES or reach <= MOMENTS[key].floor:
            return None
        is_near = (heights.max() - heights) / reach <= NEAR_SHARE
        if float(is_near.mean()) > MOST_NEAR:
            return None
        best = first = last = int(np.argmax(heights))
        while first and is_near[first - 1]:
            first -= 1
        while last < len(is_near) - 1 and is_near[last + 1]:
            last += 1
        if first == last:
            return None  # Whoever is sent half of the frames may not see it.
        slack_s = SLACK * self.seen.gap_s
        return ExtremeWindow(
            float(times[best]),
            max(0.0, float(times[first]) - slack_s),
            float(times[last]) + slack_s,
        )

    def _cut(self, key: str, part: Stretch) -> tuple[Curve, Curve]:
        times, heights = MOMENTS[key].points(self.seen)
        # What moves lies between two frames, both of which are in the part.
        reach = (self.seen.gap_s / 2 if MOMENTS[key].curve == "motion" else 0.0) - 1e-9
        inside = (times >= part[0] + reach) & (times <= part[1] - reach)
        return times[inside], heights[inside]
