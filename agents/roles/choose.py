"""Reading which option a contestant chose, strictly: what would have to be guessed is unreadable.

What is asked is `with_options` of a question, through the role that answers. A reply names an
option by its letter or its text. Where it says what its answer is, that binds, and "final answer"
before any other; else what stands by itself; else what is named anywhere. What binds must name one
option, and one alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from videoautoarena.agents.calls.replies import answer_of
from videoautoarena.agents.prompting.contracts import READINGS
from videoautoarena.agents.prompting.options import LETTERS
from videoautoarena.agents.roles.namings import JOINED, Naming, Options, Reading
from videoautoarena.agents.transport.endings import was_cut


class Chosen(NamedTuple):
    """Which option a reply names."""

    place: int | None
    """From 0; of options that are alike the first. None where the reply cannot be read."""
    reason: str | None = None
    """Why it cannot be read."""


_LETTER_NEXT = r"(?=\s*\(?[A-Za-z]\)?(?![\w']))"
_IS = (
    r"(?:\s*(?:[:=,]|->|→|⇒|[-–—]+)|\s+(?:is|was|remains|(?:should|must|would|will|has to|can only)"
    r"\s+be)\b)(?:\s+(?:therefore|thus|clearly|probably|likely|definitely|most likely|indeed)\b)?"
)
_RIGHT = (
    r"(?:correct|right|best|final|chosen|selected|my"
    r"|most\s+(?:likely|probable|plausible|accurate|suitable|appropriate|fitting|consistent))"
)
_ANSWER = r"(?:answer|option|choice|letter|response|pick|conclusion|guess|selection|verdict)"
_OF = r"(?:\s+(?:to|for|of)\s+(?:the|this|your)\s+question)?(?:\s+(?:letter|here|option|choice))?"
_FINAL = re.compile(
    rf"\bfinal\s+{_ANSWER}(?:{_OF}{_IS}(?:\s*[:=])?|{_LETTER_NEXT}|(?=\s*\n))", re.IGNORECASE
)
_ANSWERED = re.compile(
    rf"\b{_ANSWER}{_OF}{_IS}(?:\s*[:=])?"
    rf"|\b(?:selected|chosen)\s*[:=]|\bnot\s+\(?[a-z]\)?,?\s+but(?:\s+rather)?{_LETTER_NEXT}"
    rf"|\b{_RIGHT}\s+{_ANSWER}{_LETTER_NEXT}|\banswer(?=\s+\([A-Za-z]\))"
    r"|\b(?:i|we)(?:\s+(?!cannot|never|not)\w+|'\w+)?(?:\s+\w+ly)?\s+(?:choose|chose"
    r"|pick(?:ed)?|select(?:ed)?|go(?:ing)? (?:with|for)|went with|say|vote for|opt for"
    r"|settle on|answer|guess)\b:?"
    rf"|\b(?:so|therefore|thus|hence|consequently)\b,?(?:\s+(?:it|this|that))?"
    rf"(?:\s+(?:is|must be|has to be)|'s)?{_LETTER_NEXT}"
    r"|\b(?:it|this|that)(?:(?:\s+\w+ly)?\s+(?:is|must be|has to be|would be|should be|matches"
    rf"|corresponds to|fits)|'s)(?:\s+(?:option|answer|choice))?{_LETTER_NEXT}",
    re.IGNORECASE,
)
"""After it stands what a reply says is its answer."""
_DOUBTED = re.compile(
    r"(?:\b(?:if|whether|unless|(?<!no )doubt|unsure|unclear)"
    r"|\b(?:wrong|incorrect|false|worst|least\s+\w+)"
    r"|(?:^|[.!?\n]\s*)(?:is|was|were|could|would|might)"
    r"|(?:\bnot|n't|\bcannot)\s+(?:sure|certain|clear|say|think|believe|know|tell|mean))"
    r"(?:\s+(?:that|if|whether))?(?:\s+the)?(?:\s+(?:correct|right|best))?\s*$",
    re.IGNORECASE,
)
"""Before such words it makes a question or a doubt of them."""
_NONE = re.compile(
    rf"(?:{_FINAL.pattern}|{_ANSWERED.pattern})\s*\(?(?:none|neither|unclear|unknown|undetermined"
    r"|n\.a|not\s+(?:given|shown|clear|listed|there|visible|provided|among))\b",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"\s*,?\s*(?:is|was|must be|would be|seems(?: to be)?|looks|appears to be)\s+(?:\w+ly\s+)?"
    rf"(?:(?:the|my)\s+)?(?:{_RIGHT}|answer|true|closest)\b"
    r"|\s+(?:best|accurately|correctly)\s+(?:describes|matches|fits|explains|represents|captures"
    r"|answers|reflects|summari[sz]es)\b",
    re.IGNORECASE,
)
"""Before it stands an option of which a reply says that it is right."""
_MAYBE = re.compile(
    r"\b(?:(?:could|might|may)(?:\s+(?:also|well|just as well|equally))?\s+be"
    r"|possibly|perhaps|maybe|alternatively|or(?: else)?|correction|edit|sorry|oops|i mean"
    r"|on (?:second thought|reflection))\b[,:]?(?:\s+(?:option|answer))?"
    rf"{_LETTER_NEXT}",
    re.IGNORECASE,
)
"""After it stands what takes back an answer that was given before."""


def read_choice(
    reply: str,
    options: Sequence[str],
    *,
    ending: str | None = None,
    reading: int = READINGS,
) -> Chosen:
    """Return which of the options a reply names, or why it cannot be read.

    `ending` is why the provider says the reply ended: of one that was cut off, what came to mind
    on the way is no choice.
    """
    text = answer_of(reply, reading=reading)
    if not text.strip():
        return Chosen(None, "the reply is empty")
    words = Reading.of(text, Options.of(options))
    said = _said(words)
    alone = words.alone()
    if final := _after(words, _FINAL):
        # What came to mind before is over, but for an answer that stands right before.
        since = words.line_before(final[0].start)
        said = [*final, *(one for one in said if one.start >= since)]
    if said:
        last = max(one.end for one in said)
        doubts = [one for one in _after(words, _MAYBE) if one.start > last]
        others = [one for one in alone if one not in said]
        if len(_places(others)) > 1:
            # A list of all options is no second answer, but a letter behind the answer is one.
            others = [one for one in others if one.is_letter and one.start > last]
        return _settled([*said, *doubts, *others])
    if _NONE.search(words.masked):
        return Chosen(None, "no option is named")
    if was_cut(ending) and not words.is_all(alone):
        return Chosen(None, "the reply was cut off before it said what it chose")
    named, doubts = words.anywhere()
    return _settled(alone or (named and [*named, *doubts]))


def read_published(reply: str, options: Sequence[str]) -> Chosen:
    """Return which option MLVU's released scorer takes a reply for.

    It looks at the one character before the first closing bracket, and without a bracket at the
    whole reply; either must be the letter itself.
    """
    said = reply.strip()
    before, bracket, _ = said.partition(")")
    letter = before[-1:] if bracket else said
    known = list(LETTERS[: len(options)])
    if letter in known:
        return Chosen(known.index(letter))
    where = "before the first closing bracket" if bracket else "alone"
    return Chosen(None, f"no letter of an option stands {where}")


def _after(reading: Reading, mark: re.Pattern[str]) -> list[Naming]:
    """Return what is named in what follows each such mark."""
    found: list[Naming] = []
    for match in mark.finditer(reading.masked):
        if _DOUBTED.search(reading.masked, max(0, match.start() - 40), match.start()):
            continue
        said = reading.within(match.end())
        before = reading.joined_before(match.start(), JOINED) if said else []
        # "B or answer: C"; a text there is the end of a list of options that is said again
        found += [*said, *(before if before and before[0].is_letter else [])]
    return found


def _said(reading: Reading) -> list[Naming]:
    """Return what a reply says is its answer, before its name or behind it."""
    found = _after(reading, _ANSWERED)
    for match in _CALLED.finditer(reading.masked):
        found += reading.joined_before(match.start())
    return found


def _places(namings: Iterable[Naming]) -> set[int | None]:
    return {one.place for one in namings}


def _settled(namings: Sequence[Naming]) -> Chosen:
    places = _places(namings)
    if not places:
        return Chosen(None, "no option is named")
    if places == {None}:
        return Chosen(None, "a letter is named that no option has")
    if len(places) > 1:
        letters = {one.place for one in namings if one.is_letter}
        is_contrary = len(letters) == 1 and len(places) == 2 and None not in places
        why = "a letter stands beside another option's text" if is_contrary else "several are named"
        return Chosen(None, why)
    return Chosen(places.pop())
