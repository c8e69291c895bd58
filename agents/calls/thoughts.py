"""Telling what a model thought from what it replied, in the dialects of the families known here.

A thought stands at the head of a reply, or begins a line, between two marks; some servers take the
first of them off. What only wraps an answer is taken off, and the answer stays. A mark that is
quoted, in code or in the middle of a sentence may be what the video shows, so it stays, and
`thought_mark` tells of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_NAME = r"(?:seed:|ant)?(?:think(?:ing|_\w{1,60})?|thoughts?|reasoning)"
_ATTRIBUTE = r"(?:\s+[\w:-]{1,40}\s*=[^<>]{0,200}(?<!/))?\s*"
_HARMONY = r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*"
"""How gpt-oss begins each of its messages, where its server passes them on as they come."""
_OPENS = "|".join((
    rf"<\s*{_NAME}{_ATTRIBUTE}>",
    r"\[THINK\]",
    "◁think▷",
    r"<\|START_THINKING\|>",  # Cohere
    r"<\|begin_of_thought\|>",
    r"<\|inner_prefix\|>",  # Apertus
    r"<\|channel>\s*(?:thought|thinking|analysis)\b",  # Gemma 4
    r"<unused94>(?:thought\b)?",  # MedGemma
    rf"{_HARMONY}(?:analysis|commentary)[^{{}}]{{0,200}}?<\|message\|>",
))  # fmt: skip
_FINAL = rf"{_HARMONY}final\b[^{{}}]{{0,60}}?<\|message\|>|<\|channel>\s*final\b"
"""Mark before the reply of gpt-oss; all before it was thought, in however many messages."""
_CLOSES = "|".join((
    rf"<\s*/\s*{_NAME}\s*>",
    r"\[/THINK\]",
    "◁/think▷",
    r"<\|END_THINKING\|>",
    r"<\|end_of_thought\|>",
    r"<\|inner_suffix\|>",
    r"<channel\|>",
    "<unused95>",
))  # fmt: skip
_END = (
    r"<\|end\|>\s*+(?:<\|start\|>\s*assistant\s*(?:<\|message\|>)?\s*+)?"
    r"(?!<\|(?:channel|start|message)\|>|\Z)"
)
"""Ends a message of gpt-oss that is open, where its server took the next one's marks off."""
STOPS = (
    r"<\|\w{1,40}\|>|<｜[^｜<>]{1,40}｜>|</s>|<eos>|<seed:eos>|<end_of_turn>|<turn\|>"
    r"|\[\|endofturn\|\]"
)
"""What ends a turn in the words of a chat template, and stays where a server does not know it."""

_GROUPS = rf"(?P<final>{_FINAL})|(?P<open>{_OPENS})|(?P<close>{_CLOSES})|(?P<end>{_END})"
# The look ahead spares most places the alternatives, which take a hundred times as long.
MARKS = re.compile(rf"(?=[<\[◁{{])(?:{_GROUPS}|\{{(?=\s*[\"/}}]))", re.IGNORECASE)
"""Marks of thoughts, and where an object may begin."""
_THOUGHT = re.compile(rf"(?=[<\[◁])(?:{_GROUPS})", re.IGNORECASE)
_HINT = re.compile(
    r"[<◁]|\[[/|]?[A-Za-z]{3}|\A\s*+(?:analysis|Here(?:'s| is) my thought|final<|[\ufeff\u200b])"
)
"""Found in every text that may hold a mark; any other text is read as it is."""
_NAMED = re.compile(rf"{_FINAL}|{_OPENS}|{_CLOSES}|[＜﹤]/?think[＞﹥]|&lt;/?think", re.IGNORECASE)
_END_OF_MESSAGE = re.compile(
    r"<\|(?:end|return|call)\|>\s*(?:<\|start\|>|\Z)|<\|start\|>", re.IGNORECASE
)
_ROLE = re.compile(
    r"\s*(?:[\ufeff\u200b]|<s>|<bos>|<\|begin_of_text\|>|<｜[Aa]ssistant｜>"
    r"|<\|im_start\|>\s*assistant\b|<\|assistant\|>|\[\|assistant\|\]"
    r"|<\|START_OF_TURN_TOKEN\|>|<\|CHATBOT_TOKEN\|>|<\|assistant_start\|>"
    r"|<start_of_turn>\s*model\b|<\|turn>\s*model\b|<\|start\|>\s*assistant(?=\s*<\|message\|>)"
    r"|(?:final)?<\|message\|>"
    r"|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>)",
    re.IGNORECASE,
)
"""What a chat template writes before a reply, and stays where a server does not know it."""
_NOTHING = re.compile(
    rf"(?:\s|[\ufeff\u200b]|{STOPS}|<(?:s|bos)>|`{{3}}\w{{0,10}}|~{{3}}"
    r"|</?(?:answer|response|final_answer)>"
    r"|<\|?(?:im_start|start_of_turn|turn)\|?>\s*(?:assistant|model)?|\[\|\w{1,20}\|\]"
    r"|(?:assistant|model)\b)*+\Z",
    re.IGNORECASE,
)
"""Text that says nothing: a mark behind it still counts as first in its line."""
_EMPTY_THOUGHT = re.compile(rf"\s*<\s*{_NAME}\s*/\s*>", re.IGNORECASE)
_IN_WORDS = re.compile(
    r"\s*(?:Here(?:'s| is) my thought process:.*?Here(?:'s| is) my response:"  # Granite
    r"|analysis(?=[^\s:=,.]|\s[A-Z]).*assistant\s*final(?=\S)|analysis\s.*assistantfinal)",
    re.DOTALL,
)
"""Thoughts between words: Granite's, and those of gpt-oss whose marks a server took off."""
_IN_WORDS_OPEN = re.compile(r"\s*(?:Here(?:'s| is) my thought process:|analysis\s?(?=[A-Z]))")
_SPECIAL = re.compile(
    r"<\|(?:begin|end)_of_(?:box|solution)\|>|<\|(?:START|END)_(?:RESPONSE|TEXT)\|>"
)
"""Tokens that wrap an answer: those of GLM, of Cohere and of OpenThinker."""
_WRAPPER = r"<(?P<name>answer|response|final_answer)(?:\s+[\w:-]{1,40}\s*=[^<>]{0,200})?>"
_HEAD_WRAPPER = re.compile(rf"\s*{_WRAPPER}", re.IGNORECASE)
_LINE_WRAPPER = re.compile(
    rf"^[ \t]*{_WRAPPER}(?P<inside>(?:(?!</?(?P=name)\b).)*+)</(?P=name)>[ \t]*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_LAST = re.compile(rf"(?:{STOPS}|</(?:answer|response|final_answer)>)\Z", re.IGNORECASE)
_LONGEST_LAST = 50
"""Most characters of a stop token."""
_TAG = re.compile(
    r"\s*(?P<mark><(?P<tag>[A-Za-z][\w:.-]{1,40})(?:\s+[\w:-]{1,40}\s*=[^<>]{0,200})?(?<!/)>"
    r"|\[(?P<bracket>[A-Z][A-Z_]{2,40})\])"
)
_UNPAIRED = re.compile(
    r"\s*<\|(?P<first>begin_of_|start_of_|START_|BEGIN_|)"
    r"(?P<name>(?<=_)\w{1,40}|(?<=\|)think(?:ing)?)\|>",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[ \t]*+[,.;:!?)]|[ \t]++[a-z\u00df-\u00ff]")
"""A sentence that goes on behind a tag, so that the tag is a word of it."""
_CODE = re.compile(
    r"(?<=\n)[ \t]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?\n[ \t]{0,3}(?P=fence)[ \t]*(?=\n|\Z)"
    r"|(?<!`)`[^`\n]{1,200}`(?!`)",
    re.DOTALL,
)
_MARKUP = frozenset({
    "abbr", "acronym", "address", "area", "article", "aside", "audio", "base", "bdi", "bdo", "big",
    "blockquote", "body", "br", "button", "canvas", "caption", "center", "cite", "code", "col",
    "colgroup", "data", "datalist", "dd", "del", "dfn", "dialog", "div", "dl", "dt", "em", "embed",
    "fieldset", "figcaption", "figure", "font", "footer", "form", "frame", "frameset", "h1", "h2",
    "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr", "html", "iframe", "img", "input",
    "ins", "kbd", "label", "legend", "li", "link", "main", "map", "mark", "math", "menu", "meta",
    "meter", "nav", "noscript", "object", "ol", "optgroup", "option", "param", "picture", "pre",
    "progress", "rp", "rt", "ruby", "samp", "script", "search", "section", "select", "slot",
    "small", "source", "span", "strike", "strong", "style", "sub", "sup", "svg", "table", "tbody",
    "td", "template", "textarea", "tfoot", "th", "thead", "time", "title", "tr", "track", "tt",
    "ul", "var", "video", "wbr",
})  # fmt: skip
"""Tags that format an answer and hide nothing, as tags of a single letter never do either."""
_WRAPPERS = frozenset({"answer", "response", "final_answer"})
_QUOTES = frozenset("\"'`“”‘’«»„‟‹›「」『』《》*_()（）")
_SENTENCE_ENDS = frozenset("\n.!?:;)]}*\"'`”’。！？>")
_BEHIND_A_WORD = frozenset(",.;:)!?»”’")
_SENTENCE = 80
"""Characters around a mark in which a sentence that goes on is looked for."""
_FENCE = re.compile(r"\s*`{3}\w{0,10}\n")
_SOLID = re.compile(r"\S")


class LeadingTags(NamedTuple):
    """A pair of tags of no known dialect that a reply begins with."""

    inside: tuple[int, int]
    end: int
    """Where it ends; behind its closing tag."""
    closing: str


def without_thoughts(text: str) -> str:
    """Return what a model replied, without thoughts, wrappers and stop tokens.

    Empty if all of it is thought. What has none of them is returned as it is.
    """
    # Nearly all answers hold no mark, and one quick search spares them the rest.
    if not _HINT.search(text):
        return text
    start, end = _behind_leading_thoughts(text)
    rest = _without_wrappers(_without_known(text[start:end], has_thought=start > 0))
    return text if rest == text else rest.strip()


def without_known_thoughts(text: str) -> str:
    """Return a text without the thoughts in it whose marks are known, and nothing else gone."""
    return _without_known(text, has_thought=False) if _HINT.search(text) else text


def thought_mark(text: str) -> str | None:
    """Return the first mark of a thought that an answer still holds; None if it holds none."""
    found = _NAMED.search(text)
    return found[0] if found else None


def opens_thought(text: str, mark: re.Match[str], behind: int) -> bool:
    """Return whether an opening mark opens a thought: it begins a line, or follows other marks.

    `behind` is where the mark or object before it ends.
    """
    line = max(text.rfind("\n", behind, mark.start()) + 1, behind)
    return _NOTHING.match(text, line, mark.start()) is not None


def is_mentioned(text: str, mark: re.Match[str]) -> bool:
    """Return whether a mark is spoken of: it is quoted, or stands in the middle of a sentence."""
    start = mark.start()
    end = mark.end()
    if start == 0 or end == len(text):
        return False
    before = text[start - 1]
    behind = text[end]
    if before in _QUOTES and behind in _QUOTES:
        return True
    if before != " ":
        return False
    said = text[max(0, start - _SENTENCE) : start].rstrip(" ")[-1:]
    if not said or said in _SENTENCE_ENDS:
        return False
    following = text[end : end + _SENTENCE].lstrip(" ")[:1]
    return behind in _BEHIND_A_WORD or (behind == " " and following.islower())


def leading_pair(text: str, start: int = 0, end: int | None = None) -> LeadingTags | None:
    """Return the pair of tags of no known dialect that a reply begins with, or None."""
    end = len(text) if end is None else end
    opening = _unknown_tag(text, start, end)
    if opening is None:
        return None
    parts = opening.groupdict()
    if parts.get("tag"):
        closing = f"</{parts['tag']}>"
    elif parts.get("bracket"):
        closing = f"[/{parts['bracket']}]"
    elif parts["first"]:
        last = "end_of_" if parts["first"].lower().endswith("_of_") else "END_"
        closing = f"<|{last}{parts['name']}|>"
    else:
        closing = f"<|/{parts['name']}|>"
    at = text.find(closing, opening.end(), end)
    return None if at < 0 else LeadingTags((opening.end(), at), at + len(closing), closing)


def begins_unclosed(text: str) -> bool:
    """Return whether a reply begins with a thought of no known dialect that it never closes."""
    start, end = _behind_leading_thoughts(text)
    fence = _FENCE.match(text, start, end)
    start = fence.end() if fence else start
    if _IN_WORDS_OPEN.match(text, start, end):
        return True
    return _unknown_tag(text, start, end) is not None and leading_pair(text, start, end) is None


def _unknown_tag(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the tag that a text begins with, unless it is known for what it is."""
    opening = _TAG.match(text, start, end)
    if opening is None:
        found = _UNPAIRED.match(text, start, end)
        solid = _SOLID.search(text, start, end)
        at = solid.start() if solid else end
        return None if _THOUGHT.match(text, at) or _SPECIAL.match(text, at) else found
    if _THOUGHT.match(text, opening.start("mark")):
        return None
    name = (opening["tag"] or opening["bracket"]).lower()
    return None if name in _MARKUP or name in _WRAPPERS else opening


def _behind_leading_thoughts(text: str) -> tuple[int, int]:
    """Return start and end of what follows a text's leading thoughts, in marks known or not."""
    start = 0
    end = len(text)
    last = _before_last(text)
    while True:
        skipped = (
            _ROLE.match(text, start, end)
            or _IN_WORDS.match(text, start, end)
            or _EMPTY_THOUGHT.match(text, start, end)
        )
        if skipped:
            start = skipped.end()
            continue
        solid = _SOLID.search(text, start, end)
        opening = _THOUGHT.match(text, solid.start(), end) if solid else None
        if opening and opening["open"]:
            closed = _end_of_thought(text, opening.end())
            if closed is None:
                return end, end
            start = closed
            continue
        pair = leading_pair(text, start, end)
        if pair is None or _is_word(text, start, pair):
            return start, end
        if _SOLID.search(text, pair.end, max(pair.end, last)):
            start = pair.end
        else:
            start, end = pair.inside
            last = end


def _is_word(text: str, start: int, pair: LeadingTags) -> bool:
    """Return whether a pair stands in one line with the sentence that goes on behind it."""
    first = text[start : pair.end].lstrip()
    return "\n" not in first and _GOES_ON.match(text, pair.end) is not None


def _before_last(text: str) -> int:
    """Return where the stop tokens and closing wrappers begin that a text ends in."""
    end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        found = _LAST.search(text, max(0, end - _LONGEST_LAST), end)
        if found is None or _is_last_word(text, found.start()):
            return end
        end = found.start()


def _is_last_word(text: str, start: int) -> bool:
    """Return whether what stands at the end of a text is the last word of its last sentence."""
    if start == 0 or text[start - 1] not in " \t":
        return False
    said = text[max(0, start - _SENTENCE) : start].rstrip(" \t")[-1:]
    return bool(said) and said not in _SENTENCE_ENDS


def _without_wrappers(text: str) -> str:
    """Return a text without the marks that wrap an answer, and without its last stop tokens."""
    if _SPECIAL.search(text):
        code = _code_in(text)
        text = _SPECIAL.sub(lambda mark: mark[0] if _is_in(code, mark.start()) else "", text)
    head = _HEAD_WRAPPER.match(text)
    if head is not None:
        closing = f"</{head['name']}>"
        at = text.find(closing, head.end())
        if at >= 0 or not _GOES_ON.match(text, head.end()):
            inside = text[head.end() : at] if at >= 0 else text[head.end() :]
            text = inside + (text[at + len(closing) :] if at >= 0 else "")
    elif "</" in text:
        code = _code_in(text)
        text = _LINE_WRAPPER.sub(
            lambda found: found[0] if _is_in(code, found.start()) else found["inside"], text
        )
    end = _before_last(text)
    return text[:end] if _SOLID.search(text, end) else text


def _end_of_thought(text: str, start: int) -> int | None:
    """Return where a thought ends that begins at `start`; None if it has no end.

    Where more marks open than close, as templates and models may both write the first one, the
    last that closes is the end.
    """
    depth = 1
    last: int | None = None
    behind = start
    for mark in _THOUGHT.finditer(text, start):
        if mark["final"] is not None or mark["end"] is not None:
            return mark.end()
        if mark["close"] is not None:
            last = mark.end()
            depth -= not is_mentioned(text, mark)
            if depth == 0:
                return last
        elif opens_thought(text, mark, behind):
            depth += 1
        behind = mark.end()
    return last


def _without_known(text: str, *, has_thought: bool) -> str:
    """Return a text without the thoughts in it whose marks are known.

    `has_thought` says that it follows a thought: a mark that closes another one behind everything
    is one too many.
    """
    code = _code_in(text)
    kept = list[str]()
    at = 0
    finals = [
        mark
        for mark in _THOUGHT.finditer(text)
        if mark["final"] is not None and not _is_text(text, mark, code)
    ]
    if finals:
        at = finals[-1].end()
        ended = _END_OF_MESSAGE.search(text, at)
        text = text[: ended.start()] if ended else text
    while True:
        mark = next(_marks_that_count(text, at, code), None)
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
        opened = _opened_within(text, at, mark.start(), code)
        is_last = _SOLID.search(text, mark.end()) is None
        if opened is None and is_last and (has_thought or kept):
            kept.append(text[at : mark.start()])
        elif opened is None:
            # Its opening mark was taken off: everything before was thought.
            kept.clear()
        else:
            kept.append(text[at:opened])
        at = mark.end()


def _opened_within(text: str, start: int, end: int, code: Sequence[tuple[int, int]]) -> int | None:
    """Return where a stretch opens a thought in the middle of a line; None if it does not."""
    for mark in _THOUGHT.finditer(text, start, end):
        if mark["open"] is not None and not _is_text(text, mark, code):
            return mark.start()
    return None


def _marks_that_count(
    text: str, at: int, code: Sequence[tuple[int, int]]
) -> Iterator[re.Match[str]]:
    behind = at
    for mark in _THOUGHT.finditer(text, at):
        if mark["open"] is not None:
            counts = opens_thought(text, mark, behind) and not _is_in(code, mark.start())
        else:
            counts = mark["close"] is not None and not _is_text(text, mark, code)
        if counts:
            yield mark
        behind = mark.end()


def _is_text(text: str, mark: re.Match[str], code: Sequence[tuple[int, int]]) -> bool:
    return is_mentioned(text, mark) or _is_in(code, mark.start())


def _code_in(text: str) -> list[tuple[int, int]]:
    """Return where code stands in a text: in fences that do not begin it, and between backticks."""
    if "`" not in text and "~~~" not in text:
        return []
    return [found.span() for found in _CODE.finditer(text)]


def _is_in(spans: Sequence[tuple[int, int]], at: int) -> bool:
    place = bisect_right(spans, (at, len(spans) + at)) - 1
    return place >= 0 and spans[place][0] <= at < spans[place][1]
