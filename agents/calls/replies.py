"""Reading a reply: the last complete JSON object in it binds, held to the role's schema.

What a model thought aloud is no reply, and neither is what it drafted before it was cut off.
Whatever would have to be guessed goes back to the model. Ways of reading carry a number: a run
keeps the one it began with, since its replay reads the replies again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from videoautoarena.agents.calls.json_objects import DoubleValue, FoundObject, ObjectReader
from videoautoarena.agents.calls.thoughts import (
    MARKS,
    STOPS,
    begins_unclosed,
    is_mentioned,
    leading_pair,
    opens_thought,
    without_known_thoughts,
    without_thoughts,
)
from videoautoarena.agents.prompting.contracts import READINGS, Reply, plain
from videoautoarena.agents.transport.answers import was_cut

# The first way of reading, kept as it was: a run that began with it is replayed by it. Of 2,000
# seeded replies with drafts and thoughts it reads 469 wrongly, the second way none.
_FIRST_NAME = r"(?:think|thinking|thoughts?|reasoning)"
_OPENED = rf"^[ \t]*(?:<{_FIRST_NAME}>|\[THINK\]|◁think▷)"
_CLOSED = rf"</{_FIRST_NAME}>|\[/THINK\]|◁/think▷"
_FIRST_MARKS = re.compile(
    rf"\{{(?=\s*[\"/}}])|(?P<open>{_OPENED})|(?P<close>{_CLOSED})", re.IGNORECASE | re.MULTILINE
)
_FIRST_THOUGHT = re.compile(rf"\s*(?:{_OPENED})", re.IGNORECASE | re.MULTILINE)
_CLOSE = re.compile(_CLOSED, re.IGNORECASE)
_CLOSE_ALONE = re.compile(rf"(?:{_CLOSED})[ \t]*\n", re.IGNORECASE)


def first_without_thoughts(text: str) -> str:
    """Return what follows a model's thoughts, whose opening tag may be missing."""
    is_opened = _FIRST_THOUGHT.match(text) is not None
    closed = (_CLOSE if is_opened else _CLOSE_ALONE).search(text)
    if closed is None:
        return "" if is_opened else text
    return text[closed.end() :].lstrip()


def find_first(text: str) -> FoundObject:
    """Return the object that binds."""
    reader = ObjectReader(text)
    found = FoundObject(None)
    at = 0
    is_thinking = False
    cut_from = len(text)
    while mark := _FIRST_MARKS.search(text, at):
        at = mark.end()
        if mark["open"] is not None:
            is_thinking = True
        elif mark["close"] is not None:
            # Some servers take off the tag that opens, and all that led here was reasoning.
            if not is_thinking:
                found = FoundObject(None, is_thought=found.value is not None)
            is_thinking = False
        else:
            value = reader.object_at(mark.start())
            if value is None:
                cut_from = min(cut_from, mark.start()) if reader.is_cut else cut_from
                continue
            at = reader.at
            if is_thinking:
                found = found._replace(is_thought=True)
            elif mark.start() < cut_from:
                found = FoundObject(value)
    return found._replace(is_cut=cut_from < len(text))


_DEGREES = r"[AB]\s*(?:>>?|<<?|=)\s*[AB](?!\w)"
_TIES = r"(?i:tie[ _-]?good|tie[ _-]?bad|tie|abstain)(?!\w)"
_VALUE = rf"(?P<value>{_DEGREES}|[AB](?!\w|['’&]\w)|{_TIES})"
_MARKS = r"[\"'`*_“”„‘’]{0,3}"
_BETWEEN = (
    r"(?:[\s\"'`*_\[\](){}:=\-–—>→⇒“”„‘’,|\\]|(?i:is|was|should|would|must|will|be|been|becomes"
    r"|goes|to|now|then|that|therefore|thus|still|in|favou?r|of|for|as|the|my|final|overall|answer"
    r"|option|response|assistant|on|reflection|boxed|changes?|changed|from|rather|actually|really"
    r"|clearly|instead|have|has|moves?|flips?|switch(?:es)?|revised|corrected|new|not|but|a|an"
    r"|neither|nor|or|and)\b){0,40}?"
)
"""What may stand between the word for a verdict and the verdict."""
_STATED = re.compile(
    rf"(?P<standard>(?i:following|accuracy|relevance|helpfulness)\W{{0,4}}(?i:the\ )?)?"
    rf"(?i:verdict|better\ answer)(?!\w)(?P<between>{_BETWEEN}){_VALUE}"
    rf"(?:{_MARKS},?\s+(?:to|(?P<but>but|rather))\s+{_MARKS}(?P<then>[AB])(?!\w))?"
)
_PRAISED = re.compile(
    rf"{_MARKS}(?P<value>[AB]){_MARKS}\s+(?:is|was|gives|gave|has)\s+"
    r"(?:(?:clearly|really|actually|still)\s+)?the\s+better\s+answer(?!\s+(?:in|on|by|for|to)\b)"
)
_MENDED = re.compile(
    r"\b(?i:it|this|that)\s+(?:should|must|is|was|has\s+to)\s+"
    rf"(?:now\s+)?(?:(?:be|have\s+been|read|say)\s+)?{_MARKS}{_VALUE}{_MARKS}(?=\s*(?:[.,;]|$))"
)
_MEANT = re.compile(
    r"(?:^|\b(?i:i\s+(?:mean|meant|choose|pick|say)|correction|rather|make\s+it)\b:?)\s*"
    r"(?:[\"`]|\*\*|\[\[)(?P<value>[AB]|[AB]\s*(?:>>?|<<?|=)\s*[AB])(?:[\"`]|\*\*|\]\])"
)
_QUOTED = re.compile(
    r"(?:[\"`]|\*\*|\[\[)(?P<value>[AB]\s*(?:>>?|<<?|=)\s*[AB]|tie_good|tie_bad|abstain)"
    r"(?:[\"`]|\*\*|\]\])(?!\s+means?\b)"
)
_ALONE = re.compile(r"^\W*(?P<value>[AB])\W*$")
_EXACT = re.compile(r"(?<!\w)(?P<value>(?i:tie_good|tie_bad))(?!\w)")
_EQUAL = re.compile(r"(?i)\btwo\s+equally\s+(?P<value>good|bad)\b")
_ABSTAINS = re.compile(
    r"(?i)\bI\s+(?:must\s+|will\s+|would\s+|have\s+to\s+)?(?P<value>abstain)\b(?!\s+(?:from|only|if))"
)
_BRACKETED = re.compile(r"\[\[(?P<value>[AB]|[AB]\s*(?:>>?|<<?|=)\s*[AB])\]\]")
_PATTERNS = (
    _STATED,
    _PRAISED,
    _MENDED,
    _MEANT,
    _QUOTED,
    _EXACT,
    _EQUAL,
    _ABSTAINS,
    _BRACKETED,
    _ALONE,
)
# "Not A" and "rather than A" name the verdict that is not meant.
_DENIED = re.compile(
    r"(?i)\b(?:not|n't|neither|nor|never|from|rather\s+than|instead\s+of)\W*"
    r"(?:(?:choose|pick|say|be|a|the)\W+)?$"
)
_SENTENCE = re.compile(r"[^.!?;\n]*(?:[.!?;\n]+|$)")
_HEADED = re.compile(r"(?i)(\bverdict\W{0,6}?)\n\s*")
"""A line that only announces the verdict, which stands in the next one."""
# What would be if, and what holds for one standard alone, is no verdict on the whole.
_SUPPOSED = re.compile(
    r"(?i)\b(?:if|unless|had)\b|\bwould\s+be\s+(?:wrong|unfair|too)\b"
    r"|\b(?:for|on|in|by)\s+(?:accuracy|relevance|helpfulness|style|length)\b"
)


def names_another(text: str, verdict: str) -> bool:
    """Return whether a text names a verdict that is not this one."""
    return any(not _agree(named, verdict) for named in named_verdicts(text))


def named_verdicts(text: str) -> Iterator[str]:
    """Yield the verdict that each sentence of a text names, as it stands there."""
    for sentence in _SENTENCE.finditer(_HEADED.sub(r"\1 ", text)):
        said = sentence[0].strip()
        if not said or said.endswith("?") or _SUPPOSED.search(said):
            continue
        named = max(_named_in(said), default=None)
        if named is not None:
            yield named[1]


def _named_in(sentence: str) -> Iterator[tuple[int, str]]:
    """Yield the verdicts that a sentence names, and where."""
    for pattern in _PATTERNS:
        for found in pattern.finditer(sentence):
            is_denied = _DENIED.search(sentence[: found.start("value")]) is not None
            parts = found.groupdict()
            if parts.get("then") and (is_denied or not parts.get("but")):
                yield found.start("then"), found["then"]
            elif not is_denied and not parts.get("standard"):
                yield found.start("value"), found["value"]


def _agree(named: str, verdict: str) -> bool:
    """Return whether what was named may mean the verdict: "good" a good tie, A that A is better."""
    word = _plain(named)
    bound = _plain(verdict)
    if word in ("tie", "good", "bad"):
        is_tie = bound.startswith("tie") or bound == "a=b"
        return is_tie and (word == "tie" or bound == "a=b" or bound.endswith(word))
    if bound in ("a>>b", "a>b", "b>a", "b>>a"):
        return word in (bound, bound[0])
    if bound in ("a", "b") and ">" in word:
        return word[0] == bound
    return word == bound


def _plain(word: str) -> str:
    """Return a verdict in lower case without joints, a degree with its winner first."""
    plain = re.sub(r"[\s_-]+", "", word).lower()
    if plain == "b=a":
        return "a=b"
    if "<" not in plain:
        return plain
    return f"{plain[-1]}{'>' * plain.count('<')}{plain[0]}"


R = TypeVar("R", bound=Reply)

MOST_FAULTS = 5
"""Most faults of one reply that are named to its model."""
LONGEST_NAME = 40
PLACEHOLDERS = frozenset({"...", "…", "A person ..."})
"""What the contracts' examples hold: a model that repeats its task has not done it."""
NO_OBJECT = "there is no complete JSON object in the reply"

_BEGUN = re.compile(r"\{(?=\s*[\"/}])")
_TAIL = re.compile(
    rf"(?:\s|`{{3}}|~{{3}}|[\]}}*]|</[\w:.-]{{1,40}}>|\[/[A-Z_]{{1,40}}\]|{STOPS})*+\Z",
    re.IGNORECASE,
)
"""What may follow the object of a cut reply: blanks, closing fences and marks, stop tokens."""
CUT_OFF = "the reply was cut off at the longest it may be; think and write less"
"""First words to a model whose reply was cut off."""


class BadReply(ValueError):
    """A reply that is not in the asked form; the message, which its model is sent, says why."""


def read_reply(
    text: str, schema: type[R], *, ending: str | None = None, reading: int = READINGS
) -> R:
    """Return the last complete JSON object in `text` as `schema`.

    Keys of the schema count whatever their case, with blanks and hyphens for underscores. `ending`
    is why the provider says the reply ended; of one that was cut off an object binds only if
    nothing that says anything follows it. `reading` is the number of the way of reading.

    Raises BadReply if there is no object outside thoughts, it breaks the schema, it gives one
    key two values, or words behind it name another verdict.
    """
    is_cut = was_cut(ending)
    try:
        if reading == 1:
            return _held(find_first(text), schema)
        found = _find_object(text, is_cut=is_cut)
        if is_cut and found.value is not None and not _TAIL.match(text, found.end):
            raise BadReply("more follows the object, and has no end")
        reply = _held(found, schema)
        _check_verdict(reply, without_known_thoughts(text[found.end :]))
        return reply
    except BadReply as fault:
        if not is_cut:
            raise
        # What is shown of a reason may end early, so what matters most comes first.
        said = f"{fault}; {CUT_OFF}" if reading == 1 else f"{CUT_OFF}; {fault}"
        raise BadReply(said) from None


def answer_of(text: str, *, reading: int = READINGS) -> str:
    """Return what a model says in a reply, without what it thought; empty if it only thought."""
    return first_without_thoughts(text) if reading == 1 else without_thoughts(text)


def _find_object(text: str, *, is_cut: bool) -> FoundObject:
    """Return the last whole object outside thoughts."""
    reader = ObjectReader(text)
    found = FoundObject(None)
    if is_cut and begins_unclosed(text):
        return FoundObject(None, is_thought=True)
    at = _start(text)
    if at:
        found = FoundObject(None, is_thought=True)
    behind = at
    cut_from = len(text)
    depth = 0
    has_closed = False
    has_inner_close = False
    # What binds if templates and model both wrote a first mark, and the last one closed them all.
    in_doubt = FoundObject(None)
    # What was found before a thought that opens in the middle of a line, if it does close.
    before: FoundObject | None = None
    while mark := MARKS.search(text, at):
        at = mark.end()
        if mark["open"] is not None:
            if opens_thought(text, mark, behind):
                has_inner_close = has_inner_close and depth > 0
                depth += 1
            elif depth == 0 and before is None and not is_mentioned(text, mark):
                before = found
            behind = at
        elif mark["close"] is not None or mark["final"] is not None:
            is_final = mark["final"] is not None
            if not is_final and is_mentioned(text, mark):
                continue
            if has_closed and depth == 0 and not is_final and _TAIL.match(text, at):
                # One too many behind everything: the thought before was closed.
                break
            # Some servers take off the mark that opens, and all that led here was reasoning.
            if depth == 0 or is_final:
                is_thought = found.value is not None or found.is_thought
                kept = FoundObject(None) if before is None or is_final else before
                found = kept._replace(is_thought=is_thought)
            before = None
            depth = 0 if is_final else max(0, depth - 1)
            has_closed = True
            has_inner_close = True
            in_doubt = FoundObject(None)
            behind = at
        elif mark["end"] is not None:
            has_closed = has_closed or depth > 0
            depth = 0
            behind = at
        else:
            value = reader.object_at(mark.start())
            if value is None:
                cut_from = min(cut_from, mark.start()) if reader.is_cut else cut_from
                if reader.bad_escape is not None and depth == 0:
                    # It is the last object all the same: no draft before it binds.
                    found = FoundObject(None, bad_escape=reader.bad_escape)
                    at = reader.at
                    behind = at
                continue
            at = reader.at
            behind = at
            if mark.start() >= cut_from:
                continue
            if depth:
                found = found._replace(is_thought=True)
                in_doubt = FoundObject(value, end=at)
            else:
                found = FoundObject(value, end=at)
    if before is not None and (is_cut or before.value is not None):
        # A thought that opens in the middle of a line and never ends; or a mark that is spoken of.
        found = found if found.value == before.value else FoundObject(None, is_thought=True)
    if depth and has_inner_close and found.value is None:
        found = in_doubt._replace(is_thought=True)
    return found._replace(is_cut=cut_from < len(text))


def _start(text: str) -> int:
    """Return where a reply begins behind tags of no known dialect; 0 if no object follows.

    A closing tag in a string of an object within is text.
    """
    pair = leading_pair(text)
    if pair is None:
        return 0
    reader = ObjectReader(text)
    at, closing = pair.inside
    while begun := _BEGUN.search(text, at, closing):
        is_object = reader.object_at(begun.start()) is not None
        at = reader.at if is_object else begun.end()
        if at > closing:
            closing = text.find(pair.closing, at)
            if closing < 0:
                return 0
    end = closing + len(pair.closing)
    for begun in _BEGUN.finditer(text, end):
        if reader.object_at(begun.start()) is not None or reader.is_cut or reader.bad_escape:
            return end
    return 0


def _held(found: FoundObject, schema: type[R]) -> R:
    """Return the object that was found as its schema has it."""
    if found.bad_escape is not None:
        raise BadReply(found.bad_escape)
    if found.value is None:
        ending = " outside your reasoning" if found.is_thought else ""
        raise BadReply(NO_OBJECT + ("; the one it begins has no end" if found.is_cut else ending))
    try:
        reply = schema.model_validate(_named(found.value, schema))
    except ValidationError as error:
        raise BadReply(_faults(error)) from None
    if any(leaf.strip() in PLACEHOLDERS for leaf in _leaves(reply.model_dump())):
        raise BadReply('"..." stands for words of your own; write them out')
    return reply


def _check_verdict(reply: Reply, behind: str) -> None:
    """Return if the words behind an object name no other verdict than it; else BadReply."""
    verdict = getattr(reply, "verdict", None)
    if isinstance(verdict, str) and names_another(behind, verdict):
        raise BadReply(
            "words behind the object name another verdict than it; make up your mind before you "
            "write the object, and write nothing behind it"
        )


def _named(value: dict[str, Any], schema: type[Reply]) -> dict[str, Any]:
    """Return an object with the schema's names for its keys, as deep as the schema goes."""
    names = _names(schema)
    schemas = _schemas(schema)
    found: dict[str, Any] = {}
    for key, inner in value.items():
        name = names.get(plain(key), key)
        below = schemas.get(name)
        if below is not None:
            inner = _named_below(inner, below)
        if isinstance(inner, DoubleValue) or (name in found and found[name] != inner):
            raise BadReply(f"{key[:LONGEST_NAME]}: stands there twice with different values")
        found[name] = inner
    return found


def _named_below(value: Any, schema: type[Reply]) -> Any:
    if isinstance(value, list):
        return [_named_below(inner, schema) for inner in value]
    return _named(value, schema) if isinstance(value, dict) else value


@cache
def _names(schema: type[Reply]) -> Mapping[str, str]:
    """Return the names of a schema's fields by their plain spelling."""
    return {plain(name): name for name in schema.model_fields}


@cache
def _schemas(schema: type[Reply]) -> Mapping[str, type[Reply]]:
    """Return the schemas of fields' values, or of each of their values; plain values have none."""
    found: dict[str, type[Reply]] = {}
    for name, field in schema.model_fields.items():
        inner = next(iter(get_args(field.annotation)), field.annotation)
        if isinstance(inner, type) and issubclass(inner, Reply):
            found[name] = inner
    return found


def _faults(error: ValidationError) -> str:
    """Return what is wrong and where, without the values, which may be anything."""
    faults = [
        f"{'.'.join(str(part)[:LONGEST_NAME] for part in fault['loc']) or 'the object'}: "
        f"{fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    more = f"; and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
    return "; ".join(faults[:MOST_FAULTS]) + more


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
