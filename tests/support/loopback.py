"""A provider on 127.0.0.1: OpenAI's and Gemini's protocol, answers as the offline models give them.

The request travels as bytes: the body is parsed back into messages, and those go to the offline
model that the request names. Run it as `python -m tests.support.loopback --port 0 --log FILE`.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from tests.support import wire
from tests.support.canned import Brain, canned, chatty
from tests.support.forks import started
from tests.support.manners import ERRORS, REPLIES, Doorkeeper, Manners, Mishap, read_manners

ROOT = Path(__file__).parents[2]
HUGE_BYTES = 34_000_000
PROSE = "I would rather not say."
SPOILT: dict[str, Callable[[str], str]] = {
    "prose": lambda _good: PROSE,
    "fence": lambda good: f"Here it is, from [00:12] on:\n```json\n{good}\n```\nI hope it helps.",
    "empty": lambda _good: "",
    "thoughts": lambda good: f"<think>\nIt may be {good}, or not",
    "blanks": lambda _good: " \n\t",
    "truncated": lambda good: good[: len(good) // 2],
    "broken-off": lambda good: good[: len(good) // 2],
    "filtered": lambda good: good[: len(good) // 2],
    "endless": lambda good: f"{good} " * (250_000 // len(good)),
}
ENDINGS: dict[str, wire.Ending] = {
    "truncated": "cut",
    "broken-off": "error",
    "refusal": "refusal",
    "filter": "filter",
    "filtered": "filtered",
    "reasoned": "reasoned",
}


class Ledger:
    """A JSONL file of what arrived and what was sent, each line whole as soon as it is true."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._lock = threading.Lock()

    def write(self, event: str, **facts: Any) -> None:
        """Append one event with the time on the clock that all processes of the machine share."""
        line = json.dumps({"event": event, "at": time.monotonic(), **facts})
        with self._lock:
            # A client may have gone on, and the server closed, before its answer is written down.
            if self._file is not None:
                os.write(self._file, line.encode() + b"\n")

    def close(self) -> None:
        """Close the file; what comes later is nobody's business."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
            self._file = None


@cache
def _much(*, zipped: bool) -> bytes:
    body = b" " * HUGE_BYTES
    return gzip.compress(body) if zipped else body


@cache
def offline_model(kind: str) -> Any:
    """Return the one offline model of a kind."""
    from videoautoarena.agents.offline import OfflineModel

    return OfflineModel(kind=kind)


def ask_offline(kind: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Return what the offline model of that name answers."""
    # Asked by itself it copies every image for tracing, which takes longer than to look at them.
    reply = offline_model(kind)._speak(list(messages))
    assert isinstance(reply, AIMessage)
    return reply


Script = Callable[[wire.Request, Callable[[], AIMessage]], wire.Answer]
"""Decides what a request is answered; the second argument asks the model behind the server."""


class Server(ThreadingHTTPServer):
    """The listening socket and everything its requests share."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(
        self,
        port: int,
        ledger: Ledger,
        manners: Manners,
        brain: Brain,
        script: Script | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", port), Conversation)
        self.ledger = ledger
        self.manners = manners
        self.brain = brain
        self.script = script
        self.door = Doorkeeper(manners)
        self.numbers = itertools.count()

    def another(self) -> Server:
        """Return a server on another port, with limits of its own and the same log."""
        other = Server(0, self.ledger, self.manners, self.brain)
        other.numbers = self.numbers
        return other

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    def handle_error(self, *_: Any) -> None:
        """Write down what went wrong, unless it is a client that was killed."""
        if not isinstance(sys.exception(), ConnectionError):
            self.ledger.write("failed", trace=traceback.format_exc())


class Conversation(BaseHTTPRequestHandler):
    """One kept-alive connection."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer one request, and write down when it came and when its answer had gone."""
        body = json.loads(self._body())
        request = wire.read(self.path, body)
        key = self.headers.get("Idempotency-Key", "")
        number = next(self.server.numbers)
        facts = {"number": number, "key": key, "model": request.model}
        more = {"images": request.images, "sampling": request.sampling}
        self.server.ledger.write("arrived", **facts, **more)
        mishap, attempt = self.server.door.come(
            request.model,
            key,
            images=request.images,
            fields=request.sampling,
            reply_format=request.reply_format,
        )
        try:
            status = self._answer(request, key, mishap, attempt)
        finally:
            self.server.door.go()
        did = {"did": mishap.do} if mishap else {}
        self.server.ledger.write("sent", **facts, status=status, **did)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return b"".join(self._chunks())

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass

    def _answer(self, request: wire.Request, key: str, mishap: Mishap | None, attempt: int) -> int:
        if not self._is_known():
            return self._send(401, wire.error(request.protocol, 401, "no such key"))
        if self.server.script is not None:
            return self._follow(self.server.script, request)
        time.sleep(self.server.manners.pause_s(key, attempt))
        if mishap is None or mishap.do in REPLIES:
            body = self._reply(request, mishap)
            if request.sampling.get("stream"):
                return self._send(200, wire.pieces(body), kind="text/event-stream")
            return self._send(200, body)
        return self._misbehave(request, mishap)

    def _follow(self, script: Script, request: wire.Request) -> int:
        """Send what a script says, a part of it where the connection is to break."""
        answer = script(request, lambda: self.server.brain(request.model, request.messages))
        self._send(
            answer.status,
            answer.body,
            kind=answer.kind,
            missing=answer.missing + len(answer.rest),
            headers=answer.headers,
        )
        if answer.rest:
            answer.until()
            self.wfile.write(answer.rest)
            self.wfile.flush()
        if answer.missing:
            self._hang_up()
        return answer.status

    def _is_known(self) -> bool:
        given = self.headers.get("x-goog-api-key") or self.headers.get("Authorization", "")
        wanted = self.server.manners.api_key
        return wanted is None or given.removeprefix("Bearer ") == wanted

    def _reply(self, request: wire.Request, mishap: Mishap | None) -> bytes:
        good = self.server.brain(request.model, request.messages)
        if mishap is None:
            return wire.reply(request, good, ending=good.response_metadata.get("ending", "stop"))
        words = SPOILT[mishap.do](str(good.text)) if mishap.do in SPOILT else good.text
        ending = ENDINGS.get(mishap.do, "stop")
        name = "another-model-2" if mishap.do == "other-model" else None
        spoilt = good.model_copy(update={"content": words})
        return wire.reply(request, spoilt, ending=ending, name=name)

    def _misbehave(self, request: wire.Request, mishap: Mishap) -> int:
        wait = mishap.retry_after_header()
        if mishap.do == "status":
            words = wire.error(request.protocol, mishap.status, "as planned")
            return self._send(mishap.status, words, retry_after=wait)
        if mishap.do in ERRORS:
            limits = self.server.manners.limits
            of = {
                "images": limits.images,
                "field": limits.unknown_field,
                "format": request.reply_format,
            }
            status, words = wire.known_error(request, mishap.do, of=of)
            return self._send(status, words, retry_after=wait)
        if mishap.do == "html":
            page = b"<html><h1>please try again</h1></html>"
            return self._send(mishap.status, page, kind="text/html", retry_after=wait)
        if mishap.do in ("huge", "bomb"):
            return self._send_much(zipped=mishap.do == "bomb")
        if mishap.do == "body":
            is_page = mishap.body.lstrip().startswith("<")
            kind = "text/html" if is_page else "application/json"
            return self._send(mishap.status, mishap.body.encode(), kind=kind, retry_after=wait)
        if mishap.do == "mid-stream":
            half = wire.first_pieces(self._reply(request, None))
            told = f"data: {mishap.body}\n\ndata: [DONE]\n\n".encode()
            return self._send(200, half + told, kind="text/event-stream")
        if mishap.do in ("wrong-json", "cut-json", "deep-json", "no-choice"):
            return self._send(200, self._odd(request, mishap))
        self._break(request, mishap)
        return 0

    def _odd(self, request: wire.Request, mishap: Mishap) -> bytes:
        if mishap.do == "no-choice":
            return wire.no_choice(request)
        if mishap.do == "deep-json":
            return b"[" * 100_000
        good = self._reply(request, None)
        return b'{"ok": [true, null]}' if mishap.do == "wrong-json" else good[: len(good) // 2]

    def _send_much(self, *, zipped: bool) -> int:
        """Send blanks, which stand before any JSON, for as long as somebody reads them."""
        with suppress(ConnectionError):
            self._send(200, _much(zipped=zipped), zipped=zipped)
        return 200

    def _break(self, request: wire.Request, mishap: Mishap) -> None:
        """Let the connection be what goes wrong."""
        if mishap.do == "silent":
            self._until_gone(mishap.seconds)
        elif mishap.do == "half":
            self._send(200, b"", missing=500)
            self.connection.shutdown(socket.SHUT_WR)
            self._until_gone(mishap.seconds)
        elif mishap.do == "cut":
            self._send(200, self._reply(request, None)[:-20], missing=20)
        elif mishap.do == "stream-cut":
            half = wire.first_pieces(self._reply(request, None))
            self._send(200, half, kind="text/event-stream", missing=200)
        elif mishap.do == "trickle":
            self._trickle(self._reply(request, None), mishap.seconds)
        self._hang_up()

    def _until_gone(self, seconds: float) -> None:
        """Wait until the client hangs up, or for so long."""
        self.connection.settimeout(seconds)
        with suppress(TimeoutError):
            self.connection.recv(1)

    def _trickle(self, body: bytes, seconds: float) -> None:
        """Send the body in twenty pieces, for as long as somebody reads them."""
        self._send(200, b"", missing=len(body))
        size = -(-len(body) // 20)
        with suppress(ConnectionError):
            for start in range(0, len(body), size):
                time.sleep(seconds / 20)
                self.wfile.write(body[start : start + size])
                self.wfile.flush()

    def _send(
        self,
        status: int,
        body: bytes,
        *,
        kind: str = "application/json",
        retry_after: str | None = None,
        missing: int = 0,
        zipped: bool = False,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> int:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) + missing))
        if zipped:
            self.send_header("Content-Encoding", "gzip")
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        return status

    def _hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


@dataclass
class Loopback:
    """A running server as a test sees it."""

    port: int
    log: Path
    others: tuple[Loopback, ...] = ()
    """The same server on other ports, to a client hosts of their own."""
    is_idle: Callable[[], bool] = lambda: True
    """Whether it is answering nothing, as far as it is known here."""
    openai_url: str = field(init=False)
    gemini_url: str = field(init=False)

    def __post_init__(self) -> None:
        self.gemini_url = f"http://127.0.0.1:{self.port}"
        self.openai_url = f"{self.gemini_url}/v1"

    def events(self, event: str | None = None) -> list[dict[str, Any]]:
        """Return what the log holds so far, or one kind of event, in the order it happened."""
        # The last line may be in the middle of being written.
        whole = self.log.read_bytes().rpartition(b"\n")[0]
        rows = [json.loads(line) for line in whole.splitlines()]
        return [row for row in rows if event in {None, row["event"]}]

    def after(self, answers: int) -> list[dict[str, Any]]:
        """Return the log once it tells of so many answers: a client has its own a moment before."""
        patience = time.monotonic() + 120
        size = -1
        while time.monotonic() < patience:
            grown = self.log.stat().st_size
            if grown != size and len(self.events("sent")) >= answers:
                break
            size = grown
            time.sleep(0.005)
        return self.events()


@contextmanager
def serving(
    log: Path,
    manners: Manners | None = None,
    *,
    brain: Brain = ask_offline,
    port: int = 0,
    script: Script | None = None,
) -> Iterator[Loopback]:
    """Serve from threads of this process for as long as the block lasts."""
    ledger = Ledger(log)
    server = Server(port, ledger, manners or Manners(), brain, script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005})
    thread.start()
    try:
        yield Loopback(server.port, log, is_idle=lambda: server.door.inside == 0)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        ledger.close()


def always(text: str) -> Brain:
    """Return a brain that says one thing, whatever it is shown."""
    usage = {"input_tokens": 100, "output_tokens": 8, "total_tokens": 108}
    reply = AIMessage.model_validate({"content": text, "usage_metadata": usage})
    return lambda _model, _messages: reply


def _manners(arguments: argparse.Namespace) -> Manners:
    calm = Manners(
        latency_s=(arguments.latency_s[0], arguments.latency_s[-1]),
        seed=arguments.seed,
        api_key=arguments.api_key,
    )
    return read_manners(vars(arguments), calm)


def _brain(arguments: argparse.Namespace) -> Brain:
    if arguments.say:
        return always(arguments.say)
    brain = canned if arguments.canned else ask_offline
    return chatty(brain, arguments.takes) if arguments.takes else brain


@contextmanager
def serving_apart(log: Path, *options: str) -> Iterator[Loopback]:
    """Serve from a process of its own, with the command line's `options`, while the block lasts."""
    command = [sys.executable, "-m", "tests.support.loopback", "--log", str(log), *options]
    with started(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            first, *others = map(int, process.stdout.readline().split())
            yield Loopback(first, log, tuple(Loopback(port, log) for port in others))
        finally:
            process.kill()


def main() -> None:
    """Serve until killed; the first line on stdout holds the ports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ports", type=int, default=1, help="how many to listen on")
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--latency-s", type=float, nargs=2, default=(0.0, 0.0))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mishaps", default="[]", help="JSON list of Mishap fields")
    parser.add_argument("--chaos", default="{}", help="JSON object of Chaos fields")
    parser.add_argument("--limits", default="{}", help="JSON object of Limits fields")
    parser.add_argument("--api-key")
    parser.add_argument("--canned", action="store_true", help="answer each role without looking")
    parser.add_argument("--say", help="answer this always, instead of as the offline models do")
    parser.add_argument("--takes", type=int, help="output tokens of each reply, as it counts them")
    arguments = parser.parse_args()
    ledger = Ledger(arguments.log)
    server = Server(arguments.port, ledger, _manners(arguments), _brain(arguments))
    others = [server.another() for _ in range(arguments.ports - 1)]
    for other in others:
        threading.Thread(target=other.serve_forever, daemon=True).start()
    os.write(1, " ".join(str(one.port) for one in (server, *others)).encode() + b"\n")
    server.serve_forever()


if __name__ == "__main__":
    main()
