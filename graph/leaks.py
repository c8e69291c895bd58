"""What an item of a checklist asks for, and whether it stands in a text in whatever words.

An item's value is its times, else its numbers, else its words that the question does not hold. A
time stands in a text where one of its times falls into the item's stretch, a number where the same
one does, words where most of them do. Everything is read in one pass over a text of any length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from math import ceil
from typing import NamedTuple

NEAR_S = 0.5
"""A time this far from an item's one time is the same."""
MOST_WORDS = 0.6
"""Share of an item's words that give it away; an item of one or two words needs all."""
_UNITS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_COUNTED = {word: number for number, word in enumerate(_UNITS.split())}
_COUNTED |= {word: 10 * number for number, word in enumerate(_TENS.split(), 2)}
_COUNTED |= {"twice": 2, "thrice": 3, "dozen": 12}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_SMALL_NUMBER = rf"(?:{'|'.join(_TENS.split())})(?:[- ](?:{'|'.join(_UNITS.split()[1:10])}))?"
_SMALL_NUMBER += f"|{'|'.join(word for word in _COUNTED if word != 'one')}"
_NUMERAL = re.compile(
    rf"\b(?:(?P<half>half a minute)|(?P<hundreds>a|{'|'.join(_UNITS.split()[1:10])}) hundred"
    rf"(?:(?: and)? (?P<rest>one|{_SMALL_NUMBER}))?|(?P<number>{_SMALL_NUMBER})"
    r"|(?P<one>one|a)(?=[ -]min(?:ute)?\b)|one(?=[ -]sec))\b"
)
"""Numbers in words; "one" mostly counts nothing."""
_REAL = r"(?<![\w.])\d{1,9}(?:\.\d{1,9})?(?!\d)"
_S = r"[ -]?(?:s|secs?|seconds?)\b"
_MIN = r"[ -]?(?:mins?|minutes?)\b"
_LEADS = "at|around|about|near|by|to|until|till|from|between|and|after|before"
_FOUND = re.compile(
    rf"(?P<lead>\b(?:{_LEADS}) )?(?:"
    r"(?<![\d.:])(?:(?P<hours>\d{1,3}):)?(?P<minutes>\d{1,3}):(?P<rest>[0-5]\d(?:\.\d{1,9})?)"
    r"(?![\d:])"
    rf"|(?P<mins>{_REAL})(?:{_MIN},? | ?m ?)(?:and )?(?P<secs>\d{{1,9}}(?:\.\d{{1,9}})?){_S}"
    rf"|(?P<label>\b(?:seconds? |t ?= ?))?(?P<number>{_REAL})"
    rf"(?:(?P<half> minutes? and a half\b)|(?P<unit>{_S}|{_MIN}))?)"
)
_JOINED = re.compile(r" ?(?:-|to|until|till|through|and) ?(?:about |around |at )?")
_YES_OR_NO = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
_ALONE = re.compile(
    r"(?! ?[^\W\d_])| (?:and|or|to|until|till|when|while|in|into|it|he|she|they|there|the|a)\b"
)
_SMALL_TEXT = """
a an the this that these those it its is are was were be been being do does did has have having
of in on at to from by for with as and or but if than then so not no nor yes such there here which
who whom whose what when where why how any some all each both either one ones between before after
within least most about around roughly approximately exactly second seconds minute minutes sec min
would can could may might will shall should i you he she they we me him her them us my your his
their our also only just very more less other another time times whether into out up off over too
answer answers reply replies response user video assistant say says said saying tell tells told
name names named give gives given gave put puts state states stated mention mentions mentioned
report reports claim claims speak speaks describe describes described identify identifies identified
indicate indicates specify specifies note notes explain explains confirm confirms recognize
recognizes correctly include includes refer refers make makes place places know appear appears
appeared see seen seem seems shown show shows happen happens get gets got
"""
_SMALL = frozenset(_SMALL_TEXT.split())
_NO_CONTENT = _SMALL | set(_COUNTED) | {"hundred"}
_FORMS = """
men:man women:woman children:child people:person feet:foot teeth:tooth mice:mouse knives:knife
shelves:shelf leaves:leaf wolves:wolf gray:grey hung:hang held:hold wore:wear worn:wear sat:sit
stood:stand ran:run fell:fall fallen:fall broke:break broken:break drove:drive driven:drive ate:eat
eaten:eat came:come went:go gone:go took:take taken:take threw:throw thrown:throw caught:catch
wrote:write written:write brought:bring left:leave drank:drink drunk:drink sang:sing rode:ride
ridden:ride flew:fly flown:fly swam:swim built:build bought:buy lit:light lay:lie lying:lie
grew:grow grown:grow began:begin begun:begin chose:choose chosen:choose shook:shake shaken:shake
"""
_ALIKE = dict(pair.split(":") for pair in _FORMS.split())


class ItemValues(NamedTuple):
    """The values that an item asks for."""

    stretches: tuple[tuple[float, float], ...] = ()
    """Stretches in seconds; any time within one says it."""
    numbers: frozenset[float] = frozenset()
    words: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.stretches or self.numbers or self.words)

    def stands_in(self, text: str) -> bool:
        """Return whether it stands in a text, whatever is around it; an empty value never does."""
        if not self:
            return False
        enough = max(min(len(self.words), 2), ceil(MOST_WORDS * len(self.words)))
        if self.words and len(self.words & content(text)) < enough:
            return False
        if not self.stretches and not self.numbers:
            return True
        told = _counted(text)
        return self.numbers <= told.numbers and all(
            any(start_s <= time_s <= end_s for time_s in told.times)
            for start_s, end_s in self.stretches
        )


def values_in(
    text: str, *, but: str, beside: Collection[str] = (), reference: str = ""
) -> ItemValues:
    """Return the values of an item that the question, `but`, does not hold.

    Words that items with the other answer hold as well, `beside`, are what all of them ask about,
    and so are those that a right answer, the `reference`, does without.
    """
    told = _counted(text)
    known = _counted(but)
    if told.stretches:
        single = {(time_s - NEAR_S, time_s + NEAR_S) for time_s in known.times}
        if new := tuple(one for one in told.stretches if one not in single):
            return ItemValues(new)
    if numbers := told.numbers - known.numbers:
        return ItemValues(numbers=numbers)
    words = content(text) - content(but)
    words = words & content(reference) or words
    others = set[str]().union(*map(content, beside))
    return ItemValues(words=frozenset(words - others or words))


def plain(text: str) -> str:
    """Return the words of a text by which two are known for the same."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def is_given_away(
    yes: Sequence[str],
    asked: str,
    rest: Sequence[str],
    *,
    no: Collection[str] = (),
    reference: str = "",
) -> bool:
    """Return whether the values of all items answered yes stand in the rest of a dialogue.

    Each has to stand in one text of it by itself; items without a value say nothing. Nor does one
    that asks for a "yes" or a "no" beside others: whoever guesses is right every other time.
    """
    every = [(text, values_in(text, but=asked, beside=no, reference=reference)) for text in yes]
    telling = [one for text, one in every if one and not (one.words and _YES_OR_NO.search(text))]
    valued = telling or [one for _, one in every if one]
    return bool(valued) and all(any(one.stands_in(text) for text in rest) for one in valued)


def content(text: str) -> set[str]:
    """Return the stems of a text's words that are more than grammar and numbers."""
    words = re.findall(r"[^\W\d_]+", _ORDINAL.sub(_spelt, text.casefold()))
    return {
        _stem(_ALIKE.get(word, word)) for word in words if len(word) > 1 and word not in _NO_CONTENT
    }


_ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")


def _spelt(found: re.Match[str]) -> str:
    """Return "third" for "3rd"; the word tells where the number does not."""
    number = int(found[1])
    words = _ORDINALS.split()
    return words[number - 1] if 0 < number <= len(words) else found[0]


class _TextNumbers(NamedTuple):
    """Times and numbers of a text."""

    times: list[float]
    """In seconds; includes bare numbers after "at", which count as numbers, too."""
    numbers: frozenset[float]
    stretches: list[tuple[float, float]]
    """Stretches in seconds, from one time to another or around a time that stands alone."""


class _NumberToken(NamedTuple):
    start: int
    end: int
    value: float
    scale: float | None
    """Seconds in its unit; None for a bare number."""
    lead: str
    """The word "between", "at", .. before it."""


def _counted(text: str) -> _TextNumbers:
    text = _digits(text)
    tokens = list(_tokens(text))
    times = list[float]()
    numbers = set[float]()
    stretches = list[tuple[float, float]]()
    is_open = False
    for place, one in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        is_joined = after is not None and _are_joined(text, one, after)
        scale = one.scale
        if scale is None and after is not None and is_joined:
            # Of "between 10 and 14 seconds" only the second has its unit.
            is_time = one.lead == "between" and _stands_alone(text, after)
            scale = after.scale or (1.0 if is_time else None)
        elif scale is None and is_open:
            scale = 1.0
        if scale is None:
            numbers.add(one.value)
            if one.lead and _stands_alone(text, one):
                times.append(one.value)
            is_open = False
            continue
        times.append(one.value * scale)
        if is_open and times[-2] < times[-1]:
            stretches[-1] = times[-2], times[-1]
        else:
            stretches.append((times[-1] - NEAR_S, times[-1] + NEAR_S))
        # A stretch has two ends: a third number that follows begins another one.
        is_open = is_joined and not is_open
    return _TextNumbers(times, frozenset(numbers), stretches)


def _stands_alone(text: str, one: _NumberToken) -> bool:
    """Return whether a number counts nothing that is named behind it."""
    return _ALONE.match(text, one.end) is not None


def _are_joined(text: str, one: _NumberToken, after: _NumberToken) -> bool:
    """Return whether two numbers are the ends of a stretch."""
    if after.start - one.end > len(" through around "):
        return False
    between = text[one.end : after.start]
    if not between.strip() and after.lead in ("to", "until", "till", "and"):
        between = f" {after.lead} "
    if not _JOINED.fullmatch(between):
        return False
    return "and" not in between or one.lead == "between"


def _tokens(text: str) -> Iterator[_NumberToken]:
    for found in _FOUND.finditer(text):
        value, scale = _valued(found)
        yield _NumberToken(found.start(), found.end(), value, scale, (found["lead"] or "").strip())


def _valued(found: re.Match[str]) -> tuple[float, float | None]:
    """Return a number, and how many seconds its unit has; None if it has none."""
    if found["rest"] is not None:
        minutes = 60 * int(found["hours"] or 0) + int(found["minutes"])
        return 60 * minutes + float(found["rest"]), 1.0
    if found["mins"] is not None:
        return 60 * float(found["mins"]) + float(found["secs"]), 1.0
    number = float(found["number"])
    unit = (found["unit"] or "").strip(" -")
    if found["half"]:
        return number + 0.5, 60.0
    if unit.startswith("m"):
        return number, 60.0
    return number, 1.0 if unit or found["label"] else None


def _digits(text: str) -> str:
    """Return a text in small letters whose numbers are all in plain digits."""
    # In ASCII there is nothing that NFKC, or digits of other scripts, would change.
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        # Digits of other scripts become plain ones.
        text = "".join(str(unicodedata.decimal(one, one)) for one in text)
    text = re.sub(r"[\u2010-\u2015\u2212]", "-", text.casefold())
    # A comma before three digits groups thousands; before one or two it is a decimal comma.
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", " ".join(text.split()))
    text = re.sub(r"(?<=\d),(?=\d{1,2}(?!\d))", ".", text)
    return _NUMERAL.sub(_numeral, text)


def _numeral(found: re.Match[str]) -> str:
    if found["half"]:
        return "30 seconds"
    number = _number(found["number"] or found["rest"] or "")
    if found["hundreds"]:
        return str(100 * _COUNTED.get(found["hundreds"], 1) + number)
    return str(number if found["number"] else 1)


def _number(words: str) -> int:
    return sum(_COUNTED[word] for word in re.split("[- ]", words) if word)


def _stem(word: str) -> str:
    """Return a word without the commonest endings, so that its forms are alike."""
    for ending, put in (("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ed", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + put
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    return word.rstrip("e") or word
