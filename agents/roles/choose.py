"""Reading which option a contestant chose, strictly: what would have to be guessed is unreadable.

What is asked is `with_options` of a question, through the role that answers. A reply names an
option by its letter or its text. Where it says what its answer is, that binds, and "final answer"
before any other; else what stands by itself; else what is named anywhere. What binds must name one
option, and one alone.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from videoautoarena.agents.calls.replies import answer_of
from videoautoarena.agents.prompting.contracts import READINGS
from videoautoarena.agents.prompting.fences import LETTERS
from videoautoarena.agents.transport.answers import was_cut

_MASK = "\x01"
_BEYOND = "ABCDEFGH"
"""Letters that are taken for an option's even where there are fewer options."""
_LONGEST = 20_000
"""Characters of a reply that are read, its last ones."""
_REACH = 600
"""Characters that may belong to what is said in one place."""

_STYLED = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit)\s*\{([^{}\n]{0,200})\}")
# The last closing tag of a reply is taken for the end of a wrapper, and is gone by now.
_BOXED = re.compile(
    r"\\boxed\s*\{([^{}\n]{0,200})\}|<answer>([^<]{0,400})(?:</answer>|\Z)", re.IGNORECASE
)
_MARKUP = re.compile(r"[*`$#~|_\"“”„«»\u200b\ufeff\x01]+")
_TAGGED = re.compile(r"<(b|i|u|em|strong|p|code|span)>([^<]{0,400})</\1>", re.IGNORECASE)
_LONE = re.compile(r"(?<!\w)(?:[\[({<]{1,4}\s?([A-Za-z])\s?[\])}>]{1,4}|'([A-Za-z])')(?!\w)")
_UNGIVEN = re.compile(r"(?<![\w/])n\s?/\s?a(?![\w/])", re.IGNORECASE)
_EDGES = " .,;:!?-–—()[]'"
_END = re.compile(r"[.!?](?=\s|$)|\n")

_INSIDE, _GOES_ON = re.compile(r"[\w.]|-\d"), re.compile(r"\w|[.,]\d")
"""What stands before and behind an option's text that is part of a longer word or number."""

_ARTICLE = (
    r"(?:[Aa]\s+(?!\w\b|(?i:and|or|nor|is|was|because|since|as|but|not|with|seems|fits|matches"
    r"|options?|answers?|choices?|the)\b|(?:Best|Correct|Right|Final|My|So|It)\b)\w)"
)
_LETTER = re.compile(
    rf"(?P<strong>(?<!\w)\((?P<lone>[A-Za-z])\)"
    rf"|\b(?i:option|choice|letter|answer)\s+(?!{_ARTICLE})(?P<named>[A-Za-z])(?![\w']))"
    rf"|(?<![\w.'-])(?:(?!{_ARTICLE})(?P<upper>[A-Z])(?![\w']|\.\w)"
    r"|(?P<lower>[a-z])(?=\s*(?:[),;:/&+]|\.(?!\w)|$|\n|(?i:or|and)\b)))"
)
_LEADING = re.compile(r"\s*(?:[).:,–—-]|(?i:because|since|as|is|was|seems|fits|matches)\b)")
_OFF = re.compile(r"\s*(?:[.,;:!?)]|$|\n)")
JOINED = re.compile(
    r"(?:[\s,;/&+:.()–—-]|\b(?:or|and|nor|either|both|options?|answers?|choices?|then)\b)*",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\b(?:or|and|nor)\b|[/&+]", re.IGNORECASE)
_FILLER = re.compile(
    r"(?:[\s,;/&+:.!?()–—-]|\b(?:or|and|nor|either|both|the|my|an?|options?|answers?|choices?"
    r"|letter|then|is|it|its|it's|correct|best|probably|likely|most|definitely|clearly|maybe"
    r"|perhaps|i|think|guess|say|so|thus|therefore|hence|just|only|final|no|yes|wait|actually|rather)\b)*",
    re.IGNORECASE,
)
_BEFORE_IT = re.compile(r"[\s,)]*(?:which|that|one)?\s*", re.IGNORECASE)
_ASKED = re.compile(r"\s*(?:is|was|were|could|would|might|or)\b[^?\n]*\?", re.IGNORECASE)
_CUT = re.compile(
    r"\b(?:because|since|as|given that|due to|whereas|while|which|where|for|but|although|though"
    r"|however|based on|who)\b|;(?!\s*(?:option\s+)?\(?[A-Za-z]\)?(?:[\s.,;]*$|[.,;]))",
    re.IGNORECASE | re.MULTILINE,
)
_AGAINST = re.compile(
    r"(?:(?:\bnot|n't)(?: show| see| match| fit| support| include| choose| pick| select"
    r"| say| think| believe)?"
    r"|\bneither|\bnor|\bnever|\brather than|\binstead of|\bother than|\bunlike"
    r"|\bexcept(?: for)?|\bwithout|\bexclud(?:e|es|ed|ing)|\beliminat(?:e|es|ed|ing)"
    r"|\brul(?:e|es|ed|ing) out|\bdiscard(?:s|ed|ing)?|\breject(?:s|ed|ing)?"
    r"|\b(?:wrong|incorrect|false)(?: (?:option|answer|choice)s?)?(?: is| are)?:?)"
    r"(?:\s+(?:be|the|an?|options?|answers?|choices?|letter|it|is|to|both|either))*[\s(]*$",
    re.IGNORECASE,
)
"""Words before an option that rule it out."""
_DENIED = re.compile(
    r"(?:\b(?:not|no|never|nobody|none|neither|nor|without|cannot|unlikely)\b|n't\b)"
    r"(?:(?!\bbut\b)[^,;:.!?()\n])*$",
    re.IGNORECASE,
)
"""Words that deny whatever follows in the same clause, however far."""
_RULED_OUT = re.compile(
    r"[\s,)]*(?:(?:is|are|was|were|does|do|did|can|could|would|seems?|looks?)\s+"
    r"(?:\w+ly\s+|also\s+|both\s+|all\s+|the\s+)?(?:not|most unlikely|least|wrong"
    r"|incorrect|false|impossible|unlikely|out|ruled out|eliminated|excluded|never)\b"
    r"|(?:is|are|was|were|does|do|did|ca|could|would)n't|cannot|never\b)"
    r"|\s*[:(–—-]\s*(?:wrong|incorrect|false|no|not)\b",
    re.IGNORECASE,
)
"""Words behind an option that rule it out."""


class OptionNaming(NamedTuple):
    """One place at which an option is named."""

    start: int
    end: int
    place: int | None
    """Place of the option, of equal ones the first; None if no option has that letter."""
    is_letter: bool
    is_sure: bool
    """Whether it names an option wherever it stands, or only by itself or where one is awaited."""


@dataclass(frozen=True)
class OptionTexts:
    """The options of a question, as a reply may name them."""

    texts: tuple[str, ...]
    """Options that are alike have equal texts."""

    @classmethod
    def of(cls, options: Sequence[str]) -> OptionTexts:
        return cls(tuple(_lowered(_cleaned(option)).rstrip(" .") for option in options))

    def of_letter(self, letter: str) -> int | None:
        """Return the place of a letter's option; None if no option has that letter."""
        place = LETTERS.index(letter.upper())
        return self.texts.index(self.texts[place]) if place < len(self.texts) else None

    def in_text(self, text: str) -> Iterator[OptionNaming]:
        """Return where options' texts stand, none within another."""
        # The longest first: a text that is only a part of another one is not named by it.
        for words in sorted(set(self.texts), key=lambda words: (-len(words), words)):
            is_number = words.lstrip("-").isdigit()
            if len(words) < 2 and not is_number:
                continue
            is_sure = is_number or (len(words) > 2 and words not in ("yes", "no"))
            place = self.texts.index(words)
            at = text.find(words)
            while at >= 0:
                end = at + len(words)
                # a pattern of each option's own would take longer to make than to match
                if not ((at and _INSIDE.match(text, at - 1)) or _GOES_ON.match(text, end)):
                    yield OptionNaming(at, end, place, False, is_sure)
                at = text.find(words, end)


@dataclass(frozen=True)
class OptionReader:
    """A reply, and where in it options are named."""

    masked: str
    """The reply without its layout; where an option's text stood, are marks."""
    texts: tuple[OptionNaming, ...]
    options: OptionTexts

    @classmethod
    def of(cls, reply: str, options: OptionTexts) -> OptionReader:
        """Return a reply as it is looked at: boxed and tagged answers said to be final."""
        text = _cleaned(reply[-_LONGEST:])
        # Of the same length, so that places found in one hold in the other.
        lowered = list(_lowered(text))
        found = []
        for one in options.in_text("".join(lowered)):
            if _MASK not in lowered[one.start : one.end]:
                lowered[one.start : one.end] = _MASK * (one.end - one.start)
                found.append(one)
        masked = "".join(
            _MASK if low == _MASK else char for low, char in zip(lowered, text, strict=True)
        )
        return cls(masked, tuple(sorted(found)), options)

    def within(self, at: int) -> list[OptionNaming]:
        """Return the options named from there to the end of the statement, reasons left out."""
        while at < len(self.masked) and self.masked[at] in " \n:-–—":
            at += 1
        end = self._bounds[bisect_right(self._bounds, at)] if at < len(self.masked) else at
        end = min(end, at + _REACH)
        if cut := _CUT.search(self.masked, at, end):
            end = cut.start()
        named = self._named(at, end)
        sure = [
            one
            for one in named
            if one.is_letter or " " in self._words(one) or self._opens(one, at, named)
        ]
        return self._kept(sure, at, end)

    def alone(self) -> list[OptionNaming]:
        """Return the options named in sentences that hold nothing else."""
        found: list[OptionNaming] = []
        for start, end in pairwise(self._bounds):
            named = self._named(start, end)
            if _ASKED.match(self.masked, start, end):
                continue
            if named and _FILLER.fullmatch(self._between(start, end, named)):
                found += self._kept(named, start, end)
        return found

    def is_all(self, named: Sequence[OptionNaming]) -> bool:
        """Return whether nothing is said but what is named."""
        return _FILLER.fullmatch(self._between(0, len(self.masked), named)) is not None

    def joined_before(self, at: int, link: re.Pattern[str] = _BEFORE_IT) -> list[OptionNaming]:
        """Return the options named right before a place but for a link, with those joined on."""
        start = self._bounds[max(0, bisect_right(self._bounds, max(0, at - 1)) - 1)]
        start = max(start, at - _REACH)
        named = self._named(start, at)
        found: list[OptionNaming] = []
        until = at
        for one in reversed(named):
            if not link.fullmatch(self.masked, one.end, until):
                break
            found.append(one)
            link = JOINED
            until = one.start
        kept = self._kept(named, start, at)
        return [one for one in found if one in kept]

    def line_before(self, at: int) -> int:
        """Return where the line begins that holds text and comes before that of a place."""
        line = self.masked.rfind("\n", 0, at) + 1
        return self.masked.rfind("\n", 0, len(self.masked[:line].rstrip())) + 1

    def anywhere(self) -> tuple[list[OptionNaming], list[OptionNaming]]:
        """Return the options that are named anywhere, and those that may be."""
        found: list[OptionNaming] = []
        doubts: list[OptionNaming] = []
        for start, end in pairwise(self._bounds):
            kept = self._kept(self._named(start, end), start, end)
            found += [one for one in kept if self._is_plain(one, start)]
            doubts += [one for one in kept if self.masked[one.start : one.end].isupper()]
        return found, doubts

    @cached_property
    def _bounds(self) -> list[int]:
        """Where sentences begin, and the end; a letter's full stop before its text ends none."""
        bounds = [0]
        for found in _END.finditer(self.masked):
            after = self.masked[found.end() : found.end() + 4].lstrip(" ")
            is_letters = re.search(r"(?:^|\W)[A-Za-z]\)?$", self.masked[: found.start()][-3:])
            if not (is_letters and found[0] == "." and after.startswith(_MASK)):
                bounds.append(found.end())
        return bounds if bounds[-1] == len(self.masked) else [*bounds, len(self.masked)]

    def _named(self, start: int, end: int) -> list[OptionNaming]:
        texts = self.texts[bisect_right(self.texts, (start,)) : bisect_right(self.texts, (end,))]
        found = [one for one in texts if one.end <= end]
        for match in _LETTER.finditer(self.masked, start, end):
            letter = match["lone"] or match["named"] or match["upper"] or match["lower"]
            place = self.options.of_letter(letter)
            if place is not None or letter in _BEYOND:
                is_sure = match["strong"] is not None
                found.append(OptionNaming(*match.span(), place, True, is_sure))
        return sorted(found)

    def _is_plain(self, one: OptionNaming, start: int) -> bool:
        """Return whether it names an option in the middle of whatever is said, and denies none."""
        before = self.masked[max(start, one.start - 200) : one.start]
        return (one.is_sure or self._leads(one, start)) and not _DENIED.search(before)

    def _leads(self, one: OptionNaming, start: int) -> bool:
        """Return whether an unsure naming begins a sentence, set off from what follows."""
        off = _LEADING if one.is_letter else _OFF
        is_first = not self.masked[start : one.start].strip(_EDGES)
        return is_first and off.match(self.masked, one.end) is not None

    def _opens(self, one: OptionNaming, start: int, named: Sequence[OptionNaming]) -> bool:
        """Return whether a text is the first thing said from there, but for letters."""
        if not _FILLER.fullmatch(self._between(start, one.start, named)):
            return False
        return one.is_sure or _OFF.match(self.masked, one.end) is not None

    def _between(self, start: int, end: int, named: Sequence[OptionNaming]) -> str:
        """Return the text there without the named options."""
        parts = []
        at = start
        for one in named:
            if one.start < end:
                parts.append(self.masked[at : one.start])
                at = one.end
        return " ".join([*parts, self.masked[at : max(at, end)]])

    def _words(self, one: OptionNaming) -> str:
        return "" if one.place is None else self.options.texts[one.place]

    def _kept(self, named: Sequence[OptionNaming], start: int, end: int) -> list[OptionNaming]:
        """Return the options that are not ruled out, by themselves or with those joined to them."""
        edges = [start, *(one.end for one in named)]
        gaps = [self.masked[a : one.start] for a, one in zip(edges, named, strict=False)]
        out = [_AGAINST.search(gap) is not None for gap in gaps]
        for i in range(1, len(named)):
            out[i] = out[i] or (out[i - 1] and _is_list(gaps[i : i + 2]))
        is_chain = False
        for i in reversed(range(len(named))):
            after = gaps[i + 1] if i + 1 < len(named) else None
            if after is not None and out[i + 1] and JOINED.fullmatch(after):
                is_chain = is_chain or _BOTH.search(after) is not None
                out[i] = out[i] or is_chain or named[i].place == named[i + 1].place
            else:
                is_chain = False
                out[i] = out[i] or _RULED_OUT.match(self.masked, named[i].end, end) is not None
        return [one for one, is_out in zip(named, out, strict=True) if not is_out]


def _is_list(gaps: Sequence[str]) -> bool:
    """Return whether the first gap joins two, by a word for it or by a comma before such a word."""
    return all(map(JOINED.fullmatch, gaps)) and any(map(_BOTH.search, gaps))


def _cleaned(text: str) -> str:
    """Return a text without its layout: marks of emphasis, boxes, brackets of other kinds."""
    # Full-width letters and brackets become plain ones.
    text = unicodedata.normalize("NFKC", text)
    text = _STYLED.sub(r"\1", text)
    # It names neither N nor A.
    text = _UNGIVEN.sub("n.a", text)
    text = _BOXED.sub(lambda found: f"\nfinal answer: {found[1] or found[2]}\n", text)
    text = _TAGGED.sub(r"\2", text)
    text = _MARKUP.sub(" ", text).replace("’", "'").replace("‘", "'")
    text = _LONE.sub(lambda found: f"({found[1] or found[2]})", text)
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def _lowered(text: str) -> str:
    """Return a text in lower case and of the same length."""
    # In lower case the Turkish İ is two characters, and every place behind it would shift.
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


class OptionChoice(NamedTuple):
    """Which option a reply names."""

    place: int | None
    """Place of the option, from 0, of equal ones the first; None if the reply cannot be read."""
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
"""Words before what a reply says is its answer."""
_DOUBTED = re.compile(
    r"(?:\b(?:if|whether|unless|(?<!no )doubt|unsure|unclear)"
    r"|\b(?:wrong|incorrect|false|worst|least\s+\w+)"
    r"|(?:^|[.!?\n]\s*)(?:is|was|were|could|would|might)"
    r"|(?:\bnot|n't|\bcannot)\s+(?:sure|certain|clear|say|think|believe|know|tell|mean))"
    r"(?:\s+(?:that|if|whether))?(?:\s+the)?(?:\s+(?:correct|right|best))?\s*$",
    re.IGNORECASE,
)
"""Words that make a question or a doubt of the announcement of an answer behind them."""
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
"""Words behind an option by which a reply calls it right."""
_MAYBE = re.compile(
    r"\b(?:(?:could|might|may)(?:\s+(?:also|well|just as well|equally))?\s+be"
    r"|possibly|perhaps|maybe|alternatively|or(?: else)?|correction|edit|sorry|oops|i mean"
    r"|on (?:second thought|reflection))\b[,:]?(?:\s+(?:option|answer))?"
    rf"{_LETTER_NEXT}",
    re.IGNORECASE,
)
"""Words before an option by which a reply takes back an earlier answer."""


def read_choice(
    reply: str,
    options: Sequence[str],
    *,
    ending: str | None = None,
    reading: int = READINGS,
) -> OptionChoice:
    """Return which of the options a reply names, or why it cannot be read.

    `ending` is why the provider says the reply ended: of one that was cut off, what came to mind
    on the way is no choice.
    """
    text = answer_of(reply, reading=reading)
    if not text.strip():
        return OptionChoice(None, "the reply is empty")
    words = OptionReader.of(text, OptionTexts.of(options))
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
        return OptionChoice(None, "no option is named")
    if was_cut(ending) and not words.is_all(alone):
        return OptionChoice(None, "the reply was cut off before it said what it chose")
    named, doubts = words.anywhere()
    return _settled(alone or (named and [*named, *doubts]))


def read_published(reply: str, options: Sequence[str]) -> OptionChoice:
    """Return which option MLVU's released scorer takes a reply for.

    It looks at the one character before the first closing bracket, and without a bracket at the
    whole reply; either must be the letter itself.
    """
    said = reply.strip()
    # MLVU primes the reply with "Best Option: (", so that the letter comes right before a bracket.
    before, bracket, _ = said.partition(")")
    letter = before[-1:] if bracket else said
    known = list(LETTERS[: len(options)])
    if letter in known:
        return OptionChoice(known.index(letter))
    where = "before the first closing bracket" if bracket else "alone"
    return OptionChoice(None, f"no letter of an option stands {where}")


def _after(reading: OptionReader, mark: re.Pattern[str]) -> list[OptionNaming]:
    """Return the options named behind each such mark."""
    found: list[OptionNaming] = []
    for match in mark.finditer(reading.masked):
        if _DOUBTED.search(reading.masked, max(0, match.start() - 40), match.start()):
            continue
        said = reading.within(match.end())
        before = reading.joined_before(match.start(), JOINED) if said else []
        # "B or answer: C"; a text there is the end of a list of options that is said again
        found += [*said, *(before if before and before[0].is_letter else [])]
    return found


def _said(reading: OptionReader) -> list[OptionNaming]:
    """Return the options that a reply calls its answer, in words before or behind them."""
    found = _after(reading, _ANSWERED)
    for match in _CALLED.finditer(reading.masked):
        found += reading.joined_before(match.start())
    return found


def _places(namings: Iterable[OptionNaming]) -> set[int | None]:
    return {one.place for one in namings}


def _settled(namings: Sequence[OptionNaming]) -> OptionChoice:
    places = _places(namings)
    if not places:
        return OptionChoice(None, "no option is named")
    if places == {None}:
        return OptionChoice(None, "a letter is named that no option has")
    if len(places) > 1:
        letters = {one.place for one in namings if one.is_letter}
        is_contrary = len(letters) == 1 and len(places) == 2 and None not in places
        why = "a letter stands beside another option's text" if is_contrary else "several are named"
        return OptionChoice(None, why)
    return OptionChoice(places.pop())
