"""Before a question with options: what the frames show of each decides, else a guess."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, groupby
from statistics import fmean
from typing import NamedTuple

import numpy as np

from videoautoarena.agents.offline.facets.part import Part
from videoautoarena.agents.offline.language.phrasing import understand
from videoautoarena.agents.offline.language.reader import hear
from videoautoarena.agents.offline.language.tables import table
from videoautoarena.agents.offline.language.tasks import Sought, sought
from videoautoarena.agents.offline.language.values import Dice
from videoautoarena.agents.offline.vision.frame_features import Sent, glance
from videoautoarena.agents.offline.vision.looks import FITS, Look, Values, likenesses
from videoautoarena.agents.offline.vision.sequence import Sight, sight_of
from videoautoarena.agents.prompting.options import LETTERS, Offer

_TELLING = 0.05
"""So far apart two options must be in what the frames say of them."""


def choose(sent: Sent, offer: Offer) -> str:
    """Return a reply that names one option: of those that fit the frames best, or of them all."""
    dice = Dice("choice", sent.question, *(picture.digest.hex() for picture in sent.pictures))
    place = dice.one(options_left(sent, offer))
    said: str = dice.one(table("answers", "choices")["choices"])
    return said.format(letter=LETTERS[place], option=offer.options[place])


def options_left(sent: Sent, offer: Offer) -> Sequence[int]:
    """Return the places of the options between which these frames leave the choice."""
    every = range(len(offer.options))
    wanted = sought(offer)
    if not sent.pictures:
        return every
    if wanted is None:
        return _by_facts(sight_of(sent), offer) or every
    glances = [glance(one) for one in sorted(sent.pictures, key=lambda picture: picture.time_s)]
    shown = Shown(np.array([one.luma for one in glances]), np.stack([g.shares for g in glances]))
    found = {"needle": _needle, "order": _orders, "count": _count}[wanted.kind]
    return found(wanted, shown) or every


def _by_facts(seen: Sight, offer: Offer) -> list[int]:
    """Return the options whose claims these frames bear out best; none where they leave it open."""
    credits_ = rights(Part(seen), offer)
    if not credits_ or max(credits_) - min(credits_) < _TELLING:
        return []
    return [place for place, one in enumerate(credits_) if max(credits_) - one < _TELLING]


def rights(part: Part, offer: Offer) -> list[float]:
    """Return how right each option is by these frames, 0 to 1; nothing where one makes no claim."""
    keys = understand(offer.question).keys
    found = []
    for option in offer.options:
        claims = [one for one in hear(option, part.seen.duration_s, keys).claims if one.key in keys]
        if not claims:
            return []
        found.append(fmean(part.right(one.key, one.value) for one in claims))
    return found


class Shown(NamedTuple):
    """What is seen of all frames, in the order of time."""

    luma: Values
    shares: Values

    def fits(self, look: Look) -> list[float]:
        """Return how well each frame fits what is said."""
        found: list[float] = likenesses(look, self.luma, self.shares).tolist()
        return found


def _needle(wanted: Sought, shown: Shown) -> list[int]:
    """Return the option that any frame fits best, if one fits at all."""
    best = [max(shown.fits(look)) for (look,) in wanted.looks]
    return [best.index(max(best))] if max(best) > FITS else []


def _orders(wanted: Sought, shown: Shown) -> list[int]:
    """Return the options that break the fewest pairs of what was seen."""
    seen: dict[Look, int] = {}
    for look in dict.fromkeys(look for looks in wanted.looks for look in looks):
        fits = shown.fits(look)
        if max(fits) > FITS:
            seen[look] = fits.index(max(fits))
    broken = [
        sum(seen[a] > seen[b] for a, b in combinations([one for one in looks if one in seen], 2))
        for looks in wanted.looks
    ]
    return [place for place, pairs in enumerate(broken) if pairs == min(broken)]


def _count(wanted: Sought, shown: Shown) -> list[int]:
    """Return the least option that allows the runs of frames that fit; runs may go unseen."""
    ((look,),) = wanted.looks
    runs = sum(fits for fits, _ in groupby(shown.fits(look), lambda one: one > FITS))
    if not runs:
        return []
    allowed = [count for count in wanted.counts if count >= runs] or [max(wanted.counts)]
    return [wanted.counts.index(min(allowed))]
