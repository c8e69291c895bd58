"""Reading a verdict out of what the judge of VideoAutoBench said.

It is asked to end in a section [Overall Judge] with one of [[A>B]], [[A=B]] and [[B>A]], where A is
the reference and B the candidate. Here the last label in the last such section binds.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Ruled = Literal["win", "tie", "loss"]
SECTION = "[Overall Judge]"
_SECTION = re.compile(r"\[\s*overall\s+judge\w*\s*\]", re.IGNORECASE)
_LABEL = r"(a\s*>{1,2}\s*b|b\s*>{1,2}\s*a|a\s*<{1,2}\s*b|b\s*<{1,2}\s*a|a\s*=\s*b|b\s*=\s*a)"
_BRACKETED = re.compile(rf"\[\[\W{{0,8}}?{_LABEL}\W{{0,8}}?\]\]", re.IGNORECASE)
_BARE = re.compile(rf"(?<!\w){_LABEL}(?!\w)", re.IGNORECASE)
_RULED: dict[str, Ruled] = {"B>A": "win", "A<B": "win", "A>B": "loss", "B<A": "loss"}


class Read(NamedTuple):
    """What was read of a judge's words."""

    verdict: Ruled | None
    """Of the candidate, which the judge knew as B; None where there is none to read."""
    reason: str | None
    """Why there is none."""


def read_verdict(words: object) -> Read:
    """Return the verdict that a judge's words end in.

    Without a section all labels in double brackets must say the same, and in a section without such
    a label all bare ones: what would have to be guessed is no verdict.
    """
    if not isinstance(words, str) or not words.strip():
        return Read(None, "the judge said nothing")
    sections = _SECTION.split(words)
    if len(sections) == 1:
        return _unanimous(_BRACKETED.findall(words), f"no section {SECTION}")
    if labels := _BRACKETED.findall(sections[-1]):
        return Read(_ruled(labels[-1]), None)
    return _unanimous(_BARE.findall(sections[-1]), f"no verdict after the last {SECTION}")


def published_rule(words: object) -> Ruled:
    """Return what the published scorer makes of a judge's words.

    That is: after the last "[Overall Judge]", a win if "B>A" occurs, else a tie if "=" does, else a
    loss. Source: VideoAutoBench, scoring script of the publication.
    """
    end = words.split(SECTION)[-1] if isinstance(words, str) else ""
    if "B>A" in end:
        return "win"
    return "tie" if "=" in end else "loss"


def _unanimous(labels: list[str], otherwise: str) -> Read:
    said = {_ruled(label) for label in labels}
    if len(said) == 1:
        return Read(said.pop(), None)
    return Read(None, "its labels contradict each other" if said else otherwise)


def _ruled(label: str) -> Ruled:
    plain = re.sub(r"\s", "", label.upper()).replace(">>", ">").replace("<<", "<")
    return _RULED.get(plain, "tie")
