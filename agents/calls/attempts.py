"""The attempts of one call: each in its turn, again where that can help, smaller if need be."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from videoautoarena.agents.calls.clients import Client, Load, OutgoingCall, ReceivedReply, unheard
from videoautoarena.agents.calls.retry import fault_of, gives_up, pause_s
from videoautoarena.agents.limits.estimates import OUTPUT_LIMITS, Estimates, frame_tokens
from videoautoarena.agents.limits.outages import ServerWait, ServerWaits
from videoautoarena.agents.limits.prefixes import CachePrefix, CachePrefixes
from videoautoarena.agents.limits.prices import cost_of
from videoautoarena.agents.limits.scheduler import ModelQueue, Scheduler, SendTurn, giving_back
from videoautoarena.agents.limits.server_limits import ShapedCall
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.agents.transport.answers import ending_word, is_filtered, was_cut
from videoautoarena.agents.transport.faults import REFUSALS, STOPPED, UNREACHED, CallFault, Nature
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.agents.transport.transport import LONGEST_REPLY
from videoautoarena.memory.records.errors import ArenaError, BadInput, FramesChanged, UnusableVideo
from videoautoarena.memory.records.records import Attempt, ReplyFormat, Usage, VideoFrames

TOKENS_OF_A_REPLY = 1000
"""Tokens that a reply is expected to take if no parameter limits it."""
MOST_OVERLONG = 2
"""Most tries of a call whose replies never end: a model repeats itself by chance and may not do so
the next time, but each such reply costs as much as the longest one that is allowed."""
LONGEST_ADDRESS = 200
"""Most characters of a model's address that an error message repeats."""
_OF_ADDRESS = frozenset({"connection", "malformed", "http-404", "http-405"})
"""Kinds of fault that a wrong `base_url` may cause: a server is there, but serves no model."""
_VERSION = re.compile(r"/v\d")
PART_BYTES = 160
"""Bytes of a body around each frame and around the text."""


class CallEnding(NamedTuple):
    """How a call ended after all its tries."""

    received: ReceivedReply | None
    fault: CallFault | None
    attempts: tuple[Attempt, ...]
    latency_s: float
    """How long the last try took."""
    frames: VideoFrames | None
    """Frames of the last try."""
    structured: ReplyFormat | None = None
    """Format that the server was asked to hold the last reply to; None if to none."""
    batch: str | None = None
    """The batch that brought the last try's end; None where it was sent by itself."""


class Listener(Protocol):
    """Follows the tries of one call; tries are numbered from 1."""

    @property
    def rank(self) -> int:
        """Place in the queue: tries of a lower rank are sent first."""

    def started(self) -> None:
        """Take note that the first try goes out."""

    async def sending(self, attempt: int, sent: Request) -> None:
        """Return once the try of this number may be sent."""

    def unused(self) -> None:
        """Take note that a turn was given back without a try."""

    def unsent(self, attempt: int) -> None:
        """Take note that the try of this number never went out, and none will."""

    def failed(self, attempt: int, fault: CallFault, wait_s: float) -> None:
        """Take note that the try of this number failed; the next one follows after `wait_s`."""

    async def renewed(self, attempt: Attempt) -> None:
        """Return once the try after this one may be paid for."""

    def is_funded(self, sent: Request) -> bool:
        """Return whether enough is set aside for a try, as far as is known now."""

    async def funded(self, sent: Request) -> None:
        """Return once enough is set aside for a try."""

    def suspended(self) -> None:
        """Take note that the next try waits for another call, and needs no money until then."""

    def learnt(self, line: str) -> None:
        """Take a line about what its tries taught of the server."""


@dataclass
class Attempts:
    """Sends calls until each is answered or has failed for good."""

    turns: Scheduler
    load: Load
    make_client: Callable[[Model, Load], Client]
    estimates: Estimates
    seed: int = 0
    most_tries: int = sys.maxsize
    """However patient a fault would be met otherwise."""
    waits: ServerWaits = field(default_factory=ServerWaits)
    prefixes: CachePrefixes = field(default_factory=CachePrefixes)
    _clients: dict[Model, Client] = field(default_factory=dict)

    async def aclose(self) -> None:
        self.waits.close()
        while self._clients:
            await self._clients.popitem()[1].aclose()

    async def make(
        self, key: str, model: Model, request: Request, listener: Listener
    ) -> CallEnding:
        with ShapedCall(self.estimates.limits, model, listener.learnt) as shaped:
            try:
                return await self._make(key, request, listener, shaped)
            finally:
                self.waits.ended(model.endpoint, key)

    async def _make(
        self, key: str, request: Request, listener: Listener, shaped: ShapedCall
    ) -> CallEnding:
        model = shaped.model
        queue = self.turns.queue_of(model)
        before = EarlierTries()
        for number in count(1):
            with before.waiting():
                turn = await self._turn(queue, request, listener, shaped)
            with giving_back(self.turns, turn):
                if number == 1:
                    listener.started()
                request = shaped.fitted(request)
                # Its intent is on disk before a try is sent: a kill may lose the reply, but not the
                # knowledge that it may have been paid for.
                await listener.sending(number, request)
                # Something may have been learnt while it waited.
                request = shaped.fitted(request)
                try:
                    got, took_s = await self._once(turn, key, request, shaped)
                except BadInput:
                    # Its client cannot be set up, so nothing went out.
                    listener.unsent(number)
                    raise
            received = got if isinstance(got, ReceivedReply) else None
            fault = got if isinstance(got, CallFault) else useless(got)
            if fault is None:
                return CallEnding(
                    received, None, tuple(before.all), took_s, request.frames, shaped.asked_for
                )
            # Nobody was there, so that it counts as no try; it is sent again once the endpoint is
            # back.
            if turn.found_nobody:
                # Others of its model may hold what it waits for next.
                shaped.let_go()
                listener.failed(number, fault, self.turns.opens_in(queue))
                await listener.renewed(before.miss(self._attempt(model, request, fault, 0.0)))
                continue
            mended = None if received else shaped.mended(request, fault)
            is_last = number >= self.most_tries or gives_up(fault, before.own)
            if mended is None and is_last:
                fault = shaped.explained(fault)
                return CallEnding(
                    received, fault, tuple(before.all), took_s, request.frames, shaped.asked_for
                )
            # `least_s` is our own pause and `longest_s` the one the server asks for: a refused call
            # may be woken between the two, once the server has taken another.
            least_s = longest_s = 0.0
            if not mended:
                tries = len(before.own) + 1
                least_s = pause_s(self.seed, key, tries=tries, hint_s=None)
                longest_s = pause_s(self.seed, key, tries=tries, hint_s=fault.hint_s)
            listener.failed(number, fault, longest_s)
            waited_s = longest_s
            if fault.is_refusal:
                wait = ServerWait(model.endpoint, "waiting", longest_s, fault.kind, fault.reason)
                self.waits.refused(wait, key, before_s=before.refused_s)
                waited_s = await self.turns.wait_out(queue, longest_s, at_least_s=least_s)
            elif longest_s:
                await self.turns.pause(longest_s)
            attempt = self._attempt(model, request, fault, waited_s, received)
            await listener.renewed(before.add(attempt))
            request = mended or request
        raise AssertionError  # it is counted without an end

    async def _turn(
        self, queue: ModelQueue, request: Request, listener: Listener, shaped: ShapedCall
    ) -> SendTurn:
        """Return a turn of a try that is well funded, and of a size that is taken, once it comes.

        It waits for either, and for another call that leads its prefix, without a place, and
        without keeping others from what they wait for: they might be those who make room for it.
        """
        limits = self.estimates.limits
        patience_s = shaped.model.timeout_s
        while True:
            # Once nothing more is sent, whoever freed its money goes without it to where all wait.
            if not self.turns.is_closed and not listener.is_funded(request):
                shaped.let_go()
                await listener.funded(request)
            await shaped.ready()
            fitted = shaped.fitted(request)
            tokens = tokens_of(shaped.model, fitted) if queue.pacer else 0.0
            prefix = self.prefixes.of(shaped.model, fitted, limits)
            turn = await self.turns.take(queue, tokens, rank=listener.rank, prefix=prefix)
            if isinstance(turn, CachePrefix):
                listener.suspended()
                patience_s = await turn.opened(patience_s)
                continue
            if listener.is_funded(fitted) and shaped.is_ready:
                return turn
            turn.tokens = 0.0
            # Nothing was sent, so the pacer takes back the tokens that it had counted.
            self.turns.give_back(turn)
            listener.unused()

    async def _once(
        self, turn: SendTurn, key: str, request: Request, shaped: ShapedCall
    ) -> tuple[ReceivedReply | CallFault, float]:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        got = await self._send(turn, key, request, shaped)
        _note(turn, got)
        if isinstance(got, ReceivedReply):
            limit = self.estimates.limit_of(shaped.model, request.role)
            shaped.took(request, got.usage, limit)
        return got, loop.time() - began_s

    async def _send(
        self, turn: SendTurn, key: str, request: Request, shaped: ShapedCall
    ) -> ReceivedReply | CallFault:
        model = shaped.model
        if model not in self._clients:
            self._clients[model] = self.make_client(model, self.load)
        sending = outgoing(key, request, shaped, partial(_begin, turn))
        try:
            # Not sent at all: a 413 that comes before the body is read reaches Gemini's client as a
            # broken connection.
            fault = await self._oversize(model, request)
            return fault or await self._clients[model].send(sending)
        except (FramesChanged, UnusableVideo) as lost:
            return CallFault("frames", redacted(str(lost)), is_local=True)
        except ArenaError:
            # These tell the user what to mend; they are no fault of the server.
            raise
        except Exception as error:
            fault = fault_of(error, key_env=model.key_env, is_foreign=model.is_foreign)
            # A bug of ours keeps its trace and ends the run; it is never written down as an answer.
            if model.is_offline or fault is None:
                raise
            return _with_address(fault, model)

    async def _oversize(self, model: Model, request: Request) -> CallFault | None:
        most = model.limits.body_bytes
        frames = request.frames
        if most is None:
            return None
        text = len(SYSTEM.encode()) + len(request.text.encode()) + PART_BYTES
        count = len(frames.frames) if frames else 0
        pictures = 0
        if frames is not None and count:
            jpegs = await self.load(frames.video, [frame.digest for frame in frames.frames])
            # Base64 makes four characters of every three bytes.
            pictures = sum(PART_BYTES + -(-len(jpeg) // 3) * 4 for jpeg in jpegs)
        if text + pictures <= most:
            return None
        # A little less than would fit, since other frames may be larger.
        fitting = count * max(0, most - text) * 95 // (max(1, pictures) * 100)
        reason = f"the body would hold {text + pictures} bytes, and its server takes {most}"
        return CallFault("too-large", reason, "too-large", most_images=fitting, is_local=True)

    def _attempt(
        self,
        model: Model,
        request: Request,
        fault: CallFault,
        waited_s: float,
        received: ReceivedReply | None = None,
        *,
        share: float = 1.0,
    ) -> Attempt:
        usage = received.usage if received else Usage()
        cost = cost_of(model, usage, received.cost_usd, share=share).usd if received else None
        risk = self.estimates.risk_usd(model, request, fault.kind) if cost is None else None
        return Attempt(
            kind=fault.kind,
            reason=fault.reason,
            waited_s=waited_s,
            may_have_cost_usd=risk,
            usage=usage,
            cost_usd=cost,
        )


class EarlierTries:
    """The tries of a call before the one under way."""

    def __init__(self) -> None:
        self.own: list[Attempt] = []
        """Tries that reached somebody; only these count against the limits on tries."""
        self.all: list[Attempt] = []
        self._is_missed = False
        """The last one found nobody."""

    def add(self, attempt: Attempt) -> Attempt:
        """Take one that somebody met."""
        self.own.append(attempt)
        self.all.append(attempt)
        self._is_missed = False
        return attempt

    def miss(self, attempt: Attempt) -> Attempt:
        """Take one that met nobody; of such in a row that surely cost nothing, one is kept."""
        last = self.all[-1] if self._is_missed else None
        self._is_missed = True
        # An outage of 15 minutes is looked at some fifty times, and one such attempt tells as much
        # as all of them.
        if last is None or {last.kind, attempt.kind} != {UNREACHED}:
            self.all.append(attempt)
        return attempt

    @property
    def refused_s(self) -> float:
        """Return how long it has waited since its server had no room."""
        return sum(attempt.waited_s for attempt in self.own if attempt.kind in REFUSALS)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time that passes to the pause behind a try that met nobody."""
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        yield
        if self._is_missed:
            last = self.all[-1]
            waited_s = round(last.waited_s + loop.time() - began_s, 3)
            self.all[-1] = last.model_copy(update={"waited_s": waited_s})


def outgoing(
    key: str, request: Request, shaped: ShapedCall, on_beginning: Callable[[], None] = unheard
) -> OutgoingCall:
    """Return a try of a call in the form that is known to be taken."""
    form = shaped.form()
    return OutgoingCall(
        key,
        request.role,
        request.text,
        request.frames,
        token_field=form.token_field,
        system_role=form.system_role,
        is_streamed=form.is_streamed,
        reply_form=shaped.reply_form(request),
        on_beginning=on_beginning,
    )


def _with_address(fault: CallFault, model: Model) -> CallFault:
    """Return a fault that also says where the call went, if the address may be what is wrong."""
    if model.base_url is None or fault.kind not in _OF_ADDRESS:
        return fault
    is_versioned = _VERSION.search(urlsplit(model.base_url).path)
    hint = ""
    if model.maker.speaks_openai and not is_versioned:
        hint = "; most addresses of OpenAI's protocol end in /v1"
    elif fault.kind != "connection":
        return fault
    asked = redacted(model.base_url, key_env=model.key_env)[:LONGEST_ADDRESS]
    return replace(fault, reason=f"{fault.reason.rstrip('.')} (base_url {asked}{hint})")


def _begin(turn: SendTurn) -> None:
    """Take note that a reply has begun, which others of its prefix may wait for."""
    if turn.prefix is not None:
        turn.prefix.begin(asyncio.get_running_loop().time())


def _note(turn: SendTurn, got: ReceivedReply | CallFault) -> None:
    """Write into a turn what its try shows of the server."""
    if isinstance(got, ReceivedReply):
        turn.contact = "reached"
        turn.outcome = "taken"
        # None leaves the pacer with its own estimate.
        turn.tokens = None if got.usage.total is None else float(got.usage.total)
        return
    turn.reason = got.reason
    if got.kind == UNREACHED:
        turn.contact = "unreached"
    # Of one that was cut off on this side nobody knows whether its server is there.
    elif not got.is_local and got.kind != STOPPED:
        turn.contact = "broken" if got.kind == "connection" else "reached"
    if got.is_refusal:
        turn.outcome = "refused"
        turn.tokens = 0.0


def useless(received: ReceivedReply) -> CallFault | None:
    """Return why an answer in due form is no usable reply; None if it is one.

    Silence may be an accident, and is worth another try, unless a filter or a limit made it. So may
    be a reply of more than `LONGEST_REPLY` characters, which is never read in part. What a provider
    or its filter broke off may read like an answer and is none; a refusal is one.
    """
    ending = received.ending
    is_wordless = not received.text.strip()
    is_refusal = is_wordless and bool(received.refusal.strip())
    is_silent = is_wordless and not is_refusal
    if not is_refusal and is_filtered(ending):
        did = "kept the reply back" if is_silent else "broke the reply off"
        return CallFault(
            "content-filter", f"the provider's filter {did} ({redacted(ending)})", "content-filter"
        )
    if len(received.text) > LONGEST_REPLY:
        return CallFault(
            "malformed",
            f"the reply holds {len(received.text)} characters; {LONGEST_REPLY} are read",
            "transient",
            most_tries=MOST_OVERLONG,
        )
    # How OpenRouter and others mark a reply that broke in the middle.
    if ending_word(ending) == "error" and not is_refusal:
        return CallFault(
            "malformed", f"the provider broke the reply off ({redacted(ending)})", "transient"
        )
    if not is_silent:
        return None
    word = redacted(ending)
    because = f" ({word})" if word else ""
    nature: Nature = "permanent" if was_cut(ending) else "transient"
    return CallFault(
        "empty", f"the reply holds no text{because}{_where_words_are(received)}", nature
    )


def _where_words_are(received: ReceivedReply) -> str:
    """Return where the words of a reply without text stand, where they stand anywhere."""
    if not received.has_thoughts:
        return ""
    why = "it was cut off while the model thought"
    if not was_cut(received.ending):
        why = "the server's reasoning parser took the answer"
    return f"; all words stand in reasoning_content; {why}"


def tokens_of(model: Model, request: Request) -> float:
    """Return about how many tokens a server counts a request as, its reply included."""
    characters = len(SYSTEM) + len(request.text)
    frames = request.frames.frames if request.frames else ()
    asked = model.sampling(request.role)
    limits = (asked[name] for name in OUTPUT_LIMITS if isinstance(asked.get(name), int))
    reply = next(limits, TOKENS_OF_A_REPLY)
    # Four characters a token is the usual rule for English. It only paces what is sent, and the
    # true count takes its place afterwards.
    return characters / 4 + len(frames) * frame_tokens(model).expected + reply
