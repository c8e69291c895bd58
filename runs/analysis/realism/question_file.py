"""Questions of real users, from a file that somebody else wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from videoautoarena.agents.prompting.languages import LANGUAGES
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import QuestionCategory
from videoautoarena.runs.analysis.categories.tags import SHOWN
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import decode, kind_of, oddity, parse_json, read_bytes

MOST_QUESTIONS = 200_000
LONGEST = 20_000
"""Characters of a question."""
_MOST_CATEGORIES = 20
_LONGEST_NAME = 100
_LANGUAGE_NAMES = {
    name.casefold(): code for code, names in LANGUAGES.items() for name in (code, *names)
}
_NO_LANGUAGE = ("", "und", "unknown")


class RealQuestion(NamedTuple):
    """What a line of the file says; None where it says nothing."""

    text: str
    video: str | None
    categories: tuple[str, ...] | None
    """In lower case, each once; empty where the line says that there is none."""
    language: str | None
    """Its code."""


def read_questions(file: Path) -> list[RealQuestion]:
    """Return the questions of a file of JSON lines, in its order.

    A line is an object with `question`, and where known `video`, `category` or `categories`, and
    `language`; whatever else it holds is passed over. Nothing in it is a path that is opened.

    Raises:
        BadInput: a file or a line that cannot be used; the line is named.
    """
    text = decode(read_bytes(file), str(file))
    found = [_question(line, f"{file}, line {number}") for number, line in _lines(text)]
    if len(found) > MOST_QUESTIONS:
        raise BadInput(f"{file} holds {len(found):,} questions; the limit is {MOST_QUESTIONS:,}")
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank with their numbers, from 1."""
    # JSON strings may hold what splitlines takes for the end of a line.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line


def _question(line: str, where: str) -> RealQuestion:
    value = parse_json(line, where)
    if not isinstance(value, dict):
        raise BadInput(f"{where} is {kind_of(value)}, no object with a question")
    if odd := oddity(value):
        raise BadInput(f"{where} {odd}")
    text = _text(value, "question", where, longest=LONGEST)
    if text is None:
        raise BadInput(f"{where} has no question")
    return RealQuestion(
        text, _video(value, where), _categories(value, where), _language(value, where)
    )


def _text(value: dict[str, Any], name: str, where: str, *, longest: int) -> str | None:
    """Return a field that is a text; None where it is blank, null or missing."""
    given = value.get(name)
    if given is None:
        return None
    if not isinstance(given, str):
        raise BadInput(f"{where}: {name} is {kind_of(given)}, not a text")
    if len(given) > longest:
        raise BadInput(f"{where}: {name} has {len(given):,} characters; at most {longest:,}")
    return given.strip() or None


def _video(value: dict[str, Any], where: str) -> str | None:
    # No path on Linux is longer than 4096 bytes.
    given = _text(value, "video", where, longest=4096)
    # So that `./a.mp4` and `a.mp4` are one video.
    return None if given is None else str(PurePosixPath(given))


def _language(value: dict[str, Any], where: str) -> str | None:
    given = (_text(value, "language", where, longest=_LONGEST_NAME) or "").casefold()
    if given in _NO_LANGUAGE:
        return None
    # Both `en_US` and `en-GB` are en.
    code = given.replace("_", "-").partition("-")[0]
    if known := _LANGUAGE_NAMES.get(given) or _LANGUAGE_NAMES.get(code):
        return known
    if len(code) in (2, 3) and code.isascii() and code.isalpha():
        return code
    raise BadInput(f"{where}: language is {quoted(given)}; write its code, such as en or de")


def _categories(value: dict[str, Any], where: str) -> tuple[str, ...] | None:
    if value.get("category") is not None and value.get("categories") is not None:
        raise BadInput(f"{where} has category and categories; keep one")
    given = value.get("categories")
    if given is None:
        one = _text(value, "category", where, longest=_LONGEST_NAME)
        return None if one is None else (category_name(one),)
    if not isinstance(given, list):
        raise BadInput(f"{where}: categories is {kind_of(given)}, not a list of texts")
    if len(given) > _MOST_CATEGORIES:
        raise BadInput(f"{where} has {len(given)} categories; at most {_MOST_CATEGORIES}")
    names = [
        _text({"a category": one}, "a category", where, longest=_LONGEST_NAME) for one in given
    ]
    if None in names:
        raise BadInput(f"{where} has a category without a name")
    return tuple(dict.fromkeys(category_name(name) for name in names if name))


def category_name(written: str) -> str:
    """Return the name of a category as it is compared: small letters, usual names for one thing."""
    plain = " ".join(written.casefold().replace("_", " ").replace("-", " ").split())
    known = _ALSO.get(plain)
    return plain if known is None else SHOWN[known]


_USUAL: Mapping[QuestionCategory, tuple[str, ...]] = {
    "captioning": ("caption", "captions", "description"),
    "text_on_screen": ("ocr", "text", "text in the picture", "screen text"),
    "entities": ("entity", "entity recognition", "named entities"),
    "counting": ("count", "numbers"),
    "order_and_time": ("order", "time", "temporal", "sequence"),
    "cause_and_reasoning": ("reasoning", "cause", "causal", "why"),
    "humour": ("humor", "joke", "jokes"),
    "diagrams": ("diagram", "chart", "charts"),
    "creative_writing": ("creative", "writing"),
    "code": ("coding", "programming"),
}
"""Other words for a category."""
_ALSO = {word: name for name, words in _USUAL.items() for word in words}
