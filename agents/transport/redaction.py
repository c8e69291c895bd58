"""What keeps secrets out of logs, errors and traces, and whether LangSmith listens.

Libraries' warnings quote servers, and their debug logs whole requests.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

NAMES = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")
"""Variables that turn it on, in the order in which LangSmith's own client reads them."""
_ADDRESSES = ("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT")
_HOME = "api.smith.langchain.com"


def is_traced() -> bool:
    """Return whether every prompt and reply also goes to LangSmith, with digests of frames."""
    # LangSmith's client takes no other word for yes, such as `1`.
    return next(filter(str.strip, map(_value, NAMES)), "") == "true"


def trace_host() -> str:
    """Return the host that traces go to, without credentials."""
    address = next(filter(str.strip, map(_value, _ADDRESSES)), "")
    return urlsplit(address.strip(" \"'")).hostname or _HOME


def _value(name: str) -> str:
    return os.environ.get(name, "")


LONGEST_REASON = 300
SHORTEST_SECRET = 12
LONGEST_WORDS = 32
"""What is shorter and consists of words in one case is no secret; random letters are mixed."""

KEY_NAMES = {"OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"}
"""Variables that hold keys, those of the usual ones before any provider's file has said so."""
_LOOKS: list[re.Pattern[str]] = []
"""Patterns of the keys of further providers."""


def know_keys(names: Iterable[str], look: str = "") -> None:
    """Take what these variables hold out of every text from now on, and whatever looks so."""
    KEY_NAMES.update(names)
    if look:
        _LOOKS.append(re.compile(look, re.IGNORECASE))


SHORTEST_VALUE = 4
"""What is shorter stands in any text by chance."""
_VALUES: set[str] = set()
"""Keys that a program has passed, and that stand in no variable."""


def know_values(values: Iterable[str]) -> None:
    """Take these keys out of every text from now on, as if variables held them."""
    _VALUES.update(value for value in map(str.strip, values) if len(value) >= SHORTEST_VALUE)


_SHAPES = r"""
    (?<=://)[^\s/@]+(?=@)                                       # user:password in an address
    | \bsk-[\w*.\-]{4,}
    | \bAIza[\w\-*.]{8,}
    | \b(?:gsk_|hf_|xai-)[a-z\d*.]{8,}
    """
_NAMED = r"""
    \b(?:bearer|basic)\s+[^\s"',;}]+
    | \b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic)\s+)?[^\s"',;}]+
    | \b(?:x-goog-api-key|api[-_ ]?key|key|token)["']?\s*[:=]\s*["']?[^\s"',;&}]+
    """
_SHAPED = re.compile(_SHAPES, re.IGNORECASE | re.VERBOSE)
"""What looks like a key under any name."""
_SECRET = re.compile(f"{_SHAPES}|{_NAMED}", re.IGNORECASE | re.VERBOSE)
_WORDS = re.compile(r"(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)(?:[-_. ](?:[a-z]+|[A-Z]+|[A-Z][a-z]+))*")
"""`not-needed`, `EMPTY`, `Any Word`."""
_UNSEEN = re.compile(r"[\u00ad\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff]+")
"""Characters of no width: what they split still reads as one word."""
# Possessive, or a text full of blanks would be tried in every way of parting it.
_GAP = (
    r"(?:\x1b\[[\d;]{0,20}[A-Za-z]|<[^<>]{0,200}>"
    r"|[\s\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069])*+"
)
"""What may split a key: blanks, control characters, tags."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")


def redacted(text: str, *, key_env: str | None = None) -> str:
    """Return `text` on one printable line, shortened, every key in it replaced."""
    values = _key_values([key_env] if key_env else [])
    text = _UNSEEN.sub("", _replaced(sound(text), values))
    # Mere words stay in what follows: they may stand in `[key]`.
    secrets = set(filter(is_secret, values))
    text = _without_split(_replaced(text, secrets), secrets)
    text = _CONTROL.sub(" ", _without_looks(text)).strip()
    # A key may hold blanks, which control characters have become.
    text = _replaced(text, secrets)
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"


def without_keys(text: str, *names: str) -> str:
    """Return `text` with the value of every variable that holds a key replaced, however short."""
    return _replaced(text, _key_values(names))


def reply_without_keys(reply: str, *names: str) -> str:
    """Return a model's words with every key replaced that stands in no text by chance.

    Servers that need no key are given any word, and models say words: those stay.
    """
    return _replaced(reply, {value for value in _key_values(names) if is_secret(value)})


def is_secret(value: str) -> bool:
    """Return whether the value of a key can be a secret: it is long, and no mere words.

    `EMPTY`, `lm-studio` and `no-key-required` are none; what a provider gives out always is.
    """
    return len(value) >= SHORTEST_SECRET and not is_words(value)


def is_words(text: str) -> bool:
    """Return whether a text is nothing but a few words, such as `max_tokens`."""
    return len(text) < LONGEST_WORDS and _WORDS.fullmatch(text) is not None


def _key_values(names: Sequence[str]) -> set[str]:
    values = {os.environ.get(name, "").strip() for name in KEY_NAMES.union(names)}
    return (values | _VALUES) - {""}


def _replaced(text: str, values: set[str]) -> str:
    # The longest first, or what is left of a key that begins with another would stay.
    for value in sorted(values, key=lambda value: (-len(value), value)):
        text = text.replace(value, "[key]")
    return text


def _without_split(text: str, values: set[str]) -> str:
    """Replace secrets that something stands in the middle of."""
    for value in sorted(values, key=lambda value: (-len(value), value)):
        text = re.sub(_GAP.join(map(re.escape, value)), "[key]", text)
    return text


def _without_looks(text: str, look: re.Pattern[str] = _SECRET) -> str:
    """Replace whatever looks like a key."""
    for pattern in (look, *_LOOKS):
        text = pattern.sub("[key]", text)
    return text


_PLACE = re.compile(r"((?: *\| )?)  File \".*\", line \d+")
"""The head of a frame in a traceback, and before it the margin of an exception group."""


def trace_without_keys(text: str) -> str:
    """Return a text without keys and what looks like one.

    In lines of a traceback's source, which are what is needed, `key = ...` is no secret and stays.
    """
    found = []
    # How lines of source begin; None where no frame was named just above.
    source: str | None = None
    for line in without_keys(sound(text)).splitlines():
        if place := _PLACE.match(line):
            source = place[1] + " " * 4
        elif source is not None and not line.startswith(source):
            source = None
        is_source = source is not None and not place
        found.append(_without_looks(line, _SHAPED if is_source else _SECRET))
    return "\n".join(found)


def sound(text: str) -> str:
    """Return `text` as it can be stored: lone surrogates become replacement characters."""
    if text.isascii():
        return text
    # By way of UTF-16, in which two halves of one character become that character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# Both generations of HTTP libraries: openai runs on httpx2, google-genai on httpx.
LIBRARIES = (
    "anthropic", "boto3", "botocore", "google", "google_genai", "httpcore", "httpcore2", "httpx",
    "httpx2", "langchain_anthropic", "langchain_aws", "langchain_core", "langchain_google_genai",
    "langchain_openai", "openai", "urllib3",
)  # fmt: skip


def keep_keys_out_of_logs() -> None:
    """Take keys out of every record that this process logs from now on; once is enough.

    Where nobody set up logging, Python would print the libraries' warnings; it no longer does.
    """
    for name in LIBRARIES:
        logging.getLogger(name).addHandler(logging.NullHandler())
    make = logging.getLogRecordFactory()
    if make is not _cleaned:
        _EarlierFactory.make = make
        logging.setLogRecordFactory(_cleaned)


class _EarlierFactory:
    make: Any = logging.LogRecord


def _cleaned(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record: logging.LogRecord = _EarlierFactory.make(*args, **kwargs)
    try:
        record.msg = trace_without_keys(record.getMessage())
        record.args = None
    except (TypeError, ValueError):
        # Message and arguments do not fit; logging itself says so.
        return record
    if record.exc_info:
        trace = logging.Formatter().formatException(record.exc_info)
        # Where there is such a text, formatters print it and not the trace itself.
        record.exc_text = trace_without_keys(trace)
    return record
