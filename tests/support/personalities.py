"""Kinds of servers as they are met: how each refuses, thinks aloud, streams, fails and bills.

A `Personality` states what its server takes; `Playing` stands behind the loopback server in its
place, holds every request to that, and remembers what came. What the models behind it say are the
offline models' replies, put into the dialect of a family. Thoughts hold `MUSING` and, where JSON is
asked for, a draft of another verdict: wherever the word turns up later, a thought was read.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from langchain_core.messages import AIMessage

from tests.support import wire
from tests.support.wire import Answer

CONTESTANTS = ("hawk", "parrot")
REFEREE = "examiner"
"""Models behind every server, by their offline kinds."""
FRAMES = 8
"""That a request holds unless the server takes fewer."""
FRAME_TOKENS = 700
COST_USD = 0.00042
"""Of each reply, where a server says what it costs."""
MUSING = "musing-nobody-may-judge"
NAMES = {"A": "B", "B": "A", "tie_good": "A", "tie_bad": "B", "tie": "A"}
ALL = "*"
STREAM = "text/event-stream"

Says = Callable[[str], dict[str, str]]
"""Puts a model's words into the fields of a message, as one family of models does."""


def drafted(value: Any, place: str = "") -> Any:
    """Return a reply of the same form that says something else."""
    if isinstance(value, dict):
        return {name: drafted(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [drafted(inner, f"{place}{number}") for number, inner in enumerate(value)]
    if place == "verdict":
        return NAMES.get(value, value)
    return f"{MUSING} {place}" if isinstance(value, str) and place != "category" else value


def musing(good: str) -> str:
    """Return what a model thinks before it says something."""
    try:
        draft = json.dumps(drafted(json.loads(good)))
    except ValueError:
        return f"The question wants one thing. {MUSING}: it may be the lamp. Let me look again."
    return f"What is asked is JSON. {MUSING}. A first draft:\n{draft}\nNo, the other was better."


def is_json(good: str) -> bool:
    """Return whether a role replied in JSON."""
    return good.startswith("{")


def fenced(good: str) -> str:
    """Return JSON as many models write it; a plain answer as it is."""
    return f"Here is the result:\n\n```json\n{good}\n```" if is_json(good) else good


def plain(good: str) -> dict[str, str]:
    """Say it."""
    return {"content": good}


def in_fence(good: str) -> dict[str, str]:
    """Say it in a code fence."""
    return {"content": fenced(good)}


def framed(before: str, after: str, *, end: str = "", fence: bool = False) -> Says:
    """Return a dialect that has its thoughts between two marks in front of the words."""

    def say(good: str) -> dict[str, str]:
        words = fenced(good) if fence else good
        return {"content": f"{before}{musing(good)}{after}{words}{end}"}

    return say


def apart(name: str, *, fence: bool = False) -> Says:
    """Return a dialect whose thoughts stand in a field of their own."""
    return lambda good: {name: musing(good), "content": fenced(good) if fence else good}


UNOPENED = framed("", "\n</think>\n\n")
THINK = framed("<think>\n", "\n</think>\n\n")
TWICE = framed(f"<think>\n{MUSING}\n</think>\n<think>\n", "\n</think>\n")
ANSWER = framed("<think>\n", "\n</think>\n<answer>", end="</answer>")
GLM_BOX = framed("<think>", "</think>\n<answer><|begin_of_box|>", end="<|end_of_box|></answer>")
SEED = framed("<seed:think>", "</seed:think>")
COHERE = framed("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>", end="<|END_RESPONSE|>")
HARMONY = framed(
    "<|channel|>analysis<|message|>",
    "<|end|><|start|>assistant<|channel|>final<|message|>",
    end="<|return|>",
)
GEMMA = framed("<|channel>thought\n", "<channel|>")
UNUSED = framed("<unused94>thought\n", "<unused95>")
ON_ONE_LINE = framed("", "</think>")
REASONING = apart("reasoning")
REASONING_CONTENT = apart("reasoning_content")
DIALECTS: Mapping[str, Says] = {
    "no thoughts": plain,
    "a code fence": in_fence,
    "<think>": THINK,
    "<think>, then a code fence": framed("<think>\n", "\n</think>\n\n", fence=True),
    "<think> never opened": UNOPENED,
    "the same, on one line": ON_ONE_LINE,
    "<think> twice": TWICE,
    "<think> in <think>": framed(f"<think>\n<think>{MUSING}</think>\n", "\n</think>\n"),
    "<think>, <answer>": ANSWER,
    "GLM's box": GLM_BOX,
    "Keye's <analysis>": framed("<analysis>", "</analysis>\n<answer>", end="</answer>"),
    "Mistral's [THINK]": framed("[THINK]", "[/THINK]"),
    "Kimi's think": framed("◁think▷", "◁/think▷"),
    "<seed:think>": SEED,
    "Cohere's": COHERE,
    "harmony's channels": HARMONY,
    "Gemma's channel": GEMMA,
    "<unused94>": UNUSED,
    "a mark nobody knows": framed("<mulling>\n", "\n</mulling>\n"),
    "reasoning": REASONING,
    "reasoning_content": REASONING_CONTENT,
}
"""How families of models set their thoughts apart, and their words."""
MARKS = (
    *("think>", "THINK]", "think▷", "answer>", "begin_of_box", "_RESPONSE|", "channel", "unused9"),
    *("mulling", "<|return", "analysis>"),
)
"""Some of which stand in a reply that was not taken out of its marks."""


@dataclass(frozen=True)
class Asked:
    """A request as its server sees it."""

    request: wire.Request
    nth: int
    """Counted over all requests, from 1."""
    nth_of_model: int

    @property
    def images(self) -> int:
        """How many images it carries."""
        return self.request.images

    @property
    def text_tokens(self) -> int:
        """Tokens of its words."""
        blocks = (block for message in self.request.messages for block in wire.blocks(message))
        return sum(len(block["text"]) for block in blocks if block["type"] == "text") // 4

    @property
    def reply_tokens(self) -> int:
        """Tokens that it sets aside for the reply; 0 where it leaves that to the server."""
        sampling = self.request.sampling
        asked = sampling.get("max_tokens") or sampling.get("max_completion_tokens")
        return int(asked or 0)

    @property
    def tokens(self) -> int:
        """Tokens of its words and images."""
        return self.text_tokens + self.images * FRAME_TOKENS

    @property
    def is_streamed(self) -> bool:
        """Whether it asks for pieces."""
        return bool(self.request.sampling.get("stream"))


Mood = Callable[[Asked], Answer | None]
"""What befalls a request, however small it is; None: nothing."""


def sent(status: int, body: Any, **more: Any) -> Answer:
    """Return JSON with a status."""
    return Answer(status, json.dumps(body).encode(), **more)


def page(status: int, title: str, *, before: str = "", server: str = "cloudflare") -> Answer:
    """Return a page of HTML."""
    rest = f"<center><h1>{title}</h1></center><hr><center>{server}</center>"
    html = f"{before}<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n{rest}\r\n</body>"
    return Answer(status, f"{html}\r\n</html>\r\n".encode(), "text/html", {"Server": server})


def strike(answer: Answer, nths: Container[int], model: str = ALL) -> Mood:
    """Return what gives the nth requests, counted over those of `model`, one answer."""

    def befall(asked: Asked) -> Answer | None:
        if model not in (ALL, asked.request.model):
            return None
        nth = asked.nth if model == ALL else asked.nth_of_model
        return answer if nth in nths else None

    return befall


Dress = Callable[[Asked, dict[str, Any]], Answer]
"""Sends a good reply, whose body is given, as one server does."""


def bare(_asked: Asked, body: dict[str, Any]) -> Answer:
    """Send it as it is."""
    return sent(200, body)


def with_timings(_asked: Asked, body: dict[str, Any]) -> Answer:
    """Send it as llama.cpp does, with what each step took."""
    usage = body["usage"]
    timings = {
        "prompt_n": usage["prompt_tokens"],
        "prompt_ms": 812.4,
        "prompt_per_second": 410.2,
        "predicted_n": usage["completion_tokens"],
        "predicted_ms": 2210.7,
        "predicted_per_second": 31.4,
    }
    return sent(200, {**body, "system_fingerprint": "b7062-9b17d74ab", "timings": timings})


def with_cost_header(asked: Asked, body: dict[str, Any]) -> Answer:
    """Send it as LiteLLM does, with its cost in a header."""
    headers = {
        "x-litellm-response-cost": str(COST_USD),
        "x-litellm-model-id": "5f0c",
        "x-litellm-key-spend": f"{asked.nth * COST_USD:.5f}",
    }
    return sent(200, body, headers=headers)


def as_openrouter(asked: Asked, body: dict[str, Any]) -> Answer:
    """Send it as OpenRouter does: a cost in the usage, comments in a stream."""
    body["provider"] = "BaseTen"
    body["choices"][0]["native_finish_reason"] = "stop"
    body["usage"] |= {"cost": COST_USD, "is_byok": False}
    if not asked.is_streamed:
        return sent(200, body)
    return streamed(body, comment=": OPENROUTER PROCESSING")


def _usage(read_in: int, written: int) -> dict[str, int]:
    return {
        "prompt_tokens": read_in,
        "completion_tokens": written,
        "total_tokens": read_in + written,
    }


def streamed(
    body: dict[str, Any],
    *,
    comment: str = "",
    counts: Literal["at the end", "so far", "its own"] = "at the end",
    stops: dict[str, Any] | None = None,
) -> Answer:
    """Return a reply in pieces of forty characters.

    `comment` keeps the connection alive; `counts` is what the usage of a piece holds;
    `stops` is a piece that takes the place of the second half.
    """
    (choice,) = body["choices"]
    read_in = body["usage"]["prompt_tokens"]
    written = body["usage"]["completion_tokens"]
    said: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    for name, words in choice["message"].items():
        if name != "role":
            said += ({name: words[at : at + 40]} for at in range(0, len(words), 40))
    if stops:
        said = said[: len(said) // 2 + 1]
    shared = {name: body[name] for name in ("id", "created", "model")}
    shared["object"] = "chat.completion.chunk"
    pieces: list[dict[str, Any]] = []
    for number, delta in enumerate(said, start=1):
        piece = {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        if counts == "so far":
            piece["usage"] = _usage(read_in, written * number // len(said))
        elif counts == "its own":
            share = written * number // len(said) - written * (number - 1) // len(said)
            piece["usage"] = _usage(read_in if number == 1 else 0, share)
        pieces.append(piece)
    if stops:
        pieces.append({**shared, **stops})
    else:
        last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        at_last = body["usage"] if counts == "so far" else None
        pieces.append({**shared, "choices": [last], "usage": at_last})
        if counts != "its own":
            pieces.append({**shared, "choices": [], "usage": body["usage"]})
    events = [f"data: {json.dumps(piece)}" for piece in pieces]
    if comment:
        events = [comment, comment, *events[:1], comment, *events[1:]]
    return Answer(200, "".join(f"{e}\n\n" for e in [*events, "data: [DONE]"]).encode(), STREAM)


@dataclass(frozen=True)
class Personality:
    """One kind of server, what it takes, and what a good client comes to with it."""

    name: str
    contestants: Says
    referee: Says
    context: int | None = None
    """Tokens of a request at most, those set aside for the reply among them if it says so."""
    too_long: Callable[[Asked, int], Answer] | None = None
    counts_reply: bool = False
    images: Mapping[str, int] = field(default_factory=dict)
    """Images of a request at most, by model."""
    too_many: Callable[[int], Answer] | None = None
    moods: tuple[Mood, ...] = ()
    dress: Dress = bare
    protocol: wire.Protocol = "openai"
    settings: str = ""
    """Further lines of each model in arena.toml."""
    forfeits: int = 0
    """Battles of three that are lost whatever a client does."""
    refusals: int = 12
    """Requests at most that bring nothing: what has to be learnt, and what passes."""
    shown: tuple[str, ...] = ()
    """Words that a user has to read where battles are lost: the server's own, or the cure."""
    kept: tuple[str, ...] = ()
    """Those that have to stand with the tries at least."""
    costs: bool = False
    """Whether it says what each reply costs."""
    or_names: str = ""
    """What a line may name as the cure where battles are not decided."""

    def most_images(self, model: str) -> int:
        """Return how many images a model takes."""
        return self.images.get(model, self.images.get(ALL, FRAMES))

    def fitting(self, asked: Asked) -> int:
        """Return how many frames a request like this one may hold."""
        most = min(FRAMES, self.most_images(asked.request.model))
        if self.context is None:
            return most
        reply = asked.reply_tokens if self.counts_reply else 0
        return min(most, max(0, self.context - asked.text_tokens - reply) // FRAME_TOKENS)


@dataclass(frozen=True)
class Seen:
    """One request and how it fared."""

    model: str
    images: int
    fitting: int
    status: int
    is_good: bool
    has_musing: bool
    """Whether a thought of an earlier reply came back in it."""
    tokens: tuple[int, int] = (0, 0)
    """In and out, as its answer counts them."""


@dataclass
class Playing:
    """A server of one personality; the script of a loopback server."""

    personality: Personality
    seen: list[Seen] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: wire.Request, think: Callable[[], AIMessage]) -> Answer:
        """Answer a request as this kind of server does."""
        with self._lock:
            self._counts.update((ALL, request.model))
            asked = Asked(request, self._counts[ALL], self._counts[request.model])
        answer = refusal = self._refusal(asked)
        usage = None
        if answer is None:
            good = think()
            usage = good.usage_metadata
            answer = self._reply(asked, good)
        texts = (str(block.get("text")) for m in request.messages for block in wire.blocks(m))
        seen = Seen(
            model=request.model,
            images=asked.images,
            fitting=self.personality.fitting(asked),
            status=answer.status,
            is_good=refusal is None,
            has_musing=any(MUSING in text for text in texts),
            tokens=(usage["input_tokens"], usage["output_tokens"]) if usage else (0, 0),
        )
        with self._lock:
            self.seen.append(seen)
        return answer

    def _refusal(self, asked: Asked) -> Answer | None:
        mine = self.personality
        for mood in mine.moods:
            if answer := mood(asked):
                return answer
        most = mine.most_images(asked.request.model)
        if mine.too_many and asked.images > most:
            return mine.too_many(most)
        reply = asked.reply_tokens if mine.counts_reply else 0
        if mine.too_long and mine.context and asked.tokens + reply > mine.context:
            return mine.too_long(asked, mine.context)
        return None

    def _reply(self, asked: Asked, good: AIMessage) -> Answer:
        mine = self.personality
        says = mine.referee if asked.request.model == REFEREE else mine.contestants
        said = says(str(good.text))
        words = good.model_copy(update={"content": said["content"]})
        body = json.loads(wire.reply(asked.request, words))
        if mine.protocol == "openai":
            body["choices"][0]["message"] |= said
        return mine.dress(asked, body)


def of_openai(status: int, message: str, **more: Any) -> Answer:
    """Return a refusal as OpenAI puts it."""
    told = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return sent(status, {"error": {**told, **more}})


def of_old_vllm(message: str) -> Answer:
    """Return a refusal of vLLM before 0.10."""
    rest = {"type": "BadRequestError", "param": None, "code": 400}
    return sent(400, {"object": "error", "message": message, **rest})


def of_vllm(message: str) -> Answer:
    """Return a refusal of vLLM since 0.10."""
    return of_openai(400, message, type="BadRequestError", code=400)


def _llama_cpp(asked: Asked, most: int) -> Answer:
    told = {
        "code": 400,
        "message": f"request ({asked.tokens} tokens) exceeds the available context size "
        f"({most} tokens), try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": asked.tokens,
        "n_ctx": most,
    }
    return sent(400, {"error": told})


def _vllm_old(asked: Asked, most: int) -> Answer:
    whole = asked.tokens + asked.reply_tokens
    return of_old_vllm(
        f"This model's maximum context length is {most} tokens. However, you requested {whole} "
        f"tokens ({asked.tokens} in the messages, {asked.reply_tokens} in the completion). Please "
        "reduce the length of the messages or completion."
    )


def _vllm_new(asked: Asked, most: int) -> Answer:
    left = most - asked.reply_tokens
    return of_vllm(
        f"You passed {asked.tokens} input tokens and requested {asked.reply_tokens} output tokens. "
        f"However, the model's context length is only {most} tokens, resulting in a maximum input "
        f"length of {left} tokens. Please reduce the length of the input prompt. "
        f"(parameter=input_tokens, value={asked.tokens})"
    )


def _lm_studio(asked: Asked, most: int) -> Answer:
    told = (
        f"Trying to keep the first {asked.tokens} tokens when context the overflows. However, the "
        f"model is loaded with context length of only {most} tokens, which is not enough. Try to "
        "load the model with a larger context length, or provide a shorter input"
    )
    return sent(400, {"error": told})


def _lm_studio_streamed(asked: Asked, most: int) -> Answer:
    told = (
        f"Input does not fit in context length. The input has {asked.tokens} tokens, but the "
        f"context length only supports {most} tokens."
    )
    event = json.dumps({"error": {"message": told}, "message": told})
    return Answer(200, f"event: error\ndata: {event}\n\n".encode(), STREAM)


def _tgi(asked: Asked, most: int) -> Answer:
    told = (
        f"Input validation error: `inputs` tokens + `max_new_tokens` must be <= {most}. Given: "
        f"{asked.tokens} `inputs` tokens and {asked.reply_tokens} `max_new_tokens`"
    )
    return sent(422, {"error": told, "error_type": "validation"})


def of_litellm(status: int, message: str, kind: str | None = None) -> Answer:
    """Return a refusal of LiteLLM's proxy, whose code is a text."""
    return of_openai(status, message, type=kind, code=str(status))


def _litellm(asked: Asked, most: int) -> Answer:
    model = asked.request.model
    return of_litellm(
        400,
        "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: "
        f"Hosted_vllmException - This model's maximum context length is {most} tokens. However, "
        f"your request has {asked.tokens} input tokens. Please reduce the length of the input "
        f"messages.. Received Model Group={model}\nAvailable Model Group Fallbacks=None",
    )


def _budget(asked: Asked) -> Answer | None:
    if asked.request.model != CONTESTANTS[0]:
        return None
    return of_litellm(
        429,
        "No deployments available - crossed budget: Exceeded budget for deployment model_name: "
        "hawk, litellm_params.model: openai/hawk, model_id: 5f0c: 10.0213 >= 10.0",
        "None",
    )


def of_openrouter(code: int, raw: str) -> Answer:
    """Return an error of a provider behind OpenRouter, which comes with status 200."""
    metadata = {"raw": raw, "provider_name": "BaseTen", "is_byok": False}
    told = {"message": "Provider returned error", "code": code, "metadata": metadata}
    return sent(200, {"error": told, "user_id": "user_loopback"})


def _broken_choice(asked: Asked) -> Answer | None:
    """Give the eleventh request a choice that ended in an error."""
    if asked.nth != 11 or asked.is_streamed:
        return None
    error = {"message": "Network connection lost.", "code": 502}
    choice = {
        "index": 0,
        "finish_reason": "error",
        "native_finish_reason": None,
        "message": {"role": "assistant", "content": ""},
        "error": {**error, "metadata": {"provider_name": "BaseTen"}},
    }
    shared = {"id": "gen-1", "object": "chat.completion", "created": 1, "provider": "BaseTen"}
    return sent(200, {**shared, "model": asked.request.model, "choices": [choice]})


def _broken_stream(asked: Asked) -> Answer | None:
    """Give the second streamed request of a model half of an answer and an error."""
    if not asked.is_streamed or asked.nth_of_model != 2:
        return None
    words = AIMessage(f"It is the {MUSING}, which goes from left to right and")
    body = json.loads(wire.reply(asked.request, words))
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
    told = {"code": 502, "message": "Provider disconnected unexpectedly"}
    return streamed(
        body,
        comment=": OPENROUTER PROCESSING",
        stops={"provider": "BaseTen", "error": told, "choices": [choice]},
    )


def _no_system(asked: Asked) -> Answer | None:
    if all(message.type != "system" for message in asked.request.messages):
        return None
    told = "Developer instruction is not enabled for models/gemma-3-27b-it"
    return Answer(400, wire.error("gemini", 400, told))


def _only_streams(asked: Asked) -> Answer | None:
    if asked.is_streamed:
        return None
    answer = {
        "error": {
            "code": "invalid_parameter_error",
            "param": None,
            "message": "This model only support stream mode, please enable the stream parameter "
            "to access the model. ",
            "type": "invalid_request_error",
        },
        "id": "chatcmpl-2d8e",
        "request_id": "2d8e",
    }
    return sent(400, answer)


def _counting(_asked: Asked, body: dict[str, Any]) -> Answer:
    return streamed(body, comment=": keep-alive", counts="so far")


def _counting_apart(_asked: Asked, body: dict[str, Any]) -> Answer:
    return streamed(body, comment=": keep-alive", counts="its own")


def _tokens_a_minute(asked: Asked) -> Answer | None:
    """Refuse what alone is more than one minute's tokens."""
    if asked.tokens <= 4000:
        return None
    return of_openai(
        429,
        f"Request too large for model `{asked.request.model}` in organization `org_1` service tier "
        f"`on_demand` on tokens per minute (TPM): Limit 4000, Requested {asked.tokens}, please "
        "reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today.",
        type="tokens",
        code="rate_limit_exceeded",
    )


def _text_only(asked: Asked) -> Answer | None:
    if asked.request.model != CONTESTANTS[1] or not asked.images:
        return None
    told = (
        "image input is not supported - hint: if this is unexpected, you may need to provide the "
        "mmproj"
    )
    return sent(500, {"error": {"code": 500, "message": told, "type": "server_error"}})


LOADING = sent(
    503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
)
ONE_IMAGE = "this model only supports one image while more than one image requested"
BUSY = "server busy, please try again.  maximum pending requests exceeded"
RATE_LIMITED = (
    "hawk is temporarily rate-limited upstream. Please retry shortly, or add your own key to "
    "accumulate your rate limits"
)
TIMED_OUT = "api.gateway.example | 524: A timeout occurred"
CHALLENGE = "Attention Required! | Cloudflare"
OVERLOADED = "The model is overloaded. Please try again later."

LLAMA_CPP = Personality(
    "llama.cpp",
    REASONING_CONTENT,
    UNOPENED,
    context=4096,
    too_long=_llama_cpp,
    moods=(strike(LOADING, {1, 2}),),
    dress=with_timings,
    refusals=14,
    kept=("Loading model", "exceeds the available context size"),
)
PERSONALITIES = (
    LLAMA_CPP,
    replace(
        LLAMA_CPP,
        name="llama.cpp, one model text only",
        moods=(_text_only,),
        forfeits=3,
        shown=("image input is not supported", "max_frames = 0"),
        kept=(),
    ),
    Personality(
        "vLLM 0.6",
        THINK,
        UNOPENED,
        context=8192,
        too_long=_vllm_old,
        counts_reply=True,
        images={ALL: 6},
        too_many=lambda most: of_old_vllm(
            f"At most {most} image(s) may be provided in one request."
        ),
        refusals=16,
        kept=("At most 6 image(s)", "maximum context length is 8192 tokens"),
    ),
    Personality(
        "vLLM 0.11",
        GLM_BOX,
        apart("reasoning_content", fence=True),
        context=8192,
        too_long=_vllm_new,
        counts_reply=True,
        kept=("context length is only 8192 tokens",),
    ),
    Personality(
        "Ollama",
        REASONING,
        DIALECTS["<think>, then a code fence"],
        images={CONTESTANTS[1]: 1},
        too_many=lambda _most: of_openai(500, ONE_IMAGE, type="api_error"),
        moods=(strike(sent(503, {"error": BUSY}), {3}),),
        kept=(ONE_IMAGE, "maximum pending requests exceeded"),
    ),
    Personality(
        "LM Studio 0.3",
        HARMONY,
        HARMONY,
        context=4096,
        too_long=_lm_studio,
        kept=("context length of only 4096 tokens",),
    ),
    Personality(
        "LM Studio 0.4, streamed",
        GEMMA,
        REASONING_CONTENT,
        context=4096,
        too_long=_lm_studio_streamed,
        dress=lambda _asked, body: streamed(body),
        settings="parameters = { stream = true }",
        kept=("context length only supports 4096 tokens",),
    ),
    Personality(
        "TGI",
        COHERE,
        in_fence,
        context=8192,
        too_long=_tgi,
        counts_reply=True,
        moods=(
            strike(sent(429, {"error": "Model is overloaded", "error_type": "overloaded"}), {4}),
        ),
        kept=("must be <= 8192", "Model is overloaded"),
    ),
    Personality(
        "LiteLLM",
        ANSWER,
        SEED,
        context=4096,
        too_long=_litellm,
        dress=with_cost_header,
        costs=True,
        kept=("ContextWindowExceededError",),
    ),
    Personality(
        "LiteLLM, one budget spent",
        ANSWER,
        SEED,
        moods=(_budget,),
        dress=with_cost_header,
        costs=True,
        forfeits=3,
        refusals=3,
        shown=("crossed budget",),
    ),
    Personality(
        "OpenRouter",
        REASONING,
        TWICE,
        moods=(
            strike(of_openrouter(429, RATE_LIMITED), range(2, 7)),
            _broken_choice,
        ),
        dress=as_openrouter,
        costs=True,
        refusals=12,
        kept=("temporarily rate-limited upstream", "Network connection lost"),
    ),
    Personality(
        "OpenRouter, streamed",
        REASONING,
        GEMMA,
        moods=(
            strike(of_openrouter(429, RATE_LIMITED), range(2, 7)),
            _broken_stream,
        ),
        dress=as_openrouter,
        costs=True,
        settings="parameters = { stream = true }",
        refusals=12,
        kept=("temporarily rate-limited upstream", "Provider disconnected unexpectedly"),
    ),
    Personality(
        "Gemini with Gemma",
        UNUSED,
        in_fence,
        moods=(strike(Answer(503, wire.error("gemini", 503, OVERLOADED)), {9}), _no_system),
        protocol="gemini",
        kept=("Developer instruction is not enabled", "The model is overloaded"),
    ),
    Personality(
        "a proxy with HTML pages",
        plain,
        ON_ONE_LINE,
        moods=(
            strike(page(403, CHALLENGE), {2}, model=CONTESTANTS[1]),
            strike(page(502, "502 Bad Gateway", server="nginx/1.25.3"), range(3, 60, 6)),
            strike(page(524, TIMED_OUT, before="<!DOCTYPE html>\n"), range(4, 60, 7)),
        ),
        forfeits=1,
        refusals=16,
        shown=(CHALLENGE,),
        kept=("502 Bad Gateway", "524: A timeout occurred"),
    ),
    Personality(
        "streams only, set to",
        THINK,
        ANSWER,
        moods=(_only_streams,),
        dress=_counting,
        settings="parameters = { stream = true }",
        refusals=0,
    ),
    Personality(
        "streams, pieces count their own",
        THINK,
        ANSWER,
        dress=_counting_apart,
        settings="parameters = { stream = true }",
        refusals=0,
    ),
    Personality(
        "streams only",
        THINK,
        ANSWER,
        moods=(_only_streams,),
        dress=_counting,
        shown=("only support stream mode",),
        or_names="stream = true",
    ),
    Personality(
        "Groq, small minutes",
        plain,
        THINK,
        moods=(_tokens_a_minute,),
        context=4000,
        kept=("Limit 4000, Requested",),
    ),
)
