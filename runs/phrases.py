"""A battle in one line: who beat whom, and why, in words taken from the judge's analyses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from memory.records import Battle, Judging
from runs.console import safe
from runs.reading import told_reason

STANDARDS = ("accuracy", "instruction_following", "helpfulness", "relevance")
"""In the order in which they tell why."""
_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_FAULT = re.compile(
    r"\b(not|no|nothing|never|wrong\w*|incorrect\w*|miss\w*|fail\w*|lack\w*|omit\w*|ignor\w*|vague\w*"
    r"|hallucinat\w*|invent\w*|confus\w*|unsupported|contradict\w*|wander\w*|gives .* for)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"\b(while|whereas|but|however|more|unlike|only|both|neither)\b", re.I)
_SEAT = re.compile(
    r"\b(?:[Tt]he )?(?:[Aa]nswer|[Mm]odel|[Rr]esponse|[Aa]ssistant|[Cc]ontestant) ([AB])\b"
    r"|(?<=[a-z,;:] )([AB])\b|^(B)\b|^(A)(?='s\b| [a-z]*[^s\W]s\b| [a-z]+ly\b)"
)
"""A seat, and not the article: that begins a sentence, and no verb follows it."""
_ERROR_CLASS = re.compile(r"\b[A-Z]\w+(?:Error|Exception|Timeout): ")
"""What stands before a provider's own words, and takes half a line."""
_TIES = {"tie": "tie", "tie_good": "both good", "tie_bad": "both bad", "split": "split"}


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Return models by names without their provider, where those still tell them apart."""
    short = {model: model.rpartition(":")[2] or model for model in models}
    return short if len(set(short.values())) == len(short) else {m: m for m in models}


def result(battle: Battle, names: Mapping[str, str]) -> str:
    """Return who beat whom, without the reason."""
    a, b = (safe(names.get(m or "?", m or "?")) for m in (battle.model_a, battle.model_b))
    match battle.verdict:
        case "a":
            return f"{a} beat {b}"
        case "b":
            return f"{b} beat {a}"
        case "forfeit_a":
            return f"{a} forfeits to {b}"
        case "forfeit_b":
            return f"{b} forfeits to {a}"
        case "void":
            return "void" if battle.model_a is None else f"void: {a}, {b}"
        case tie:
            return f"{a} = {b}, {_TIES[tie]}"


def why(battle: Battle, names: Mapping[str, str]) -> str:
    """Return the reason of a verdict as one phrase; empty where none was given."""
    if battle.reason:
        return _flat(_ERROR_CLASS.sub("", told_reason(battle.reason)))
    judging = next((j for j in battle.verdicts if j.verdict == battle.verdict and j.analyses), None)
    judging = judging or next((j for j in battle.verdicts if j.analyses), None)
    if judging is None:
        return ""
    told = [_named(sentence, battle, judging, names) for sentence in _sentences(judging)]
    loser = {"a": battle.model_b, "b": battle.model_a}.get(battle.verdict)
    lost = names.get(loser or "", loser or "")
    # max keeps the first of equals: the earlier sentence of the weightier standard.
    return _flat(max(told, key=lambda sentence: _weight(sentence, lost), default=""))


def _sentences(judging: Judging) -> Iterator[str]:
    for standard in STANDARDS:
        yield from _SENTENCES.split(getattr(judging.analyses, standard).strip()[:2000])


def _named(sentence: str, battle: Battle, judging: Judging, names: Mapping[str, str]) -> str:
    pair = (battle.model_a or "?", battle.model_b or "?")
    a, b = pair if judging.seats == "ab" else pair[::-1]
    seats = {"A": names.get(a, a), "B": names.get(b, b)}

    def name(found: re.Match[str]) -> str:
        return seats[next(group for group in found.groups() if group)]

    return _SEAT.sub(name, sentence)


def _weight(sentence: str, loser: str) -> float:
    words = len(sentence.split())
    if words < 4:
        return -1.0
    blame = bool(_FAULT.search(sentence)) * (2.0 if loser and loser in sentence else 0.5)
    return blame + 0.5 * bool(_CONTRAST.search(sentence)) - (words > 30)


def _flat(text: str) -> str:
    return safe(" ".join(text.split())).rstrip(".;")
