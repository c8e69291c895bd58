"""Telling what a model thought from what it replied, in the dialects of the families known here.

A thought stands at the head of a reply, or begins a line, between two marks; some servers take the
first of them off. What only wraps an answer is taken off, and the answer stays. A mark in the
middle of a sentence may be what the video shows, so it stays, and `thought_mark` tells of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_NAME = r"(?:seed:|ant)?(?:think(?:ing)?|thoughts?|reasoning)"
_HARMONY = r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*"
"""How gpt-oss begins each of its messages, where its server passes them on as they come."""
OPENS = "|".join((
    rf"<{_NAME}>",
    r"\[THINK\]",
    "◁think▷",
    r"<\|START_THINKING\|>",  # Cohere
    r"<\|begin_of_thought\|>",
    r"<\|inner_prefix\|>",  # Apertus
    r"<\|channel>\s*(?:thought|thinking|analysis)\b",  # Gemma 4
    r"<unused94>(?:thought\b)?",  # MedGemma
    rf"{_HARMONY}(?:analysis|commentary)[^{{}}]{{0,200}}?<\|message\|>",
))  # fmt: skip
FINAL = rf"{_HARMONY}final\b[^{{}}]{{0,60}}?<\|message\|>"
"""Behind it stands what gpt-oss replies; all before was thought, in however many messages."""
CLOSES = "|".join((
    rf"</{_NAME}>",
    r"\[/THINK\]",
    "◁/think▷",
    r"<\|END_THINKING\|>",
    r"<\|end_of_thought\|>",
    r"<\|inner_suffix\|>",
    r"<channel\|>",
    "<unused95>",
))  # fmt: skip
STOPS = r"<\|\w{1,40}\|>|<｜[^｜<>]{1,40}｜>|</s>|<eos>|<end_of_turn>|<turn\|>"
"""What ends a turn in the words of a chat template, and stays where a server does not know it."""

MARKS = re.compile(
    rf"(?P<final>{FINAL})|(?P<open>{OPENS})|(?P<close>{CLOSES})|\{{(?=\s*[\"/}}])", re.IGNORECASE
)
"""Marks of thoughts, and where an object may begin."""
_THOUGHT = re.compile(rf"(?P<final>{FINAL})|(?P<open>{OPENS})|(?P<close>{CLOSES})", re.IGNORECASE)
_END_OF_MESSAGE = re.compile(
    r"<\|(?:end|return|call)\|>\s*(?:<\|start\|>|\Z)|<\|start\|>", re.IGNORECASE
)
_ROLE = re.compile(
    r"\s*(?:<\|im_start\|>\s*assistant\b|<\|assistant\|>"
    r"|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>)",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    r"\s*(?:Here(?:'s| is) my thought process:.*?Here(?:'s| is) my response:"  # Granite
    r"|analysis(?=[^\s:=,.]).*assistant\s*final(?=\S))",  # gpt-oss, its marks taken off
    re.DOTALL,
)
_SPECIAL = re.compile(
    r"<\|(?:begin|end)_of_(?:box|solution)\|>|<\|(?:START|END)_(?:RESPONSE|TEXT)\|>"
)
"""Tokens that wrap an answer: those of GLM, of Cohere and of OpenThinker."""
_WRAPPED = re.compile(
    r"<(?P<name>answer|response|final_answer)>(?P<inside>.*?)(?:</(?P=name)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_CLOSING_WRAPPERS = "</(?:answer|response|final_answer)>"
_LAST = re.compile(rf"(?:{STOPS}|{_CLOSING_WRAPPERS})\Z", re.IGNORECASE)
_LONGEST_LAST = 50
"""No stop token is longer."""
_TAG = re.compile(
    r"\s*(?P<mark><(?P<tag>[A-Za-z][\w:.-]{1,40})>|\[(?P<bracket>[A-Z][A-Z_]{2,40})\])"
)
_UNPAIRED = re.compile(
    r"\s*<\|(?P<first>begin_of_|start_of_|START_|BEGIN_)(?P<name>\w{1,40})\|>", re.IGNORECASE
)
_MARKUP = frozenset({
    "article", "blockquote", "body", "br", "center", "code", "dd", "del", "div", "dl", "dt", "em",
    "figure", "font", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html",
    "ins", "kbd", "li", "mark", "ol", "pre", "small", "span", "strong", "sub", "sup", "table",
    "tbody", "td", "tfoot", "th", "thead", "time", "title", "tr", "tt", "ul", "var", "video",
})  # fmt: skip
"""What formats an answer and hides nothing; a tag of a single letter never does."""
_WRAPPERS = frozenset({"answer", "response", "final_answer"})
_QUOTES = frozenset("\"'`“”‘’«»")
_SENTENCE_ENDS = frozenset("\n.!?:;)]}*\"'`”’。！？")
_SENTENCE = 80
"""So far around a mark it is looked whether a sentence goes on there."""


class Leading(NamedTuple):
    """A pair of tags of no known dialect that a reply begins with."""

    inside: tuple[int, int]
    end: int
    """Where it ends; behind its closing tag."""


def without_thoughts(text: str) -> str:
    """Return what a model replied, without thoughts, wrappers and stop tokens.

    Empty where all of it is thought. What has none of them is returned as it is.
    """
    rest = _behind_leading_thoughts(text)
    rest = _without_known(rest)
    rest = _WRAPPED.sub(lambda found: found["inside"], _SPECIAL.sub("", rest))
    rest = _without_last(rest)
    return text if rest == text else rest.strip()


def thought_mark(text: str) -> str | None:
    """Return the first mark of a thought that an answer still holds; None where it holds none."""
    found = _THOUGHT.search(text)
    return found[0] if found else None


def opens_thought(text: str, mark: re.Match[str], behind: int) -> bool:
    """Return whether an opening mark opens a thought: it begins a line, or follows other marks.

    `behind` is where the mark before it ends.
    """
    line = max(text.rfind("\n", behind, mark.start()) + 1, behind)
    return not text[line : mark.start()].strip()


def leading_pair(text: str) -> Leading | None:
    """Return the pair of tags of no known dialect that a reply begins with; None: there is none."""
    opening = _unknown_tag(text)
    if opening is not None:
        name = opening["tag"] or opening["bracket"]
        closing = f"</{name}>" if opening["tag"] else f"[/{name}]"
    else:
        opening = _UNPAIRED.match(text)
        if opening is None:
            return None
        last = "end_of_" if opening["first"].lower().endswith("_of_") else "END_"
        closing = f"<|{last}{opening['name']}|>"
    at = text.find(closing, opening.end())
    return None if at < 0 else Leading((opening.end(), at), at + len(closing))


def is_open_unknown(text: str) -> bool:
    """Return whether a reply begins with a tag of no known dialect that it never closes."""
    return _unknown_tag(text) is not None and leading_pair(text) is None


def _unknown_tag(text: str) -> re.Match[str] | None:
    """Return the tag that a text begins with, unless it is known for what it is."""
    opening = _TAG.match(text)
    if opening is None or _THOUGHT.match(text, opening.start("mark")):
        return None
    name = (opening["tag"] or opening["bracket"]).lower()
    return None if name in _MARKUP or name in _WRAPPERS else opening


def _behind_leading_thoughts(text: str) -> str:
    """Return a text from behind the thoughts that it begins with, in marks known or not."""
    rest = text
    while True:
        role = _ROLE.match(rest)
        rest = rest[role.end() :] if role else rest
        in_words = _IN_WORDS.match(rest)
        if in_words:
            rest = rest[in_words.end() :]
            continue
        start = len(rest) - len(rest.lstrip())
        opening = _THOUGHT.match(rest, start)
        if opening and opening["open"]:
            end = _end_of_thought(rest, opening.end())
            if end is None:
                return ""
            rest = rest[end:]
            continue
        pair = leading_pair(rest)
        if pair is None:
            return rest
        behind = rest[pair.end :]
        is_thought = bool(_without_last(behind).strip())
        rest = behind if is_thought else rest[slice(*pair.inside)]


def _without_last(text: str) -> str:
    """Return a text without the stop tokens and closing wrappers that it ends in."""
    rest = text
    while True:
        bare = rest.rstrip()
        found = _LAST.search(bare, max(0, len(bare) - _LONGEST_LAST))
        if found is None:
            return rest
        rest = bare[: found.start()]


def _end_of_thought(text: str, start: int) -> int | None:
    """Return where a thought ends that begins at `start`; None where it has no end.

    Where more marks open than close, as templates and models may both write the first one, the
    last that closes is the end.
    """
    depth = 1
    last: int | None = None
    behind = start
    for mark in _THOUGHT.finditer(text, start):
        if mark["final"] is not None:
            return mark.end()
        if mark["close"] is not None:
            depth -= 1
            last = mark.end()
            if depth == 0:
                return last
        elif opens_thought(text, mark, behind):
            depth += 1
        behind = mark.end()
    return last


def _without_known(text: str) -> str:
    """Return a text without the thoughts in it whose marks are known."""
    kept = list[str]()
    at = 0
    while True:
        mark = next(_marks_that_count(text, at), None)
        if mark is None:
            kept.append(text[at:])
            return "".join(kept)
        if mark["open"] is not None:
            kept.append(text[at : mark.start()])
            end = _end_of_thought(text, mark.end())
            if end is None:
                return "".join(kept).rstrip()
            at = end
            continue
        opened = _opened_within(text, at, mark.start()) if mark["close"] else None
        if opened is None:
            # Its opening mark was taken off: everything before was thought.
            kept.clear()
        else:
            kept.append(text[at:opened])
        at = mark.end()
        if mark["final"] is not None:
            ended = _END_OF_MESSAGE.search(text, at)
            if ended:
                text = text[: ended.start()]


def _opened_within(text: str, start: int, end: int) -> int | None:
    """Return where a stretch opens a thought in the middle of a line; None where it does not."""
    for mark in _THOUGHT.finditer(text, start, end):
        if mark["open"] is not None and not is_mentioned(text, mark):
            return mark.start()
    return None


def _marks_that_count(text: str, at: int) -> Iterator[re.Match[str]]:
    behind = at
    for mark in _THOUGHT.finditer(text, at):
        if mark["open"] is None:
            counts = not is_mentioned(text, mark)
        else:
            counts = opens_thought(text, mark, behind)
        if counts:
            yield mark
        behind = mark.end()


def is_mentioned(text: str, mark: re.Match[str]) -> bool:
    """Return whether a mark is spoken of: it is quoted, or stands in the middle of a sentence."""
    start = mark.start()
    end = mark.end()
    if start == 0 or end == len(text):
        return False
    if text[start - 1] in _QUOTES and text[end] in _QUOTES:
        return True
    if text[start - 1] != " " or text[end] != " ":
        return False
    said = text[max(0, start - _SENTENCE) : start].rstrip(" ")[-1:]
    following = text[end : end + _SENTENCE].lstrip(" ")[:1]
    return bool(said) and said not in _SENTENCE_ENDS and following.islower()
