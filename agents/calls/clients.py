"""The last step of a call: frames become bytes, bytes become messages, a chat model replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from videoautoarena.agents.models.registry import Model, build_chat_model
from videoautoarena.agents.prompting.contracts import SYSTEM
from videoautoarena.agents.prompting.layout import (
    OPENAI_MARK,
    ImageOptions,
    messages,
    short_messages,
)
from videoautoarena.agents.providers.base import ReplyForm
from videoautoarena.agents.transport.answers import (
    COSTS,
    cost_in_counts,
    cost_in_headers,
    ending_word,
    hearing,
    keeping_answer,
    usd,
)
from videoautoarena.agents.transport.deadlines import LEAST_SLEEP_S, asleep_s, deadline
from videoautoarena.agents.transport.exchange import (
    KeptBody,
    RecordedAnswer,
    answering,
    keeping_body,
)
from videoautoarena.agents.transport.faults import GarbledAnswer
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.agents.transport.server_words import error_in_text
from videoautoarena.agents.transport.splice import FrameBytes, SplicedFrames, carrying, run_of
from videoautoarena.agents.transport.splice import Load as Load
from videoautoarena.agents.transport.transport import ask_guard, splices
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Role, SystemRole, TokenField, Usage, VideoFrames
from videoautoarena.memory.records.remedies import option

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
    from langchain_core.messages.ai import UsageMetadata


MOST_TOKENS = 10**9
"""More tokens than any call takes; a server that states more is taken to have stated none."""
LONGEST_TOKEN = 16
"""Characters per token that no text of some length exceeds on average."""


class PieceCount(NamedTuple):
    """Token counts as one piece of a streamed reply states them."""

    input: float
    output: float
    total: float
    read: Mapping[str, float]
    """Input tokens by kind, such as those read from a cache."""
    written: Mapping[str, float]
    """Output tokens by kind, such as those of reasoning."""
    cost_usd: float | None = None
    has_text: bool = False
    """Whether the piece brings words as well."""


def unheard() -> None:
    """Tell nobody."""


async def whole_of(
    pieces: AsyncIterator[AIMessage], on_first: Callable[[], None] = unheard
) -> AIMessage:
    """Return the message that the pieces of a streamed reply make together.

    Metadata, such as the ending and the model's name, are those stated last. `on_first` is called
    when the first piece has come.

    Raises:
        GarbledAnswer: no piece came.
    """
    from langchain_core.messages import AIMessageChunk

    parts: list[AIMessage] = []
    async for piece in pieces:
        if not parts:
            on_first()
        parts.append(piece)
    chunks = [piece for piece in parts if isinstance(piece, AIMessageChunk)]
    if not chunks:
        if parts:
            return parts[-1]
        raise GarbledAnswer("the reply came in pieces, and there was none")
    # Copies: LangChain goes on to add up the pieces that it gave out.
    bare = [piece.model_copy(update=_NOTHING_SAID) for piece in chunks]
    whole: AIMessageChunk = bare[0] + bare[1:] if len(bare) > 1 else bare[0]
    whole.response_metadata = _said_last(piece.response_metadata for piece in chunks)
    counts = _counts(chunks)
    if counts:
        count = together(counts, characters=len(whole.text))
        whole.usage_metadata = _usage_of(count)
        whole.response_metadata["token_usage"] = {"cost": count.cost_usd}
    return whole


# Taken off each piece before LangChain adds them up: it would sum counts that a server repeats, and
# join strings such as the model's name end to end.
_NOTHING_SAID: dict[str, Any] = {"response_metadata": {}, "usage_metadata": None}


def _said_last(said: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    last: dict[str, Any] = {}
    for metadata in said:
        last |= {name: value for name, value in metadata.items() if value not in (None, "")}
    last.pop(COSTS, None)
    return last


def _counts(pieces: Iterable[AIMessageChunk]) -> list[PieceCount]:
    """Return the counts that pieces state; pieces without any are left out."""
    found = []
    for piece in pieces:
        said: Mapping[str, Any] = piece.usage_metadata or {}
        costs = piece.response_metadata.get(COSTS) or [None]
        count = PieceCount(
            input=_number(said.get("input_tokens")),
            output=_number(said.get("output_tokens")),
            total=_number(said.get("total_tokens")),
            read=_numbers(said.get("input_token_details")),
            written=_numbers(said.get("output_token_details")),
            cost_usd=usd(costs[-1]),
            has_text=bool(piece.text),
        )
        if count.input or count.output or count.total or count.cost_usd is not None:
            found.append(count)
    return found


def together(counts: Sequence[PieceCount], *, characters: int) -> PieceCount:
    """Return the counts of a whole reply of so many characters from those of its pieces.

    Counts so far repeat the input, and those of the output never fall: the largest holds. Any other
    are counts of what came since the last one: they are summed, the input once where it is repeated
    in each, unless the last one is the sum of all before it.
    """
    *before, last = counts
    summed = sum(count.output for count in before)
    is_closed = len(before) > 1 and last.output == summed > 0
    if is_closed and last.input >= max(count.input for count in before):
        return last
    if _are_so_far(counts, characters):
        return _largest(counts)
    inputs = [count.input for count in counts]
    is_repeated = len(set(inputs)) == 1
    given = inputs[0] if is_repeated else sum(inputs)
    details = [count.read for count in counts]
    return PieceCount(
        input=given,
        output=sum(count.output for count in counts),
        total=sum(count.total for count in counts) - sum(inputs) + given,
        read=_each(details, max if is_repeated else sum),
        written=_each([count.written for count in counts], sum),
        cost_usd=_cost(counts, sum),
    )


def _are_so_far(counts: Sequence[PieceCount], characters: int) -> bool:
    inputs = [count.input for count in counts]
    outputs = [count.output for count in counts]
    if inputs != sorted(inputs) or outputs != sorted(outputs):
        return False
    if outputs[0] < outputs[-1] or sum(count.has_text for count in counts) < 2:
        return True
    # One number over and over: of the whole reply, unless it is too small for its length.
    return outputs[0] != 1 and characters <= LONGEST_TOKEN * outputs[0]


def _largest(counts: Sequence[PieceCount]) -> PieceCount:
    return PieceCount(
        input=max(count.input for count in counts),
        output=max(count.output for count in counts),
        total=max(count.total for count in counts),
        read=_each([count.read for count in counts], max),
        written=_each([count.written for count in counts], max),
        cost_usd=_cost(counts, max),
    )


def _cost(counts: Sequence[PieceCount], of: Any) -> float | None:
    known = [count.cost_usd for count in counts if count.cost_usd is not None]
    return of(known) if known else None


def _each(details: Sequence[Mapping[str, float]], of: Any) -> dict[str, float]:
    names = dict.fromkeys(name for detail in details for name in detail)
    return {name: of(detail.get(name, 0) for detail in details) for name in names}


def _usage_of(whole: PieceCount) -> UsageMetadata:
    said: dict[str, Any] = {
        "input_tokens": whole.input,
        "output_tokens": whole.output,
        "total_tokens": whole.total,
        "input_token_details": dict(whole.read),
        "output_token_details": dict(whole.written),
    }
    return cast("UsageMetadata", said)


def _number(said: object) -> float:
    """Return what was said as a count; 0 if it is no number, negative or beyond belief."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return 0
    return said if 0 <= said <= MOST_TOKENS else 0


def _numbers(said: object) -> dict[str, float]:
    if not isinstance(said, Mapping):
        return {}
    return {str(name): _number(value) for name, value in said.items() if value is not None}


_ENDINGS = ("finish_reason", "block_reason", "stop_reason", "done_reason", "stopReason")
"""Names of the field that says why a reply ended: OpenAI, Gemini, Anthropic, Ollama, Bedrock."""
# How the clients fail on a page of HTML, a reply without choices or a field of another kind.
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RecursionError)


@dataclass(frozen=True, slots=True)
class OutgoingCall:
    """One try of one call."""

    key: str
    role: Role
    text: str
    frames: VideoFrames | None
    token_field: TokenField | None = None
    """Name under which the limit of tokens is sent; None: the one its model has."""
    system_role: SystemRole | None = None
    """Who says the system text; None: the system itself."""
    is_streamed: bool = False
    """Whether the reply is asked for in pieces, whatever its model's parameters say."""
    reply_form: ReplyForm | None = None
    """Format that the server is asked to hold the reply to; None: none."""
    on_beginning: Callable[[], None] = unheard
    """Called when the first piece of a reply has come that comes in pieces."""


@dataclass(frozen=True, slots=True)
class ReceivedReply:
    """A chat model's reply: its text, tokens, cost and ending."""

    text: str
    usage: Usage
    ending: str = ""
    refusal: str = ""
    """The model's words where the provider marks them as a refusal and gives no other text."""
    cost_usd: float | None = None
    """What the provider says it cost; None if it says nothing."""
    served_by: str | None = None
    has_thoughts: bool = False
    """Words came in the field or block where servers put what a model thought."""


class Client(Protocol):
    """Sends calls to one model, each once."""

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        """Return what the model replied, or raise what went wrong."""

    async def aclose(self) -> None:
        """Close its connections."""


class ChatClient:
    """Sends calls to one model through LangChain; builds its chat model at the first one."""

    def __init__(self, model: Model, load: Load, shelf: FrameBytes | None = None) -> None:
        self._model = model
        self._load = load
        self._shelf = shelf or FrameBytes(load)
        self._look = ImageOptions(
            model.part_detail, model.cache_breakpoint, model.maker.mark or OPENAI_MARK
        )
        self._asleep_s = asleep_s()
        self._tries: Counter[int] = Counter()
        """How many tries are under way, by the id of their chat model."""

    @cached_property
    def _chat(self) -> BaseChatModel:
        return build_chat_model(self._model)

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        await self._leave_dead_connections()
        chat = self._chat
        self._tries[id(chat)] += 1
        try:
            return await self._send(sending, chat)
        finally:
            self._tries[id(chat)] -= 1
            await self._close_unused(chat)

    async def _leave_dead_connections(self) -> None:
        """Build the chat model anew where the machine has slept: its connections are dead."""
        slept_s = asleep_s() - self._asleep_s
        self._asleep_s += max(0.0, slept_s)
        if slept_s >= LEAST_SLEEP_S and not self._model.is_offline:
            old = self.__dict__.pop("_chat", None)
            if old is not None:
                await self._close_unused(old)

    async def _close_unused(self, chat: BaseChatModel) -> None:
        """Close a chat model that was left behind, once no try is under way with it."""
        if chat is not self.__dict__.get("_chat") and not self._tries[id(chat)]:
            del self._tries[id(chat)]
            await self._model.maker.close(chat)

    async def _send(self, sending: OutgoingCall, chat: BaseChatModel) -> ReceivedReply:
        laid_out, run = await self._laid_out(sending, chat)
        options = self._options(sending)
        is_streamed = sending.is_streamed or self._model.streams
        on_first = sending.on_beginning if is_streamed else None
        with carrying(run), hearing() as heard, self._showing(sending, run):
            message = await self._invoke(chat, laid_out, options, on_first)
        whole = received(message)
        if whole.cost_usd is None and heard.cost_usd is not None:
            whole = replace(whole, cost_usd=heard.cost_usd)
        if is_streamed and self._lacks_ending(message):
            # A connection that ends between two pieces ends like any other.
            raise GarbledAnswer("the reply came in pieces, and the last of them did not come")
        return whole

    def _showing(
        self, sending: OutgoingCall, run: SplicedFrames | None
    ) -> AbstractContextManager[None]:
        """Return a block in which tracing callbacks are shown digests, and no key."""
        from videoautoarena.agents.prompting.tracing import showing_digests

        stand_in = None if run is None else run.key
        return showing_digests(stand_in, sending.frames, beside_others=self._model.is_offline)

    def _options(self, sending: OutgoingCall) -> dict[str, Any]:
        """Return what is said of a call besides its messages."""
        model = self._model
        if sending.token_field is not None and sending.token_field != model.token_field:
            model = model.with_settings(token_limit_field=sending.token_field)
        # The key goes along as Idempotency-Key: only a server that heeds it can spare a call whose
        # reply was lost.
        options = model.maker.options(model, sending.role, key=sending.key)
        options |= model.maker.cache_options(model, sending.frames)
        if sending.reply_form is not None:
            options = model.maker.held_to(model, options, sending.reply_form)
        return options

    async def _laid_out(
        self, sending: OutgoingCall, chat: BaseChatModel
    ) -> tuple[list[BaseMessage], SplicedFrames | None]:
        """Return the messages, and the run of frames that one text in them stands for, if any."""
        frames = sending.frames
        text = sending.text
        system_role = sending.system_role
        if frames is None or not frames.frames:
            return messages(SYSTEM, text, frames=(), jpegs=(), system_role=system_role), None
        digests = [frame.digest for frame in frames.frames]
        if self._model.maker.can_splice and splices(chat):
            images = await self._shelf.images(frames.video, digests)
            speaks_anthropic = self._model.maker.speaks_anthropic
            run = run_of(frames, images, self._look, speaks_anthropic=speaks_anthropic)
            return short_messages(SYSTEM, run.key, text, system_role), run
        whole = messages(
            SYSTEM,
            text,
            frames=frames.frames,
            jpegs=await self._load(frames.video, digests),
            subtitles=frames.subtitles,
            look=self._look,
            system_role=system_role,
        )
        return whole, None

    async def _invoke(
        self,
        chat: BaseChatModel,
        laid_out: list[BaseMessage],
        options: dict[str, Any],
        on_first: Callable[[], None] | None,
    ) -> BaseMessage:
        """Return the reply, in pieces where there is an `on_first` that hears of the first."""
        if self._model.is_offline:
            return await chat.ainvoke(laid_out)
        ask_guard()
        with keeping_answer() as answer:
            # The clients' own limits would run out while the process is stopped.
            try:
                async with deadline(self._model.timeout_s):
                    if on_first is not None:
                        # Without these, some clients do not ask how many tokens a streamed reply
                        # took.
                        options |= self._model.maker.stream_options() or {}
                        message = await whole_of(chat.astream(laid_out, **options), on_first)
                    else:
                        message = await chat.ainvoke(laid_out, **options)
            except _UNREADABLE as error:
                # LangChain raises what stands under `error` in an answer, as it is.
                stated = error.args[0] if error.args and isinstance(error.args[0], dict) else None
                body = error_in_text(answer.text) or stated
                raise GarbledAnswer(f"{type(error).__name__}: {error}", body) from None
            is_cut = on_first is not None and self._lacks_ending(message)
            if is_cut or _is_no_reply(message):
                body = error_in_text(answer.text)
                if body is not None:
                    raise GarbledAnswer("the answer holds an error instead of a reply", body)
            return message

    def _lacks_ending(self, message: BaseMessage) -> bool:
        # What a class of another's says of endings is its own affair.
        return not self._model.is_foreign and not received(message).ending

    async def aclose(self) -> None:
        """Close the chat model's connections, if it was ever built."""
        if "_chat" in self.__dict__:
            await self._model.maker.close(self._chat)


class BatchedClient(ChatClient):
    """Makes the bodies of calls to one model, and reads answers that came in a batch."""

    def __init__(self, model: Model, load: Load, shelf: FrameBytes | None = None) -> None:
        # No result of a batch comes in pieces.
        whole = {name: value for name, value in model.parameters.items() if name != "stream"}
        super().__init__(model.with_settings(parameters=whole), load, shelf)

    async def body(self, sending: OutgoingCall) -> KeptBody:
        """Return the body that `send` would send; raises as it does where it sends nothing."""
        chat = self._chat
        # Else it would be sent.
        if not splices(chat):
            alias = self._model.alias
            raise BadInput(
                f"{alias!a}: what it is sent cannot be kept; leave out {option('batch', True)}"
            )
        laid_out, run = await self._laid_out(sending, chat)
        options = self._options(sending)
        with keeping_body() as kept, carrying(run), self._showing(sending, run):
            await self._invoke(chat, laid_out, options, None)
        return kept

    async def read(self, sending: OutgoingCall, answer: RecordedAnswer) -> ReceivedReply:
        """Return what `send` would return if it were answered so, or raise what it would."""
        asked = messages(SYSTEM, sending.text, frames=(), jpegs=(), system_role=sending.system_role)
        with answering(answer), self._showing(sending, None):
            message = await self._invoke(self._chat, asked, self._options(sending), None)
        return received(message)


class ChatClients:
    """Makes the clients of one run, which share the frames they send."""

    def __init__(self) -> None:
        self._shelf: FrameBytes | None = None

    def __call__(self, model: Model, load: Load) -> ChatClient:
        # Shared by all models: the roles and contestants of a video send the same frames.
        self._shelf = self._shelf or FrameBytes(load)
        return ChatClient(model, load, self._shelf)


def received(message: BaseMessage) -> ReceivedReply:
    """Return a chat model's message as text, tokens and ending."""
    metadata = message.response_metadata
    text = str(message.text)
    ending = next(filter(None, map(metadata.get, _ENDINGS)), "")
    name = metadata.get("model_name")
    # Some servers report the cost beside the tokens, such as OpenRouter.
    cost = cost_in_counts(metadata.get("token_usage"))
    headers = metadata.get("headers")
    if cost is None and isinstance(headers, dict):
        cost = cost_in_headers(headers)
    return ReceivedReply(
        text=text,
        usage=_usage(getattr(message, "usage_metadata", None) or {}, is_empty=not text),
        ending=str(ending),
        refusal=_refusal(message),
        cost_usd=cost,
        served_by=redacted(name) if isinstance(name, str) and name else None,
        has_thoughts=_has_thoughts(message),
    )


_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_content"})
"""Names of the field or block in which servers put thoughts."""


def _has_thoughts(message: BaseMessage) -> bool:
    """Return whether words stand where a server puts what its model thought."""
    fields = (message.additional_kwargs.get(name) for name in _THOUGHTS)
    return any(fields) or any(block.get("type") in _THOUGHTS for block in _blocks(message))


def _blocks(message: BaseMessage) -> list[dict[str, Any]]:
    """Return the parts of a message that came in parts, and not as one text."""
    parts = [] if isinstance(message.content, str) else message.content
    return [part for part in parts if isinstance(part, dict)]


def _is_no_reply(message: BaseMessage) -> bool:
    """Return whether a message holds no text, or is marked as broken off."""
    endings = (message.response_metadata.get(name) for name in _ENDINGS)
    return not str(message.text).strip() or "error" in (ending_word(str(end)) for end in endings)


def _refusal(message: BaseMessage) -> str:
    """Return the words in OpenAI's field or content block for refusals."""
    said = message.additional_kwargs.get("refusal")
    if isinstance(said, str) and said:
        return said
    blocks = (block for block in _blocks(message) if block.get("type") == "refusal")
    marked = (block.get("refusal") for block in blocks)
    return next((words for words in marked if isinstance(words, str) and words), "")


def _usage(counted: dict[str, Any], *, is_empty: bool) -> Usage:
    """Return what is counted; input and output tokens are None if nobody counted them.

    Clients put 0 for what a server leaves out, but no call is read from nothing and no text written
    with nothing. Some servers, xAI's among them, count what a model thought in the total alone.
    """
    read = counted.get("input_token_details") or {}
    details = counted.get("output_token_details") or {}
    given, output, total = (
        _count(counted.get(name)) for name in ("input_tokens", "output_tokens", "total_tokens")
    )
    if given and output is not None and total is not None:
        output = max(output, total - given)
    return Usage(
        input_tokens=given or None,
        output_tokens=output if output or (given and is_empty) else None,
        cached_tokens=_count(read.get("cache_read")),
        reasoning_tokens=_count(details.get("reasoning")),
        written_tokens=_written(read),
    )


_WRITTEN = ("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
"""Fields of tokens written to a cache: LangChain puts 0 into the first where it fills the others
(Anthropic, Bedrock)."""


def _written(read: Mapping[str, Any]) -> int | None:
    counts = [_count(read.get(name)) for name in _WRITTEN]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _count(said: object) -> int | None:
    """Return a whole number of tokens; None if something else was said."""
    # A bool is an int in Python, and true is no count.
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return int(said) if 0 <= said <= MOST_TOKENS and said == int(said) else None
