"""Connections to a server of pages: how long one may take to ask, and which one gives way.

All clients have the address of this machine, whoever they are, so nothing is counted by address.
What is bounded are connections that have not sent a whole request: they cost a stranger nothing.
One whose request is whole was refused and closed, or belongs to a session and is left alone.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import version

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from videoautoarena.memory.records.errors import BadInput

REQUEST_S = 20.0
"""How long a request may take, head and body, from its first byte or the start of its
connection."""
_OF_UVICORN = ("cycle", "conn", "connections", "limit_concurrency", "on_response_complete")
_OF_H11 = ("their_state", "trailing_data")
"""Attributes that the rules below rely on; neither library promises them for its next release."""


def check_libraries(config: uvicorn.Config) -> None:
    """Check that the installed libraries let connections be bounded.

    Raises:
        BadInput: one of them lacks what that takes; the message names it and its version.
    """
    one = H11Protocol(config, ServerState(), {})
    lacking = ["uvicorn" for name in _OF_UVICORN if not hasattr(one, name)]
    lacking += ["h11" for name in _OF_H11 if not hasattr(one.conn, name)]
    if lacking:
        found = f"{lacking[0]} {version(lacking[0])}"
        raise BadInput(
            f"pages cannot be served with {found}, which is too new for this version; "
            "pip install 'uvicorn<0.55' 'h11<0.17'"
        )


class HttpConnection(H11Protocol):
    """A connection that is cut where no whole request comes, or where a newer one needs its place.

    Fewer than the server's limit of concurrency are kept, unless all of them are being answered.
    """

    _since: float
    """When it began to owe a request."""
    _deadline: asyncio.TimerHandle | None = None

    @property
    def is_answered(self) -> bool:
        """Whether it has sent a whole request whose answer is not complete."""
        cycle = self.cycle
        is_open = cycle is not None and not cycle.response_complete
        return is_open and self.conn.their_state is not h11.SEND_BODY

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the place of the connection that owes a request for longest, if none is free."""
        # First uvicorn's own, which adds this connection to those that are counted below.
        super().connection_made(transport)
        self._since = self.loop.time()
        self._limit_request()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Read on; more bytes of the same request gain no time."""
        super().data_received(data)
        self._limit_request()

    def on_response_complete(self) -> None:
        """Begin to owe the next request."""
        self._since = self.loop.time()
        super().on_response_complete()
        self._limit_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave no timer behind."""
        self._forget_deadline()
        super().connection_lost(exc)

    def _limit_request(self) -> None:
        """Run the deadline while a request is owed; between two requests that of uvicorn runs."""
        if self.is_answered:
            self._forget_deadline()
            return
        is_first = self.cycle is None
        is_begun = self.conn.their_state is h11.SEND_BODY or bool(self.conn.trailing_data[0])
        if self._deadline is None and (is_first or is_begun):
            self._deadline = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    @property
    def _may_give_way(self) -> bool:
        # What is over for uvicorn may still wait for its reader: a page of several MB, its end.
        return not self.is_answered and not self.transport.get_write_buffer_size()

    def _make_room(self) -> None:
        others = (one for one in self.connections if one is not self)
        waiting = [one for one in others if isinstance(one, HttpConnection) and one._may_give_way]
        if len(self.connections) < (self.limit_concurrency or 0) or not waiting:
            return
        oldest = min(waiting, key=lambda one: one._since)
        # It counts no longer, though the loop tells it a moment later.
        self.connections.discard(oldest)
        oldest.transport.abort()
