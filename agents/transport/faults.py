"""What a provider's error means: whether another try can help, and what would have to change.

Goes by status, machine words and, where servers give no word, by their sentences. Those are other
people's text: all they decide is in which class a failed call is put.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Nature = Literal["transient", "permanent", "quota", "content-filter", "too-large"]
"""What helps: patience; nothing; money or another day; other content; a smaller request."""

UNREACHED = "unreachable"
"""Kind of fault of a call that nobody was there for."""
REFUSALS = frozenset({"http-429", "http-503", "http-529"})
"""Kinds of fault that say: too much at once."""
FILTERED = frozenset({
    "content_filter", "refusal", "guardrail_intervened", "safety", "image_safety",
    "prohibited_content", "image_prohibited_content", "blocklist", "recitation",
    "image_recitation", "spii", "jailbreak",
})  # fmt: skip
"""How a reply ends that a filter took away, in words of OpenAI, Anthropic, Bedrock and Gemini."""

_TRANSIENT = frozenset({408, 409, 425, 429})
_CHANGED_BY_ASKING_LESS = frozenset({400, 413, 422, 500})
_REFUSED_FOR_MONEY = frozenset({400, 402, 403, 429})
_REFUSED_FOR_CONTENT = frozenset({400, 403, 422, 451})
_LONGEST_TEXT = 20_000

_QUOTA = re.compile(
    r"""(?ix)
    insufficient_quota | billing_hard_limit_reached | billing_not_active
    | billing\ hard\ limit\ has\ been\ reached
    | exceeded\ your\ monthly\ included\ credits
    | credit\ balance\ is\ too\ low
    | PerDayPer\w*                                  # Gemini: GenerateRequestsPerDayPerProjectPer..
    """
)
_FILTER = re.compile(
    r"""(?ix)
    ['"]content_filter['"] | content_policy_violation | ResponsibleAIPolicyViolation
    | content\ management\ policy | \bPROHIBITED_CONTENT\b
    | (?:rejected|blocked|flagged)\ (?:by|as\ a\ result\ of)\ (?:our|the)\ (?:safety|content)
    | data_inspection_failed
    """
)
_TOO_LARGE = re.compile(
    r"""(?ix)
    context_length_exceeded | exceed_context_size_error | string_above_max_length
    | maximum\ context\ length | exceeds?\ the\ available\ context\ size
    | exceeds?\ (?:the\ )?context\ (?:window|length|size)
    | longer\ than\ the\ (?:model's\ context|maximum\ model)\ length
    | input\ token\ count\b.{0,40}\bexceeds
    | too\ many\ images | too\ much\ media
    | at\ most\ \d+\ image | maximum\ number\ of\ images | images,\ exceeding\ the\ maximum
    | number\ of\ images\b.{0,60}\b(?:exceeds|limit)
    | (?:request\ payload\ size|content\ length|request\ body|request\ entity)\b.{0,40}
      (?:exceed|too\ large|limit)
    | payload\ too\ large | request_too_large
    """
)
_MOST_IMAGES = re.compile(
    r"""(?ix)
    at\ most\ (\d{1,5})\ image
    | maximum\ number\ of\ images\D{0,20}(\d{1,5})
    | images\b.{0,60}?\bmax(?:imum)?(?:\ allowed|\ of)?(?:\ is|:)?\ (\d{1,5})
    | too\ (?:many\ images|much\ media)\b.{0,60}>\ (\d{1,5})
    """
)
_TOKEN_FIELD = re.compile(r"(?<!\w)(max_tokens|max_completion_tokens)(?!\w)")
_UNKNOWN_FIELD = re.compile(
    r"""(?ix)
    unsupported(?!.value) | un(?:known|recognized|expected)
    | not\ (?:supported|permitted|allowed|recognized) | additional\ propert
    | extra(?:_forbidden|\ inputs?|\ fields?) | (?:does\ not|doesn't)\ support(?!\ more)
    """
)
_REPLY_FORMAT = re.compile(
    r"""(?ix)
    response_?(?:format|json_?schema|schema|mime_?type) | response\ (?:format|schema)
    | json[ _](?:schema|object|mode)\b | structured\ outputs? | guided[ _](?:json|decoding)
    | (?:parse|compile|invalid|unsupported|failed\ to)\b.{0,30}\bgrammar
    """
)
_LOCATED = re.compile(r"""['"]loc['"]:\s*[\[(]([^\])]*)""")
"""Where pydantic says a mistake is; what it was given follows, and may be the whole request."""
_WRONG_VALUE = re.compile(
    r"""(?ix)
    too\ (?:large|high|big|long|small|low) | at\ (?:most|least) | maximum | exceed | must\ be
    | (?:less|greater|more)\ than | out\ of\ range | between
    """
)


class Garbled(Exception):
    """What came back is nothing that the provider's client can read."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong in one try."""

    kind: str
    """`http-429`, `unreachable`, `timeout`, `connection`, `malformed`, `frames`, `provider`, or its
    nature."""
    reason: str
    """Short, printable, and without any key."""
    nature: Nature = "permanent"
    hint_s: float | None = None
    """What the server said to wait."""
    most_images: int | None = None
    """How many images a request may hold, where the server said so."""
    is_local: bool = False
    """Nothing was sent."""
    refused_fields: tuple[str, ...] = ()
    """Names of a limit of tokens that the server says it does not know."""
    refused_format: bool = False
    """The server says that it holds no reply to what it was asked to."""

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed later."""
        return self.nature == "transient"

    @property
    def is_refusal(self) -> bool:
        """Whether the server had no room for the call."""
        return self.is_transient and self.kind in REFUSALS


def nature_of(status: int, text: str) -> Nature:
    """Return what an HTTP status and all that the server said with it mean."""
    text = text[:_LONGEST_TEXT]
    if status == 402 or (status in _REFUSED_FOR_MONEY and _QUOTA.search(text)):
        return "quota"
    if status in _REFUSED_FOR_CONTENT and _FILTER.search(text):
        return "content-filter"
    if status == 413 or (status in _CHANGED_BY_ASKING_LESS and _TOO_LARGE.search(text)):
        return "too-large"
    return "transient" if status in _TRANSIENT or status >= 500 else "permanent"


def most_images(text: str) -> int | None:
    """Return how many images a server says that it takes."""
    found = _MOST_IMAGES.search(text[:_LONGEST_TEXT])
    return next((int(group) for group in found.groups() if group), None) if found else None


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


def refuses_response_format(status: int, text: str) -> bool:
    """Return whether a server refuses to hold a reply to a schema, or to JSON, as it says."""
    text = text[:_LONGEST_TEXT]
    if status not in (400, 404, 422, 500, 501):
        return False
    places = " ".join(_LOCATED.findall(text))
    return _REPLY_FORMAT.search(places or text) is not None


def is_filtered(ending: str) -> bool:
    """Return whether an ending means that a filter kept the reply back."""
    return ending_word(ending) in FILTERED


def ending_word(ending: str) -> str:
    """Return why a reply ended in lower case, without the enumeration that some clients name."""
    return ending.rpartition(".")[2].lower()
