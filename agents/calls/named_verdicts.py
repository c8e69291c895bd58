"""Verdicts that a judge names in words behind its object, in the words of the contract.

They are looked for so that a judge which changes its mind is asked again, never to be counted. Of
a sentence the last one counts; what a sentence denies, asks or supposes is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_DENIED = re.compile(
    r"(?i)\b(?:not|n't|neither|nor|never|from|rather\s+than|instead\s+of)\W*"
    r"(?:(?:choose|pick|say|be|a|the)\W+)?$"
)
_SENTENCE = re.compile(r"[^.!?;\n]*(?:[.!?;\n]+|$)")
_HEADED = re.compile(r"(?i)(\bverdict\W{0,6}?)\n\s*")
"""A line that only announces the verdict, which stands in the next one."""
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
