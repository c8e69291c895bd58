"""A provider on 127.0.0.1 that takes batches, in OpenAI's, Gemini's and Anthropic's protocols.

It lives in the test's own process, so that it goes on while a client is killed. A batch ends after
so many looks at it; what a call cost is counted when its batch has ended.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPLIES: dict[str, Callable[[str], dict[str, Any]]] = {
    "openai": lambda text: {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    },
    "gemini": lambda text: {
        "candidates": [
            {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP"}
        ],
        "usageMetadata": {
            "promptTokenCount": 100,
            "candidatesTokenCount": 20,
            "totalTokenCount": 120,
        },
        "modelVersion": "served-model",
    },
    "anthropic": lambda text: {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "served-model",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    },
}
REFUSALS: dict[str, dict[str, Any]] = {
    "openai": {"error": {"message": "no such parameter", "type": "invalid_request_error"}},
    "gemini": {"code": 3, "message": "no such parameter", "status": "INVALID_ARGUMENT"},
    "anthropic": {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "no such parameter"},
    },
}

Fate = str
"""What becomes of a call: "answered", "expired", "cancelled", "refused" or "missing"."""


@dataclass
class TakenBatch:
    """A batch as the server has it."""

    id: str
    protocol: str
    ours: str | None
    """What the client calls it, where the protocol has a place for that."""
    lines: list[tuple[str, dict[str, Any]]]
    """Keys, and the bodies of their calls."""
    created_s: float
    looks: int = 0
    """Looks at it that are left until it has ended."""
    fates: dict[str, Fate] = field(default_factory=dict)
    failure: str = ""
    account: str = field(default="", repr=False)
    """The key by which it came; no other key sees it. Every key does where it came without."""
    is_cancelled: bool = False

    @property
    def is_ended(self) -> bool:
        """Whether it will bring no further reply."""
        return self.looks <= 0


@dataclass
class BatchBook:
    """What the server has and did, and how it is to behave."""

    looks: int = 2
    """Looks at a batch until it has ended."""
    fate: Callable[[str, int], Fate] = lambda _key, _times: "answered"
    """What becomes of a call by its key, the n-th time, from 1, that a batch holds it."""
    fail: Callable[[int], str] = lambda _number: ""
    """Why the n-th batch, from 1, fails as a whole."""
    mishap: Callable[[int, str], str] = lambda _number, _what: ""
    """By number, from 1, and name of a request: "lose" its answer, "drop" it, "garble" it, leave
    it "blank", or a status."""
    say: Callable[[str, Any], str] = lambda key, _body: f"reply to {key[:8]}"
    """Key and body of a call to the words that answer it."""
    shuffle: bool = True
    requests: list[str] = field(default_factory=list)
    batches: list[TakenBatch] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    accounts: dict[str, str] = field(default_factory=dict)
    """File to the key by which it came; no other key sees it."""
    uploader: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    """How many batches held each call."""
    paid: Counter[str] = field(default_factory=Counter)
    """How often each call was answered, in a batch or by itself."""
    direct: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of calls that were sent by themselves."""
    on_request: Callable[[int, str], None] = lambda _number, _what: None
    """Hears of each request before it is answered."""
    on_answered: Callable[[int, str], None] = lambda _number, _what: None
    """Hears of each request once it took effect, before the client hears of it."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def take(self, protocol: str, ours: str | None, lines: list[tuple[str, Any]]) -> TakenBatch:
        """Begin a batch."""
        number = len(self.batches) + 1
        name = f"{'batches/b' if protocol == 'gemini' else 'batch_'}{number}"
        batch = TakenBatch(name, protocol, ours, lines, time.time(), self.looks)
        batch.failure = self.fail(number)
        for key, _ in lines:
            self.asked[key] += 1
            batch.fates[key] = self.fate(key, self.asked[key])
        self.batches.append(batch)
        return batch

    def look(self, name: str) -> TakenBatch:
        """Return a batch, a step further."""
        batch = next(one for one in self.batches if one.id == name)
        if batch.looks > 0:
            batch.looks -= 1
            if batch.is_ended and not batch.failure:
                self.paid.update(k for k, fate in batch.fates.items() if fate == "answered")
        return batch

    def results(self, batch: TakenBatch) -> Iterator[tuple[str, Fate]]:
        """Yield keys and fates, in no order that anybody could count on."""
        found = list(batch.fates.items())
        if self.shuffle:
            random.Random(len(found)).shuffle(found)
        return ((key, fate) for key, fate in found if fate != "missing")

    def words(self, batch: TakenBatch, key: str) -> str:
        """Return what answers a call."""
        return self.say(key, dict(batch.lines)[key])


class _NotThereError(Exception):
    """Something is not there for the key of a request."""


def _call_of(
    does: Callable[..., Any], handler: BatchHandler, places: Sequence[str], body: bytes, query: Any
) -> Any:
    return does(handler, body, query, *places)


class BatchHandler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: BatchServer

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer a request for something."""
        self._answer(b"")

    def do_POST(self) -> None:
        """Answer a request that brings something."""
        self._answer(self._body())

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            found = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(self, body: bytes) -> None:
        book = self.server.book
        parts = urlsplit(self.path)
        what, does = self._route(self.command, parts.path)
        with book.lock:
            book.requests.append(what)
            number = len(book.requests)
        book.on_request(number, what)
        mishap = book.mishap(number, what)
        if mishap == "drop":
            self.close_connection = True
            return
        if mishap.isdigit():
            self._send(int(mishap), {"error": {"message": "scripted", "type": "scripted"}})
            return
        if mishap == "garble":
            self._send(200, b"<html>come back later</html>")
            return
        if mishap == "blank":
            self._send(200, {})
            return
        with book.lock:
            try:
                found = does(body, parse_qs(parts.query))
            except _NotThereError:
                found = 403 if "x-goog-api-key" in self.headers else 404, {"error": {}}, {}
        book.on_answered(number, what)
        if mishap == "lose":
            self.close_connection = True
            return
        status, said, headers = found if isinstance(found, tuple) else (200, found, {})
        self._send(status, said, headers)

    def _send(self, status: int, said: Any, headers: dict[str, str] | None = None) -> None:
        body = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        kind = "application/jsonl" if isinstance(said, bytes) else "application/json"
        for name, value in {"Content-Type": kind, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _route(self, method: str, path: str) -> tuple[str, Callable[..., Any]]:
        for pattern, (name, does) in _ROUTES.items():
            # Gemini's paths may be those of OpenAI's.
            mark = "G:" if "x-goog-api-key" in self.headers else ""
            found = re.fullmatch(pattern, f"{mark}{method} {path}")
            if found:
                return name, partial(_call_of, does, self, found.groups())
        return f"unknown {method} {path}", lambda *_: (404, {"error": {"message": "no"}}, {})

    @property
    def _key(self) -> str:
        names = ("Authorization", "x-goog-api-key", "x-api-key")
        return next(filter(None, map(self.headers.get, names)), "")

    def _taken(self, batch: TakenBatch) -> TakenBatch:
        batch.account = self._key
        return batch

    def _own(self, batch: TakenBatch) -> TakenBatch:
        if batch.account not in ("", self._key):
            raise _NotThereError
        return batch

    def _found(self, name: str) -> TakenBatch:
        return self._own(next(one for one in self.server.book.batches if one.id == name))

    def _looked_at(self, name: str) -> TakenBatch:
        self._found(name)
        return self.server.book.look(name)

    def _checked(self, name: str) -> str:
        book = self.server.book
        if book.accounts.get(name) != self._key:
            raise _NotThereError
        return name

    # OpenAI

    def openai_file_look(self, _body: bytes, _query: Any, name: str) -> Any:
        return {"id": self._checked(name), "object": "file"}

    def openai_file(self, body: bytes, _query: Any) -> Any:
        book = self.server.book
        name = f"file-{len(book.files) + 1}"
        book.files[name] = _part(body)
        book.accounts[name] = self._key
        return {
            "id": name,
            "object": "file",
            "bytes": len(body),
            "created_at": 1,
            "filename": "b.jsonl",
            "purpose": "batch",
            "status": "processed",
        }

    def openai_post(self, body: bytes, _query: Any) -> Any:
        asked = json.loads(body)
        lines = [json.loads(line) for line in self._file(asked["input_file_id"]).splitlines()]
        ours = (asked.get("metadata") or {}).get("videoautoarena_batch")
        taken = self.server.book.take(
            "openai", ours, [(line["custom_id"], line["body"]) for line in lines]
        )
        return self._openai(self._taken(taken))

    def _file(self, name: str) -> bytes:
        return self.server.book.files[name]

    def _openai(self, batch: TakenBatch) -> dict[str, Any]:
        is_done = batch.is_ended
        status = "completed" if is_done else "in_progress"
        if batch.failure:
            status = "failed"
        total = len(batch.lines)
        ended = total if is_done else 0
        found: dict[str, Any] = {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "input_file_id": "file-1",
            "created_at": int(batch.created_s),
            "status": "cancelled" if batch.is_cancelled else status,
            "metadata": {"videoautoarena_batch": batch.ours},
            "request_counts": {"total": total, "completed": ended, "failed": 0},
        }
        if batch.failure:
            error = {"code": batch.failure, "message": "scripted", "line": None, "param": None}
            found["errors"] = {"object": "list", "data": [error]}
        elif is_done:
            found |= {"output_file_id": f"out-{batch.id}", "error_file_id": f"err-{batch.id}"}
        return found

    def openai_list(self, _body: bytes, _query: Any) -> Any:
        found = [self._openai(one) for one in reversed(self._listed("openai"))]
        return {"object": "list", "data": found, "has_more": False, "first_id": None}

    def _listed(self, protocol: str) -> list[TakenBatch]:
        book = self.server.book
        seen = [one for one in book.batches if one.account in ("", self._key)]
        return [one for one in seen if one.protocol == protocol]

    def openai_look(self, _body: bytes, _query: Any, name: str) -> Any:
        return self._openai(self._looked_at(name))

    def openai_cancel(self, _body: bytes, _query: Any, name: str) -> Any:
        return self._openai(self._cancelled(name))

    def _cancelled(self, name: str) -> TakenBatch:
        batch = self._found(name)
        batch.is_cancelled = True
        # What was under way ends: the first half.
        for key in list(batch.fates)[len(batch.fates) // 2 :]:
            batch.fates[key] = "cancelled"
        batch.looks = min(batch.looks, 1)
        return batch

    def openai_results(self, _body: bytes, _query: Any, kind: str, name: str) -> Any:
        book = self.server.book
        batch = self._found(name)
        lines = []
        for key, fate in book.results(batch):
            if (fate == "answered") != (kind == "out"):
                continue
            line: dict[str, Any] = {"id": "r", "custom_id": key, "response": None, "error": None}
            if fate == "answered":
                reply = REPLIES["openai"](book.words(batch, key))
                line["response"] = {"status_code": 200, "request_id": "q", "body": reply}
            elif fate == "refused":
                body = REFUSALS["openai"]
                line["response"] = {"status_code": 400, "request_id": "q", "body": body}
            else:
                line["error"] = {"code": f"batch_{fate}", "message": "scripted"}
            lines.append(json.dumps(line))
        return "".join(f"{line}\n" for line in lines).encode()

    def openai_call(self, body: bytes, _query: Any) -> Any:
        return self._call("openai", body)

    def _call(self, protocol: str, body: bytes) -> Any:
        book = self.server.book
        book.direct.append(json.loads(body))
        key = self.headers.get("Idempotency-Key", "")
        book.paid[key] += 1
        return REPLIES[protocol](book.say(key, book.direct[-1]))

    # Gemini

    def gemini_start(self, _body: bytes, _query: Any) -> Any:
        host = self.headers["Host"]
        # What is uploaded there comes without a key.
        self.server.book.uploader = self._key
        return 200, {}, {"x-goog-upload-url": f"http://{host}/upload/here"}

    def gemini_file(self, body: bytes, _query: Any) -> Any:
        book = self.server.book
        command = self.headers["X-Goog-Upload-Command"]
        name = f"files/f{len(book.files) + 1}"
        book.files.setdefault("partial", b"")
        book.files["partial"] += body
        if "finalize" not in command:
            return 200, {}, {"x-goog-upload-status": "active"}
        book.files[name] = book.files.pop("partial")
        book.accounts[name] = book.uploader
        return 200, {"file": {"name": name}}, {"x-goog-upload-status": "final"}

    def gemini_file_look(self, _body: bytes, _query: Any, name: str) -> Any:
        return {"name": self._checked(f"files/{name}")}

    def gemini_post(self, body: bytes, _query: Any, _model: str) -> Any:
        asked = json.loads(body)["batch"]
        lines = [
            json.loads(line) for line in self._file(asked["inputConfig"]["fileName"]).splitlines()
        ]
        taken = self.server.book.take(
            "gemini", asked["displayName"], [(line["key"], line["request"]) for line in lines]
        )
        return self._gemini(self._taken(taken))

    def _gemini(self, batch: TakenBatch) -> dict[str, Any]:
        state = "BATCH_STATE_SUCCEEDED" if batch.is_ended else "BATCH_STATE_RUNNING"
        if batch.failure:
            state = "BATCH_STATE_FAILED"
        for fate in ("cancelled", "expired"):
            if batch.is_ended and fate in batch.fates.values():
                state = f"BATCH_STATE_{fate.upper()}"
        metadata: dict[str, Any] = {
            "displayName": batch.ours,
            "state": state,
            "createTime": _time(batch.created_s),
            "model": "models/m",
        }
        found: dict[str, Any] = {"name": batch.id, "metadata": metadata}
        if batch.is_ended and not batch.failure:
            metadata["output"] = {"responsesFile": f"files/out-{batch.id[8:]}"}
        return found

    def gemini_list(self, _body: bytes, _query: Any) -> Any:
        return {"operations": [self._gemini(one) for one in reversed(self._listed("gemini"))]}

    def gemini_look(self, _body: bytes, _query: Any, name: str) -> Any:
        return self._gemini(self._looked_at(f"batches/{name}"))

    def gemini_cancel(self, _body: bytes, _query: Any, name: str) -> Any:
        self._cancelled(f"batches/{name}")
        return {}

    def gemini_results(self, _body: bytes, _query: Any, name: str) -> Any:
        book = self.server.book
        batch = self._found(f"batches/{name}")
        lines = []
        for key, fate in book.results(batch):
            line: dict[str, Any] = {"key": key}
            if fate == "answered":
                line["response"] = REPLIES["gemini"](book.words(batch, key))
            elif fate == "refused":
                line["error"] = REFUSALS["gemini"]
            else:
                # The state of the batch alone tells of these.
                continue
            lines.append(json.dumps(line))
        return "".join(f"{line}\n" for line in lines).encode()

    def gemini_call(self, body: bytes, _query: Any, _model: str) -> Any:
        return self._call("gemini", body)

    # Anthropic

    def anthropic_post(self, body: bytes, _query: Any) -> Any:
        asked = json.loads(body)["requests"]
        lines = [(line["custom_id"], line["params"]) for line in asked]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", key) for key, _ in lines)
        return self._anthropic(self._taken(self.server.book.take("anthropic", None, lines)))

    def _anthropic(self, batch: TakenBatch) -> dict[str, Any]:
        names = {"answered": "succeeded", "refused": "errored", "cancelled": "canceled"}
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        for fate in batch.fates.values():
            ended = names.get(fate, fate if fate == "expired" else "succeeded")
            counts[ended if batch.is_ended else "processing"] += 1
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if batch.is_ended else "in_progress",
            "request_counts": counts,
            "created_at": _time(batch.created_s),
            "expires_at": _time(batch.created_s + 86_400),
            "ended_at": None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"http://{self.headers['Host']}/v1/messages/batches/{batch.id}/results"
            if batch.is_ended
            else None,
        }

    def anthropic_list(self, _body: bytes, _query: Any) -> Any:
        found = []
        for one in reversed(self._listed("anthropic")):
            # Nothing else ends a batch whose POST was not answered.
            self.server.book.look(one.id)
            found.append(self._anthropic(one))
        return {"data": found, "has_more": False, "first_id": None, "last_id": None}

    def anthropic_look(self, _body: bytes, _query: Any, name: str) -> Any:
        return self._anthropic(self._looked_at(name))

    def anthropic_cancel(self, _body: bytes, _query: Any, name: str) -> Any:
        return self._anthropic(self._cancelled(name))

    def anthropic_results(self, _body: bytes, _query: Any, name: str) -> Any:
        book = self.server.book
        batch = self._found(name)
        lines = []
        for key, fate in book.results(batch):
            result: dict[str, Any] = {"type": "canceled" if fate == "cancelled" else fate}
            if fate == "answered":
                result = {
                    "type": "succeeded",
                    "message": REPLIES["anthropic"](book.words(batch, key)),
                }
            elif fate == "refused":
                result = {"type": "errored", "error": REFUSALS["anthropic"]}
            lines.append(json.dumps({"custom_id": key, "result": result}))
        return "".join(f"{line}\n" for line in lines).encode()

    def anthropic_call(self, body: bytes, _query: Any) -> Any:
        return self._call("anthropic", body)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _part(body: bytes) -> bytes:
    """Return the file in a multipart body."""
    boundary = body.split(b"\r\n", 1)[0]
    for part in body.split(boundary):
        head, _, content = part.partition(b"\r\n\r\n")
        if b"filename=" in head:
            return content.removesuffix(b"\r\n")
    raise AssertionError("no file in it")


_H = BatchHandler
_ROUTES: dict[str, tuple[str, Callable[..., Any]]] = {
    r"POST /v1/files": ("upload", _H.openai_file),
    r"GET /v1/files/([^/]+)": ("file", _H.openai_file_look),
    r"POST /v1/batches": ("post", _H.openai_post),
    r"GET /v1/batches": ("list", _H.openai_list),
    r"GET /v1/batches/([^/]+)": ("look", _H.openai_look),
    r"POST /v1/batches/([^/]+)/cancel": ("cancel", _H.openai_cancel),
    r"GET /v1/files/(out|err)-([^/]+)/content": ("results", _H.openai_results),
    r"POST /v1/chat/completions": ("call", _H.openai_call),
    r"G:POST /upload/v1(?:beta)?/files": ("start", _H.gemini_start),
    r"(?:G:)?POST /upload/here": ("upload", _H.gemini_file),
    r"G:GET /v1(?:beta)?/files/([^/:]+)": ("file", _H.gemini_file_look),
    r"G:POST /v1(?:beta)?/models/([^/:]+):batchGenerateContent": ("post", _H.gemini_post),
    r"G:GET /v1(?:beta)?/batches": ("list", _H.gemini_list),
    r"G:GET /v1(?:beta)?/batches/([^/:]+)": ("look", _H.gemini_look),
    r"G:POST /v1(?:beta)?/batches/([^/:]+):cancel": ("cancel", _H.gemini_cancel),
    r"G:GET /v1(?:beta)?/files/out-([^/:]+):download": ("results", _H.gemini_results),
    r"G:POST /v1(?:beta)?/models/([^/:]+):generateContent": ("call", _H.gemini_call),
    r"POST /v1/messages/batches": ("post", _H.anthropic_post),
    r"GET /v1/messages/batches": ("list", _H.anthropic_list),
    r"GET /v1/messages/batches/([^/]+)": ("look", _H.anthropic_look),
    r"POST /v1/messages/batches/([^/]+)/cancel": ("cancel", _H.anthropic_cancel),
    r"GET /v1/messages/batches/([^/]+)/results": ("results", _H.anthropic_results),
    r"POST /v1/messages": ("call", _H.anthropic_call),
}


class BatchServer(ThreadingHTTPServer):
    """The listening socket, and what all requests share."""

    daemon_threads = True

    def __init__(self, book: BatchBook) -> None:
        super().__init__(("127.0.0.1", 0), BatchHandler)
        self.book = book

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    def handle_error(self, *_: Any) -> None:
        """Pass over clients that were killed."""


@contextmanager
def batch_server(book: BatchBook) -> Iterator[int]:
    """Yield the port of a server with this book."""
    server = BatchServer(book)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.port
    finally:
        server.shutdown()
        server.server_close()
