"""What every request has to pass before a page hears of it, and what every answer carries.

A page of another origin, another user of the machine and a name that was made to lead here are all
refused: by the host that was asked for, the origin that asks, and a session that only the link from
the terminal opens.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterator, Mapping, MutableMapping
from hmac import compare_digest
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qs

from videoautoarena.agents.transport.redaction import trace_without_keys
from videoautoarena.memory.records.errors import ArenaError
from videoautoarena.runs.formats.terminal import safe, say

LENGTH = 32
"""Random bytes in a token and in a session."""
COOKIE_S = 30 * 24 * 3600
"""How long a browser keeps a cookie, closed or not; once the process has ended it opens nothing."""


class Sessions:
    """The links and sessions of one server, each of which names who looks.

    They end with the process; nothing is written down.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        # Cookies ignore ports, so those of two servers must not have one name.
        self._cookie = f"arena-{port}"
        self._links: dict[str, str] = {}
        self._used: dict[str, str] = {}
        """Who opened a link, by the token of the link."""
        self._open: dict[str, str] = {}

    def link(self, who: str = "") -> str:
        """Return a new link, for one browser; `who` is what its session will be known by."""
        token = secrets.token_urlsafe(LENGTH)
        self._links[token] = who
        return f"http://127.0.0.1:{self.port}/?token={token}"

    def enter(self, token: str) -> str | None:
        """Use up a token and return the cookie of its session; None where it opens nothing."""
        found = _same(token, self._links)
        if found is None:
            return None
        session = secrets.token_urlsafe(LENGTH)
        self._open[session] = self._used[found] = self._links.pop(found)
        # Strict: neither a page of another site nor a link on one sends it along.
        return f"{self._cookie}={session}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_S}"

    def used_by(self, token: str) -> str | None:
        """Return who opened the link of a token; None if nobody did."""
        found = _same(token, self._used)
        return None if found is None else self._used[found]

    def who(self, cookies: str) -> str | None:
        """Return who sends these cookies, as `link` named them; None for a stranger."""
        for value in self._values(cookies):
            found = _same(value, self._open)
            if found is not None:
                return self._open[found]
        return None

    def _values(self, cookies: str) -> Iterator[str]:
        """Yield what is sent as the cookie of this server; others on this machine may set it."""
        for pair in cookies.split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self._cookie:
                yield value


def _same(given: str, known: Mapping[str, str]) -> str | None:
    """Return the key that is equal to `given`; how long it takes says nothing of any key."""
    raw = given.encode("utf-8", "replace")
    same = None
    for key in known:
        if compare_digest(raw, key.encode()):
            same = key
    return same


Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

MOST_BYTES = 64 * 1024
"""Size of the body of a request, at most."""
MOST_ANSWERS = 64
"""Answers to one session at a time; event streams and videos that nobody waits for stay open."""
READING = ("GET", "HEAD")
PLAIN_PATH = re.compile(rb"/|(/(?!\.{1,2}(/|$))[\w.~-]+)+", re.ASCII)
"""No page has a name that needs encoding; a path that is encoded, or climbs, leads nowhere."""
ICON = b"/favicon.ico"
"""Browsers ask for it unasked, and complain where it is missing."""
NO_CONTENT = 204
OWN_SITES = ("none", "same-origin")
"""What a browser says about a request that a person typed, or that one of our pages made."""


class RequestRefusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    reason: str
    more: tuple[tuple[str, str], ...] = ()
    """Further headers."""


class Guard:
    """Hands on the requests of sessions, made from our own pages; says no to all others.

    `posts` are the paths that take JSON by POST, and `new_link` says what makes another link. The
    application finds who asks in `request.state.session`, as `Sessions.link` named them, and sees
    neither tokens nor cookies.
    """

    def __init__(
        self,
        app: App,
        sessions: Sessions,
        *,
        policy: str,
        posts: Container[str] = (),
        new_link: str = "start the command again",
    ) -> None:
        self._app = app
        self._sessions = sessions
        self._posts = posts
        self._new_link = new_link
        self._hosts = tuple(f"{name}:{sessions.port}" for name in ("127.0.0.1", "localhost"))
        # A page cannot say this of itself.
        whole = f"{policy}; frame-ancestors 'none'"
        self._headers = tuple(_raw(pair) for pair in (*ALWAYS, ("Content-Security-Policy", whole)))
        self._reading: set[asyncio.Task[Any]] = set()
        self._writing: set[asyncio.Task[Any]] = set()
        self._open: Counter[str] = Counter()
        """Number of answers under way, by who gets them."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        answer = _Answer(send, self._headers)
        request = _Request(scope)
        refusal = self._refusal(request)
        if refusal is None and request.token is not None:
            refusal = self._opened(request)
        who = self._sessions.who(request.header("cookie"))
        if refusal is None and who is None:
            refusal = RequestRefusal(403, "open the link that the command printed")
        if refusal is not None:
            await answer.refuse(refusal)
            return
        body = await _body(receive) if request.method == "POST" else b""
        if body is None:
            await answer.refuse(RequestRefusal(413, "too long"))
            return
        inner = {**scope, "state": {**scope.get("state", {}), "session": who}}
        inner["headers"] = [pair for pair in scope["headers"] if pair[0] != b"cookie"]
        await self._pass_on(inner, _given(body, receive), answer)

    async def end(self, patience_s: float) -> None:
        """End what only reads, however long it would last; let what writes finish."""
        for task in self._reading:
            task.cancel()
        if self._writing:
            # A vote under way is written before the process ends.
            await asyncio.wait(self._writing, timeout=patience_s)

    def _refusal(self, request: _Request) -> RequestRefusal | None:
        """Return why a request is refused, whoever sends it."""
        host = request.header("host")
        # A name of somebody else that was made to lead to 127.0.0.1 (DNS rebinding) still stands in
        # Host.
        if host not in self._hosts:
            return RequestRefusal(421, "this server has another name")
        is_post = request.method == "POST"
        origin = request.header("origin")
        # Browsers send an origin with every POST, and none with what is typed into the address bar.
        if (origin or is_post) and origin != f"http://{host}":
            return RequestRefusal(403, "asked by another page")
        # Clients other than browsers send no such header; like anybody else they need a session.
        if request.header("sec-fetch-site", OWN_SITES[0]) not in OWN_SITES:
            return RequestRefusal(403, "asked by another page; paste the link into the address bar")
        if request.path == ICON:
            return RequestRefusal(NO_CONTENT, "")
        if PLAIN_PATH.fullmatch(request.path) is None:
            return RequestRefusal(404, "no such page")
        if is_post and request.path.decode() in self._posts:
            return _of_body(request)
        if request.method not in READING:
            return RequestRefusal(405, "only read this", (("Allow", ", ".join(READING)),))
        has_body = request.header("content-length", "0") != "0"
        if has_body or request.header("transfer-encoding"):
            return RequestRefusal(413, "send nothing with this")
        return None

    def _opened(self, request: _Request) -> RequestRefusal | None:
        """Return a redirect to the page for a request with a token, or why it opens nothing.

        Looking ahead, as with HEAD, uses up no token.
        """
        if request.method != "GET":
            return RequestRefusal(403, "open this link in a browser")
        token = request.token or ""
        cookie = self._sessions.enter(token)
        if cookie is not None:
            # On to an address without the token, which would else stay in the address bar.
            return RequestRefusal(303, "", (("Location", "/"), ("Set-Cookie", cookie)))
        opener = self._sessions.used_by(token)
        who = self._sessions.who(request.header("cookie"))
        # A browser gets in again by its own link or one of an earlier start, never by that of
        # another labeller.
        if who is not None and opener in (who, None):
            return RequestRefusal(303, "", (("Location", "/"),))
        if opener is None:
            return RequestRefusal(
                403, "this link is of an earlier start; open the one printed last"
            )
        now = "opens again only in the browser that opened it first"
        if who is not None:
            now = "this browser has opened another one since"
        return RequestRefusal(403, f"this link was used, and {now}; {self._new_link}")

    async def _pass_on(
        self, scope: MutableMapping[str, Any], receive: Receive, answer: _Answer
    ) -> None:
        """Let the application answer; report its errors in the terminal."""
        who: str = scope["state"]["session"]
        if self._open[who] >= MOST_ANSWERS:
            await answer.refuse(RequestRefusal(503, "too many pages are open; close some"))
            return
        under_way = self._reading if scope["method"] in READING else self._writing
        # Never None: whatever awaits is part of a task.
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        under_way.add(task)
        self._open[who] += 1
        try:
            await self._app(scope, receive, answer.send)
        except ArenaError as wrong:
            say(safe(str(wrong)))
            await answer.refuse(RequestRefusal(503, str(wrong)))
        except Exception:  # noqa: BLE001 - one request that fails must not end the others
            say(safe(trace_without_keys(traceback.format_exc()), lines=True))
            await answer.refuse(RequestRefusal(500, "this is a bug; the terminal says more"))
        finally:
            under_way.discard(task)
            self._open[who] -= 1


ALWAYS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
)
"""Headers of every answer. Nothing is cached: the next server at this port shows another run under
the same addresses."""
CLOSE = ("Connection", "close")


class _Request:
    """The parts of a request that decide whether it is answered."""

    def __init__(self, scope: MutableMapping[str, Any]) -> None:
        self.method: str = scope["method"]
        self.path: bytes = scope["raw_path"]
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]
        # These are raw bytes of anybody; latin-1 decodes every one.
        asked = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = asked.get("token") if self.path == b"/" else None
        self.token = tokens[0] if tokens else None

    def header(self, name: str, missing: str = "") -> str:
        """Return a header; several of one name are joined and so match no rule for a single one."""
        values = [value for key, value in self._headers if key == name.encode()]
        if not values:
            return missing
        return (b"; " if name == "cookie" else b", ").join(values).decode("latin-1")


class _Answer:
    """The way back, on which every answer gets the headers of all."""

    def __init__(self, send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> None:
        self._send = send
        self._headers = headers
        self._is_begun = False

    async def send(self, message: Message) -> None:
        """Send a part of the application's answer."""
        if message["type"] == "http.response.start":
            self._is_begun = True
            names = {name for name, _ in self._headers}
            own = [pair for pair in message.get("headers", ()) if pair[0].lower() not in names]
            message = {**message, "headers": [*own, *self._headers]}
        await self._send(message)

    async def refuse(self, refusal: RequestRefusal) -> None:
        """Send a refusal as plain text; where an answer has begun it just ends there.

        The connection ends, so that nobody holds one by asking in vain.
        """
        if self._is_begun:
            return
        body = f"{safe(refusal.reason)}\n".encode() if refusal.reason else b""
        pairs = (("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body))))
        has_body = refusal.status != NO_CONTENT
        headers = [_raw(pair) for pair in (*(pairs if has_body else ()), *refusal.more, CLOSE)]
        start = {"type": "http.response.start", "status": refusal.status, "headers": headers}
        await self.send(start)
        await self.send({"type": "http.response.body", "body": body})


def _of_body(request: _Request) -> RequestRefusal | None:
    """Return why the body of a POST is not even read; None if it may be."""
    kind = request.header("content-type").partition(";")[0].strip().lower()
    if kind != "application/json":
        return RequestRefusal(415, "send JSON")
    length = request.header("content-length", "0")
    if not length.isdecimal() or int(length) > MOST_BYTES:
        return RequestRefusal(413, "too long")
    return None


async def _body(receive: Receive) -> bytes | None:
    """Return what a request brings, whole; None where it is too long or breaks off."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += cast(bytes, message.get("body", b""))
        # Counted as it comes, since a body in chunks states no length.
        if len(body) > MOST_BYTES:
            return None
        if not message.get("more_body", False):
            return body


def _given(body: bytes, receive: Receive) -> Receive:
    """Return what hands out a body that was read, and then says when the connection ends."""
    is_read = False

    async def give() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return give


def _raw(pair: tuple[str, str]) -> tuple[bytes, bytes]:
    """Return a header as it is sent; its name is in small letters."""
    return pair[0].lower().encode("latin-1"), pair[1].encode("latin-1")
