"""What went wrong with a call, and when to try it again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from videoautoarena.agents.providers.catalogue import CLIENT_PACKAGES
from videoautoarena.agents.transport.deadlines import StandstillTimeout
from videoautoarena.agents.transport.faults import (
    PATIENCE_S,
    REFUSALS,
    STOPPED,
    UNREACHED,
    CallFault,
    GarbledAnswer,
    demands_stream,
    excess_of,
    hint_in,
    most_images,
    nature_of,
    refused_fields,
    refuses_response_format,
    refuses_system,
    takes_no_images,
)
from videoautoarena.agents.transport.redaction import LONGEST_REASON, redacted
from videoautoarena.agents.transport.server_words import ServerWords, words_of
from videoautoarena.memory.records.digests import unit_interval
from videoautoarena.memory.records.records import Attempt

MOST_TRIES = 6
GARBLED = frozenset({"malformed", "empty"})
"""Kinds of fault in which a server answered, but with nothing that can be used."""
MOST_GARBLED = 3
"""Tries after which such a server is taken at its word."""
LONGEST_HINT_S = 120.0
"""A server that asks for more patience is asked again after this much."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0

_TIMEOUTS = frozenset({"TimeoutError", "TimeoutException", "APITimeoutError"})
_CONNECTIONS = frozenset({"ConnectionError", "TransportError", "APIConnectionError"})
_UNREACHED = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})
"""Nothing was sent, so nothing can have been charged."""
_OVERFLOWS = frozenset({"ContextOverflowError"})
"""LangChain's class of all providers' errors over a request too long for its model."""
_BROKEN_STREAMS = frozenset({"APIError"})
"""Class that the client raises, without a status, for an error within a stream."""


def fault_of(
    error: Exception, *, key_env: str | None = None, is_foreign: bool = False
) -> CallFault | None:
    """Return what a remote call's exception means; None for one that is a bug of ours.

    Goes by attributes and class names, so that no provider's package has to be imported. Whatever
    a chat model raises that is not known here, `is_foreign`, is no bug of ours.
    """
    if isinstance(error, StandstillTimeout):
        return CallFault(STOPPED, str(error), "transient")
    garbled = next((link for link in _chain(error) if isinstance(link, GarbledAnswer)), None)
    if garbled is not None:
        return _of_answer(words_of(garbled.body), str(garbled), key_env)
    names = {cls.__name__ for link in _chain(error) for cls in type(link).__mro__}
    status = _status(error)
    if status is not None and status >= 400:
        said = _said(error)
        return _fault(_Refusal(f"http-{status}", status, said, names, key_env, _hint_s(error)))
    reason = redacted(f"{type(error).__name__}: {error}", key_env=key_env)
    # Before time-outs: ConnectTimeout and PoolTimeout are time-outs of httpx as well, yet nothing
    # was sent.
    if names & _UNREACHED:
        return CallFault(UNREACHED, redacted(_root(error), key_env=key_env), "transient")
    # Before broken connections: APITimeoutError is an APIConnectionError, and httpx's time-outs are
    # TransportErrors.
    if names & _TIMEOUTS:
        return CallFault("timeout", reason, "transient")
    if names & _CONNECTIONS:
        return CallFault("connection", reason, "transient")
    packages = {cls.__module__.partition(".")[0] for cls in type(error).__mro__}
    said = _said(error)
    if "openai" in packages and names & _BROKEN_STREAMS:
        return _of_answer(said, reason, key_env, names=names)
    if is_foreign or packages & CLIENT_PACKAGES:
        fault = _fault(_Refusal("provider", 400, said, names, key_env))
        return replace(fault, reason=reason) if fault.kind == "provider" else fault
    return None


def _of_answer(
    said: ServerWords, otherwise: str, key_env: str | None, *, names: Set[str] = frozenset()
) -> CallFault:
    """Return what an answer of status 200 without a reply means: what its error says, if any.

    Any other is half an answer or a proxy's page, and may be whole the next time.
    """
    if said.status is not None:
        refusal = _Refusal(f"http-{said.status}", said.status, said, names, key_env)
        return _fault(replace(refusal, opening=f"error {said.status} in an answer"))
    said = said if said.text else words_of(otherwise)
    fault = _fault(_Refusal("malformed", 400, said, names, key_env))
    reason = redacted(said.text, key_env=key_env)
    if fault.nature != "permanent":
        return replace(fault, reason=reason)
    is_of_shape = fault.kind != "malformed" or fault.refused_system or fault.demands_stream
    return fault if is_of_shape else CallFault("malformed", reason, "transient")


@dataclass(frozen=True)
class _Refusal:
    """An error as a server told it."""

    kind: str
    status: int
    said: ServerWords
    names: Set[str]
    """Names of the exception's classes and of theirs."""
    key_env: str | None
    hint_s: float | None = None
    opening: str = ""
    """Beginning of its reason; empty: its status."""


def _fault(refusal: _Refusal) -> CallFault:
    status = refusal.status
    signs = refusal.said.signs
    is_overflow = bool(refusal.names & _OVERFLOWS)
    nature = nature_of(status, signs, hint_s=refusal.hint_s, is_overflow=is_overflow)
    opening = refusal.opening or f"HTTP {status}"
    words = refusal.said.text
    reason = redacted(
        f"{opening}: {words}" if words else f"{opening}, without a word of why",
        key_env=refusal.key_env,
    )
    if nature == "too-large":
        return CallFault(
            nature, reason, nature, most_images=most_images(signs), excess=excess_of(signs)
        )
    if nature == "transient":
        hint_s = hint_in(words) if refusal.hint_s is None else refusal.hint_s
        return CallFault(refusal.kind, reason, nature, hint_s)
    if nature != "permanent":
        return CallFault(nature, reason, nature)
    if takes_no_images(status, signs):
        return CallFault("no-images", _with_cure(reason), nature)
    return CallFault(
        refusal.kind,
        reason,
        nature,
        refusal.hint_s,
        refused_fields=refused_fields(status, signs),
        refused_system=refuses_system(status, signs),
        demands_stream=demands_stream(status, signs),
        refused_format=refuses_response_format(status, signs),
    )


_CURE = "; it takes no images: set max_frames = 0 for this model"


def _with_cure(reason: str) -> str:
    room = LONGEST_REASON - len(_CURE)
    return (reason if len(reason) <= room else reason[: room - 1] + "…") + _CURE


def _said(error: Exception) -> ServerWords:
    """Return what a server said with an error: in its answer's body, else in the exception."""
    for body in _bodies(error):
        said = words_of(body)
        if said.text:
            return said
    for link in _chain(error):
        text = _STATUS_ALONE.sub("", str(link)).strip()
        if text:
            return words_of(text)
    return ServerWords()


_STATUS_ALONE = re.compile(r"^(?:Error code: \d{3}(?: - )?|status \d{3}$)")
"""What clients put before a server's words, or in the place of them."""


def _bodies(error: Exception) -> Iterator[object]:
    """Yield bodies of answers, the wholest first: clients keep parts of them, or nothing."""
    for link in _chain(error):
        response = getattr(link, "response", None)
        if isinstance(response, Mapping):
            # As botocore keeps it.
            yield response.get("Error")
        try:
            text = getattr(response, "text", None)
        except (RuntimeError, ValueError, LookupError):
            # A body that nobody read.
            text = None
        yield text if isinstance(text, str) else None
    for link in _chain(error):
        for name in ("body", "details"):
            yield getattr(link, name, None)


def gives_up(fault: CallFault, before: Sequence[Attempt]) -> bool:
    """Return whether a call has failed for good with this fault, given its attempts before.

    A server that has no room is given 15 minutes of pauses, one whose answers cannot be read or are
    empty three tries, or fewer where the fault says so, anything else that passes six.
    """
    if not fault.is_transient:
        return True
    if fault.is_refusal:
        return sum(a.waited_s for a in before if a.kind in REFUSALS) >= PATIENCE_S
    most_garbled = MOST_GARBLED if fault.most_tries is None else fault.most_tries
    if fault.kind in GARBLED and 1 + sum(a.kind in GARBLED for a in before) >= most_garbled:
        return True
    # A try that was mended at once, such as one with fewer frames, waited for nothing and is not
    # counted.
    return 1 + sum(a.kind not in REFUSALS and a.waited_s > 0 for a in before) >= MOST_TRIES


def pause_s(seed: int, key: str, *, tries: int, hint_s: float | None) -> float:
    """Return the seconds to wait after `tries` tries: what the server asked for, else our own.

    Our own doubles from 1 s to 60 s, times 0.5 to 1.0 as seed, key and count have it; a hint is
    capped at 120 s, and one near nothing is stretched to a tenth of our own.
    """
    doubled = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (tries - 1))
    # Seeded, so that calls refused together do not come back together and no global generator is
    # used.
    own = doubled * (0.5 + 0.5 * unit_interval(seed, "pause", key, tries))
    return round(own if hint_s is None else min(max(hint_s, own / 10), LONGEST_HINT_S), 3)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__


def _root(error: Exception) -> str:
    """Return the words of the innermost cause of an error that has any."""
    link: BaseException | None = error
    said = f"{type(error).__name__}: {error}"
    while link is not None:
        said = f"{type(link).__name__}: {link}" if str(link) else said
        # Whatever a library shows of it: the system's word is the one that helps.
        link = link.__cause__ or link.__context__
    return said


def _status(error: Exception) -> int | None:
    for link in _chain(error):
        # Bare httpx keeps it on the response alone.
        response = getattr(link, "response", None)
        if isinstance(response, Mapping):
            facts = response.get("ResponseMetadata")
            status = facts.get("HTTPStatusCode") if isinstance(facts, Mapping) else None
            if isinstance(status, int):
                return status
        # google-genai calls it `code`, openai `status_code`.
        for holder, name in ((link, "status_code"), (link, "code"), (response, "status_code")):
            status = getattr(holder, name, None)
            if isinstance(status, int) and not isinstance(status, bool):
                return status
    return None


def _hint_s(error: Exception) -> float | None:
    """Return what a Retry-After header asks for: seconds, or the time until a date."""
    for link in _chain(error):
        headers: Any = getattr(getattr(link, "response", None), "headers", None)
        value = headers.get("retry-after") if hasattr(headers, "get") else None
        if value is not None:
            text = str(value)
            try:
                is_number = text.strip().replace(".", "", 1).isdigit()
                return float(text) if is_number else _until(text, headers.get("date"))
            except (ValueError, TypeError, OverflowError):
                return None
    return None


def _until(date: str, now: object) -> float:
    """Return the seconds until a date, on the clock of the server that named it if it has one."""
    when = _moment(date)
    try:
        here = _moment(now) if isinstance(now, str) else datetime.now(UTC)
    except (ValueError, TypeError):
        here = datetime.now(UTC)
    return (when - here).total_seconds()


def _moment(date: str) -> datetime:
    when = parsedate_to_datetime(date)
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when
