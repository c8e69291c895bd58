"""What every record is; the records of model calls, of sampling and of what models cost."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from videoautoarena.memory.records.frame_policies import FRAME_POLICIES, PolicyName

LONGEST_NAME = 5000
"""Characters of what is shown in many places: names, ids and paths."""
CHARACTERS = 4
"""Characters per token, typically; a token is a byte at least."""


def _as_a_name(text: str) -> str:
    if len(text) > LONGEST_NAME:
        raise ValueError(f"{len(text):,} characters are too many for a name")
    return text


# Not `max_length`, with which pydantic refuses the surrogates of file names that are no UTF-8.
Name = Annotated[str, AfterValidator(_as_a_name)]


class Record(BaseModel):
    """A frozen record that refuses unknown keys, and what is no finite number."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Sparse(Record):
    """A record whose JSON leaves out some fields where they are None."""

    left_out: ClassVar[tuple[str, ...]]

    @model_serializer(mode="wrap")
    def _without_gaps(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        gaps = [name for name in self.left_out if data.get(name) is None]
        return {name: value for name, value in data.items() if name not in gaps}


class Sampling(Sparse):
    """Which frames a video gives, and how they are encoded."""

    left_out = ("spans",)

    frames: int = Field(default=128, ge=2, le=1024)
    """At most this many, first and last included."""
    size_px: int = Field(default=512, ge=16, le=4096)
    """The longer side; both sides when `fit` is "stretch" or "pad"."""
    fit: Literal["keep", "stretch", "pad"] = "keep"
    quality: int = Field(default=85, ge=1, le=95)
    """JPEG quality as Pillow counts it."""
    policy: PolicyName = "uniform"
    """How the frames are spread: evenly over time, so many a second, evenly over the scenes, or
    those at which decoding can start."""
    fps: float | None = Field(default=None, gt=0, le=240)
    """Frames a second with the policy "fps", as long as `frames` allows; else None."""
    decoder: Literal["av", "decord"] = "av"
    spans: tuple[tuple[float, float], ...] | None = None
    """Stretches that frames come from, in seconds from the first frame, in order and apart; None
    for the whole video. The time of a frame is counted from the first of those chosen."""
    ocr: bool = False
    """Whether text drawn into the picture was read for offline models; False in all that is new."""

    @property
    def needs_scenes(self) -> bool:
        """Whether the video's scenes have to be found before its frames can be chosen."""
        return self.spans is None and FRAME_POLICIES[self.policy].needs_scenes


TokenField = Literal["max_tokens", "max_completion_tokens"]
"""By which name a server of OpenAI's protocol takes how many tokens a reply may have."""


SystemRole = Literal["user"]
"""Who says the system text to a model that takes none; it is the head of this one's message."""
Structured = Literal["auto", "json_schema", "json_object", "off"]
"""Whether a model is held to JSON by its server, where its role replies in it, and by what."""
ReplyFormat = Literal["json_schema", "json_object"]
"""What a server may be asked to hold a reply to: the schema of a role, or any one object."""


class Price(Record):
    """What a model's tokens cost, in US dollars a million."""

    input_usd: float = Field(ge=0, allow_inf_nan=False)
    """Input tokens."""
    output_usd: float = Field(ge=0, allow_inf_nan=False)
    """Output tokens, those of reasoning among them."""
    cached_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Input read from a cache; without it as other input."""
    written_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Input written to a cache; without it as other input."""
    source: str = "arena.toml"
    """Where they stand, in your own words."""


class CallLimits(Record):
    """What a server takes; what is not said is found out by trying."""

    concurrency: int | None = Field(default=None, ge=1)
    """Calls under way at once; names at one address with one key share it, and the strictest binds
    them all."""
    requests_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Calls that may begin in a minute; names that state the same share it."""
    tokens_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Tokens in a minute; likewise."""
    images_per_request: int | None = Field(default=None, ge=0)
    """Most images of a request; `max_frames` is lowered to it."""
    body_bytes: int | None = Field(default=None, ge=1)
    """Longest body of a request."""


class Learnt(Sparse):
    """What a run found out of a model's server by trying; None where nothing was."""

    left_out = ("system_role", "is_streaming")

    model: str
    """`provider:model`"""
    endpoint: str
    """Its host, without credentials."""
    images: int | None = Field(default=None, ge=1)
    """Most images of a request."""
    refused_images: int | None = Field(default=None, ge=0)
    """Fewest images that were refused."""
    stated_images: int | None = Field(default=None, ge=0)
    """What its `images_per_request` was when that was learnt."""
    token_limit_field: TokenField | None = None
    """The name that it takes; it refused the other one."""
    system_role: SystemRole | None = None
    """Who says the system text; it refused a message of the system's own."""
    is_streaming: Literal[True] | None = None
    """It answers in pieces alone."""
    structured: Literal["json_object", "off"] | None = None
    """What it is asked for in place of the structured output that it refused."""
    output_limit: int | None = Field(default=None, ge=0)
    """A limit of output tokens that it was sent and did not keep to."""
    output_tokens: int | None = Field(default=None, ge=0)
    """Most that such a reply took."""


Role = Literal[
    "examiner",
    "persona",
    "questioner",
    "contestant",
    "judge",
    "evolver",
    "grader",
    "comparer",
    "scene_marker",
    "summary_marker",
    "topic_writer",
    "plot_writer",
    "scene_writer",
    "summary_writer",
    "option_checker",
    "point_checker",
    "captioner",
    "embedder",
    "checklist_marker",
    "scene_captioner",
    "scene_merger",
    "object_finder",
    "object_matcher",
    "fitness_rater",
    "dialogist",
    "checklist_maker",
    "checklist_validator",
    "leak_checker",
    "dialogue_answerer",
    "classifier",
    "topic_namer",
]
SCOUTS: tuple[Role, ...] = ("captioner", "embedder")
"""Roles that look at single clips, so that a contestant is sent the best of them."""


class Usage(Record):
    """Tokens of one call as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    """Of all that was sent; null if not reported, as all of these."""
    output_tokens: int | None = None
    """Of the reply, with its reasoning."""
    cached_tokens: int | None = None
    """Input tokens read from its cache."""
    reasoning_tokens: int | None = None
    """Output tokens of reasoning."""
    written_tokens: int | None = None
    """Input tokens that the provider put into its cache."""

    @property
    def total(self) -> int | None:
        """Return input and output together; None where either was not counted."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


class Nonce(Record):
    """What makes an ask one of its own, so that equal prompts stay independent samples."""

    scope: Name
    """The video id for examiner and persona, else the slot id."""
    role: Role
    generation: int = 0
    ordinal: int = 0
    """Counts deliberate asks: 2 * ask + 1 for its repair round. Never transport retries."""


class Attempt(Record):
    """One try of a call that failed on the way, or came back with nothing that is a reply."""

    kind: str
    """A kind of failure [as above](#a-call)."""
    reason: str
    """A sentence, which may quote the server."""
    waited_s: float
    """Pause before the next attempt; may be shorter than the server asked for."""
    may_have_cost_usd: float | None = None
    """The most it can have cost if `cost_usd` is null; null if unknown too."""
    usage: Usage = Usage()
    """As that of the call, of what came back."""
    cost_usd: float | None = None
    """What it cost, if what came back says so; else null."""


class Intent(NamedTuple):
    """One try of a call that is about to be sent, written down before it is.

    While it stands, nobody knows whether the try was paid for: its reply is not there yet, or was
    lost with the process that sent it.
    """

    key: str
    """The call's journal key."""
    nonce: Nonce
    model: str
    """`provider:model`"""
    attempt: int
    """Counted from 1, in each process anew."""
    usd: float | None
    """At most this much; None: unknown."""
    tokens: int
    is_left_over: bool = False
    """The process that sent it is gone."""


class CallEnds(NamedTuple):
    """How many calls of a model in a role ended alike, without a word of them."""

    alias: str
    role: Role
    is_answered: bool
    ending: str
    """Why the provider says the reply ended, in lower case; empty where it did not."""
    failure: str
    """Kind of what went wrong for good; empty of an answered one."""
    is_late: bool
    """A try of it had timed out, and it was asked again."""
    is_blind: bool
    """It was sent no frame."""
    calls: int = 1


class Lost(NamedTuple):
    """What tries that never had an answer may have been charged, at most."""

    tries: int = 0
    usd: float | None = 0.0
    """None: unknown."""
    tokens: int = 0


class CallRow(Record):
    """One finished model call as the journal keeps it: a reply, or a failure for good."""

    key: str
    nonce: Nonce
    model: Name
    """`provider:model` as sent."""
    alias: Name
    """The roster's name for it."""
    endpoint: Name
    """Where it went, without credentials; "in-process" for offline models."""
    prompt: str
    """Digest of the prompt file; empty where a role has none."""
    reply: str | None
    failure: str | None = None
    """Why it failed for good; None when `reply` is there."""
    failure_kind: str | None = None
    usage: Usage = Usage()
    """Of the last try, as is the cost."""
    cost_usd: float | None = None
    """None means unknown, never free."""
    cost_from: str | None = None
    """Who says so: "provider", or the `source` of the price."""
    may_have_cost_usd: float | None = None
    """At most this much, where `cost_usd` is unknown and a price is not; earlier tries aside."""
    served_by: str | None = None
    """What the server called the model that answered, where it said so."""
    ending: str | None = None
    """Why the provider says the reply ended, such as "stop" or "length"; None where it did not."""
    frames: int | None = None
    """Frames the reply was made from; None where nothing was sent."""
    structured: ReplyFormat | None = None
    """What the server was asked to hold the reply to; None where to nothing."""
    text_chars: int = 0
    """Length of the role text: what follows the frames."""
    latency_s: float = 0.0
    attempts: tuple[Attempt, ...] = ()

    @property
    def tries(self) -> tuple[Attempt | CallRow, ...]:
        """Return its tries; the row itself stands for the last one."""
        return (*self.attempts, self)

    @property
    def total_usd(self) -> float | None:
        """Return what is known of the cost of all its tries; None where the last one's is not."""
        if self.cost_usd is None:
            return None
        return self.cost_usd + sum(attempt.cost_usd or 0.0 for attempt in self.attempts)
