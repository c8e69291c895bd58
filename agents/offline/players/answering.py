"""What a contestant says of what it sees: to a question, to a turn of a dialogue, or to options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, groupby
from statistics import fmean
from typing import NamedTuple

import numpy as np

from videoautoarena.agents.offline.facets.table import FACETS, VideoPart, part_of
from videoautoarena.agents.offline.language.dialogues import (
    BoredTurn,
    ColourRunTurn,
    OffTopicTurn,
    read,
    resolve,
)
from videoautoarena.agents.offline.language.phrasing import (
    BOOKS,
    book,
    capital,
    laid_out,
    say,
    say_none,
    say_run,
    understand,
)
from videoautoarena.agents.offline.language.reader import hear
from videoautoarena.agents.offline.language.tables import Dice, table, wording
from videoautoarena.agents.offline.language.tasks import PictureSearch, free, sought
from videoautoarena.agents.offline.language.tongues import told
from videoautoarena.agents.offline.vision.frame_features import ModelInput, glance
from videoautoarena.agents.offline.vision.looks import FITS, PictureLook, Values, likenesses
from videoautoarena.agents.offline.vision.sequence import (
    FrameSequence,
    longest_run,
    most_of,
    sight_of,
)
from videoautoarena.agents.prompting.fences import LETTERS, OfferedOptions, Turn

_MOMENT_S = 0.5
"""Half the length of the stretch that is claimed around a single frame."""
_TELLING = 0.05
"""Least difference between two options in what the frames say of them."""


def speak(
    kind: str, seen: FrameSequence | None, question: str, history: Sequence[Turn] = ()
) -> str:
    """Return what a contestant of that kind says; without any frame, what is usual."""
    wanted = free(question)
    turn = read(wanted.question)
    # Drawn from the question alone: players who see different things still use the same words.
    dice = Dice("answer", question)
    # nobody says in which language to answer: it is the one that was asked in
    style = book(dice.one(BOOKS), told(question).code)
    lead = dice.one(style.leads)
    words = style.tongue

    def fact(key: str, part: VideoPart | None) -> str:
        if part is None:
            return str(wording("players", "priors", words.code)[key])
        return say(key, part.measure(key), style=style, dice=dice)

    if isinstance(turn, ColourRunTurn):
        if seen is None:
            return fact("colour_run", None).format(colour=words.name(turn.colour))
        run = longest_run(seen, turn.colour)
        # This player stands for models that never say that something is not there.
        if run is None and kind == "eager":
            at_s = most_of(seen, turn.colour)
            run = max(0.0, at_s - _MOMENT_S), at_s + _MOMENT_S
        if run is None:
            return say_none(turn.colour, style=style, dice=dice)
        return say_run(turn.colour, run, style=style, dice=dice)
    if isinstance(turn, OffTopicTurn):
        named = {"answer": turn.answer, "Answer": capital(turn.answer)}
        return dice.one(style.elsewhere).format(**named)
    if isinstance(turn, BoredTurn):
        keys = ("plainest", "busiest") if seen is None else hook_keys(seen)
        one, two = (fact(key, None if seen is None else VideoPart(seen)) for key in keys)
        return dice.one(style.hook).format(one=one, two=two)
    ask = turn.ask if turn else understand(wanted.question)
    span = wanted.part
    if turn and turn.part:
        # who forgets what was said takes the question to be of the whole video
        meant_s = resolve(turn.part, () if kind == "goldfish" else history)
        span = None
        if seen and meant_s is not None:
            is_after = turn.part.side == "after"
            span = (meant_s, seen.duration_s) if is_after else (0.0, meant_s)
    part = None
    if seen is not None:
        part = VideoPart(seen) if span is None else part_of(seen, span)
    said = [(words.label(key, FACETS[key].label), fact(key, part)) for key in ask.answered]
    return laid_out(said, ask.form, lead=lead, tongue=words)


def hook_keys(seen: FrameSequence) -> tuple[str, str]:
    """Return the two facets that a user who has lost interest is pointed to."""
    return ("first_cut" if seen.cuts else "plainest"), "busiest"


def choose(sent: ModelInput, offer: OfferedOptions) -> str:
    """Return a reply that names one option, drawn from those that fit best, else from all."""
    # The frames are part of the draw, so that two players who have to guess do not guess alike.
    dice = Dice("choice", sent.question, *(picture.digest.hex() for picture in sent.pictures))
    place = dice.one(options_left(sent, offer))
    said: str = dice.one(table("players", "choices")["choices"])
    return said.format(letter=LETTERS[place], option=offer.options[place])


def options_left(sent: ModelInput, offer: OfferedOptions) -> Sequence[int]:
    """Return the places of the options between which these frames leave the choice."""
    every = range(len(offer.options))
    wanted = sought(offer)
    if not sent.pictures:
        return every
    if wanted is None:
        shares = rights(VideoPart(sight_of(sent)), offer)
        if not shares or max(shares) - min(shares) < _TELLING:
            return every
        return [place for place in every if max(shares) - shares[place] < _TELLING]
    glances = [glance(one) for one in sorted(sent.pictures, key=lambda picture: picture.time_s)]
    shown = FrameSeries(
        np.array([one.luma for one in glances]), np.stack([one.shares for one in glances])
    )
    return SEARCHES[wanted.kind](wanted, shown) or every


def rights(part: VideoPart, offer: OfferedOptions) -> list[float]:
    """Return how right each option is by these frames, 0 to 1; nothing if one makes no claim."""
    keys = understand(offer.question).keys
    found = []
    for option in offer.options:
        claims = [one for one in hear(option, part.seen.duration_s, keys).claims if one.key in keys]
        if not claims:
            return []
        found.append(fmean(part.right(one.key, one.value) for one in claims))
    return found


class FrameSeries(NamedTuple):
    """What is measured in all frames, in the order of time."""

    luma: Values
    shares: Values

    def fits(self, look: PictureLook) -> list[float]:
        """Return how well each frame fits a look, 0 to 1."""
        found: list[float] = likenesses(look, self.luma, self.shares).tolist()
        return found


def _needle(wanted: PictureSearch, shown: FrameSeries) -> list[int]:
    """Return the option that any frame fits best, if one fits at all."""
    best = [max(shown.fits(look)) for (look,) in wanted.looks]
    return [best.index(max(best))] if max(best) > FITS else []


def _orders(wanted: PictureSearch, shown: FrameSeries) -> list[int]:
    """Return the options that break the fewest pairs of what was seen."""
    seen: dict[PictureLook, int] = {}
    for look in dict.fromkeys(look for looks in wanted.looks for look in looks):
        fits = shown.fits(look)
        if max(fits) > FITS:
            seen[look] = fits.index(max(fits))
    broken = [
        sum(seen[a] > seen[b] for a, b in combinations([one for one in looks if one in seen], 2))
        for looks in wanted.looks
    ]
    return [place for place, pairs in enumerate(broken) if pairs == min(broken)]


def _count(wanted: PictureSearch, shown: FrameSeries) -> list[int]:
    """Return the least option that allows the runs of frames that fit; runs may go unseen."""
    ((look,),) = wanted.looks
    runs = sum(fits for fits, _ in groupby(shown.fits(look), lambda one: one > FITS))
    if not runs:
        return []
    # An honest coarse viewer sees fewer runs than there are and may be right less often than by
    # chance: .207 of four options with 16 frames at three minutes.
    allowed = [count for count in wanted.counts if count >= runs] or [max(wanted.counts)]
    return [wanted.counts.index(min(allowed))]


SEARCHES: Mapping[str, Callable[[PictureSearch, FrameSeries], list[int]]] = {
    "needle": _needle,
    "order": _orders,
    "count": _count,
}
"""Functions that find the options borne out by frames, by kind of item."""
