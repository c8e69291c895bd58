"""What the parts of a run or a bench are called in a log of Inspect's: words for people."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from memory.records import STANDARDS
from runs.console import safe
from runs.inspect_log import Json

_PARAMETERS = {
    "temperature": float,
    "top_p": float,
    "max_tokens": int,
    "seed": int,
    "presence_penalty": float,
    "frequency_penalty": float,
}
"""Sampling parameters that both have, by one name."""


def parameters_of(entry: Mapping[str, Any]) -> Json:
    """Return a model's sampling parameters as far as a log has a place for them; never a key."""
    given = entry.get("parameters")
    found = given if isinstance(given, Mapping) else {}
    return {
        name: kind(found[name])
        for name, kind in _PARAMETERS.items()
        if isinstance(found.get(name), int | float)
    }


def row_metrics(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, float | int | None]:
    """Return those figures of a row that are numbers; a share with its interval is its value."""
    found = {}
    for name in names:
        value = row.get(name)
        value = value.get("value") if isinstance(value, Mapping) else value
        found[name] = value if isinstance(value, int | float) else None
    return found


def rival_said(name: str, answer: str | None) -> list[Json]:
    """Return the message that tells what an answer was held against."""
    if answer is None:
        return []
    told = f"The answer of {safe(name)}, which it was held against:\n\n{answer}"
    return [{"role": "user", "content": told}]


def judged(
    judge: str,
    won: str,
    *,
    sides: tuple[str, str],
    is_turned: bool,
    words: str | None,
    reason: str | None,
) -> str:
    """Return one judging as Markdown.

    Args:
        judge: its name.
        won: what it saw: a name, or the verdict's own word.
        sides: whose answers `a` and `b` are in its verdicts.
        is_turned: whether it read b's answer first, as its A.
        words: as JSON of the four standards, or anything else as it stands.
        reason: why there is no verdict.
    """
    first, second = map(safe, sides[::-1] if is_turned else sides)
    head = f"**{safe(judge)}** (A is {first}, B is {second}): {safe(won)}"
    told = [f"{head}{f', since {reason}' if reason else ''}", *_standards(words, sides)]
    return "\n\n".join(told)


def _standards(words: str | None, sides: tuple[str, str]) -> list[str]:
    if words is None:
        return []
    try:
        said = json.loads(words)
    except (ValueError, RecursionError):
        return [words]
    panel = said.get("judges") if isinstance(said, dict) else None
    if not isinstance(panel, dict):
        return _told(said, sides) or [words]
    return [
        line for name, one in panel.items() for line in (f"**{safe(name)}**", *_told(one, sides))
    ]


def _told(said: Any, sides: tuple[str, str]) -> list[str]:
    """Return a judge's words on the four standards; nothing of what has another shape."""
    if not isinstance(said, dict) or not all(isinstance(said.get(n), str) for n in STANDARDS):
        return []
    own, better = said.get("own_answer"), said.get("standards")
    leads = better if isinstance(better, dict) else {}
    ahead = {"a": f", {safe(sides[0])} ahead", "b": f", {safe(sides[1])} ahead"}
    told = {f"{name.replace('_', ' ')}{ahead.get(str(leads.get(name)), '')}": said[name]
            for name in STANDARDS}  # fmt: skip
    told = {"own answer": own, **told} if isinstance(own, str) else told
    return [f"{head}: {_quoted(words)}" for head, words in told.items()]


def _quoted(words: str) -> str:
    """Return a judge's words so that they stay one paragraph of theirs, whatever stands in them."""
    return " ".join(html.escape(safe(words, lines=True), quote=False).split())
