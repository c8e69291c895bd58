"""Words quoted in prose: put into it, hidden from who looks for anything else, found again."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|«([^»\n]+)»")
_SAID = re.compile(r"(?:\b(?:reads?|says?|saying|reading|is|are)\b|:)\s+(\S.*)", re.IGNORECASE)
_MOST = 200
# Ideographs that nobody writes: letters like any other, in which no pattern finds a word.
_SHIFT, _SHIFTED = 0x20000, 0xA000
_HIDDEN = re.compile("[\U00020021-\U00029fff]")


def alike(one: str, other: str) -> float:
    """Return how like two texts are by letters and digits alone, 0 to 1."""
    a, b = letters(one), letters(other)
    return SequenceMatcher(None, a, b, autojunk=False).ratio() if a and b else 0.0


def letters(text: str) -> str:
    """Return the letters and digits of a text, small, without what stands between."""
    return "".join(char for char in text.casefold() if char.isalnum())


def quoted(words: str) -> str:
    """Return the words between quotation marks, without what would end quotation or table cell."""
    return '"' + re.sub(r'["“”«»]', "'", words).replace("|", "/") + '"'


def hidden(text: str) -> str:
    """Return the text with its quotations made unreadable, as many words as before."""
    return _QUOTED.sub(lambda found: "".join(map(_hide, found[0])), text)


def holds_words(text: str) -> bool:
    """Return whether a text has a quotation that `hidden` hid."""
    return _HIDDEN.search(text) is not None


def words_in(text: str) -> str | None:
    """Return the first words quoted in a text that `hidden` returned, else what it says there is.

    None where it says nothing.
    """
    found = _QUOTED.search(text)
    said = next(filter(None, found.groups())) if found else None
    if said is None and (told := _SAID.search(text)):
        said = told[1].strip(" .*'")
    return "".join(map(_show, said))[:_MOST].strip() or None if said else None


def _hide(char: str) -> str:
    is_kept = char.isspace() or char in '"“”«»' or not 0x21 <= ord(char) < _SHIFTED
    return char if is_kept else chr(ord(char) + _SHIFT)


def _show(char: str) -> str:
    return chr(ord(char) - _SHIFT) if _HIDDEN.match(char) else char
