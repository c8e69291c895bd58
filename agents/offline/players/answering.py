"""What a contestant says of what it sees: to a question by itself, or to a turn of a dialogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from statistics import fmean
from typing import NamedTuple

import numpy as np

from videoautoarena.agents.offline.facets.parts import VideoPart, part_of
from videoautoarena.agents.offline.facets.table import FACETS, Stretch, is_stretch, stretch
from videoautoarena.agents.offline.language.dialogues import (
    BoredTurn,
    ColourRunTurn,
    FacetMoment,
    FactsTurn,
    OffTopicTurn,
    PartReference,
    read,
    resolve,
)
from videoautoarena.agents.offline.language.phrasing import (
    BOOKS,
    FactRequest,
    PhraseBook,
    book,
    laid_out,
    say,
    say_elsewhere,
    say_hook,
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


def speak(
    kind: str, seen: FrameSequence | None, question: str, history: Sequence[Turn] = ()
) -> str:
    """Return what a contestant of that kind says; without any frame, what is usual."""
    wanted = free(question)
    turn = read(wanted.question)
    dice = Dice("answer", question)
    # nobody says in which language to answer: it is the one that was asked in
    style = book(dice.one(BOOKS), told(question).code)
    voice = _AnswerVoice(kind, seen, style, dice, dice.one(style.leads))
    if isinstance(turn, ColourRunTurn):
        return voice.of_colour(turn.colour)
    if isinstance(turn, OffTopicTurn):
        return say_elsewhere(turn.answer, style=style, dice=dice)
    if isinstance(turn, BoredTurn):
        return voice.to_the_bored()
    if isinstance(turn, FactsTurn) and turn.part is not None:
        # who forgets what was said takes the question to be of the whole video
        known = () if kind == "goldfish" else history
        return voice.of_facts(turn.ask, None if seen is None else _beside(turn.part, seen, known))
    ask = turn.ask if isinstance(turn, FactsTurn) else understand(wanted.question)
    return voice.of_facts(ask, _watched(seen, wanted.part))


def hook_keys(seen: FrameSequence) -> tuple[str, str]:
    """Return the two facets that a user who has lost interest is pointed to."""
    return ("first_cut" if seen.cuts else "plainest"), "busiest"


def span_of(part: PartReference, seen: FrameSequence, history: Sequence[Turn]) -> Stretch | None:
    """Return from when to when the meant part lasts; None where the moment cannot be told."""
    at = _shown_at(part.moment, seen) if isinstance(part.moment, FacetMoment) else None
    at = resolve(part, history) if at is None else at
    if at is None:
        return None
    return (at, seen.duration_s) if part.side == "after" else (0.0, at)


@dataclass(frozen=True)
class _AnswerVoice:
    """One answer as it is being worded."""

    kind: str
    seen: FrameSequence | None
    style: PhraseBook
    dice: Dice
    lead: str

    def of_facts(self, ask: FactRequest, part: VideoPart | None) -> str:
        """Speak of each facet that is asked for; of nothing seen, from habit."""
        words = self.style.tongue
        said = [
            (words.label(key, FACETS[key].label), self._fact(key, part)) for key in ask.answered
        ]
        return laid_out(said, ask.form, lead=self.lead, tongue=words)

    def of_colour(self, colour: str) -> str:
        """Say from when to when it has its share, or that it never has."""
        if self.seen is None:
            return self._usual("colour_run").format(colour=self.style.tongue.name(colour))
        run = longest_run(self.seen, colour)
        if run is None and self.kind == "eager":
            at = most_of(self.seen, colour)
            run = max(0.0, at - _MOMENT_S), at + _MOMENT_S
        if run is None:
            return say_none(colour, style=self.style, dice=self.dice)
        return say_run(colour, run, style=self.style, dice=self.dice)

    def to_the_bored(self) -> str:
        """Point to two moments and ask about them."""
        keys = ("plainest", "busiest") if self.seen is None else hook_keys(self.seen)
        part = _watched(self.seen, None)
        one, two = (self._fact(key, part) for key in keys)
        return say_hook(one, two, style=self.style, dice=self.dice)

    def _fact(self, key: str, part: VideoPart | None) -> str:
        if part is None:
            return self._usual(key)
        return say(key, part.measure(key), style=self.style, dice=self.dice)

    def _usual(self, key: str) -> str:
        return str(wording("players", "priors", self.style.tongue.code)[key])


def _watched(seen: FrameSequence | None, span: Stretch | None) -> VideoPart | None:
    """Return what is seen of a part, or of all; None where no frame shows it."""
    if seen is None:
        return None
    return VideoPart(seen) if span is None else part_of(seen, span)


def _beside(part: PartReference, seen: FrameSequence, history: Sequence[Turn]) -> VideoPart | None:
    """Return what is seen of the meant part, or of the whole video where nothing tells which."""
    return _watched(seen, span_of(part, seen, history))


def _shown_at(moment: FacetMoment, seen: FrameSequence) -> float | None:
    value = FACETS[moment.key].measure(seen)
    if value is None or not is_stretch(value) or stretch(value)[0] < 0:
        return None
    return stretch(value)[0]


_TELLING = 0.05
"""So far apart two options must be in what the frames say of them."""


def choose(sent: ModelInput, offer: OfferedOptions) -> str:
    """Return a reply that names one option: of those that fit the frames best, or of them all."""
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
        return _by_facts(sight_of(sent), offer) or every
    glances = [glance(one) for one in sorted(sent.pictures, key=lambda picture: picture.time_s)]
    shown = FrameSeries(
        np.array([one.luma for one in glances]), np.stack([g.shares for g in glances])
    )
    return SEARCHES[wanted.kind](wanted, shown) or every


def _by_facts(seen: FrameSequence, offer: OfferedOptions) -> list[int]:
    """Return the options whose claims these frames bear out best; none where they leave it open."""
    credits_ = rights(VideoPart(seen), offer)
    if not credits_ or max(credits_) - min(credits_) < _TELLING:
        return []
    return [place for place, one in enumerate(credits_) if max(credits_) - one < _TELLING]


def rights(part: VideoPart, offer: OfferedOptions) -> list[float]:
    """Return how right each option is by these frames, 0 to 1; nothing where one makes no claim."""
    keys = understand(offer.question).keys
    found = []
    for option in offer.options:
        claims = [one for one in hear(option, part.seen.duration_s, keys).claims if one.key in keys]
        if not claims:
            return []
        found.append(fmean(part.right(one.key, one.value) for one in claims))
    return found


class FrameSeries(NamedTuple):
    """What is seen of all frames, in the order of time."""

    luma: Values
    shares: Values

    def fits(self, look: PictureLook) -> list[float]:
        """Return how well each frame fits what is said."""
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
    allowed = [count for count in wanted.counts if count >= runs] or [max(wanted.counts)]
    return [wanted.counts.index(min(allowed))]


SEARCHES: Mapping[str, Callable[[PictureSearch, FrameSeries], list[int]]] = {
    "needle": _needle,
    "order": _orders,
    "count": _count,
}
"""How the options that frames bear out are found, by the kind of item."""
