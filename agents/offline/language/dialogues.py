"""What a user says in a dialogue: worded, read again, and followed back to what was said before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from videoautoarena.agents.offline.facets.table import FACETS, Stretch, Value, is_stretch, stretch
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
from videoautoarena.agents.prompting.fences import Turn

Side = Literal["after", "before"]
Lead = Literal["start", "next", "back", "close"]
"""Where in a dialogue a question stands: its first, a later one, after elsewhere, its last."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


class NumberedMoment(NamedTuple):
    """The moment that the last answer named at this place, from 1."""

    place: int


class OrderedMoment(NamedTuple):
    """The earlier or the later of the two moments that the last answer named."""

    which: Literal["earlier", "later"]


class AnswerMoment(NamedTuple):
    """The first moment in the answer of this number, from 1."""

    number: int


class TimedMoment(NamedTuple):
    """A moment by its time, which nothing said before is needed for."""

    time_s: float


class FacetMoment(NamedTuple):
    """A moment by what it shows, which nothing said before is needed for."""

    key: str


Referent: TypeAlias = NumberedMoment | OrderedMoment | AnswerMoment | TimedMoment | FacetMoment
REFERENCES = (NumberedMoment, OrderedMoment, AnswerMoment)
"""Moments that only the dialogue tells."""


class PartReference(NamedTuple):
    """What of the video counts: all after a moment, or all before it."""

    side: Side
    moment: Referent


@dataclass(frozen=True)
class FactsTurn:
    """Facts are asked for, of the whole video or of what lies beside a moment."""

    ask: FactRequest
    part: PartReference | None = None

    @property
    def is_reference(self) -> bool:
        """Whether it takes the history to know what is meant."""
        return self.part is not None and isinstance(self.part.moment, REFERENCES)

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
    """Return what a user says who means this; `read` understands it again."""
    if isinstance(turn, BoredTurn):
        return dice.one(_wordings("bored"))
    if isinstance(turn, OffTopicTurn):
        return dice.one(_wordings("elsewhere")).format(topic=turn.topic)
    if isinstance(turn, ColourRunTurn):
        return dice.one(_wordings("colour_run")).format(colour=turn.colour)
    asked = asked_for(turn.ask.keys, dice)
    if turn.part is not None:
        moment = _word_moment(turn.part.moment, dice)
        part = dice.one(_wordings("part")).format(side=turn.part.side, moment=moment)
        asked = f"{part}, {asked}"
    said = dice.one(_leads()[lead]).format(q=asked)
    return " ".join((said, *asked_form(turn.ask, dice)))


def read(text: str) -> UserTurn | None:
    """Return what a user means; None where it is nothing that can be told from frames."""
    said = " ".join(text.split())
    if said in _wordings("bored"):
        return BoredTurn()
    for pattern in _patterns("elsewhere"):
        found = pattern.fullmatch(said)
        if found and found["topic"] in elsewhere():
            return OffTopicTurn(found["topic"])
    for pattern in _patterns("colour_run"):
        if found := pattern.fullmatch(said):
            return ColourRunTurn(found["colour"].lower())
    rest, part = _part_in(_without_lead(said))
    ask = understand(rest)
    return FactsTurn(ask, part) if ask.keys or part else None


def without_part(text: str) -> str:
    """Return what a user says but for the words that say which part of the video counts."""
    return _part_in(" ".join(text.split()))[0]


def resolve(part: PartReference, history: Sequence[Turn]) -> float | None:
    """Return when the meant moment is, by what was said alone; None where that does not tell."""
    moment = part.moment
    if isinstance(moment, TimedMoment):
        return moment.time_s
    if isinstance(moment, AnswerMoment):
        return _nth(_named_in(history, moment.number - 1), 0)
    named = _named_in(history, len(history) - 1)
    if isinstance(moment, NumberedMoment):
        return _nth(named, moment.place - 1)
    if isinstance(moment, OrderedMoment) and len(named) > 1:
        return min(named[:2]) if moment.which == "earlier" else max(named[:2])
    return None


def elsewhere() -> Mapping[str, str]:
    """Return question to answer of what is asked beside the video."""
    facts: dict[str, str] = table("language", "dialogues")["facts"]
    return facts


def _named_in(history: Sequence[Turn], place: int) -> tuple[float, ...]:
    return times(history[place][1]) if 0 <= place < len(history) else ()


def _nth(found: Sequence[float], place: int) -> float | None:
    return found[place] if 0 <= place < len(found) else None


def _word_moment(moment: Referent, dice: Dice) -> str:
    kind, slots = _slots(moment)
    return dice.one(_moments()[kind]).format(**slots)


def _slots(moment: Referent) -> tuple[str, dict[str, str]]:
    if isinstance(moment, NumberedMoment):
        return "named", {"ordinal": ORDINALS[moment.place - 1]}
    if isinstance(moment, OrderedMoment):
        return moment.which, {}
    if isinstance(moment, AnswerMoment):
        return "answer", {"ordinal": ORDINALS[moment.number - 1]}
    if isinstance(moment, TimedMoment):
        return "time", {"time": clock(moment.time_s)}
    return "facet", {"label": FACETS[moment.key].label}


def _part_in(said: str) -> tuple[str, PartReference | None]:
    """Return the words without those that say which part counts, and that part."""
    for kind, pattern in _part_patterns():
        if found := pattern.search(said):
            side: Side = "after" if found["side"].lower() == "after" else "before"
            moment = _read_moment(kind, found)
            if moment is not None:
                return said[: found.start()] + said[found.end() :], PartReference(side, moment)
    return said, None


def _read_moment(kind: str, found: re.Match[str]) -> Referent | None:
    slots = found.groupdict()
    if kind in ("named", "answer"):
        place = ORDINALS.index(slots["ordinal"].lower()) + 1
        return NumberedMoment(place) if kind == "named" else AnswerMoment(place)
    if kind == "time":
        given = times(slots["time"])
        return TimedMoment(given[0]) if given else None
    if kind == "facet":
        return FacetMoment(_labels()[slots["label"].lower()])
    return OrderedMoment("earlier" if kind == "earlier" else "later")


def _without_lead(said: str) -> str:
    """Return the question alone: an opening has words that a fact could be known by, too."""
    for lead in sorted((one for leads in _leads().values() for one in leads), key=len)[::-1]:
        opening = lead.partition("{q}")[0]
        if opening and said.startswith(opening):
            return said.removeprefix(opening)
    return said


def _wordings(kind: str) -> list[str]:
    found: list[str] = table("language", "dialogues")[kind]
    return found


def _leads() -> dict[str, list[str]]:
    leads: dict[str, list[str]] = table("language", "dialogues")["leads"]
    return leads


def _moments() -> dict[str, list[str]]:
    moments: dict[str, list[str]] = table("language", "dialogues")["moments"]
    return moments


@cache
def _labels() -> dict[str, str]:
    return {facet.label: key for key, facet in FACETS.items()}


@cache
def _patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(as_pattern(one), re.IGNORECASE) for one in _wordings(kind))


@cache
def _part_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each way to say which part counts, by how it names the moment, with the comma behind it."""
    return tuple(
        (kind, re.compile(as_pattern(part.replace("{moment}", one)) + ",? ?", re.IGNORECASE))
        for part in _wordings("part")
        for kind, wordings in _moments().items()
        for one in sorted(wordings, key=len, reverse=True)
    )


_SLOT = re.compile(r"\\\{(\w+)\\\}")


def as_pattern(wording: str) -> str:
    """Return a wording as a pattern whose named groups are its slots."""
    return _SLOT.sub(lambda slot: f"(?P<{slot[1]}>{_HOLDS[slot[1]]})", re.escape(wording))


_HOLDS = {
    "side": "|".join(get_args(Side)),
    "ordinal": "|".join(ORDINALS),
    "time": r"\d{1,3}:\d\d\.\d",
    "label": "|".join(sorted((facet.label for facet in FACETS.values()), key=len, reverse=True)),
    "colour": "|".join(COLOURS),
    "topic": "[^?]+",
    "a": r"\d{1,3}:\d\d\.\d",
    "b": r"\d{1,3}:\d\d\.\d",
    "value": ".+?",
    "word": r"[\w' -]+?",
}
"""What may stand in each slot."""


_LENGTH_S = 1e4
"""A video's length is in no checklist; of "near the start" nothing certain follows without it."""
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
    "names": WordCheck,
    "asks": CounterQuestionCheck,
}


def word_check(check: Check, dice: Dice) -> str:
    """Return the question about an answer; `read_check` understands it again, to the tenth."""
    kind = next(name for name, of in _KINDS.items() if isinstance(check, of))
    slots: dict[str, Any] = dict(check._asdict())
    for end in {"a", "b"} & set(slots):
        slots[end] = clock(max(0.0, slots[end]))
    if "key" in slots:
        slots["label"] = FACETS[slots["key"]].label
    return dice.one(_check_wordings(kind)).format(**slots)


def read_check(text: str) -> Check | None:
    """Return what a question about an answer wants to know; None for one in other words."""
    said = " ".join(text.split())
    for kind, pattern in _check_patterns():
        if found := pattern.fullmatch(said):
            return _KINDS[kind](**{k: _READ.get(k, str)(v) for k, v in _fields(found).items()})
    return None


@dataclass(frozen=True)
class HeardAnswer:
    """What was heard of an answer, once for all items of a checklist."""

    text: str
    units: Sequence[str]
    values: dict[str, Value]
    """Facet to the one value that is claimed for it; two that differ are none."""

    def meets(self, check: Check) -> bool:
        """Return whether the answer does what an item asks for."""
        if isinstance(check, TimeWindowCheck):
            value = self.values.get(check.key)
            return value is not None and is_stretch(value) and _within(stretch(value), check)
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
            return _overlaps(self.units, check)
        if isinstance(check, WordCheck):
            return re.search(rf"\b{re.escape(check.word)}\b", self.text, re.IGNORECASE) is not None
        return "?" in self.text


def hear_answer(text: str, checks: Iterable[Check]) -> HeardAnswer:
    """Return what is heard of an answer by whoever has these items in mind.

    All facets are listened for at once: one by one, whatever value stands there would be taken
    for each of them.
    """
    keys = [check.key for check in checks if isinstance(check, TimeWindowCheck | ValueCheck)]
    heard: dict[str, set[Value]] = {}
    for claim in hear(text, _LENGTH_S, list(dict.fromkeys(keys))).claims:
        heard.setdefault(claim.key, set()).add(claim.value)
    values = {key: next(iter(said)) for key, said in heard.items() if len(said) == 1}
    return HeardAnswer(text, split_units(text), values)


def phrase_value(value: Value | None) -> str:
    """Return how a checklist writes a value that is no time; nothing where there is none."""
    if isinstance(value, tuple):
        return ", then ".join(map(str, value))
    return "" if value is None else str(value)


def _within(claimed: Stretch, check: TimeWindowCheck) -> bool:
    return check.a - _TENTH_S <= claimed[0] and claimed[1] <= check.b + _TENTH_S


def _overlaps(units: Sequence[str], check: OverlapCheck) -> bool:
    """Return whether the one stretch given does; of several nobody knows which is meant."""
    given = {(min(two), max(two)) for unit in units if len(two := times(unit)) == 2}
    if len(given) != 1:
        return False
    ((start, end),) = given
    return start <= check.b + _TENTH_S and end >= check.a - _TENTH_S


def _fields(found: re.Match[str]) -> dict[str, str]:
    return {("key" if name == "label" else name): said for name, said in found.groupdict().items()}


def _key_of(label: str) -> str:
    return next(key for key, facet in FACETS.items() if facet.label == label.lower())


_READ: dict[str, Callable[[str], Any]] = {
    "a": lambda said: times(said)[0],
    "b": lambda said: times(said)[0],
    "key": _key_of,
    "colour": str.lower,
    "value": str.lower,
}


def _check_wordings(kind: str) -> list[str]:
    found: list[str] = table("language", "dialogues")["checks"][kind]
    return found


@cache
def _check_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    # the one that takes any word comes last
    kinds = sorted(_KINDS, key=lambda kind: kind == "names")
    return tuple(
        (kind, re.compile(as_pattern(one), re.IGNORECASE))
        for kind in kinds
        for one in _check_wordings(kind)
    )
