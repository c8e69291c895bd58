"""Two providers' wire formats, read back into messages and written from replies."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

Protocol = Literal["openai", "gemini"]

DATA_URL = re.compile(r"data:(?P<type>image/[\w.+-]+);base64,(?P<data>.*)", re.DOTALL)
GEMINI_PATH = re.compile(r"/v1(?:beta)?/models/(?P<model>[^:]+):generateContent")
GEMINI_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    402: "FAILED_PRECONDITION",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}

Ending = Literal["stop", "cut", "filter", "refusal", "error", "filtered", "reasoned"]
OPENAI_ENDING = {
    "stop": "stop",
    "cut": "length",
    "filter": "content_filter",
    "refusal": "stop",
    "error": "error",
    "filtered": "content_filter",
    "reasoned": "stop",
}
GEMINI_ENDING = {
    "stop": "STOP",
    "cut": "MAX_TOKENS",
    "filter": "SAFETY",
    "refusal": "RECITATION",
    "error": "OTHER",
    "filtered": "SAFETY",
    "reasoned": "STOP",
}
REFUSAL = "I'm sorry, I can't help with that."
OPENAI_ERRORS = {
    "quota": (429, "insufficient_quota", "You exceeded your current quota; check your billing."),
    "filter-error": (400, "content_filter", "The prompt triggered our content management policy."),
    "too-long": (
        400,
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens. Please send less.",
    ),
    "too-many-images": (400, "invalid_value", "At most {images} image(s) may be provided."),
    "refused-format": (
        400,
        "invalid_request_error",
        "Invalid parameter: 'response_format' of type '{format}' is not supported with this model.",
    ),
}
GEMINI_ERRORS = {
    "quota": (429, "Quota exceeded: GenerateRequestsPerDayPerProjectPerModel-FreeTier."),
    "too-long": (400, "The input token count exceeds the maximum of tokens (131072)."),
    "too-many-images": (400, "The number of images exceeds the limit: at most {images} images."),
    "refused-format": (400, "JSON mode is not enabled for this model ({format})."),
}


@dataclass(frozen=True)
class Request:
    """One request, whichever protocol it came in."""

    protocol: Protocol
    model: str
    messages: tuple[BaseMessage, ...]
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """What decides how the reply is drawn, by the protocol's own names."""

    @property
    def reply_format(self) -> str | None:
        """What the reply is to be held to, in OpenAI's words for it."""
        if "responseJsonSchema" in self.sampling:
            return "json_schema"
        if "responseMimeType" in self.sampling:
            return "json_object"
        wish = self.sampling.get("response_format")
        return str(wish["type"]) if wish else None

    @property
    def images(self) -> int:
        """How many images it carries."""
        return sum(block["type"] == "image" for m in self.messages for block in blocks(m))


@dataclass(frozen=True)
class Answer:
    """What goes back for one request."""

    status: int
    body: bytes
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    missing: int = 0
    """Bytes of the body that are promised and never come: the connection breaks before them."""
    rest: bytes = b""
    """What of the body comes later, once `until` has returned."""
    until: Callable[[], object] = lambda: None


def blocks(message: BaseMessage) -> list[dict[str, Any]]:
    """Return a message's content as blocks, whatever form it has."""
    if isinstance(message.content, str):
        return [{"type": "text", "text": message.content}]
    return [block for block in message.content if isinstance(block, dict)]


def read(path: str, body: dict[str, Any]) -> Request:
    """Return the request that a body is.

    Raises:
        ValueError: neither protocol, or a part that no model here reads.
    """
    if path == "/v1/chat/completions":
        sampling = {name: body[name] for name in body if name not in ("model", "messages")}
        messages = tuple(map(_openai_message, body["messages"]))
        return Request("openai", body["model"], messages, sampling)
    if match := GEMINI_PATH.fullmatch(path):
        sampling = body.get("generationConfig", {})
        return Request("gemini", match["model"], tuple(_gemini_messages(body)), sampling)
    raise ValueError(f"{path} is no path of this server")


def _image(kind: str, data: str) -> dict[str, Any]:
    # Gemini's client writes the URL-safe alphabet, LangChain's blocks hold the standard one.
    standard = data.replace("-", "+").replace("_", "/")
    base64.b64decode(standard, validate=True)
    return {"type": "image", "base64": standard, "mime_type": kind}


def _openai_block(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    url = DATA_URL.fullmatch(part["image_url"]["url"])
    if url is None:
        raise ValueError("an image that is no data URL")
    return _image(url["type"], url["data"])


def _openai_message(message: dict[str, Any]) -> BaseMessage:
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if message["role"] in {"system", "developer"}:
        return SystemMessage("".join(part["text"] for part in parts))
    return HumanMessage(content=[_openai_block(part) for part in parts])


def _gemini_block(part: dict[str, Any]) -> dict[str, Any]:
    if "text" in part:
        return {"type": "text", "text": part["text"]}
    inline = part["inlineData"]
    # Gemini reads either spelling, and its client sends the second within the first.
    return _image(inline.get("mimeType") or inline["mime_type"], inline["data"])


def _gemini_messages(body: dict[str, Any]) -> Iterator[BaseMessage]:
    if "systemInstruction" in body:
        yield SystemMessage("".join(part["text"] for part in body["systemInstruction"]["parts"]))
    for content in body["contents"]:
        yield HumanMessage(content=[_gemini_block(part) for part in content["parts"]])


def reply(
    request: Request, message: AIMessage, *, ending: Ending = "stop", name: str | None = None
) -> bytes:
    """Return the body of an answer, its tokens counted as the offline model counts them.

    Every answer has the same id, as those of some servers have.
    """
    usage = message.usage_metadata
    read_in = usage["input_tokens"] if usage else 0
    said = usage["output_tokens"] if usage else 0
    write = _openai_reply if request.protocol == "openai" else _gemini_reply
    body = write(name or request.model, str(message.text), (read_in, said))
    _end(body, request.protocol, ending)
    return json.dumps(body).encode()


def _end(body: dict[str, Any], protocol: Protocol, ending: Ending) -> None:
    """Make a good answer one that ended otherwise."""
    choice = body["choices" if protocol == "openai" else "candidates"][0]
    if protocol == "gemini":
        choice["finishReason"] = GEMINI_ENDING[ending]
        if ending in ("filter", "refusal"):
            del choice["content"]
        elif ending == "reasoned":
            choice["content"]["parts"][0]["thought"] = True
        return
    choice["finish_reason"] = OPENAI_ENDING[ending]
    if ending == "filter":
        choice["message"]["content"] = None
    elif ending == "refusal":
        choice["message"] |= {"content": None, "refusal": REFUSAL}
    elif ending == "reasoned":
        said = choice["message"]
        choice["message"] = {**said, "content": None, "reasoning_content": said["content"]}


def _openai_reply(model: str, text: str, tokens: tuple[int, int]) -> dict[str, Any]:
    read_in, said = tokens
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": read_in,
            "completion_tokens": said,
            "total_tokens": read_in + said,
            "prompt_tokens_details": {"cached_tokens": read_in // 2},
            "completion_tokens_details": {"reasoning_tokens": said // 4},
        },
    }


def _gemini_reply(model: str, text: str, tokens: tuple[int, int]) -> dict[str, Any]:
    read_in, said = tokens
    thought = said // 4
    return {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": text}]},
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": read_in,
            "candidatesTokenCount": said - thought,
            "thoughtsTokenCount": thought,
            "totalTokenCount": read_in + said,
            "cachedContentTokenCount": read_in // 2,
        },
        "modelVersion": model,
        "responseId": "loopback",
    }


def pieces(body: bytes) -> bytes:
    """Return an answer of OpenAI's protocol in pieces, the last of which counts its tokens."""
    whole = json.loads(body)
    (choice,), usage = whole.pop("choices"), whole.pop("usage")
    text = choice["message"]["content"] or ""
    thought = choice["message"].get("reasoning_content") or ""
    said = [{"role": "assistant", "content": ""}]
    said += [{"reasoning_content": part} for part in _parts(thought)]
    said += [{"content": part} for part in _parts(text)]
    told: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in said
    ]
    last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    told += [{"choices": [last]}, {"choices": [], "usage": usage}]
    whole["object"] = "chat.completion.chunk"
    events = [json.dumps({**whole, **piece}) for piece in told]
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()


def first_pieces(body: bytes) -> bytes:
    """Return the first two pieces of an answer: who speaks, and the first words."""
    return b"".join(piece + b"\n\n" for piece in pieces(body).split(b"\n\n")[:2])


def _parts(text: str) -> list[str]:
    return [text[start : start + 40] for start in range(0, len(text), 40)]


def no_choice(request: Request) -> bytes:
    """Return a well-formed body that holds no answer."""
    if request.protocol == "openai":
        return json.dumps({**_openai_reply(request.model, "", (0, 0)), "choices": []}).encode()
    return json.dumps({**_gemini_reply(request.model, "", (0, 0)), "candidates": []}).encode()


def known_error(request: Request, what: str, *, of: Mapping[str, Any]) -> tuple[int, bytes]:
    """Return status and body of an error as the provider words it; `of` is what it is about."""
    if what == "unknown-field":
        # As Mistral refuses it.
        place = ["body", of["field"]]
        words = {"type": "extra_forbidden", "loc": place, "msg": "Extra inputs are not permitted"}
        return 422, json.dumps({"detail": [words]}).encode()
    if request.protocol == "openai":
        status, code, words = OPENAI_ERRORS[what]
        return status, error("openai", status, words.format(**of), code=code)
    if what == "filter-error":
        return 200, _blocked(request)
    status, words = GEMINI_ERRORS[what]
    return status, error("gemini", status, words.format(**of))


def _blocked(request: Request) -> bytes:
    body = {**_gemini_reply(request.model, "", (0, 0)), "candidates": []}
    return json.dumps({**body, "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}).encode()


def error(protocol: Protocol, status: int, words: str, *, code: str | None = None) -> bytes:
    """Return the body of a refusal in the provider's own form."""
    if protocol == "openai":
        told: dict[str, Any] = {"message": words, "type": "loopback", "param": None, "code": code}
    else:
        told = {"code": status, "message": words, "status": GEMINI_STATUS.get(status, "INTERNAL")}
    return json.dumps({"error": told}).encode()
