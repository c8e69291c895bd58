"""What a contestant says of what it sees: to a question by itself, or to a turn of a dialogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from videoautoarena.agents.offline.facets.facet import Stretch, is_stretch, stretch
from videoautoarena.agents.offline.facets.part import Part, part_of
from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.phrasing import (
    BOOKS,
    Ask,
    Book,
    book,
    laid_out,
    say,
    say_elsewhere,
    say_hook,
    say_none,
    say_run,
    understand,
)
from videoautoarena.agents.offline.language.tables import wording
from videoautoarena.agents.offline.language.tasks import free
from videoautoarena.agents.offline.language.tongues import told
from videoautoarena.agents.offline.language.turns import (
    Beside,
    Bored,
    ColourRun,
    Elsewhere,
    Facts,
    OfFacet,
    read,
    resolve,
)
from videoautoarena.agents.offline.language.values import Dice
from videoautoarena.agents.offline.vision.sequence import Sight, longest_run, most_of
from videoautoarena.agents.prompting.fences import Turn

_MOMENT_S = 0.5
"""Half the length of the stretch that is claimed around a single frame."""


def speak(kind: str, seen: Sight | None, question: str, history: Sequence[Turn] = ()) -> str:
    """Return what a contestant of that kind says; without any frame, what is usual."""
    wanted = free(question)
    turn = read(wanted.question)
    dice = Dice("answer", question)
    # nobody says in which language to answer: it is the one that was asked in
    style = book(dice.one(BOOKS), told(question).code)
    voice = _Voice(kind, seen, style, dice, dice.one(style.leads))
    if isinstance(turn, ColourRun):
        return voice.of_colour(turn.colour)
    if isinstance(turn, Elsewhere):
        return say_elsewhere(turn.answer, style=style, dice=dice)
    if isinstance(turn, Bored):
        return voice.to_the_bored()
    if isinstance(turn, Facts) and turn.part is not None:
        # who forgets what was said takes the question to be of the whole video
        known = () if kind == "goldfish" else history
        return voice.of_facts(turn.ask, None if seen is None else _beside(turn.part, seen, known))
    ask = turn.ask if isinstance(turn, Facts) else understand(wanted.question)
    return voice.of_facts(ask, _watched(seen, wanted.part))


def hook_keys(seen: Sight) -> tuple[str, str]:
    """Return the two facets that a user who has lost interest is pointed to."""
    return ("first_cut" if seen.cuts else "plainest"), "busiest"


def span_of(part: Beside, seen: Sight, history: Sequence[Turn]) -> Stretch | None:
    """Return from when to when the meant part lasts; None where the moment cannot be told."""
    at = _shown_at(part.moment, seen) if isinstance(part.moment, OfFacet) else None
    at = resolve(part, history) if at is None else at
    if at is None:
        return None
    return (at, seen.duration_s) if part.side == "after" else (0.0, at)


@dataclass(frozen=True)
class _Voice:
    """One answer as it is being worded."""

    kind: str
    seen: Sight | None
    style: Book
    dice: Dice
    lead: str

    def of_facts(self, ask: Ask, part: Part | None) -> str:
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

    def _fact(self, key: str, part: Part | None) -> str:
        if part is None:
            return self._usual(key)
        return say(key, part.measure(key), style=self.style, dice=self.dice)

    def _usual(self, key: str) -> str:
        return str(wording("answers", "priors", self.style.tongue.code)[key])


def _watched(seen: Sight | None, span: Stretch | None) -> Part | None:
    """Return what is seen of a part, or of all; None where no frame shows it."""
    if seen is None:
        return None
    return Part(seen) if span is None else part_of(seen, span)


def _beside(part: Beside, seen: Sight, history: Sequence[Turn]) -> Part | None:
    """Return what is seen of the meant part, or of the whole video where nothing tells which."""
    return _watched(seen, span_of(part, seen, history))


def _shown_at(moment: OfFacet, seen: Sight) -> float | None:
    value = FACETS[moment.key].measure(seen)
    if value is None or not is_stretch(value) or stretch(value)[0] < 0:
        return None
    return stretch(value)[0]
