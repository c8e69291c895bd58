"""How a question with options is worded, and read again by who is asked it.

Each option stands on a line of its own behind its letter; one sentence asks for the letter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

LETTERS = ascii_uppercase
"""By place: the first option is A."""
CLOSING = "Answer with the letter of the one best option."

_LINE = re.compile(r"\(([A-Z])\) (.+)")


class Offer(NamedTuple):
    """A question and the options among which its answer is."""

    question: str
    options: tuple[str, ...]


def with_options(question: str, options: Sequence[str]) -> str:
    """Return what a contestant is asked: the question, a lettered line an option, a last sentence.

    Two options at least and 26 at most; blanks in an option are folded, so that it keeps its line.
    """
    return "\n".join([question.strip(), lettered(options), CLOSING])


def lettered(options: Sequence[str]) -> str:
    """Return options on a line each, behind their letters."""
    return "\n".join(
        f"({letter}) {' '.join(option.split())}"
        for letter, option in zip(LETTERS[: len(options)], options, strict=True)
    )


def offered(text: str) -> Offer | None:
    """Return the question and options that `with_options` made a text of; None of any other."""
    *lines, last = text.strip().split("\n")
    if last.strip() != CLOSING:
        return None
    found: list[re.Match[str]] = []
    while lines and (match := _LINE.fullmatch(lines[-1].strip())):
        lines.pop()
        found.insert(0, match)
        if match[1] == LETTERS[0]:
            break
    letters = "".join(match[1] for match in found)
    if len(found) < 2 or not LETTERS.startswith(letters):
        return None
    return Offer("\n".join(lines).strip(), tuple(match[2] for match in found))
