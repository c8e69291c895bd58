"""In which form a question wants its answer, told from its words by a few rules."""

from __future__ import annotations

import re

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
    """Return the one of FORMS that a question asks for; the most particular where it asks for two.

    A question about a table or a list in the picture asks for none.
    """
    plain = " ".join(question.lower().split())
    return next((form for form, rule in _COMPILED if rule.search(plain)), "none")
