"""What went wrong with a call, and when to try it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from videoautoarena.agents.transport.faults import (
    REFUSALS,
    UNREACHED,
    Fault,
    Garbled,
    most_images,
    nature_of,
    refused_fields,
    refuses_response_format,
)
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.memory.records.digests import unit_interval
from videoautoarena.memory.records.records import Attempt

MOST_TRIES = 6
GARBLED = frozenset({"malformed", "empty"})
"""Kinds of fault of a server that answered, and said nothing that can be used."""
MOST_GARBLED = 3
"""Tries after which such a server is taken at its word."""
PATIENCE_S = 900.0
"""Pauses, added up, after which a server that still has no room for a call is given up."""
LONGEST_HINT_S = 120.0
"""A server that asks for more patience is asked again after this much."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0

_TIMEOUTS = frozenset({"TimeoutError", "TimeoutException", "APITimeoutError"})
_CONNECTIONS = frozenset({"ConnectionError", "TransportError", "APIConnectionError"})
_UNREACHED = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})
"""Nothing was sent, so nothing can have been charged."""
_PROVIDERS = frozenset({"openai", "google", "langchain_openai", "langchain_google_genai"})


def fault_of(
    error: Exception, *, key_env: str | None = None, is_foreign: bool = False
) -> Fault | None:
    """Return what a remote call's exception means; None for one that is a bug of ours.

    Goes by attributes and class names, so that no provider's package has to be imported. Whatever
    a chat model raises that is not known here, `is_foreign`, is no bug of ours.
    """
    said = _said(error)
    garbled = next((link for link in _chain(error) if isinstance(link, Garbled)), None)
    if garbled is not None:
        # Some servers send an error with status 200, which a client finds unreadable.
        fault = _fault("malformed", 400, said, redacted(str(garbled), key_env=key_env))
        # Any other is half an answer or a proxy's page, and may be whole the next time.
        return replace(fault, nature="transient") if fault.nature == "permanent" else fault
    reason = redacted(f"{type(error).__name__}: {error}", key_env=key_env)
    status = _status(error)
    if status is not None and status >= 400:
        return _fault(f"http-{status}", status, said, reason, hint_s=_hint_s(error))
    names = {cls.__name__ for link in _chain(error) for cls in type(link).__mro__}
    if names & _UNREACHED:
        return Fault(UNREACHED, redacted(_root(error), key_env=key_env), "transient")
    if names & _TIMEOUTS:
        return Fault("timeout", reason, "transient")
    if names & _CONNECTIONS:
        return Fault("connection", reason, "transient")
    packages = {cls.__module__.partition(".")[0] for cls in type(error).__mro__}
    is_theirs = is_foreign or packages & _PROVIDERS
    return _fault("provider", 400, said, reason) if is_theirs else None


def _fault(kind: str, status: int, said: str, reason: str, *, hint_s: float | None = None) -> Fault:
    nature = nature_of(status, said)
    if nature in ("transient", "permanent"):
        fields = refused_fields(status, said) if nature == "permanent" else ()
        return Fault(
            kind,
            reason,
            nature,
            hint_s,
            refused_fields=fields,
            refused_format=refuses_response_format(status, said),
        )
    images = most_images(said) if nature == "too-large" else None
    return Fault(nature, reason, nature, most_images=images)


def _said(error: Exception) -> str:
    bodies = (getattr(link, name, None) for link in _chain(error) for name in ("body", "details"))
    return " ".join([str(error), *(str(body) for body in bodies if isinstance(body, dict | list))])


def gives_up(fault: Fault, before: Sequence[Attempt]) -> bool:
    """Return whether a call has failed for good with this fault, given its attempts before.

    A server that has no room is given 15 minutes of pauses, one whose answers cannot be read or are
    empty three tries, anything else that passes six.
    """
    if not fault.is_transient:
        return True
    if fault.is_refusal:
        return sum(a.waited_s for a in before if a.kind in REFUSALS) >= PATIENCE_S
    if fault.kind in GARBLED and 1 + sum(a.kind in GARBLED for a in before) >= MOST_GARBLED:
        return True
    return 1 + sum(a.kind not in REFUSALS and a.waited_s > 0 for a in before) >= MOST_TRIES


def pause_s(seed: int, key: str, *, tries: int, hint_s: float | None) -> float:
    """Return the seconds to wait after `tries` tries: what the server asked for, else our own.

    Our own doubles from 1 s to 60 s, times 0.5 to 1.0 as seed, key and count have it; a hint is
    capped at 120 s, and one near nothing is stretched to a tenth of our own.
    """
    doubled = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (tries - 1))
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
    """Return what the innermost cause of an error says that says anything."""
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
                return float(text) if is_number else _until(text)
            except (ValueError, TypeError, OverflowError):
                return None
    return None


def _until(date: str) -> float:
    when = parsedate_to_datetime(date)
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return (when - datetime.now(UTC)).total_seconds()
