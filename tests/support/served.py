"""A real server of pages on the loopback address, and a client that sends what it is given."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Container, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from socket import socket

from videoautoarena.runs.serve.server.guard import App, Guard, Sessions
from videoautoarena.runs.serve.server.serve import listen, port_of, serve


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Visitor:
    """Sends requests as a browser on this machine would, unless it is told otherwise."""

    port: int
    cookie: str = ""

    async def ask(
        self,
        path: str,
        method: str = "GET",
        *,
        headers: Mapping[str, str | None] | None = None,
        body: bytes = b"",
    ) -> Answer:
        """Send one request; a header that is None is left out."""
        own: dict[str, str | None] = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"}
        if self.cookie:
            own["Cookie"] = self.cookie
        if method == "POST":
            own |= {"Origin": f"http://127.0.0.1:{self.port}", "Content-Type": "application/json"}
        if body:
            own["Content-Length"] = str(len(body))
        lines = [f"{k}: {v}" for k, v in (own | dict(headers or {})).items() if v is not None]
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""])
        return await self.send(head.encode("latin-1") + body)

    async def send(self, raw: bytes) -> Answer:
        """Send bytes and return what comes back until the server closes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(raw)
            await writer.drain()
            reply = await reader.read()
        finally:
            writer.close()
            await writer.wait_closed()
        return _parsed(reply)

    async def enter(self, link: str) -> Answer:
        """Open a link, and keep the cookie that it gives."""
        answer = await self.ask(link.partition(f":{self.port}")[2])
        self.cookie = answer.headers.get("set-cookie", "").partition(";")[0] or self.cookie
        return answer


def _parsed(reply: bytes) -> Answer:
    head, _, body = reply.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    headers = {name.lower(): value for name, _, value in pairs}
    assert len(headers) == len(lines), "a header was sent twice"
    if headers.get("transfer-encoding") == "chunked":
        body = _unchunked(body)
    return Answer(int(status.split()[1]), headers, body)


def _unchunked(raw: bytes) -> bytes:
    whole = b""
    while raw:
        size, _, raw = raw.partition(b"\r\n")
        length = int(size, 16)
        whole = whole + raw[:length]
        raw = raw[length + 2 :]
    return whole


@dataclass(frozen=True)
class Site:
    """One server for many tests; it goes on whenever one of them waits for an answer."""

    runner: asyncio.Runner
    sessions: Sessions

    def ask(
        self, path: str, method: str = "GET", *, body: bytes = b"", **headers: str | None
    ) -> Answer:
        """Return what somebody with a session is answered; `PORT` stands for that of the server."""

        async def asked() -> Answer:
            visitor = await self.visitor("ann")
            port = str(self.sessions.port)
            named = {
                name.replace("_", "-"): value and value.replace("PORT", port)
                for name, value in headers.items()
            }
            return await visitor.ask(path, method, headers=named, body=body)

        return self.runner.run(asked())

    async def visitor(self, who: str = "") -> Visitor:
        """Return somebody who has opened a link."""
        visitor = Visitor(self.sessions.port)
        await visitor.enter(self.sessions.link(who))
        return visitor


@contextmanager
def site(
    app: App, *, policy: str = "default-src 'none'", posts: Container[str] = ()
) -> Iterator[Site]:
    """Serve an application behind a guard for as long as the block lasts."""
    listener = listen(None)
    sessions = Sessions(port_of(listener))
    with asyncio.Runner() as runner:
        server = serving(Guard(app, sessions, policy=policy, posts=posts), listener)
        runner.run(server.__aenter__())
        try:
            yield Site(runner, sessions)
        finally:
            runner.run(server.__aexit__(None, None, None))


@asynccontextmanager
async def serving(guard: Guard, listener: socket) -> AsyncIterator[Visitor]:
    """Serve for as long as the block lasts, unless it is interrupted before."""
    ready = asyncio.Event()
    server = asyncio.create_task(serve(guard, listener, ready.set))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({server, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    try:
        yield Visitor(port_of(listener))
    finally:
        # By no signal: where several serve at once only the last one would hear it.
        server.cancel()
        with suppress(asyncio.CancelledError):
            await server
