"""Traits of questions: the form they ask for, the duration of their video, near duplicates."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

FORMS = ("table", "list", "JSON", "Markdown", "short", "none")
"""What a question may ask for, in the order in which they are shown."""

_GIVE = r"give|create|produce|write|draw(?: up)?|present|return|provide|format|show|compile|fill in"
_A = r"(?:me |us |it |them )?(?:as |in |into )?an? (?:[\w-]+ ){0,3}"
_DO = r"(?:^|[.:;,?!] ?(?:and |then )?|\b(?:can|could|would|will) you )(?:please )?"
"""What stands before a verb that asks for something."""
_NUMBER = r"(?:one|two|three|four|five|ten|twenty|a few|an? single|\d+)"
_RULES = (
    ("JSON", r"\bjson\b"),
    (
        "table",
        rf"\b(?:as|in|into) an? (?:[\w-]+ ){{0,3}}table\b|\b(?:{_GIVE}) {_A}table\b"
        rf"|{_DO}(?:make|build) {_A}table\b"
        r"|\btable (?:with|of) (?:[\w-]+ ){0,2}(?:columns?|rows?)\b|\btabular\b|\btabulate\b",
    ),
    (
        "list",
        rf"\bbullet(?:s|ed)?\b|\bnumbered\b|\b(?:as|in|into) an? (?:[\w-]+ ){{0,3}}list\b"
        rf"|\b(?:{_GIVE}|make) {_A}(?:check)?list\b|{_DO}list\b",
    ),
    ("Markdown", r"\bmarkdown\b"),
    (
        "short",
        r"\bbriefly\b|\bconcisely\b|\bin (?:short|brief)\b|\byes or no\b"
        r"|\b(?:short|brief|concise|one-(?:word|line|sentence)) (?:answer|reply|response|summary)\b"
        rf"|\bin (?:just |only )?{_NUMBER} (?:short )?(?:words?|sentences?|lines?)\b"
        r"|\b(?:no more than|at most|not more than|up to|under|within) [\w-]+"
        r" (?:words?|sentences?)\b",
    ),
)
_COMPILED = tuple((form, re.compile(rule)) for form, rule in _RULES)


def asked_form(question: str) -> str:
    """Return which of FORMS a question asks for; the most particular one where it asks for two.

    A question about a table or a list in the picture asks for none.
    """
    # One line in lower case: the rules then need neither flags nor runs of blanks.
    plain = " ".join(question.lower().split())
    return next((form for form, rule in _COMPILED if rule.search(plain)), "none")


BUCKETS_S = (8, 15, 60, 180, 600, 900, 3600)
"""Upper ends of the duration buckets in seconds; the last bucket is open."""


def bucket(duration_s: float) -> str:
    """Return the name of the duration bucket, such as `8-15 s`."""
    return BUCKET_NAMES[sum(duration_s > end for end in BUCKETS_S)]


BUCKET_NAMES = (
    f"up to {BUCKETS_S[0]} s",
    *(f"{low}-{high} s" for low, high in pairwise(BUCKETS_S)),
    f"above {BUCKETS_S[-1]} s",
)


LENGTH = 5
"""Characters of a piece: short enough for every script, long enough for words to differ."""
NEAR = 0.7
"""Two questions that share this much of their pieces are nearly the same."""


def near_duplicates(questions: Sequence[str], videos: Sequence[str]) -> set[int]:
    """Return the places of questions that nearly repeat an earlier kept one about the same video.

    Questions stand in the order of preference, each beside its video. Cost: within each video
    every question against every one that is kept.
    """
    kept: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    repeated: set[int] = set()
    for place, (question, video) in enumerate(zip(questions, videos, strict=True)):
        pieces = pieces_of(question)
        if any(overlap(pieces, other) >= NEAR for other in kept[video]):
            repeated.add(place)
        else:
            kept[video].append(pieces)
    return repeated


def pieces_of(question: str) -> frozenset[str]:
    """Return all runs of LENGTH characters, whatever the case, signs and spaces."""
    text = " ".join("".join(c if c.isalnum() else " " for c in question.casefold()).split())
    # A text that is shorter than a piece is one piece.
    return frozenset(text[k : k + LENGTH] for k in range(max(1, len(text) - LENGTH + 1)))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of pieces that two questions have in common, of all that either has."""
    if NEAR * max(len(one), len(other)) > min(len(one), len(other)):
        return 0.0  # cannot come near
    return len(one & other) / len(one | other)
