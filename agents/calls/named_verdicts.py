"""Verdicts that a judge names in words behind its object, in the words of the contract.

They are looked for so that a judge which changes its mind is asked again, never to be counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_DEGREES = r"A\s*>>\s*B|A\s*>\s*B|A\s*=\s*B|B\s*>\s*A|B\s*>>\s*A|A\s*<\s*B|A\s*<<\s*B"
_TIES = r"(?i:tie[ _-]?good|tie[ _-]?bad|tie|abstain)(?!\w)"
_VALUE = rf"(?P<value>{_DEGREES}|[AB](?![\w'’])|{_TIES})"
_BETWEEN = (
    r"(?:[\s\"'`*_\[\](:=\-–—>→⇒]|(?i:is|was|should|would|must|will|be|been|becomes|goes|to|now"
    r"|then|that|therefore|thus|still|in|favou?r|of|for|as|the|my|final|overall|answer|option"
    r"|changes?|changed|from|rather|actually|really|clearly|instead|have|has|moves?|flips?"
    r"|switch(?:es)?|revised|corrected|new|not|but|a|an|neither|nor|or|and)\b){0,40}?"
)
"""What may stand between the word for a verdict and the verdict."""
_OF_A_STANDARD = r"(?P<standard>(?i:following|accuracy|relevance|helpfulness)\W{0,4})?"
_STATED = re.compile(
    rf"{_OF_A_STANDARD}(?i:verdict|better answer)(?!\w)(?P<between>{_BETWEEN}){_VALUE}"
    r"(?:[\"'`*]{0,3},?\s+(?:to|(?P<but>but|rather))\s+[\"'`*]{0,3}(?P<then>[AB])(?!\w))?"
)
_PRAISED = re.compile(
    r"[\"'`*]{0,3}(?P<value>[AB])[\"'`*]{0,3}\s+(?:is|was|gives|gave|has)\s+"
    r"(?:(?:clearly|really|actually|still)\s+)?the\s+better\s+answer"
)
_MENDED = re.compile(rf"\b(?:should|must)\s+(?:be|have\s+been|read|say)\s+[\"'`*]{{0,3}}{_VALUE}")
_QUOTED = re.compile(
    r"(?<!nswer )(?<!ption )(?<!esponse )(?P<mark>[\"`])(?P<value>A|B|tie_good|tie_bad|abstain)"
    r"(?P=mark)(?!['’]s)"
)
_EXACT = re.compile(r"(?<!\w)(?P<value>tie_good|tie_bad)(?!\w)")
_EQUAL = re.compile(r"(?i)\btwo\s+equally\s+(?P<value>good|bad)\b")
_ABSTAINS = re.compile(r"(?i)\bI\s+(?:must\s+|will\s+|would\s+|have\s+to\s+)?(?P<value>abstain)\b")
_DENIED = re.compile(r"(?i)\b(?:not|neither|nor|from)\W*$")


def names_another(text: str, verdict: str) -> bool:
    """Return whether a text names a verdict that is not this one."""
    return any(not _agree(named, verdict) for named in named_verdicts(text))


def named_verdicts(text: str) -> Iterator[str]:
    """Yield each verdict that a text names, as it stands there; what it denies is none."""
    for found in _STATED.finditer(text):
        is_denied = _DENIED.search(found["between"]) is not None
        if found["then"] and (is_denied or not found["but"]):
            yield found["then"]
        elif not found["standard"] and not is_denied:
            yield found["value"]
    for pattern in (_PRAISED, _MENDED, _QUOTED, _EXACT, _EQUAL, _ABSTAINS):
        for found in pattern.finditer(text):
            yield found["value"]


def _agree(named: str, verdict: str) -> bool:
    """Return whether what was named may mean the verdict: "good" a good tie, A that A is better."""
    word = _plain(named)
    bound = _plain(verdict)
    if word in ("tie", "good", "bad"):
        is_tie = bound.startswith("tie") or bound == "a=b"
        return is_tie and (word == "tie" or bound == "a=b" or bound.endswith(word))
    if bound in ("a>>b", "a>b", "b>a", "b>>a"):
        return word in (bound, bound[0])
    return word == bound


def _plain(word: str) -> str:
    """Return a verdict in lower case without joints, a degree with its winner first."""
    plain = re.sub(r"[\s_-]+", "", word).lower()
    if "<" not in plain:
        return plain
    return f"{plain[-1]}{'>' * plain.count('<')}{plain[0]}"
