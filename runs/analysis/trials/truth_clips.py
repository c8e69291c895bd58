"""Plans what is set into which video, and thereby what is true of the resulting clip.

The long form of an answer says no more than the short one, at four times its length. Clips come
in pairs of one video, and so do answers: what is true of one clip is false of the other. So equal
texts are right as often as they are wrong, and who does not look is right half the time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from pathlib import Path
from typing import Literal, NamedTuple

from videoautoarena.memory.records.digests import unit_interval
from videoautoarena.memory.records.errors import UnusableVideo
from videoautoarena.memory.records.records import Video
from videoautoarena.video.synth.splice import Card, Splice, SplicePart

Kind = Literal["needle", "card", "order", "count"]
KINDS: tuple[Kind, ...] = ("card", "needle", "order", "count")
Form = Literal["short", "long"]


class TruthWording(NamedTuple):
    """What cases say in one language."""

    persona: str
    questions: dict[Kind, str]
    answers: dict[Kind, str]
    """In their short form."""
    before: str
    """Text before the short form in the long one."""
    after: str
    numbers: list[str]
    names: dict[str, str]
    """Names of the pictures that come in order, by their cards."""
    colours: dict[str, str]
    point: str
    """Decimal point, before tenths of a second."""


WORDS: dict[str, TruthWording] = {
    code: TruthWording(**words)
    for code, words in json.loads(
        Path(__file__).with_name("truth_texts.json").read_text(encoding="utf-8")
    ).items()
}
"""Texts by language, of all languages that cases are worded in."""
ENGLISH = "en"


class Claim(NamedTuple):
    """One answer in both its forms."""

    short: str
    long: str

    def said(self, form: Form) -> str:
        """Return it in one of them."""
        return self.short if form == "short" else self.long


def put_claim(kind: Kind, values: Sequence[str], words: TruthWording, *, colour: str = "") -> Claim:
    """Return the answer that claims these values."""
    short = words.answers[kind].format(*values, colour=colour)
    return Claim(short, f"{words.before} {short} {words.after}")


SHORTEST_S = 3.0
"""A video must last so long for anything to be set into it."""
LONGEST_S = 60.0
"""No more of a video is used, so that an hour costs what a minute does."""
PIECE = 0.07
"""Length of a piece that is set in, as a part of what it is set into."""
LARGEST_PIECE = 0.25
# Above 3, so that three whole ones fall on a piece wherever it begins between two frames.
SEEN_FRAMES = 3.2
"""Frames of the judge's that fall on each piece, at least."""
FLAT_CARDS: tuple[Card, ...] = ("red", "green", "blue", "yellow")
ORDERED: tuple[Card, ...] = ("black", "white", "chequered")
COUNTS = tuple((few, many) for few in (2, 3) for many in range(few + 2, 7))


@dataclass(frozen=True)
class Pair:
    """Two clips of one video, one question, two answers: the first is true of the first clip."""

    kind: Kind
    question: str
    clips: tuple[Splice, Splice]
    claims: tuple[Claim, Claim]


@dataclass(frozen=True)
class Stage:
    """What a pair is made from."""

    ground: Video
    """The video that pieces are set into."""
    other: Video | None
    """The one that foreign footage is taken from; None where the run has no second video."""
    fewest: int
    """Frames that a judge is shown at least."""
    seed: int
    draw: tuple[int, ...]
    """Other for each pair of one kind and video."""
    language: str = ENGLISH
    """Language of its texts, a key of WORDS."""

    @property
    def words(self) -> TruthWording:
        """Return what is said in its language."""
        return WORDS[self.language]

    def chance(self, *about: str | int) -> float:
        """Return a number in [0, 1) that follows from the seed and what it decides."""
        return unit_interval(self.seed, "truth", self.ground.sha256, *self.draw, *about)

    @property
    def ground_s(self) -> float:
        """How much of the ground is used, in seconds."""
        return min(LONGEST_S, self.ground.duration_s)

    def piece_s(self, pieces: int) -> float:
        """Return how long each of `pieces` lasts, in seconds; raise UnusableVideo if none fits."""
        if self.ground.duration_s < SHORTEST_S:
            raise UnusableVideo(f"lasts less than {SHORTEST_S:g} s")
        room = self.fewest - 1 - SEEN_FRAMES * pieces
        # SEEN_FRAMES / room is the part of the ground that a piece takes, see below.
        if room * LARGEST_PIECE < SEEN_FRAMES:
            raise UnusableVideo(f"{self.fewest} frames are too few to show what is set in")
        # Pieces lengthen the clip, so that its frames lie further apart; of this length each piece
        # still gets SEEN_FRAMES of them.
        return self.ground_s * max(PIECE, SEEN_FRAMES / room)


def plan_pair(kind: Kind, stage: Stage) -> Pair:
    """Return the pair that the stage's seed and draw decide; or UnusableVideo, in one clause."""
    return _PLANS[kind](stage)


def _plan_needle(stage: Stage) -> Pair:
    if stage.other is None:
        raise UnusableVideo("there is no second video to take a piece from")
    seconds = stage.piece_s(1)
    if stage.other.duration_s < seconds:
        raise UnusableVideo(f"the other video lasts less than a piece of {seconds:.1f} s")
    start_s = stage.chance("start") * (stage.other.duration_s - seconds)
    return _timed(
        "needle", stage, SplicePart(seconds=seconds, video=stage.other.sha256, start_s=start_s)
    )


def _plan_card(stage: Stage) -> Pair:
    return _timed("card", stage, SplicePart(seconds=stage.piece_s(1), card=_flat(stage)))


def _timed(kind: Kind, stage: Stage, piece: SplicePart) -> Pair:
    """Return clips with the piece at one of two times, and answers that name its middle."""
    # As parts of the ground: the early time lies within .05 to .30, the late one at most at .95.
    early = 0.05 + 0.25 * stage.chance("early")
    # So far apart that the two times differ by a quarter of the clip at least, pieces included.
    late = early + 0.35 + (0.6 - early) * stage.chance("late")
    # Else the first claim would always be the earlier time.
    places = (early, late) if stage.chance("first") < 0.5 else (late, early)
    offsets = [place * stage.ground_s for place in places]
    words = stage.words
    middles = [f"{offset + piece.seconds / 2:.1f}" for offset in offsets]
    claims = [put_claim(kind, [said.replace(".", words.point)], words) for said in middles]
    clips = [_set_in(stage, [(offset, piece)]) for offset in offsets]
    return Pair(kind, words.questions[kind], (clips[0], clips[1]), (claims[0], claims[1]))


def _plan_order(stage: Stage) -> Pair:
    seconds = stage.piece_s(len(ORDERED))
    orders = list(permutations(ORDERED))
    # Taken out of the list, so that the other clip has another order.
    first = orders.pop(int(stage.chance("order") * len(orders)))
    second = orders.pop(int(stage.chance("other order") * len(orders)))
    offsets = _spread(stage, len(ORDERED))
    clips = [
        _set_in(
            stage,
            [(o, SplicePart(seconds=seconds, card=c)) for o, c in zip(offsets, order, strict=True)],
        )
        for order in (first, second)
    ]
    words = stage.words
    said = [[words.names[card] for card in order] for order in (first, second)]
    claims = [put_claim("order", names, words) for names in said]
    return Pair("order", words.questions["order"], (clips[0], clips[1]), (claims[0], claims[1]))


def _plan_count(stage: Stage) -> Pair:
    drawn = COUNTS[int(stage.chance("counts") * len(COUNTS))]
    counts = drawn if stage.chance("first") < 0.5 else drawn[::-1]
    colour = _flat(stage)
    # Pieces of one length in both clips, so that only their number differs.
    piece = SplicePart(seconds=stage.piece_s(max(counts)), card=colour)
    clips = [
        _set_in(stage, [(offset, piece) for offset in _spread(stage, count)]) for count in counts
    ]
    words = stage.words
    called = words.colours[colour]
    claims = [put_claim("count", [words.numbers[n]], words, colour=called) for n in counts]
    question = words.questions["count"].format(colour=called)
    return Pair("count", question, (clips[0], clips[1]), (claims[0], claims[1]))


_PLANS = {"needle": _plan_needle, "card": _plan_card, "order": _plan_order, "count": _plan_count}


def _flat(stage: Stage) -> Card:
    return FLAT_CARDS[int(stage.chance("colour") * len(FLAT_CARDS))]


def _spread(stage: Stage, count: int) -> list[float]:
    """Return where `count` pieces are set in, in seconds of the ground, well apart."""
    return [
        # Each in the middle third of its part, so that neighbours lie well apart.
        (place + 0.35 + 0.3 * stage.chance("place", count, place)) / count * stage.ground_s
        for place in range(count)
    ]


def _set_in(stage: Stage, pieces: Sequence[tuple[float, SplicePart]]) -> Splice:
    """Return the ground with pieces set in: it stops for each, and goes on behind it."""
    start_s = stage.chance("stretch") * (stage.ground.duration_s - stage.ground_s)
    bounds = [0.0, *(offset for offset, _ in pieces), stage.ground_s]
    stretches = [
        SplicePart(seconds=end - begin, video=stage.ground.sha256, start_s=start_s + begin)
        for begin, end in pairwise(bounds)
    ]
    parts = [stretches[0]]
    for (_, piece), stretch in zip(pieces, stretches[1:], strict=True):
        parts += [piece, stretch]
    return Splice(parts=tuple(parts))
