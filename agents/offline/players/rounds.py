"""What may be asked in a scored round of a dialogue, by what the examiner's frames show.

A fact is asked for where all frames leave no doubt of it and those that a player is not sent show
it, too. What needs the history is asked of the part of a video before or after a moment: whoever
does not know which moment is meant says what holds of the whole, and that must be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from videoautoarena.agents.offline.facets.table import (
    FACETS,
    MOMENTS,
    Extremes,
    ExtremeWindow,
    SideChoice,
    Stretch,
    Value,
    stretch,
)
from videoautoarena.agents.offline.language.dialogues import Side
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.players.scoring import askable
from videoautoarena.agents.offline.vision.frame_features import COLOURS
from videoautoarena.agents.offline.vision.sequence import (
    SHARE,
    FrameSequence,
    coarser,
    longest_run,
    sight,
)

SIDES: tuple[Side, Side] = ("after", "before")
# As many as a contestant is sent that names no limit.
PLAYER_FRAMES = 64
WRONG_S = 0.5
"""How far around a wrong time an answer counts as that one; a right one lies outside."""
COARSE = (12, 6, 3)
"""Numbers of frames by which it is found what a hasty viewer would wrongly say. No player is sent
exactly so many: what is marked as wrong would then be what that player says."""
FACT_TYPES = ("instant", "count", "colour", "choice")
_CUT_SHARE = 0.03
_CUT_S = 0.3
# Up to four fifths, since a part has to take a fifth of the video on either side.
_PART_SHARES = tuple(percent / 100 for percent in range(20, 85, 5))
_LEAST_TOP, _MOST_RUN = 0.10, 0.4
"""Share of a picture that an absent colour never has; share of a video below which one passes."""


class Landmark(NamedTuple):
    """A moment that an answer names, and what has to be asked for it."""

    key: str
    at_s: float
    """In seconds to the tenth, as it is said."""
    side: Side = "after"
    since_s: float | None = None
    """The part lies on that side of this time; None for the whole video."""


class RecallQuestion(NamedTuple):
    """A question that whoever knows the moment can answer, and nobody else."""

    moment: Landmark
    side: Side
    keys: tuple[str, ...]


class ContestedFact(NamedTuple):
    """A fact of the whole video, with a value that is right and one that is wrong."""

    key: str
    right: Value
    """For an instant, the stretch that counts as right."""
    wrong: Value


class DialogueFacts:
    """What may be asked about a video, by what its frames show."""

    def __init__(self, seen: FrameSequence) -> None:
        """Look at the curves of all frames and of those that a player is not sent."""
        self.seen = seen
        self.extremes = Extremes(seen)
        sent = {one.time_s for one in coarser(seen, PLAYER_FRAMES).pictures}
        self.left = sight([one for one in seen.pictures if one.time_s not in sent] or seen.pictures)
        """The frames that a player is not sent; all where it is sent all."""
        self._left_extremes = Extremes(self.left)
        self._sparse_extremes = Extremes(sight(self.left.pictures[::2]))
        self._windows = dict[tuple[str, Side, float], ExtremeWindow | None]()

    def part(self, side: Side, at_s: float) -> Stretch:
        """Return the part of the video on one side of a moment."""
        return (at_s, self.seen.duration_s) if side == "after" else (0.0, at_s)

    def named(self) -> list[Landmark]:
        """Return the moments of the whole video that are plain to see."""
        return [
            Landmark(key, round(stretch(value)[0], 1))
            for key in askable(self.seen)
            if FACETS[key].type == "instant"
            and (value := FACETS[key].measure(self.seen)) is not None
            and stretch(value)[0] >= 0
        ]

    def named_in_parts(self) -> list[Landmark]:
        """Return the moments of parts that begin or end at a stated time."""
        times = [round(share * self.seen.duration_s, 1) for share in _PART_SHARES]
        return [
            Landmark(key, round(window.at_s, 1), side, since_s)
            for since_s in times
            for side in SIDES
            for key in MOMENTS
            if (window := self.window(key, side, since_s))
        ]

    def window(self, key: str, side: Side, at_s: float) -> ExtremeWindow | None:
        """Return the extreme beside a moment where it stands out and half of the frames show it."""
        asked = key, side, at_s
        if asked not in self._windows:
            self._windows[asked] = self._window(key, self.part(side, at_s))
        return self._windows[asked]

    def recalls(self, moments: Sequence[Landmark]) -> list[RecallQuestion]:
        """Return the questions beside these moments whose answer is wrong for the whole video."""
        found = []
        for moment in moments:
            for side in SIDES:
                keys = []
                for key in MOMENTS:
                    window = self.window(key, side, moment.at_s)
                    whole_s = self.whole_s(key)
                    # the part has to have an extreme of its own
                    if window is None or whole_s is None:
                        continue
                    # This makes the ability: when it was first measured, 97 of 100 rounds with a
                    # clear extreme could be answered without the history, in whole or in part.
                    if not window.holds(whole_s, margin_s=WRONG_S):
                        keys.append(key)
                found += [RecallQuestion(moment, side, two) for two in combinations(keys, 2)]
        return found

    def is_missed(self, recall: RecallQuestion, other_s: float) -> bool:
        """Return whether taking another moment for the meant one makes an answer wrong."""
        part = self.part(recall.side, other_s)
        for key in recall.keys:
            window = self.window(key, recall.side, recall.moment.at_s)
            said = self.extremes.at(key, part)
            if window is None or said is None or not window.holds(round(said, 1)):
                return True
        return False

    def facts(self, dice: Dice) -> list[ContestedFact]:
        """Return the plain facts of the whole video, each with a wrong value."""
        found = (self.fact(key, dice) for key in askable(self.seen))
        return [fact for fact in found if fact]

    def absent(self) -> list[str]:
        """Return the colours that no frame has much of."""
        most = self.seen.shares.max(axis=0)
        return [c for c, share in zip(COLOURS, most, strict=True) if share < _LEAST_TOP]

    def passing(self) -> list[str]:
        """Return the colours that come and go."""
        return [
            colour
            for colour, shares in zip(COLOURS, self.seen.shares.T, strict=True)
            if (run := longest_run(self.seen, colour))
            and run[1] > run[0]
            and float((shares >= SHARE).mean()) < _MOST_RUN
        ]

    def whole_s(self, key: str) -> float | None:
        """Return when a curve of the whole video has its extreme."""
        return self.extremes.at(key, (0.0, self.seen.duration_s))

    def _window(self, key: str, part: Stretch) -> ExtremeWindow | None:
        """Return an extreme that stands out and is shown by the frames that no player is sent.

        A player's own frames are left out: chosen by them, it would be right by selection.
        """
        found = self.extremes.window(key, part)
        if found is None:
            return None
        # How much moves depends on how far apart frames are: it has to be so of few, too.
        sparse = [self._sparse_extremes] if key == "liveliest" else []
        shown = [one.at(key, part) for one in (self._left_extremes, *sparse)]
        is_shown = all(at_s is not None and found.holds(round(at_s, 1)) for at_s in shown)
        return found if is_shown else None

    def fact(self, key: str, dice: Dice) -> ContestedFact | None:
        """Return a right value of a facet and a wrong one; None if the right one is vague."""
        true = FACETS[key].measure(self.seen)
        if true is None or FACETS[key].type not in FACT_TYPES:
            return None
        # what few frames show is what a hasty viewer would say
        coarse = [FACETS[key].measure(coarser(self.seen, frames)) for frames in COARSE]
        said = [value for value in coarse if value is not None]
        if FACETS[key].type != "instant":
            wrong = [value for value in said if value != true]
            return ContestedFact(key, true, dice.one(wrong or list(_others(key, true))))
        at_s = stretch(true)[0]
        slack_s = _CUT_SHARE * self.seen.duration_s + _CUT_S
        right = max(0.0, at_s - slack_s), at_s + slack_s
        if key in MOMENTS:
            window = self._window(key, (0.0, self.seen.duration_s))
            if window is None:
                return None
            right = window.start_s, window.end_s
        times_s = [stretch(value)[0] for value in said]
        outside = [
            time_s
            for time_s in times_s
            if time_s >= 0 and not right[0] - WRONG_S < time_s < right[1] + WRONG_S
        ]
        if outside:
            wrong_s = dice.one(outside)
        elif right[1] + 3 * WRONG_S < self.seen.duration_s:
            wrong_s = right[1] + 2 * WRONG_S
        else:
            wrong_s = max(0.0, right[0] - 2 * WRONG_S)
        return ContestedFact(key, right, (max(0.0, wrong_s - WRONG_S), wrong_s + WRONG_S))


@lru_cache(maxsize=32)
def search(seen: FrameSequence) -> DialogueFacts:
    """Return what may be asked about a sight; remembered by the sight itself."""
    return DialogueFacts(seen)


def _others(key: str, true: Value) -> Sequence[Value]:
    """Return values of a facet besides the true one."""
    facet = FACETS[key]
    if isinstance(facet, SideChoice):
        return [side for side in facet.sides if side not in (None, true)]
    if isinstance(true, int):
        return [true + 2]
    return [colour for colour in COLOURS if colour != true]
