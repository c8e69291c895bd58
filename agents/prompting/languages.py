"""The languages that users can ask in, by code; the sentence that asks for one, and telling them.

A text is told by py3langid, whose model is part of its wheel: nothing is fetched, and the same text
is always told the same. A text of a word or two is hardly ever sure; languages that are nearly one
in writing (Danish and Norwegian, Malay and Indonesian) seldom are.
"""

from __future__ import annotations

import re
from copy import copy
from functools import cache, lru_cache
from typing import NamedTuple, Protocol

LANGUAGES: dict[str, tuple[str, str]] = {
    "ar": ("Arabic", "العربية"),
    "bg": ("Bulgarian", "български"),
    "bn": ("Bengali", "বাংলা"),
    "ca": ("Catalan", "català"),
    "cs": ("Czech", "čeština"),
    "da": ("Danish", "dansk"),
    "de": ("German", "Deutsch"),
    "el": ("Greek", "ελληνικά"),
    "en": ("English", "English"),
    "es": ("Spanish", "español"),
    "et": ("Estonian", "eesti"),
    "fa": ("Persian", "فارسی"),
    "fi": ("Finnish", "suomi"),
    "fr": ("French", "français"),
    "he": ("Hebrew", "עברית"),
    "hi": ("Hindi", "हिन्दी"),
    "hr": ("Croatian", "hrvatski"),
    "hu": ("Hungarian", "magyar"),
    "id": ("Indonesian", "Bahasa Indonesia"),
    "it": ("Italian", "italiano"),
    "ja": ("Japanese", "日本語"),
    "ko": ("Korean", "한국어"),
    "lt": ("Lithuanian", "lietuvių"),
    "lv": ("Latvian", "latviešu"),
    "ms": ("Malay", "Bahasa Melayu"),
    "nl": ("Dutch", "Nederlands"),
    "no": ("Norwegian", "norsk"),
    "pl": ("Polish", "polski"),
    "pt": ("Portuguese", "português"),
    "ro": ("Romanian", "română"),
    "ru": ("Russian", "русский"),
    "sk": ("Slovak", "slovenčina"),
    "sl": ("Slovene", "slovenščina"),
    "sr": ("Serbian", "српски"),
    "sv": ("Swedish", "svenska"),
    "sw": ("Swahili", "Kiswahili"),
    "ta": ("Tamil", "தமிழ்"),
    "te": ("Telugu", "తెలుగు"),
    "th": ("Thai", "ไทย"),
    "tr": ("Turkish", "Türkçe"),
    "uk": ("Ukrainian", "українська"),
    "ur": ("Urdu", "اردو"),
    "vi": ("Vietnamese", "Tiếng Việt"),
    "zh": ("Chinese", "中文"),
}
"""Code (ISO 639-1) to the language's name in English and in itself."""

_NOTE = re.compile(r"^Language: [^\n()]+ \((\w\w)\)\.(?: User (\d+) )?", re.MULTILINE)


def language_note(code: str, about: str) -> str:
    """Return the sentence that says which language a task is about.

    Args:
        code: a key of LANGUAGES.
        about: what is or is to be in it, as a whole sentence in English.
    """
    english, own = LANGUAGES[code]
    name = english if english == own else f"{english}, {own}"
    return f"Language: {name} ({code}). {about}"


def noted_language(text: str) -> str | None:
    """Return the code that the last such sentence outside any fence names; None without one.

    `text` must be without its fenced blocks: what stands in those is anybody's.
    """
    found = [code for code, _ in _NOTE.findall(text) if code in LANGUAGES]
    return found[-1] if found else None


def noted_users(text: str) -> dict[int, str]:
    """Return the code of each user, by number, of whom such a sentence outside any fence speaks."""
    return {int(n): code for code, n in _NOTE.findall(text) if n and code in LANGUAGES}


UNKNOWN = "unknown"
SURE = 0.9
"""Least likelihood of a language that is told."""
_MOST_CHARACTERS = 2_000
"""More of a text tells no more of its language."""


class _Identifier(Protocol):
    def classify(self, text: str) -> tuple[str, float]: ...


class _Identifiers(NamedTuple):
    every: _Identifier
    """Tells among all languages that the model knows."""
    ours: _Identifier
    """Tells among LANGUAGES alone."""


def told_language(text: str) -> str:
    """Return the code of the language that a text is in; UNKNOWN if that is not sure.

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
    # Not copied deeply: `set_languages` puts tables of its own in place and changes none that are
    # shared.
    ours = copy(every)
    ours.set_languages(list(LANGUAGES))
    return _Identifiers(every, ours)
