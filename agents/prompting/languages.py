"""The languages that users can ask in, by code, and the sentence that asks for one."""

from __future__ import annotations

import re

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
