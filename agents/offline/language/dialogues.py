"""What a user says in a dialogue: worded, read again, and followed back to what was said before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from videoautoarena.agents.offline.facets.table import FACETS, Value, is_stretch, stretch
from videoautoarena.agents.offline.language.phrasing import (
    FactRequest,
    asked_for,
    asked_form,
    understand,
)
from videoautoarena.agents.offline.language.reader import hear, split_units
from videoautoarena.agents.offline.language.tables import Dice, table
from videoautoarena.agents.offline.language.tongues import clock, colours, times
from videoautoarena.agents.offline.vision.frame_features import COLOURS
from videoautoarena.agents.offline.vision.looks import LIGHTS
from videoautoarena.agents.prompting.fences import Turn

Side = Literal["after", "before"]
Lead = Literal["start", "next", "back", "close"]
"""Where in a dialogue a question stands: its first, a later one, after elsewhere, its last."""
# A dialogue has eight rounds at most, and its last may point to any before it.
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


class NumberedMoment(NamedTuple):
    """A moment that the last answer named, by its place there, from 1."""

    place: int


class OrderedMoment(NamedTuple):
    """The earlier or the later of the two moments that the last answer named."""

    which: Literal["earlier", "later"]


class AnswerMoment(NamedTuple):
    """The first moment in the answer of this number, from 1."""

    number: int


class TimedMoment(NamedTuple):
    """A moment by its time, for which no history is needed."""

    time_s: float


Referent: TypeAlias = NumberedMoment | OrderedMoment | AnswerMoment | TimedMoment


class PartReference(NamedTuple):
    """What of the video counts: all after a moment, or all before it."""

    side: Side
    moment: Referent


@dataclass(frozen=True)
class FactsTurn:
    """Facts are asked for, of the whole video or of what lies beside a moment."""

    ask: FactRequest
    part: PartReference | None = None

    def at(self, moment: Referent) -> FactsTurn:
        """Return the same question with the moment said in another way."""
        if self.part is None:
            return self
        return replace(self, part=self.part._replace(moment=moment))


@dataclass(frozen=True)
class ColourRunTurn:
    """The longest stretch in which a colour has a fifth of the picture is asked for."""

    colour: str


@dataclass(frozen=True)
class OffTopicTurn:
    """Something is asked that has nothing to do with the video."""

    topic: str

    @property
    def answer(self) -> str:
        """The one word that settles it."""
        return elsewhere()[self.topic]


@dataclass(frozen=True)
class BoredTurn:
    """Nothing is asked: the user has lost interest."""


UserTurn: TypeAlias = FactsTurn | ColourRunTurn | OffTopicTurn | BoredTurn


def word(turn: UserTurn, dice: Dice, *, lead: Lead = "next") -> str:
    """Return the words of a user who means this; `read` understands them again."""
    wordings = _wordings()
    if isinstance(turn, BoredTurn):
        return str(dice.one(wordings["bored"]))
    if isinstance(turn, OffTopicTurn):
        return str(dice.one(wordings["elsewhere"])).format(topic=turn.topic)
    if isinstance(turn, ColourRunTurn):
        return str(dice.one(wordings["colour_run"])).format(colour=turn.colour)
    asked = asked_for(turn.ask.keys, dice)
    if turn.part is not None:
        moment = _word_moment(turn.part.moment, dice)
        part = dice.one(wordings["part"]).format(side=turn.part.side, moment=moment)
        asked = f"{part}, {asked}"
    said = dice.one(wordings["leads"][lead]).format(q=asked)
    return " ".join((said, *asked_form(turn.ask, dice)))


def _word_moment(moment: Referent, dice: Dice) -> str:
    wordings = _wordings()["moments"]
    if isinstance(moment, OrderedMoment):
        return str(dice.one(wordings[moment.which]))
    if isinstance(moment, TimedMoment):
        return str(dice.one(wordings["time"])).format(time=clock(moment.time_s))
    kind = "named" if isinstance(moment, NumberedMoment) else "answer"
    return str(dice.one(wordings[kind])).format(ordinal=ORDINALS[moment[0] - 1])


def read(text: str) -> UserTurn | None:
    """Return what a user means; None if it is nothing that frames can tell."""
    said = " ".join(text.split())
    wordings = _wordings()
    if said in wordings["bored"]:
        return BoredTurn()
    for wording in wordings["elsewhere"]:
        found = as_pattern(wording).fullmatch(said)
        if found and found["topic"] in elsewhere():
            return OffTopicTurn(found["topic"])
    for wording in wordings["colour_run"]:
        if found := as_pattern(wording).fullmatch(said):
            return ColourRunTurn(found["colour"].lower())
    # an opening has words that a fact could be known by, too
    leads = (lead.partition("{q}")[0] for leads in wordings["leads"].values() for lead in leads)
    # The longest first, since one opening may be the beginning of another.
    opening = next((one for one in sorted(leads, key=len)[::-1] if said.startswith(one)), "")
    rest, part = _part_in(said.removeprefix(opening))
    ask = understand(rest)
    return FactsTurn(ask, part) if ask.keys or part else None


def without_part(text: str) -> str:
    """Return what a user says without the words on which part of the video counts."""
    return _part_in(" ".join(text.split()))[0]


def resolve(part: PartReference, history: Sequence[Turn]) -> float | None:
    """Return when the meant moment is, by what was said alone; None if that does not tell."""
    moment = part.moment
    if isinstance(moment, TimedMoment):
        return moment.time_s
    answer = moment.number - 1 if isinstance(moment, AnswerMoment) else len(history) - 1
    named = times(history[answer][1]) if 0 <= answer < len(history) else ()
    if isinstance(moment, OrderedMoment) and len(named) > 1:
        return min(named[:2]) if moment.which == "earlier" else max(named[:2])
    place = moment.place - 1 if isinstance(moment, NumberedMoment) else 0
    if isinstance(moment, NumberedMoment | AnswerMoment) and place < len(named):
        return named[place]
    return None


def elsewhere() -> Mapping[str, str]:
    """Return the questions that have nothing to do with the video, each with its answer."""
    facts: dict[str, str] = _wordings()["facts"]
    return facts


def _part_in(said: str) -> tuple[str, PartReference | None]:
    """Return the words without those that say which part counts, and that part."""
    for kind, pattern in _part_patterns():
        if found := pattern.search(said):
            side: Side = "after" if found["side"].lower() == "after" else "before"
            rest = said[: found.start()] + said[found.end() :]
            return rest, PartReference(side, _read_moment(kind, found.groupdict()))
    return said, None


def _read_moment(kind: str, slots: Mapping[str, str]) -> Referent:
    if kind == "time":
        return TimedMoment(times(slots["time"])[0])
    if kind in ("earlier", "later"):
        return OrderedMoment("earlier" if kind == "earlier" else "later")
    place = ORDINALS.index(slots["ordinal"].lower()) + 1
    return NumberedMoment(place) if kind == "named" else AnswerMoment(place)


def _key_of(label: str) -> str:
    return next(key for key, facet in FACETS.items() if facet.label == label.lower())


def _wordings() -> Any:
    return table("language", "dialogues")


@cache
def _part_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each way to say which part counts, by how it names the moment, with the comma behind it."""
    return tuple(
        (kind, as_pattern(part.replace("{moment}", one), behind=",? ?"))
        for part in _wordings()["part"]
        for kind, wordings in _wordings()["moments"].items()
        # The longest first: a shorter one may match the beginning of it.
        for one in sorted(wordings, key=len, reverse=True)
    )


@cache
def as_pattern(wording: str, *, behind: str = "") -> re.Pattern[str]:
    """Return a wording as a pattern whose named groups are its slots."""
    slots = re.sub(
        r"\\\{(\w+)\\\}", lambda slot: f"(?P<{slot[1]}>{_HOLDS[slot[1]]})", re.escape(wording)
    )
    return re.compile(slots + behind, re.IGNORECASE)


_CLOCK = r"\d{1,3}:\d\d\.\d"
_HOLDS = {
    "side": "|".join(get_args(Side)),
    "ordinal": "|".join(ORDINALS),
    "time": _CLOCK,
    "label": "|".join(sorted((facet.label for facet in FACETS.values()), key=len, reverse=True)),
    "colour": "|".join(COLOURS),
    "main": "|".join(COLOURS),
    "second": "|".join(COLOURS),
    "light": "|".join(LIGHTS),
    "look": ".+",
    "topic": "[^?]+",
    "a": _CLOCK,
    "b": _CLOCK,
    "value": ".+?",
    "word": r"[\w' -]+?",
}
"""What may stand in each slot."""


_LENGTH_S = 1e4
"""Stands for a video's length, which no checklist gives: "near the start" then fits no item."""
# A hair more, since differences of floats are seldom exact.
_TENTH_S = 0.101
"""Times are said to the tenth of a second, in the item and in the answer."""
_ABSENT = re.compile(
    r"\b(there (is|are|was|were) no|no such|never|nowhere|at no time|not (in|to be found in) the"
    r" video|(is|was|are)(n['’]t| not) (in|shown|there|present|observed)"
    r"|(do|does|did)(n['’]t| not) (\w+ )?(contain|occur|appear|exist|show|reach)"
    r"|(will|can|could)(n['’]t| ?not) (find|see)|no (part|portion|stretch|moment|time)\b"
    r"|stays? (below|under))",
    re.IGNORECASE,
)
"""Words by which an answer says that something is not there."""


class TimeWindowCheck(NamedTuple):
    """The answer puts a facet into a stretch of time."""

    key: str
    a: float
    b: float


class ValueCheck(NamedTuple):
    """The answer gives a facet this value: a count, a colour, or one of few."""

    key: str
    value: str


class AbsenceCheck(NamedTuple):
    """The answer says that what was asked for is not there."""


class ColourDenialCheck(NamedTuple):
    """The answer says that this colour never has a fifth of the picture."""

    colour: str


class TimeGivenCheck(NamedTuple):
    """The answer says when."""


class OverlapCheck(NamedTuple):
    """The stretch that the answer gives has some time in common with this one."""

    a: float
    b: float


class WordCheck(NamedTuple):
    """The answer has this word."""

    word: str


class CounterQuestionCheck(NamedTuple):
    """The answer asks the user something."""


Check: TypeAlias = (
    TimeWindowCheck
    | ValueCheck
    | AbsenceCheck
    | ColourDenialCheck
    | TimeGivenCheck
    | OverlapCheck
    | WordCheck
    | CounterQuestionCheck
)

_KINDS: dict[str, type[Check]] = {
    "within": TimeWindowCheck,
    "gives": ValueCheck,
    "absent": AbsenceCheck,
    "denies": ColourDenialCheck,
    "timed": TimeGivenCheck,
    "overlaps": OverlapCheck,
    "asks": CounterQuestionCheck,
    # takes any word, so that the others have to be tried before it
    "names": WordCheck,
}


def word_check(check: Check, dice: Dice) -> str:
    """Return the question about an answer; `read_check` understands it again, to the tenth."""
    kind = next(name for name, of in _KINDS.items() if isinstance(check, of))
    slots: dict[str, Any] = dict(check._asdict())
    for end in {"a", "b"} & set(slots):
        slots[end] = clock(max(0.0, slots[end]))
    if "key" in slots:
        slots["label"] = FACETS[slots["key"]].label
    return str(dice.one(_wordings()["checks"][kind])).format(**slots)


def read_check(text: str) -> Check | None:
    """Return the check that a question about an answer asks for; None for one in other words."""
    said = " ".join(text.split())
    for kind, check in _KINDS.items():
        for wording in _wordings()["checks"][kind]:
            if found := as_pattern(wording).fullmatch(said):
                slots = found.groupdict().items()
                return check(**dict(_read_slot(name, value) for name, value in slots))
    return None


def _read_slot(name: str, said: str) -> tuple[str, Any]:
    """Return which field of a check a slot of its wording fills, and with what."""
    if name == "label":
        return "key", _key_of(said)
    if name in ("a", "b"):
        return name, times(said)[0]
    return name, said if name == "word" else said.lower()


@dataclass(frozen=True)
class HeardAnswer:
    """What was heard of an answer, once for all items of a checklist."""

    text: str
    units: Sequence[str]
    values: dict[str, Value]
    """Facet to the one value claimed for it; facets with two different ones are left out."""

    def meets(self, check: Check) -> bool:
        """Return whether the answer does what an item asks for."""
        if isinstance(check, TimeWindowCheck):
            value = self.values.get(check.key)
            if value is None or not is_stretch(value):
                return False
            start, end = stretch(value)
            return check.a - _TENTH_S <= start and end <= check.b + _TENTH_S
        if isinstance(check, ValueCheck):
            return phrase_value(self.values.get(check.key)) == check.value.casefold()
        if isinstance(check, AbsenceCheck):
            return any(_ABSENT.search(unit) for unit in self.units)
        if isinstance(check, ColourDenialCheck):
            units = [unit for unit in self.units if check.colour in colours(unit)]
            return any(_ABSENT.search(unit) for unit in units)
        if isinstance(check, TimeGivenCheck):
            return bool(times(self.text))
        if isinstance(check, OverlapCheck):
            # of several stretches nobody knows which is meant
            given = {(min(two), max(two)) for unit in self.units if len(two := times(unit)) == 2}
            return len(given) == 1 and all(
                start <= check.b + _TENTH_S and end >= check.a - _TENTH_S for start, end in given
            )
        if isinstance(check, WordCheck):
            return re.search(rf"\b{re.escape(check.word)}\b", self.text, re.IGNORECASE) is not None
        return "?" in self.text


def hear_answer(text: str, checks: Iterable[Check]) -> HeardAnswer:
    """Return what is heard of an answer when listening for these items.

    All facets are listened for at once: one by one, whatever value stands there would be taken
    for each of them.
    """
    keys = [check.key for check in checks if isinstance(check, TimeWindowCheck | ValueCheck)]
    heard: dict[str, set[Value]] = {}
    for claim in hear(text, _LENGTH_S, list(dict.fromkeys(keys))).claims:
        heard.setdefault(claim.key, set()).add(claim.value)
    # A fact claimed in two ways counts as not claimed: while both counted, naming every value met
    # .58 of the items of summaries instead of .40.
    values = {key: next(iter(said)) for key, said in heard.items() if len(said) == 1}
    return HeardAnswer(text, split_units(text), values)


def phrase_value(value: Value | None) -> str:
    """Return a value that is no time as a checklist writes it; empty for None."""
    if isinstance(value, tuple):
        return ", then ".join(map(str, value))
    return "" if value is None else str(value)
