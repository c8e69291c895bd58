"""Calls, battles and runs as OpenTelemetry spans, by the conventions for generative AI.

One span for each call that is made, one for each battle that is settled, one for the whole; a call
that the journal knows is made by nobody, and is only counted. Spans hold digests of what was asked
and answered, and of texts none but judges' reasons, cut short.

The names are those of https://github.com/open-telemetry/semantic-conventions-genai; the constants
in the package are marked as moved there.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple, TypeAlias

import requests
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    set_span_in_context,
)

from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.graph.slot_ids import base_of
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import Battle, Judging, Role
from videoautoarena.runs.console.progress.events import (
    BattleSettled,
    RunBegun,
    RunEnded,
    RunEvent,
)
from videoautoarena.runs.run.config.run_config import RunConfig

QUEUE = 8192
"""Most spans that wait to be sent; further ones are lost and counted."""
FLUSH_S = 3.0
"""How long the end of a run waits for a collector to take what is left."""
REMEMBERED = 4096
"""Battles that are known for some time after they ended."""
OURS = "videoautoarena"
"""Begins the names of what no convention has a name for."""

Value: TypeAlias = "str | bool | int | float | Sequence[str]"
Attributes: TypeAlias = Mapping[str, Value]

PROVIDERS = {
    "google_genai": "gcp.gemini",
    "vertex": "gcp.vertex_ai",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""Providers that the conventions call otherwise than models' names do."""
SAMPLED = {
    "temperature": float,
    "top_p": float,
    "top_k": int,
    "max_tokens": int,
    "seed": int,
    "presence_penalty": float,
    "frequency_penalty": float,
}
"""Parameters that the conventions name alike, and the type each is to have."""
SCORES = {"a": 1.0, "b": 0.0, "tie": 0.5, "tie_good": 0.5, "tie_bad": 0.5, "split": 0.5}
"""A verdict as a number: the share of the battle that model a wins."""


class LostSpans(NamedTuple):
    """How many spans a collector did not take."""

    spans: int
    of: int
    why: str
    """In words that follow its name; empty if nobody knows."""

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return self.spans > 0


class _FailedAtTheEnd(Exception):
    """Why the last spans were not taken, in a kind that is not tried again."""


class _Session(requests.Session):
    """Sends spans, and knows how the last try went."""

    def __init__(self) -> None:
        super().__init__()
        self.why = ""
        """Why the last try failed; empty if it did not."""
        self.is_ending = False
        """From then on each try is the last one."""

    def request(self, *args: Any, **more: Any) -> requests.Response:
        try:
            answer = super().request(*args, **more)
        except requests.RequestException as error:
            self.why = f" ({type(error).__name__})"
            if self.is_ending:
                raise _FailedAtTheEnd from None
            raise
        # The exporter takes a redirect, which it does not follow, for a success.
        is_taken = answer.ok and not answer.is_redirect
        self.why = "" if is_taken else f" (status {answer.status_code})"
        if not is_taken and (self.is_ending or answer.is_redirect):
            raise _FailedAtTheEnd
        return answer


_SENDING = threading.local()
"""Says of a thread that it sends spans of ours just now."""


def _is_not_ours(_record: logging.LogRecord) -> bool:
    return not getattr(_SENDING, "is_ours", False)


@cache
def _keep_quiet() -> None:
    """Keep what the exporter logs about spans of ours off the console; that of others stays."""
    names = (
        "opentelemetry.exporter.otlp.proto.http.trace_exporter",
        "opentelemetry.exporter.otlp.proto.http._common",
        "opentelemetry.sdk._shared_internal",
        "opentelemetry.sdk.trace.export",
        "opentelemetry.util.re",
        "urllib3.connectionpool",
    )
    for name in names:
        logging.getLogger(name).addFilter(_is_not_ours)


class _CountedExporter(SpanExporter):
    """Counts what goes through it."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._is_shut = False
        self.tried = 0
        self.taken = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans; what was not taken is tried no more."""
        self.tried += len(spans)
        if self._is_shut:
            return SpanExportResult.FAILURE
        _SENDING.is_ours = True
        try:
            result = self._exporter.export(spans)
        finally:
            _SENDING.is_ours = False
        if result is SpanExportResult.SUCCESS:
            self.taken += len(spans)
        return result

    def shutdown(self) -> None:
        """Cut off what is being sent; again is harmless."""
        if not self._is_shut:
            self._is_shut = True
            self._exporter.shutdown()


class _BoundedQueue(SpanProcessor):
    """Hands spans on to be sent, as long as not too many of them wait."""

    def __init__(self, exporter: _CountedExporter) -> None:
        self._exporter = exporter
        # One more than ever wait: it would log each that does not fit.
        self._batches = BatchSpanProcessor(exporter, max_queue_size=QUEUE + 1)
        self.ended = 0
        self._refused = 0

    def on_end(self, span: ReadableSpan) -> None:
        """Take a span that has ended."""
        if span.context is None or not span.context.trace_flags.sampled:
            return
        self.ended += 1
        if self.ended - self._refused - self._exporter.tried > QUEUE:
            self._refused += 1
            return
        self._batches.on_end(span)

    def shutdown(self) -> None:
        """Send all that wait; returns once they are sent or given up."""
        self._batches.shutdown()  # type: ignore[no-untyped-call]


class _RandomIds(IdGenerator):
    """Ids from the system: the kit's own takes them from the generator that a program may seed."""

    def generate_span_id(self) -> int:
        """Return a number from 1 to 2**64 - 1."""
        return secrets.randbelow(2**64 - 1) + 1

    def generate_trace_id(self) -> int:
        """Return a number from 1 to 2**128 - 1."""
        return secrets.randbelow(2**128 - 1) + 1


@dataclass(frozen=True)
class SpanDelivery:
    """A tracer whose spans are sent in the background."""

    tracer: Tracer
    session: _Session
    exporter: _CountedExporter
    queue: _BoundedQueue

    def close(self) -> LostSpans:
        """Send what is left for `FLUSH_S` at most; return what was not taken."""
        was_failing = bool(self.session.why)
        self.session.is_ending = True
        ending = threading.Thread(target=self.queue.shutdown, daemon=True)
        ending.start()
        # Nobody waits for the next try at a collector that is gone.
        if was_failing:
            self.exporter.shutdown()
        ending.join(FLUSH_S)
        if ending.is_alive():
            self.exporter.shutdown()
        ended = self.queue.ended
        lost = ended - self.exporter.taken
        why = self.session.why or (" in time" if ending.is_alive() else "")
        return LostSpans(lost, ended, why)


def delivery_to(url: str) -> SpanDelivery:
    """Return what sends spans to a collector; the rest is said by OpenTelemetry's variables.

    Raises:
        ValueError, RuntimeError, ImportError: one of those variables cannot be used.
    """
    _keep_quiet()
    session = _Session()
    _SENDING.is_ours = True
    try:
        exporter = _CountedExporter(OTLPSpanExporter(endpoint=url, session=session))
        queue = _BoundedQueue(exporter)
        provider = TracerProvider(
            resource=_resource(), shutdown_on_exit=False, id_generator=_RandomIds()
        )
    finally:
        _SENDING.is_ours = False
    provider.add_span_processor(queue)
    return SpanDelivery(provider.get_tracer(OURS, version(OURS)), session, exporter, queue)


def _resource() -> Resource:
    # Those of the user's variables stand above ours.
    ours = Resource({SERVICE_NAME: OURS, SERVICE_VERSION: version(OURS)})
    theirs = Resource.create()
    named = str(theirs.attributes.get(SERVICE_NAME, ""))
    return theirs.merge(ours) if named.startswith("unknown_service") else ours.merge(theirs)


@dataclass
class _PendingCall:
    """A call under way."""

    event: CallEvent
    began_ns: int
    retries: list[tuple[int, CallEvent]] = field(default_factory=list)
    """With the times at which they failed."""


class SpanWriter:
    """Writes what it hears as spans."""

    def __init__(
        self,
        delivery: SpanDelivery,
        config: RunConfig,
        workflow: str,
        *,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._delivery = delivery
        self._config = config
        self._workflow = workflow
        self._clock = clock
        self._root: Span | None = None
        self._videos: frozenset[str] | None = None
        """Of a tournament, in which all else that a call may be about is a battle."""
        self._battles: dict[str, Span] = {}
        self._settled: dict[str, Span] = {}
        """The last that ended: what another machine did for them may be heard of later."""
        self._calls: defaultdict[object, list[_PendingCall]] = defaultdict(list)
        self._recalled = 0
        """Calls that the journal knew."""
        self._recalled_of: Counter[str] = Counter()
        """Those of battles that are not settled."""
        self._models: dict[str, Model] = {}

    def hear(self, event: RunEvent) -> None:
        """Write what an event tells."""
        match event:
            case CallEvent():
                self._hear_call(event)
            case RunBegun():
                self._videos = frozenset(event.videos)
                self._whole.set_attributes(
                    {
                        f"{OURS}.seed": event.seed,
                        f"{OURS}.rounds": event.rounds,
                        f"{OURS}.models": event.models,
                        f"{OURS}.examiner": event.examiner,
                        f"{OURS}.judges": event.judges,
                    }
                )
            case BattleSettled(battle):
                self._settle(battle)
            case RunEnded():
                ends = {"interrupted": event.interrupted, "capped": event.is_capped}
                for name, value in ends.items():
                    self._whole.set_attribute(f"{OURS}.{name}", value)

    def close(self) -> LostSpans:
        """End what is under way, and send what is left; return what was not taken."""
        for pending in [one for calls in self._calls.values() for one in calls]:
            self._write_call(pending, pending.event, "interrupted")
        self._calls.clear()
        for span in self._battles.values():
            self._end(span, "interrupted")
        self._battles.clear()
        if self._root is not None:
            self._root.set_attribute(f"{OURS}.calls.recalled", self._recalled)
            self._root.end(self._clock())
        return self._delivery.close()

    @property
    def _whole(self) -> Span:
        """The span of all; it begins with whatever is heard first."""
        if self._root is None:
            self._root = self._begin(f"invoke_workflow {self._workflow}", _flow(self._workflow))
        return self._root

    def _begin(
        self, name: str, attributes: Attributes, parent: Span | None = None, **more: Any
    ) -> Span:
        # Never in the context of whoever calls: a program may trace itself elsewhere.
        context = Context() if parent is None else set_span_in_context(parent, Context())
        more.setdefault("start_time", self._clock())
        return self._delivery.tracer.start_span(name, context, attributes=attributes, **more)

    def _end(self, span: Span, error: str | None = None, at_ns: int | None = None) -> None:
        if error is not None:
            span.set_attribute("error.type", error)
            # Without words: they might be a server's.
            span.set_status(Status(StatusCode.ERROR))
        span.end(at_ns or self._clock())

    def _hear_call(self, event: CallEvent) -> None:
        waiting = self._calls[event.node, event.alias, event.nonce]
        match event.kind:
            case "started":
                waiting.append(_PendingCall(event, self._clock()))
                self._parent_of(event.nonce.scope)
            case "retry" if waiting:
                waiting[0].retries.append((self._clock(), event))
            case "recalled":
                self._recalled += 1
                self._recalled_of[base_of(event.nonce.scope)] += 1
            case "finished" if waiting:
                self._write_call(waiting.pop(0), event, event.fault)
        if not waiting:
            del self._calls[event.node, event.alias, event.nonce]

    def _parent_of(self, scope: str) -> Span:
        whole = self._whole
        if self._videos is None or scope in self._videos:
            return whole
        return self._battle(base_of(scope))

    def _battle(self, base: str) -> Span:
        if base in self._settled:
            return self._settled[base]
        if base not in self._battles:
            attributes = {**_flow("battle"), f"{OURS}.battle": base}
            self._battles[base] = self._begin("invoke_workflow battle", attributes, self._whole)
        return self._battles[base]

    def _write_call(self, pending: _PendingCall, event: CallEvent, error: str | None) -> None:
        """Write the span of a call: where it began, its retries, and how it ended."""
        now_ns = self._clock()
        # News of another machine comes late, and both ends of a short call together.
        began_ns = min(pending.began_ns, now_ns - int(event.seconds * 1e9))
        role = event.nonce.role
        model = self._model(event.alias)
        operation = "embeddings" if role == "embedder" else "chat"
        name = f"{operation} {model.name if model else event.alias}"
        is_here = model is not None and model.is_offline
        span = self._begin(
            name,
            {
                "gen_ai.operation.name": operation,
                "gen_ai.agent.name": role,
                **(_of_model(model, role) if model else {}),
                **_of_call(event),
            },
            self._parent_of(event.nonce.scope),
            kind=SpanKind.INTERNAL if is_here else SpanKind.CLIENT,
            start_time=began_ns,
        )
        for at_ns, retry in pending.retries:
            about: dict[str, Value] = {f"{OURS}.pause_s": retry.seconds}
            about["error.type"] = retry.fault or ""
            span.add_event(f"{OURS}.retry", about, timestamp=at_ns)
        self._end(span, error, now_ns)

    def _model(self, alias: str) -> Model | None:
        if alias not in self._models and alias in self._config.cast:
            self._models[alias] = self._config.model_of(alias)
        return self._models.get(alias)

    def _settle(self, battle: Battle) -> None:
        """End the span of a battle, with its verdicts as evaluations."""
        base = base_of(battle.id)
        span = self._battle(base)
        self._battles.pop(base, None)
        about: dict[str, Value] = {
            f"{OURS}.battle": battle.id,
            f"{OURS}.video": battle.video,
            f"{OURS}.persona": battle.persona,
            f"{OURS}.round": battle.round,
            f"{OURS}.model_a": battle.model_a or "",
            f"{OURS}.model_b": battle.model_b or "",
            f"{OURS}.verdict": battle.verdict,
            f"{OURS}.calls.recalled": self._recalled_of.pop(base, 0),
        }
        span.set_attributes(about)
        now_ns = self._clock()
        for evaluation in evaluations_of(battle):
            span.add_event("gen_ai.evaluation.result", evaluation, timestamp=now_ns)
        self._end(span, "void" if battle.verdict == "void" else None, now_ns)
        self._settled[base] = NonRecordingSpan(span.get_span_context())
        if len(self._settled) > REMEMBERED:
            del self._settled[next(iter(self._settled))]


def _flow(name: str) -> dict[str, Value]:
    return {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": name}


def _of_model(model: Model, role: Role) -> dict[str, Value]:
    """Return what a span says of the model that a call went to, and how it was asked."""
    found: dict[str, Value] = {
        "gen_ai.provider.name": PROVIDERS.get(model.provider, model.provider),
        "gen_ai.request.model": model.name,
    }
    asked = model.sampling(role)
    for name, kind in SAMPLED.items():
        value = asked.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[f"gen_ai.request.{name}"] = kind(value)
    if model.streams:
        found["gen_ai.request.stream"] = True
    # Else only its client knows where it is served, and the endpoint is no address.
    if model.url:
        host, _, port = model.endpoint.rpartition(":")
        found["server.address"] = host or model.endpoint
        if host and port.isdecimal():
            found["server.port"] = int(port)
    return found


def _of_call(event: CallEvent) -> dict[str, Value]:
    """Return what a span says of how a call went."""
    usage = event.usage
    costs = [attempt.cost_usd for attempt in event.attempts]
    known = [cost for cost in (event.cost_usd, *costs) if cost is not None]
    is_answer = event.kind == "finished" and event.fault is None
    known_of: dict[str, Value | None] = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.written_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        "gen_ai.response.model": event.served_by,
        "gen_ai.response.finish_reasons": [event.ending] if event.ending else None,
        f"{OURS}.cost_usd": sum(known) if known else None,
        f"{OURS}.request.digest": f"sha256:{event.key}" if event.key else None,
        f"{OURS}.reply.digest": f"sha256:{digest(event.text)}" if is_answer else None,
        f"{OURS}.machine": event.node or None,
    }
    nonce = event.nonce
    found: dict[str, Value] = {
        f"{OURS}.alias": event.alias,
        f"{OURS}.scope": nonce.scope,
        f"{OURS}.ordinal": nonce.ordinal,
        f"{OURS}.generation": nonce.generation,
        f"{OURS}.tries": len(event.attempts) + 1,
    }
    return found | {name: value for name, value in known_of.items() if value is not None}


def evaluations_of(battle: Battle) -> Iterator[dict[str, Value]]:
    """Yield a battle's verdict, that of each judge, and its view by each standard."""
    yield _evaluation("battle", battle.verdict, battle.reason)
    for judging in battle.verdicts:
        yield _of_judge(judging, "overall", judging.verdict, judging.reason)
        for standard, choice in (judging.standards or {}).items():
            said = (judging.analyses or {}).get(standard)
            yield _of_judge(judging, standard, choice, said)


def _of_judge(judging: Judging, name: str, label: str, said: str | None) -> dict[str, Value]:
    who = {f"{OURS}.judge": judging.judge, f"{OURS}.seats": judging.seats}
    failed: dict[str, Value] = {"error.type": "failed"} if judging.verdict == "failed" else {}
    return {**_evaluation(name, label, said), **who, **failed}


def _evaluation(name: str, label: str, said: str | None) -> dict[str, Value]:
    found: dict[str, Value] = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.label": label,
    }
    if label in SCORES:
        found["gen_ai.evaluation.score.value"] = SCORES[label]
    if said:
        # On one printable line, cut short, and without keys.
        found["gen_ai.evaluation.explanation"] = redacted(said)
    return found
