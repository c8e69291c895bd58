"""Who may look: links that each open in one browser, and the sessions that they became."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from hmac import compare_digest

LENGTH = 32
"""Random bytes of a token and of a session."""
COOKIE_S = 30 * 24 * 3600
"""So long a browser keeps a cookie, closed or not; it opens nothing once the process has ended."""


class Sessions:
    """The links and sessions of one server, each of which names who looks.

    Nothing of them is kept: they end with the process.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        # Cookies ignore ports, so those of two servers must not have one name.
        self._cookie = f"arena-{port}"
        self._links: dict[str, str] = {}
        self._used: dict[str, str] = {}
        """The links that were opened, and by whom."""
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
        return f"{self._cookie}={session}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_S}"

    def used_by(self, token: str) -> str | None:
        """Return who opened the link of a token; None where nobody did."""
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
