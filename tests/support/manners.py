"""How the server of the tests behaves: which request fares how, decided before it is answered."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from email.utils import formatdate
from typing import Any, Literal, get_args

from videoautoarena.memory.records.digests import unit_interval

Deed = Literal[
    # An answer of the model that is no use, or that is not the model's.
    "prose",
    "fence",
    "empty",
    "thoughts",
    "truncated",
    "refusal",
    "filter",
    "other-model",
    "endless",
    "blanks",
    "broken-off",
    "filtered",
    "reasoned",
    # An error that says what is wrong.
    "status",
    "quota",
    "filter-error",
    "too-long",
    "too-many-images",
    "unknown-field",
    "refused-format",
    # Something that is no answer of an API.
    "html",
    "wrong-json",
    "cut-json",
    "deep-json",
    "no-choice",
    "huge",
    "bomb",
    "body",
    "mid-stream",
    # Something that happens to the connection.
    "close",
    "half",
    "cut",
    "stream-cut",
    "trickle",
    "silent",
]
REPLIES = frozenset(get_args(Deed)[:13])
ERRORS = frozenset(get_args(Deed)[13:20])
STORM = (None, 0.0, 0.2, "soon")
"""What the limits of a chaos ask for: nothing, no time, a little, a date."""
MALFORMED: tuple[Deed, ...] = ("prose", "fence", "empty", "thoughts", "truncated", "refusal")
FAILURES = (500, 502, 503, 529)
BREAKS: tuple[Deed, ...] = ("close", "half", "cut", "cut")
MOST_IN_A_ROW = 3


@dataclass(frozen=True)
class Mishap:
    """One thing that goes wrong: what, for which requests.

    Attributes:
        do: "prose", "empty", "thoughts" (reasoning that never ends), "truncated" (at its limit of
            tokens) and "refusal" are replies that hold no JSON or no text; "fence" is a good one
            in a code fence; "filter" one that a filter took away; "other-model" one of a model
            with another name; "endless" one that goes on and on, "blanks" nothing else,
            "broken-off" half of it, which the provider calls an error, "filtered" half of it that
            a filter ended, "reasoned" one whose words all stand in `reasoning_content`. "status"
            answers with
            `status`;
            "quota", "filter-error", "too-long", "too-many-images", "unknown-field" and
            "refused-format" with the error of that name.
            "html" is a page with `status`, "wrong-json" JSON of another shape, "cut-json" half of
            it, "deep-json" far too many brackets, "no-choice" a reply without candidates, "huge"
            more than anybody can use, "bomb" as much, compressed; "body" is `body` with `status`,
            "mid-stream" half a reply in pieces and then `body` as the next. "close" hangs up
            without a word, "half" behind the head, "cut" in the middle of the body, "stream-cut"
            between two pieces; "trickle" takes `seconds` for it, "silent" says nothing for as long.
        model: which model's requests; "*" for all.
        nth: the first request it befalls, counted from 1 over those of `model`.
        times: how many requests it befalls from there on.
        retry_after: seconds, "soon" for the date one second ahead, or any other text as it is.
    """

    do: Deed
    model: str = "*"
    nth: int = 1
    times: int = 1
    status: int = 500
    retry_after: float | str | None = None
    seconds: float = 30.0
    body: str = ""

    def befalls(self, model: str, seen: Counter[str]) -> bool:
        """Say whether it strikes the request that `seen` was just counted up for."""
        return self.model in {model, "*"} and self.nth <= seen[self.model] < self.nth + self.times

    def retry_after_header(self) -> str | None:
        """Return what the header says."""
        if self.retry_after == "soon":
            return formatdate(time.time() + 1, usegmt=True)
        return None if self.retry_after is None else str(self.retry_after)


@dataclass(frozen=True)
class Chaos:
    """Mishaps at random, equal for the equal request whenever it comes.

    Attributes:
        rate_429: share of tries that are refused; likewise errors, silence and broken connections.
        rate_malformed: share of calls whose model gives a reply that is hard to use, at every try.
    """

    seed: int = 0
    rate_429: float = 0.0
    rate_5xx: float = 0.0
    rate_timeout: float = 0.0
    rate_broken: float = 0.0
    rate_malformed: float = 0.0
    timeout_s: float = 30.0

    def mishap(self, key: str, attempt: int) -> Mishap | None:
        """Return what befalls a try. None more than three times in a row, so that a call gets by.

        What its model says is decided by the key alone: it is the same however often it is asked.
        """
        row = range(max(1, attempt - MOST_IN_A_ROW), attempt + 1)
        struck = [self._strike(key, number) for number in row]
        if struck[-1] is not None and (len(struck) <= MOST_IN_A_ROW or None in struck):
            return struck[-1]
        return self._malformed(key)

    def _strike(self, key: str, attempt: int) -> Mishap | None:
        drawn = unit_interval(self.seed, "chaos", key, attempt)
        which = unit_interval(self.seed, "which", key, attempt)
        kinds = (
            (self.rate_429, Mishap("status", status=429, retry_after=_one_of(STORM, which))),
            (self.rate_5xx, _failure(_one_of(FAILURES, which))),
            (self.rate_timeout, Mishap("silent", seconds=self.timeout_s)),
            (self.rate_broken, Mishap(_one_of(BREAKS, which))),
        )
        for rate, mishap in kinds:
            if drawn < rate:
                return mishap
            drawn -= rate
        return None

    def _malformed(self, key: str) -> Mishap | None:
        if unit_interval(self.seed, "malformed", key) >= self.rate_malformed:
            return None
        return Mishap(_one_of(MALFORMED, unit_interval(self.seed, "how", key)))


@dataclass(frozen=True)
class Limits:
    """What the server takes, and does not say before it is asked for more.

    Attributes:
        concurrent: requests under way at once; one more is refused with 429 and Retry-After.
        per_minute: requests within any minute; likewise.
        images: images in a request; one more is an error that names the number.
        tokens: tokens in a request, each image counted as `image_tokens` and the text as
            `text_tokens`; more are refused with 429, and both numbers are named.
        long_images: images in a request; with one more it is too long for the model's context.
        unknown_field: a field that no request may have; one that has it is refused by name.
        formats: to what a reply may be held; None takes any, and knows what is meant.
        is_streaming: answers in pieces alone; a request that does not ask for them is refused.
    """

    concurrent: int | None = None
    per_minute: int | None = None
    images: int | None = None
    long_images: int | None = None
    tokens: int | None = None
    image_tokens: int = 0
    text_tokens: int = 0
    unknown_field: str | None = None
    formats: tuple[str, ...] | None = None
    is_streaming: bool | None = None
    retry_after: float | None = 1.0


@dataclass(frozen=True)
class Manners:
    """How the server behaves.

    Attributes:
        latency_s: bounds of the pause before each answer; drawn from `seed` and the request's key.
        mishaps: what goes wrong; the first that strikes a request decides.
        chaos: what goes wrong else, at random.
        limits: what it takes.
        api_key: the key a request must carry, else 401; None asks for none.
    """

    latency_s: tuple[float, float] = (0.0, 0.0)
    seed: int = 0
    mishaps: tuple[Mishap, ...] = ()
    chaos: Chaos | None = None
    limits: Limits = Limits()
    api_key: str | None = None

    def pause_s(self, key: str, attempt: int) -> float:
        """Return how long the answer to a request takes, equal for the equal request."""
        low, high = self.latency_s
        return low + (high - low) * unit_interval(self.seed, key, attempt)


class Doorkeeper:
    """Counts requests in and out, and says what befalls each."""

    def __init__(self, manners: Manners) -> None:
        self.manners = manners
        self.seen: Counter[str] = Counter()
        self.inside = 0
        self._recent: deque[float] = deque()
        self._lock = threading.Lock()

    def come(
        self,
        model: str,
        key: str,
        *,
        images: int,
        fields: Collection[str] = (),
        reply_format: str | None = None,
    ) -> tuple[Mishap | None, int]:
        """Count a request in; return what befalls it and how often its key has come."""
        with self._lock:
            self.inside += 1
            self.seen.update(("*", model, f"key {key}"))
            attempt = self.seen[f"key {key}"]
            befallen = (m for m in self.manners.mishaps if m.befalls(model, self.seen))
            refusal = self._refusal(images, fields, reply_format)
            return next(befallen, None) or refusal or self._chance(key, attempt), attempt

    def go(self) -> None:
        """Count a request out."""
        with self._lock:
            self.inside -= 1

    def _refusal(
        self, images: int, fields: Collection[str], reply_format: str | None
    ) -> Mishap | None:
        limits = self.manners.limits
        now = time.monotonic()
        if limits.unknown_field in fields:
            return Mishap("unknown-field")
        if reply_format and limits.formats is not None and reply_format not in limits.formats:
            return Mishap("refused-format")
        if limits.is_streaming and "stream" not in fields:
            return Mishap("status", status=400)
        if limits.images is not None and images > limits.images:
            return Mishap("too-many-images")
        asked = limits.text_tokens + images * limits.image_tokens
        if limits.tokens is not None and asked > limits.tokens:
            return Mishap("body", status=429, body=_over_a_minute(limits.tokens, asked))
        if limits.long_images is not None and images > limits.long_images:
            return Mishap("too-long")
        while self._recent and self._recent[0] <= now - 60:
            self._recent.popleft()
        is_full = limits.concurrent is not None and self.inside > limits.concurrent
        if is_full or (limits.per_minute is not None and len(self._recent) >= limits.per_minute):
            return Mishap("status", status=429, retry_after=limits.retry_after)
        self._recent.append(now)
        return None

    def _chance(self, key: str, attempt: int) -> Mishap | None:
        return self.manners.chaos.mishap(key, attempt) if self.manners.chaos else None


def _failure(status: int) -> Mishap:
    return Mishap("html" if status == 502 else "status", status=status)


def _over_a_minute(limit: int, asked: int) -> str:
    words = f"Request too large on tokens per min (TPM): Limit {limit}, Requested {asked}."
    told = {"message": words, "type": "tokens", "code": "rate_limit_exceeded"}
    return json.dumps({"error": told})


def _one_of(choices: Any, drawn: float) -> Any:
    return choices[int(drawn * len(choices))]


def written(settings: Chaos | Limits) -> str:
    """Return settings as a command line takes them."""
    changed = {f.name: getattr(settings, f.name) for f in fields(settings)}
    return json.dumps({name: value for name, value in changed.items() if value is not None})


def read_manners(texts: dict[str, str], manners: Manners) -> Manners:
    """Return `manners` with the mishaps, chaos and limits that stand in `texts` as JSON."""
    plan: Iterable[dict[str, Any]] = json.loads(texts["mishaps"])
    chaos = json.loads(texts["chaos"])
    return replace(
        manners,
        mishaps=tuple(Mishap(**mishap) for mishap in plan),
        chaos=Chaos(**chaos) if chaos else None,
        limits=Limits(**json.loads(texts["limits"])),
    )
