"""What a provider's error means: whether another try can help, and what would have to change.

Goes by status, machine words and, where servers give no word, by their sentences. Those are other
people's text: all they decide is in which class a failed call is put.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from videoautoarena.agents.transport import signs

Nature = Literal["transient", "permanent", "quota", "content-filter", "too-large"]
"""What helps: patience; nothing; money or another day; other content; a smaller request."""

PATIENCE_S = 900.0
"""Pauses, added up, after which a server that still has no room for a call is given up."""
UNREACHED = "unreachable"
"""Kind of fault of a call that nobody was there for."""
STOPPED = "stopped"
"""Kind of fault of a try that was cut off since this machine or process stood still."""
REFUSALS = frozenset({"http-429", "http-503", "http-529"})
"""Kinds of fault that say: too much at once."""

_TRANSIENT = frozenset({408, 409, 425, 429})
_REFUSED_FOR_MONEY = frozenset({400, 402, 403, 412, 429})
_REFUSED_FOR_CONTENT = frozenset({400, 403, 422, 451})
_NEVER_OF_SHAPE = frozenset({401, 402, 408, 429})
"""Statuses under which nothing is said of how a request is built."""
_LONGEST_TEXT = 10_000

_TOKEN_FIELD = re.compile(r"(?<!\w)(max_tokens|max_completion_tokens)(?!\w)")
_UNKNOWN_FIELD = re.compile(
    r"""(?ix)
    unsupported(?!.value) | un(?:known|recognized|expected)
    | not\ (?:supported|permitted|allowed|recognized) | additional\ propert
    | extra(?:_forbidden|\ inputs?|\ fields?) | (?:does\ not|doesn't)\ support(?!\ more)
    """
)
_LOCATED = re.compile(r"""['"]loc['"]:\s*['"]?[\[(]([^\])]*)""")
"""Where pydantic says a mistake is; what it was given follows, and may be the whole request."""
_WRONG_VALUE = re.compile(
    r"""(?ix)
    too\ (?:large|high|big|long|small|low) | at\ (?:most|least) | maximum | exceed | must\ be
    | (?:less|greater|more)\ than | out\ of\ range | between
    """
)


class Garbled(Exception):
    """What came back is nothing that the provider's client can read."""

    def __init__(self, message: str, body: object = None) -> None:
        super().__init__(message)
        self.body = body
        """The error that it was instead, as far as one was found in it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong in one try."""

    kind: str
    """`http-429`, `unreachable`, `timeout`, `stopped`, `connection`, `malformed`, `no-images`,
    `frames`, `provider`, or its nature."""
    reason: str
    """Short, printable, and without any key."""
    nature: Nature = "permanent"
    hint_s: float | None = None
    """What the server said to wait."""
    most_images: int | None = None
    """How many images a request may hold, where the server said so."""
    excess: float | None = None
    """How many times as many tokens as are allowed the request came to, where the server said."""
    is_local: bool = False
    """Nothing was sent."""
    refused_fields: tuple[str, ...] = ()
    """Names of a limit of tokens that the server says it does not know."""
    refused_system: bool = False
    """The server takes no system or developer message from this model."""
    demands_stream: bool = False
    """The server answers in pieces alone."""
    refused_format: bool = False
    """The server does not know the form in which the reply was to come."""
    most_tries: int | None = None
    """After so many of its like a call is given up, where that is fewer than usual."""

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed later."""
        return self.nature == "transient"

    @property
    def is_refusal(self) -> bool:
        """Whether the server had no room for the call."""
        return self.is_transient and self.kind in REFUSALS


def nature_of(
    status: int, text: str, *, hint_s: float | None = None, is_overflow: bool = False
) -> Nature:
    """Return what an HTTP status and all that the server said with it mean.

    `hint_s` is how long the server says to wait: what is spent and comes back within the patience
    that a full server gets is no quota. `is_overflow` says that the client found the request too
    long for the model.
    """
    text = text[:_LONGEST_TEXT]
    if status == 402:
        return "quota"
    if status == 429 and (excess_of(text) is not None or signs.is_of_large_body(text)):
        return "too-large"
    if _is_spent(status, text, hint_s):
        return "quota"
    if status in _REFUSED_FOR_CONTENT and signs.names_filter(text):
        return "content-filter"
    if status not in _NEVER_OF_SHAPE:
        if takes_no_images(status, text):
            return "permanent"
        if status == 413 or _is_too_large(text, is_overflow=is_overflow):
            return "too-large"
        if refuses_system(status, text) or demands_stream(status, text):
            return "permanent"
        if refuses_response_format(status, text):
            return "permanent"
    return "transient" if status in _TRANSIENT or status >= 500 else "permanent"


def _is_spent(status: int, text: str, hint_s: float | None) -> bool:
    """Return whether money or a long span's quota is used up, and will be for long."""
    if status not in _REFUSED_FOR_MONEY:
        return False
    is_spent = signs.is_out_of_money(text) or (status == 429 and signs.names_gemini_day(text))
    is_spent = is_spent or (status == 403 and signs.is_over_quota(text))
    if not is_spent and status == 429:
        words_s = signs.hint_in(text)
        is_long = hint_s is None and words_s is not None and words_s > PATIENCE_S
        is_spent = is_long or signs.is_out_for_the_day(text)
        hint_s = words_s if hint_s is None else hint_s
    return is_spent and (hint_s is None or hint_s > PATIENCE_S)


def _is_too_large(text: str, *, is_overflow: bool) -> bool:
    if signs.is_of_many_images(text) or signs.is_of_large_body(text):
        return True
    if signs.is_of_output_alone(text):
        return False
    return is_overflow or signs.is_too_long(text)


def takes_no_images(status: int, text: str) -> bool:
    """Return whether a server says that its model sees no images at all."""
    return _says(signs.sees_no_images, status, text)


def most_images(text: str) -> int | None:
    """Return how many images a server says that it takes."""
    return signs.stated_images(text[:_LONGEST_TEXT])


def excess_of(text: str) -> float | None:
    """Return how many times as many tokens as are allowed a request came to; None: not said."""
    counts = signs.token_counts(text[:_LONGEST_TEXT])
    if counts is None or not counts.output < counts.limit < counts.asked:
        return None
    return counts.asked / counts.limit


def refuses_system(status: int, text: str) -> bool:
    """Return whether a server says that its model takes no system or developer message."""
    return status != 403 and _says(signs.wants_no_system, status, text)


def demands_stream(status: int, text: str) -> bool:
    """Return whether a server says that it answers in pieces alone."""
    return status != 403 and _says(signs.wants_stream, status, text)


def refuses_response_format(status: int, text: str) -> bool:
    """Return whether a server says that it does not know a form of reply that was asked for."""
    return status != 403 and _says(signs.wants_no_format, status, text)


def _says(sign: Callable[[str], bool], status: int, text: str) -> bool:
    return status >= 400 and status not in _NEVER_OF_SHAPE and sign(text[:_LONGEST_TEXT])


def refused_fields(status: int, text: str) -> tuple[str, ...]:
    """Return by which names a server does not take a limit of tokens, as far as it says so.

    Both where it names the one and advises the other. A limit that is too high is none of them.
    """
    text = text[:_LONGEST_TEXT]
    is_of_value = _WRONG_VALUE.search(text) and not _UNKNOWN_FIELD.search(text)
    if status not in (400, 422) or is_of_value:
        return ()
    places = " ".join(_LOCATED.findall(text))
    return tuple(dict.fromkeys(_TOKEN_FIELD.findall(places or text)))
