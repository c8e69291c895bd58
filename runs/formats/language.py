"""The language of texts from outside, told by their letters where nobody says it.

Told by py3langid, whose model is part of its wheel: nothing is fetched, and the same text is always
told the same. A text of a word or two is hardly ever sure; languages that are nearly one in writing
(Danish and Norwegian, Malay and Indonesian) seldom are.
"""

from __future__ import annotations

from copy import copy
from functools import cache, lru_cache
from typing import NamedTuple, Protocol

from videoautoarena.agents.prompting.languages import LANGUAGES

UNKNOWN = "unknown"
SURE = 0.9
"""A language that is less likely is not told."""
_MOST_CHARACTERS = 2_000
"""More of a text tells no more of its language."""


class _Identifier(Protocol):
    def classify(self, text: str) -> tuple[str, float]: ...


class _Identifiers(NamedTuple):
    every: _Identifier
    """Of all languages that the model knows."""
    ours: _Identifier
    """Of those of LANGUAGES alone."""


def told_language(text: str) -> str:
    """Return the code of the language that a text is in; UNKNOWN where that is not sure.

    It is one of LANGUAGES, at least SURE to be likely among these, and no language beside them is
    likelier still.
    """
    return _told(" ".join(text[:_MOST_CHARACTERS].split()))


def asked_language(drawn: str | None, question: str | None) -> str:
    """Return what a question is asked in: what was drawn for it, else what its text tells."""
    return drawn or (UNKNOWN if question is None else told_language(question))


@lru_cache(maxsize=8_192)
def _told(text: str) -> str:
    if not any(map(str.isalpha, text)):
        return UNKNOWN
    known = _identifiers()
    code, chance = known.ours.classify(text)
    return code if chance >= SURE and known.every.classify(text)[0] == code else UNKNOWN


@cache
def _identifiers() -> _Identifiers:
    # Most of a second and 70 MB, which only those wait for who ask for a language.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    every = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    ours = copy(every)
    ours.set_languages(list(LANGUAGES))
    return _Identifiers(every, ours)
