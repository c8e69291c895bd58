"""How an answer looks: length, markup and names, counted; and how two answers differ in them.

Ratings with style control ask what is left of a preference when the longer and the more decorated
answer gets no credit for that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

from runs.specificity import count_names
from scoring.cells import Floats

_TOKEN = re.compile(r"\w+|[^\w\s]")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_HEADER = re.compile(r"^ {0,3}#{1,6}\s", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")


def count_style(answer: str) -> tuple[int, ...]:
    """Return one count for each of FEATURES; markup inside code blocks is no markup."""
    prose = _CODE.sub("", answer)
    return tuple(_COUNTS[name](answer if name == "length" else prose) for name in FEATURES)


def _count(pattern: re.Pattern[str]) -> Callable[[str], int]:
    return lambda text: len(pattern.findall(text))


_COUNTS: dict[str, Callable[[str], int]] = {
    "length": _count(_TOKEN),
    "headers": _count(_HEADER),
    "lists": _count(_ITEM),
    "bold": _count(_BOLD),
    "specificity": count_names,
}
FEATURES = tuple(_COUNTS)
"""Words and signs, headings, list items, bold passages, names."""


def count_words(answer: str) -> int:
    """Return how many words and signs an answer has."""
    return _COUNTS["length"](answer)


def measure_styles(answers: Iterable[str]) -> Floats:
    """Return the counts of many answers, shape (answers, features)."""
    counted = [count_style(answer) for answer in answers]
    return np.array(counted, dtype=np.float64).reshape(-1, len(FEATURES))


def compare_styles(first: Floats, second: Floats) -> Floats:
    """Return (a - b) / (a + b) of counts or other sizes, 0 where both are 0.

    Args:
        first: shape (battles, features), not below zero.
        second: the same of the other answers.

    Returns:
        shape (battles, features), in [-1, 1].

    Source: Li, Angelopoulos and Chiang (2024), Does Style Matter?
    """
    total = first + second
    return np.divide(first - second, total, out=np.zeros_like(total), where=total > 0)


def standardise(differences: Floats) -> tuple[Floats, Floats]:
    """Return differences in units of their root mean square, and those units; 0 where all are 0.

    No mean is taken off, so that swapping the seats only turns signs.
    """
    units = np.sqrt((differences**2).mean(axis=0)) if len(differences) else differences.sum(axis=0)
    return np.divide(differences, units, out=np.zeros_like(differences), where=units > 0), units
