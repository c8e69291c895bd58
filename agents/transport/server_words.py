"""What a server says with an error, wherever in its answer the words stand.

A body is a stranger's: nothing here trusts its shape, and what comes out is still to be redacted.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

LONGEST_BODY = 20_000
"""Characters of a body that are looked at."""
# Bounds, since a stranger's body may be nested or listed without end.
_DEEPEST = 6
_MOST_LEAVES = 200
_MOST_PARTS = 4
_LONGEST_LEAF = 2_000

_ERRORS = ("error", "Error", "errors", "fault", "base_resp")
"""Names under which the error itself stands in a body."""
_MESSAGES = (
    "message", "msg", "Message", "detail", "error_message", "errorMessage", "error_description",
    "description", "status_msg", "error_msg", "faultstring", "reason", "title",
)  # fmt: skip
"""Names under which its words stand, the most telling first."""
_CODES = (
    "code",
    "status_code",
    "http_status_code",
    "httpStatusCode",
    "status",
    "type",
    "__type",
    "error_type",
)
_ECHOES = frozenset({"input", "messages", "prompt", "request", "body", "traceback", "stack"})
"""Names of what repeats the request or a program's own lines and says nothing of the error."""
_OF_REPLIES = frozenset({"choices", "candidates", "output", "content"})

_STATUS_OF_WORD = {
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "rate_limited": 429,
    "too_many_requests": 429,
    "toomanyrequests": 429,
    "throttlingexception": 429,
    "throttling": 429,
    "resource_exhausted": 429,
    "insufficient_quota": 429,
    "overloaded_error": 529,
    "overloaded": 529,
    "provider_overloaded": 529,
    "engine_overloaded": 503,
    "engine_overloaded_error": 503,
    "service_unavailable": 503,
    "serviceunavailable": 503,
    "unavailable": 503,
    "provider_unavailable": 503,
    "server_error": 500,
    "internal_server_error": 500,
    "internalservererror": 500,
    "internal_error": 500,
    "api_error": 500,
    "internal": 500,
    "bad_gateway": 502,
    "timeout_error": 504,
    "gateway_timeout": 504,
    "deadline_exceeded": 504,
    "invalid_request_error": 400,
    "invalid_request": 400,
    "badrequesterror": 400,
    "bad_request": 400,
    "invalid_argument": 400,
    "invalid_prompt": 400,
    "failed_precondition": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "authentication": 401,
    "invalid_api_key": 401,
    "unauthenticated": 401,
    "unauthorized": 401,
    "billing_error": 402,
    "payment_required": 402,
    "insufficient_credits": 402,
    "permission_error": 403,
    "permission_denied": 403,
    "access_denied": 403,
    "forbidden": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "not_found": 404,
    "request_too_large": 413,
}
"""The status that a machine word stands for, where it comes without one."""

_STATUS_OF_BASE = {1001: 504, 1002: 429, 1004: 401, 1008: 402, 1039: 429, 2049: 401}
"""The status that a number of MiniMax under `base_resp` stands for."""

_TITLE = re.compile(r"(?is)<title[^>]{0,200}>(.{1,500}?)</title>")
_HEADLINE = re.compile(r"(?is)<h[1-3][^>]{0,200}>(.{1,500}?)</h[1-3]>")
_HIDDEN = re.compile(r"(?is)<(script|style)\b.{0,10000}?</\1>")
_TAG = re.compile(r"<[^<>]{0,500}>")
_INLINE_TAG = re.compile(
    r"(?i)</?(?:a|abbr|b|bdi|code|em|font|i|kbd|mark|s|small|span|strong|sub|sup|tt|u|wbr)"
    r"(?:\s[^<>]{0,500})?/?>"
)
"""Tags that may stand in the middle of a word."""
_IS_HTML = re.compile(
    r"(?is)\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body|title|h1|center)\b"
)
_QUOTED = re.compile(
    r"""(?sx) \{ .{0,200}? (["'])(?:message|msg|detail)\1 \s*:\s*
    (["']) (?P<words> (?:\\.|(?!\2)[^\\]){1,2000} ) \2"""
)
"""Another server's body, quoted within a sentence, as JSON or as Python prints it."""


class ServerWords(NamedTuple):
    """What a server said with an error."""

    text: str = ""
    """Sentences for people, without a body's punctuation."""
    signs: str = ""
    """All of it that says what the error is, machine words included."""
    status: int | None = None
    """The status of HTTP that its own code stands for; None if it names none."""


def words_of(body: object) -> ServerWords:
    """Return what the body of an error says: a dict or list out of JSON, or a text."""
    if isinstance(body, bytes):
        body = body[:LONGEST_BODY].decode("utf-8", "replace")
    if isinstance(body, str):
        read = _read(body)
        if not isinstance(read, Mapping | list):
            text = " ".join(_sentence(read if isinstance(read, str) else body).split())
            return ServerWords(text, text, _status_of_text(text))
        body = read
    if not isinstance(body, Mapping | list):
        return ServerWords()
    parts = list(dict.fromkeys(filter(None, _parts(body, 0))))
    text = ": ".join(_without_repeats(parts)[:_MOST_PARTS])
    leaves = list(_leaves(body, 0, [0]))
    if not text:
        text = ", ".join(f"{key}: {value.strip('[]')}" for key, value in leaves[:_MOST_PARTS])
    told = " ".join(parts)
    more = (f"'{key}': '{value}'" for key, value in leaves if value not in told or len(value) < 40)
    signs = f"{told}. {' '.join(more)}"
    return ServerWords(text, signs[:LONGEST_BODY], _status(body, 0) or _status_of_text(text))


def error_in(answer: object) -> object | None:
    """Return the error that stands in an answer of status 200; None if it holds no error.

    Text of a model is no error, however it reads: only what stands where errors stand counts.
    """
    if isinstance(answer, list):
        return next(filter(None, map(error_in, answer[:2])), None)
    if not isinstance(answer, Mapping):
        return None
    if any(answer.get(name) for name in ("error", "Error", "errors", "fault")):
        return answer
    if "error" in (answer.get("object"), answer.get("type")):
        return answer
    choices = answer.get("choices")
    if isinstance(choices, list) and choices:
        first = choices[0]
        return (
            {"error": first["error"]} if isinstance(first, Mapping) and first.get("error") else None
        )
    if answer.keys() & _OF_REPLIES and any(answer.get(name) for name in _OF_REPLIES):
        return None
    base = answer.get("base_resp")
    if isinstance(base, Mapping) and base.get("status_code"):
        return answer
    if answer.get("detail"):
        return answer
    has_code = any(answer.get(name) for name in ("code", "status", "status_code", "error_code"))
    return answer if has_code and answer.keys() & set(_MESSAGES) else None


def error_in_text(answer: str) -> object | None:
    """Return the error in an answer as it came: an object, events of a stream, a page, a line."""
    text = answer.strip()
    if not text:
        return None
    if text[0] in "{[":
        read = _read(text)
        # Half an object may be half a reply.
        return error_in(read)
    if re.match(r"(?:data|event|id|retry)?:", text):
        lines = re.findall(r"(?m)^data:\s*(\{.*\})\s*$", text)
        # The last error among the pieces of a stream is the one that ended it.
        told = (error_in(_read(line)) for line in reversed(lines) if "rror" in line)
        return next(filter(None, told), None)
    if _IS_HTML.match(text):
        return f"an HTML page instead of a reply: {_sentence(text)}"
    return f"a text instead of a reply: {text[:_LONGEST_LEAF]}"


def _read(text: str) -> Any:
    stripped = text.strip()
    if not stripped.startswith(("{", "[", '"')):
        return None
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        return None


def _sentence(text: str) -> str:
    """Return a text without what surrounds its words: a page's tags, a quoted body's braces."""
    text = text[:LONGEST_BODY]
    if _IS_HTML.match(text):
        named = _TITLE.search(text) or _HEADLINE.search(text)
        shown = named[1] if named else _HIDDEN.sub(" ", text)
        return html.unescape(_TAG.sub(" ", _INLINE_TAG.sub("", shown))).strip()
    quoted = _QUOTED.search(text)
    if quoted is None:
        return text.strip()
    before = text[: quoted.start()].strip(" \t\n-:")
    words = re.sub(r"\\(?:[nrt]|(.))", lambda found: found[1] or " ", quoted["words"])
    inner = _sentence(words)
    return f"{before}: {inner}" if before else inner


def _parts(body: object, depth: int) -> Iterator[str]:
    """Yield the sentences of a body, the outermost first."""
    if depth > _DEEPEST:
        return
    if isinstance(body, str):
        read = _read(body)
        if isinstance(read, Mapping | list):
            yield from _parts(read, depth + 1)
        else:
            yield " ".join(_sentence(body).split())
    elif isinstance(body, list):
        for item in body[:3]:
            yield from _located(item) if _is_located(item) else _parts(item, depth + 1)
    elif isinstance(body, Mapping):
        yield from _parts_of(body, depth)


def _parts_of(body: Mapping[Any, Any], depth: int) -> Iterator[str]:
    told = False
    for name in _ERRORS:
        if body.get(name) and not isinstance(body[name], bool | int | float):
            told = True
            yield from _parts(body[name], depth + 1)
    for name in _MESSAGES:
        inner = list(_parts(body.get(name), depth + 1))
        if any(inner):
            told = True
            yield from inner
            break
    metadata = body.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("raw"):
        told = True
        yield from _parts(metadata["raw"], depth + 1)
    if not told:
        yield from (str(body[name]) for name in ("code", "type", "status") if body.get(name))


def _is_located(item: object) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get("msg"), str)


def _located(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield a mistake as FastAPI lists it: where it is, and what it is."""
    place = item.get("loc")
    named = [str(step) for step in place if step != "body"] if isinstance(place, list) else []
    yield f"{'.'.join(named)}: {item['msg']}" if named else str(item["msg"])


def _without_repeats(parts: list[str]) -> list[str]:
    """Return the parts without those that another part holds as well."""
    return [
        part
        for place, part in enumerate(parts)
        if not any(part in other for at, other in enumerate(parts) if at != place)
    ]


def _leaves(
    body: object, depth: int, count: list[int], name: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield names and values of what is no sentence: codes, counts, places."""
    if depth > _DEEPEST or count[0] > _MOST_LEAVES:
        return
    if isinstance(body, Mapping):
        for key, value in body.items():
            if key not in _ECHOES:
                yield from _leaves(value, depth + 1, count, str(key)[:80])
    elif isinstance(body, list):
        if body and all(isinstance(item, str | int) for item in body):
            count[0] += 1
            yield name, f"[{', '.join(map(str, body))}]"[:_LONGEST_LEAF]
        else:
            for item in body:
                yield from _leaves(item, depth + 1, count, name)
    elif body not in (None, "") and not isinstance(body, bool):
        count[0] += 1
        yield name, str(body)[:_LONGEST_LEAF]


def _status(body: object, depth: int) -> int | None:
    if depth > _DEEPEST:
        return None
    if isinstance(body, str):
        return _status(_read(body), depth + 1) if body.lstrip().startswith(("{", "[")) else None
    if isinstance(body, list):
        return next(filter(None, (_status(item, depth + 1) for item in body[:2])), None)
    if not isinstance(body, Mapping):
        return None
    for name in _ERRORS:
        under = body.get(name)
        inner = _status(under, depth + 1)
        if inner is None and name == "base_resp" and isinstance(under, Mapping):
            code = under.get("status_code")
            inner = _STATUS_OF_BASE.get(code) if isinstance(code, int) else None
        if inner is not None:
            return inner
    said = [body.get(name) for name in _CODES]
    numbers = filter(None, map(_as_status, said))
    words = (_status_of_word(word) for word in said if isinstance(word, str))
    return next(numbers, None) or next(filter(None, words), None)


def _status_of_word(word: str) -> int | None:
    """Return the status of a machine word, also of one written as a class's name."""
    snake = re.sub(r"(?<=[a-z\d])(?=[A-Z])", "_", word[:80]).lower()
    bare = snake.removesuffix("_error").removesuffix("_exception")
    known = map(_STATUS_OF_WORD.get, (word.lower(), snake, bare))
    return next(filter(None, known), None)


def _as_status(said: object) -> int | None:
    """Return a status of HTTP that is an error, said as a number or in digits."""
    if isinstance(said, str) and said.strip().isdecimal() and len(said.strip()) == 3:
        said = int(said)
    if isinstance(said, int) and not isinstance(said, bool) and 400 <= said <= 599:
        return said
    return None


_BUSY = re.compile(r"(?i)rate.?limit|too many requests|\bthrottl|\berror code:? 1015\b")
_OVERLOADED = re.compile(
    r"(?i)\boverloaded\b|\bat capacity\b|service unavailable|temporarily unavailable"
)


def _status_of_text(text: str) -> int | None:
    """Return the status that mere words stand for, where they leave no doubt."""
    if _BUSY.search(text):
        return 429
    return 503 if _OVERLOADED.search(text) else None
