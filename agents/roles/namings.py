"""Where a reply names options: by letters in the forms that people write, and by their text.

Options' own words are masked first, so that a letter or a "not" inside of them counts for nothing.
An option that is named in order to be ruled out is not named.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from videoautoarena.agents.prompting.options import LETTERS

_MASK = "\x01"
_BEYOND = "ABCDEFGH"
"""Letters that are taken for an option's even where there are fewer options."""
_LONGEST = 20_000
"""Characters of a reply that are read, its last ones."""
_REACH = 600
"""Characters that may belong to what is said in one place."""

_STYLED = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit)\s*\{([^{}\n]{0,200})\}")
_BOXED = re.compile(r"\\boxed\s*\{([^{}\n]{0,200})\}|<answer>([^<]{0,400})</answer>", re.IGNORECASE)
_MARKUP = re.compile(r"[*`$#~|_\"“”„«»\u200b\ufeff\x01]+")
_TAGGED = re.compile(r"<(b|i|u|em|strong|p|code|span)>([^<]{0,400})</\1>", re.IGNORECASE)
_LONE = re.compile(r"(?<!\w)(?:[\[({<]{1,4}\s?([A-Za-z])\s?[\])}>]{1,4}|'([A-Za-z])')(?!\w)")
_UNGIVEN = re.compile(r"(?<![\w/])n\s?/\s?a(?![\w/])", re.IGNORECASE)
_EDGES = " .,;:!?-–—()[]'"
_END = re.compile(r"[.!?](?=\s|$)|\n")

_INSIDE, _GOES_ON = re.compile(r"[\w.]|-\d"), re.compile(r"\w|[.,]\d")
"""Around what is a part of a longer word or number."""

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
"""Stands before what is ruled out."""
_DENIED = re.compile(
    r"(?:\b(?:not|no|never|nobody|none|neither|nor|without|cannot|unlikely)\b|n't\b)"
    r"(?:(?!\bbut\b)[^,;:.!?()\n])*$",
    re.IGNORECASE,
)
"""Stands before what is denied, however far in the same clause."""
_RULED_OUT = re.compile(
    r"[\s,)]*(?:(?:is|are|was|were|does|do|did|can|could|would|seems?|looks?)\s+"
    r"(?:\w+ly\s+|also\s+|both\s+|all\s+|the\s+)?(?:not|most unlikely|least|wrong"
    r"|incorrect|false|impossible|unlikely|out|ruled out|eliminated|excluded|never)\b"
    r"|(?:is|are|was|were|does|do|did|ca|could|would)n't|cannot|never\b)"
    r"|\s*[:(–—-]\s*(?:wrong|incorrect|false|no|not)\b",
    re.IGNORECASE,
)
"""Stands behind what is ruled out."""


class Naming(NamedTuple):
    """One place at which an option is named."""

    start: int
    end: int
    place: int | None
    """Which option, the first of those that are alike; None where there is none of that letter."""
    is_letter: bool
    is_sure: bool
    """Whether it names an option wherever it stands, or only by itself or where one is awaited."""


@dataclass(frozen=True)
class Options:
    """What may be named."""

    texts: tuple[str, ...]
    """Those that are alike are equal."""

    @classmethod
    def of(cls, options: Sequence[str]) -> Options:
        return cls(tuple(_lowered(_cleaned(option)).rstrip(" .") for option in options))

    def of_letter(self, letter: str) -> int | None:
        """Return the place of a letter's option; None where there is none."""
        place = LETTERS.index(letter.upper())
        return self.texts.index(self.texts[place]) if place < len(self.texts) else None

    def in_text(self, text: str) -> Iterator[Naming]:
        """Return where options' texts stand, none within another."""
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
                    yield Naming(at, end, place, False, is_sure)
                at = text.find(words, end)


@dataclass(frozen=True)
class Reading:
    """A reply, and where in it options are named."""

    masked: str
    """The reply without its layout; where an option's text stood, are marks."""
    texts: tuple[Naming, ...]
    options: Options

    @classmethod
    def of(cls, reply: str, options: Options) -> Reading:
        """Return a reply as it is looked at: boxed and tagged answers said to be final."""
        text = _cleaned(reply[-_LONGEST:])
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

    def within(self, at: int) -> list[Naming]:
        """Return what is named from there to the end of what is said, reasons left out."""
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

    def alone(self) -> list[Naming]:
        """Return what is named in sentences that hold nothing else."""
        found: list[Naming] = []
        for start, end in pairwise(self._bounds):
            named = self._named(start, end)
            if _ASKED.match(self.masked, start, end):
                continue
            if named and _FILLER.fullmatch(self._between(start, end, named)):
                found += self._kept(named, start, end)
        return found

    def is_all(self, named: Sequence[Naming]) -> bool:
        """Return whether nothing is said but what is named."""
        return _FILLER.fullmatch(self._between(0, len(self.masked), named)) is not None

    def joined_before(self, at: int, link: re.Pattern[str] = _BEFORE_IT) -> list[Naming]:
        """Return what is named right before a place but for a link, with what is joined to it."""
        start = self._bounds[max(0, bisect_right(self._bounds, max(0, at - 1)) - 1)]
        start = max(start, at - _REACH)
        named = self._named(start, at)
        found: list[Naming] = []
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

    def anywhere(self) -> tuple[list[Naming], list[Naming]]:
        """Return what is named at all, and what may be."""
        found: list[Naming] = []
        doubts: list[Naming] = []
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

    def _named(self, start: int, end: int) -> list[Naming]:
        texts = self.texts[bisect_right(self.texts, (start,)) : bisect_right(self.texts, (end,))]
        found = [one for one in texts if one.end <= end]
        for match in _LETTER.finditer(self.masked, start, end):
            letter = match["lone"] or match["named"] or match["upper"] or match["lower"]
            place = self.options.of_letter(letter)
            if place is not None or letter in _BEYOND:
                is_sure = match["strong"] is not None
                found.append(Naming(*match.span(), place, True, is_sure))
        return sorted(found)

    def _is_plain(self, one: Naming, start: int) -> bool:
        """Return whether it names an option in the middle of whatever is said, and denies none."""
        before = self.masked[max(start, one.start - 200) : one.start]
        return (one.is_sure or self._leads(one, start)) and not _DENIED.search(before)

    def _leads(self, one: Naming, start: int) -> bool:
        """Return whether an unsure naming begins a sentence, set off from what follows."""
        off = _LEADING if one.is_letter else _OFF
        is_first = not self.masked[start : one.start].strip(_EDGES)
        return is_first and off.match(self.masked, one.end) is not None

    def _opens(self, one: Naming, start: int, named: Sequence[Naming]) -> bool:
        """Return whether a text is the first thing said from there, but for letters."""
        if not _FILLER.fullmatch(self._between(start, one.start, named)):
            return False
        return one.is_sure or _OFF.match(self.masked, one.end) is not None

    def _between(self, start: int, end: int, named: Sequence[Naming]) -> str:
        """Return what stands there beside what is named."""
        parts = []
        at = start
        for one in named:
            if one.start < end:
                parts.append(self.masked[at : one.start])
                at = one.end
        return " ".join([*parts, self.masked[at : max(at, end)]])

    def _words(self, one: Naming) -> str:
        return "" if one.place is None else self.options.texts[one.place]

    def _kept(self, named: Sequence[Naming], start: int, end: int) -> list[Naming]:
        """Return what is named and not ruled out, by itself or with what it is joined to."""
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
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)
