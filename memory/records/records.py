"""The vocabulary: every record that travels between packages, as frozen pydantic models.

Times are seconds from the first frame, digests are lower-case sha256 hex, `a` and `b` always mean
the seat read first and second in the first judging of a battle.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from videoautoarena.memory.records.frame_policies import FRAME_POLICIES, PolicyName
from videoautoarena.memory.records.standards import STANDARDS, Standard

LONGEST_NAME = 5000
"""Most characters of what is shown in many places: names, ids and paths."""
CHARACTERS = 4
"""Characters per token, typically; a token is a byte at least."""


def _as_a_name(text: str) -> str:
    if len(text) > LONGEST_NAME:
        raise ValueError(f"{len(text):,} characters are too many for a name")
    return text


# Not `max_length`, with which pydantic refuses the lone surrogates that stand for bytes of file
# names that are not UTF-8.
Name = Annotated[str, AfterValidator(_as_a_name)]


class Record(BaseModel):
    """A frozen record that refuses unknown keys, NaN and infinities."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class LeavesOut(BaseModel):
    """What leaves some fields out of its JSON where they are None."""

    # A field that is added later is left out where it is None, so that older records keep their
    # bytes, and with them their digests.
    left_out: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _without_gaps(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        gaps = [name for name in self.left_out if data.get(name) is None]
        return {name: value for name, value in data.items() if name not in gaps}


class Sparse(LeavesOut, Record):
    """A record whose JSON leaves out some fields where they are None."""


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
    """How the frames are spread: evenly over time, at a rate, evenly over the scenes, or at key
    frames."""
    fps: float | None = Field(default=None, gt=0, le=240)
    """Frames a second with the policy "fps", as long as `frames` allows; else None."""
    decoder: Literal["av", "decord"] = "av"
    spans: tuple[tuple[float, float], ...] | None = None
    """Stretches that frames are taken from, in seconds from the first frame, in order and without
    overlap; None for the whole video. Times of frames count from the first frame that is chosen."""
    # Runs whose captions hold text read from pictures still open and replay.
    ocr: bool = False
    """Whether text drawn into the picture was read for offline models; False in all new runs."""

    @property
    def needs_scenes(self) -> bool:
        """Whether the video's scenes have to be found before its frames can be chosen."""
        return self.spans is None and FRAME_POLICIES[self.policy].needs_scenes


TokenField = Literal["max_tokens", "max_completion_tokens"]
"""The name under which a server of OpenAI's protocol takes the limit of a reply's tokens."""


SystemRole = Literal["user"]
"""Whose message begins with the system text, for a model that takes no system message."""
Structured = Literal["auto", "json_schema", "json_object", "off"]
"""How the server is asked to hold a model to JSON, in roles that reply in JSON."""
ReplyFormat = Literal["json_schema", "json_object"]
"""What a server may be asked to hold a reply to: the schema of a role, or any JSON object."""


class Price(Record):
    """What a model's tokens cost, in US dollars per million."""

    input_usd: float = Field(ge=0, allow_inf_nan=False)
    """Price of input tokens."""
    output_usd: float = Field(ge=0, allow_inf_nan=False)
    """Price of output tokens, those of reasoning among them."""
    cached_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Price of input that is read from a cache; if absent, that of other input."""
    written_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Price of input that is written to a cache; if absent, that of other input, or 1.25 times as
    much where Anthropic, Bedrock and OpenRouter are reached by name."""
    source: str = "arena.toml"
    """Where these prices are from, in your own words."""


class CallLimits(Record):
    """What a server takes; limits that are not given are found out by trying."""

    concurrency: int | None = Field(default=None, ge=1)
    """Calls under way at once; names at one address with one key share it, and the strictest binds
    them all."""
    requests_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Calls that may begin in a minute; names that state the same share it."""
    tokens_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Tokens in a minute; names that state the same share it."""
    images_per_request: int | None = Field(default=None, ge=0)
    """Most images of a request; `max_frames` is lowered to it."""
    body_bytes: int | None = Field(default=None, ge=1)
    """Longest body of a request."""


class LearntLimits(Sparse):
    """What a run found out about a model's server by trying; None where it found nothing."""

    left_out = ("system_role", "is_streaming")

    model: str
    """`provider:model`"""
    endpoint: str
    """The server's host, without credentials."""
    images: int | None = Field(default=None, ge=1)
    """Most images of a request."""
    refused_images: int | None = Field(default=None, ge=0)
    """Fewest images that were refused."""
    stated_images: int | None = Field(default=None, ge=0)
    """The stated `images_per_request` when these limits were learnt."""
    token_limit_field: TokenField | None = None
    """The name of the token limit that it takes; it refused the other one."""
    system_role: SystemRole | None = None
    """Whose message carries the system text; it refused a system message."""
    is_streaming: Literal[True] | None = None
    """True where it only answers as a stream."""
    structured: Literal["json_object", "off"] | None = None
    """What it is asked for in place of the structured output that it refused."""
    output_limit: int | None = Field(default=None, ge=0)
    """A limit of output tokens that it was sent and exceeded."""
    output_tokens: int | None = Field(default=None, ge=0)
    """Most output tokens of a reply that exceeded the limit."""


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
"""Roles that look at single clips, to choose those that a contestant is sent."""


class Usage(Record):
    """Tokens of one call as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    """Tokens of all that was sent; null if not reported, as all of these."""
    output_tokens: int | None = None
    """Tokens of the reply, with its reasoning."""
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
    """The video's id for examiner and persona, otherwise the slot's id."""
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
    """Tokens of what came back, counted as for the call."""
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
    """The most that the try can cost; None where it is unknown."""
    tokens: int
    is_left_over: bool = False
    """Whether the process that sent it is gone."""


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
    """Whether a try of it had timed out and it was asked again."""
    is_blind: bool
    """Whether it was sent no frame."""
    calls: int = 1


class UnansweredTries(NamedTuple):
    """The most that tries without an answer may have been charged."""

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
    """Tokens of the last try, as is the cost."""
    cost_usd: float | None = None
    """None means unknown, never free."""
    cost_from: str | None = None
    """Where the cost is from: "provider", or the `source` of the price."""
    may_have_cost_usd: float | None = None
    """The most the last try can have cost, where `cost_usd` is unknown and a price is known."""
    served_by: str | None = None
    """What the server called the model that answered, where it said so."""
    ending: str | None = None
    """Why the provider says the reply ended, such as "stop" or "length"; None where it did not."""
    frames: int | None = None
    """Frames the reply was made from; None where nothing was sent."""
    structured: ReplyFormat | None = None
    """What the server was asked to hold the reply to; None if it was not asked."""
    text_chars: int = 0
    """Length of the role text: what follows the frames."""
    latency_s: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    batch: str | None = None
    """The batch that brought it, at a batch's price; None where it was sent by itself."""

    @property
    def tries(self) -> tuple[Attempt | CallRow, ...]:
        """Return all tries of the call; the row itself stands for the last one."""
        return (*self.attempts, self)

    @property
    def total_usd(self) -> float | None:
        """Return the known cost of all tries; None where that of the last one is unknown."""
        if self.cost_usd is None:
            return None
        return self.cost_usd + sum(attempt.cost_usd or 0.0 for attempt in self.attempts)


SCHEMA = 1
"""Version of every shape that other programs rely on."""

Origin = Literal["first", "evolved", "fresh"]
Seats = Literal["ab", "ba"]
Choice = Literal["a", "b", "tie", "tie_good", "tie_bad"]
DifficultyScale = Literal["instruction_following", "accuracy", "relevance", "helpfulness"]
DIFFICULTY_SCALES: tuple[DifficultyScale, ...] = get_args(DifficultyScale)
"""What a question is graded on besides overall. They are no standards of judges, though the paper
gives them the same names."""
Verdict = Literal["a", "b", "tie", "tie_good", "tie_bad", "split", "void", "forfeit_a", "forfeit_b"]
DECIDED: frozenset[str] = frozenset({"a", "b", "tie", "tie_good", "tie_bad", "split"})
"""Verdicts that enter the ratings."""
TIES: frozenset[str] = frozenset({"tie", "tie_good", "tie_bad", "split"})
"""Decided verdicts that count half a win to each side."""

CATEGORIES = (
    "Movies", "Life Vlogs", "Geography", "History", "News Programs", "Art", "STEM",
    "Computer Science", "Cooking Recipes", "Travel Guides", "other",
)  # fmt: skip
"""The closed list of categories: VideoAutoArena's ten, plus "other"."""
QuestionCategory = Literal[
    "captioning",
    "text_on_screen",
    "entities",
    "counting",
    "order_and_time",
    "cause_and_reasoning",
    "humour",
    "diagrams",
    "creative_writing",
    "advice",
    "homework",
    "code",
]
QUESTION_CATEGORIES: tuple[QuestionCategory, ...] = get_args(QuestionCategory)
"""Categories of questions, which do not exclude one another, in the order in which they are asked
for and shown."""
Decision = Literal["yes", "no", "unknown"]
"""Whether a question is of a category; "unknown" is what could not be read, and never a no."""


class PublishedRecord(Record):
    """A record that is printed as it is: its JSON begins with the version of its shape."""

    # Not called `schema`, which would shadow a method of pydantic's models.
    schema_version: int = Field(default=SCHEMA, alias="schema", serialization_alias="schema")
    """1."""

    # pydantic merges it with that of Record, so that NaN and infinities stay refused.
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return self.model_dump(by_alias=True, mode="json")


_GIVEN_ALIKE: dict[frozenset[str], set[str]] = {}
"""Names of fields that were given to videos, each set of them once."""


class Video(Record):
    """One usable video file, known by its content."""

    id: Name
    """First 12 hex digits of `sha256`."""
    sha256: str
    """Digest of the file's bytes."""
    path: Name
    """Relative to the folder that was given; bytes that are not UTF-8 stand as lone surrogates."""
    size_bytes: int
    """Size of the file."""
    duration_s: float
    """Seconds from the first frame to the end of the last."""
    width_px: int
    """Width as displayed, after rotation."""
    height_px: int
    """Height as displayed."""
    fps: float
    """Frames per second, counted."""
    codec: Name
    """Codec, by the name that libav has for it."""
    rotation: int = 0
    """Degrees clockwise by which a player turns the stored picture: 0, 90, 180 or 270."""
    problems: tuple[str, ...] = ()
    """Faults of the file that do not keep it from being used, a clause each."""

    def model_post_init(self, _context: Any, /) -> None:
        """Share what most videos have alike: a run may hold a quarter of a million of them."""
        # Half of such a record would be the set of the names that were given.
        given = _GIVEN_ALIKE.setdefault(frozenset(self.model_fields_set), self.model_fields_set)
        object.__setattr__(self, "__pydantic_fields_set__", given)
        vars(self)["codec"] = sys.intern(self.codec)


class SkippedFile(Record):
    """One file that was not used, and why."""

    path: Name
    reason: str


class Frame(Record):
    """One frame as the models see it: its time and the digest of its JPEG bytes."""

    time_s: float
    digest: str


class Cue(Record):
    """One subtitle, in one line; an instant where both times are equal."""

    start_s: float
    end_s: float
    text: str


class Subtitles(Record):
    """The subtitle file of one video, its cues in order of time and on the clock of its frames."""

    path: str
    """Relative to the folder of videos, as a video's path is."""
    sha256: str
    """Digest of the file's bytes."""
    code: str
    """Mark on the fences around each stretch of it, made from seed, video and all cues."""
    cues: tuple[Cue, ...]


class VideoFrames(Record):
    """The frames of one video that a run uses, in time order."""

    video: Name
    width_px: int
    height_px: int
    frames: tuple[Frame, ...]
    damaged: int = 0
    """How many frames lie behind reported damage, or show a neighbour instead."""
    approximate: int = 0
    """How many frames may not be exactly those of their times."""
    captions: tuple[Cue, ...] = ()
    """Text drawn into the picture, in runs of versions that read it; otherwise empty."""
    subtitles: Subtitles | None = None
    """Cues of the stretches that these frames stand for; they count as part of the frames."""


class Slot(Record):
    """One place for a battle: a lineage's round."""

    id: Name
    """`<video>-p<persona>-r<round>`, with `~g` behind it for a superseding generation."""
    generation: int
    ordinal: int
    """Place in the stored order of all slots, from 0."""
    video: Name
    persona: int
    round: int
    block: int


class BriefScene(Record):
    """A stretch of a video."""

    start_s: float
    end_s: float
    what: str


class Brief(Record):
    """The examiner's account of a video, for persona and questioner."""

    account: str
    category: str
    """One of CATEGORIES, or of those that a file of facts names; "unknown" where none was named."""
    scenes: tuple[BriefScene, ...] = ()


class VideoFacts(Record):
    """What somebody says about a video in a file of their own: data, which code never trusts."""

    title: str | None = None
    category: str | None = None
    language: str | None = None
    """The language as the file has it."""
    licence: str | None = None
    columns: dict[str, str] = Field(default_factory=dict)
    """Their own columns, header to cell; empty cells are left out."""


class Persona(Sparse):
    """One user of a video, invented or brought along."""

    left_out: ClassVar[tuple[str, ...]] = ("language",)

    index: int = Field(ge=1, le=3)
    """1 close to the content, 2 less close, 3 unrelated."""
    text: str
    language: str | None = None
    """The code of the language that this user asks in (ISO 639-1); None where none was drawn."""


class Grade(Record):
    """How hard a question is, 1.0 to 5.0 with one decimal, on four scales and overall."""

    instruction_following: float
    """How demanding the task is."""
    accuracy: float
    """How closely one must watch."""
    relevance: float
    """How much of the need it takes to meet."""
    helpfulness: float
    """How much understanding it takes."""
    overall: float
    """What the gate compares first."""

    @property
    def total(self) -> float:
        """The sum of the four scores, 4.0 to 20.0."""
        # Rounded, since sums of equal tenths may differ in
        # their last bit, and the gate compares them.
        scores = [getattr(self, scale) for scale in DIFFICULTY_SCALES]
        return float(round(sum(scores), 1))


class Evolution(Record):
    """One attempt of the evolver to make a harder question, and what the grader said of it."""

    battle: Name
    """Id of the battle it started from."""
    pair: tuple[Name, Name]
    """Its two models."""
    faults_a: tuple[str, ...]
    """What was wrong with a's answer."""
    faults_b: tuple[str, ...]
    """What was wrong with b's answer."""
    weaknesses_a: tuple[str, ...]
    """The general weaknesses behind a's faults."""
    weaknesses_b: tuple[str, ...]
    """The general weaknesses behind b's faults."""
    question: str
    """The proposal."""
    old: Grade
    """Grade of the question before the proposal."""
    new: Grade
    """Grade of the proposal."""
    accepted: bool
    """Whether the gate let it pass."""


class Question(Record):
    """A question as it was put to both contestants."""

    text: str
    origin: Origin
    pair: tuple[str, str] | None = None
    """The pair whose faults an evolved question was made from."""
    difficulty: float | None = None
    """The overall grade of an evolved question; None when none was given."""


class StoredAnswer(Record):
    """A stored answer that a newcomer meets, in place of one given for this battle."""

    battle: Name
    """Id of the battle it was given in."""
    seat: Literal["a", "b"]
    """The seat of the answer, the same in that battle and in this one."""


class Draw(Sparse):
    """Who meets in a slot, decided before anybody answers."""

    left_out: ClassVar[tuple[str, ...]] = ("borrowed",)
    slot: Name
    model_a: Name
    model_b: Name
    propensity: float | None
    """Probability of the unordered pair; None where the pair was dealt, not drawn."""
    basis: int | None = None
    """The latest wave whose results were looked at; None for rules that look at none."""
    swap: bool = False
    """Judge this battle from both seatings."""
    borrowed: StoredAnswer | None = None
    """The stored answer that is used again; only where a newcomer meets stored answers."""


class Answer(Record):
    """What a contestant said."""

    model: str
    text: str
    frames: tuple[float, ...]
    """Times in seconds of the frames it was sent."""


class Forfeit(Record):
    """A contestant that gave no answer; a record, not a loss."""

    model: str
    reason: str
    is_ours: bool = False
    """Whether its frames could not be sent: the battle is then void, and nobody's forfeit."""


class Judging(Sparse):
    """One judge's view of a battle from one seating; what was not asked is not in its JSON."""

    judge: Name
    """Name of the judge."""
    seats: Seats
    """`ba` if it read model b's answer first."""
    verdict: Literal["a", "b", "tie", "tie_good", "tie_bad", "abstain", "failed"]
    """`a`, `b`, `tie_good`, `tie_bad`, `abstain` or `failed`, turned back to models a and b."""
    own_answer: str | None = None
    """The judge's own answer, written before comparing; absent under contract 1."""
    analyses: dict[Standard, str] | None = None
    """A text for each standard that was asked for, such as `accuracy`, verbatim, in the judge's
    seating."""
    standards: dict[Standard, Choice] | None = None
    """The same standards to `a`, `b` or `tie`, turned back; one the judge left open is absent. Not
    under contract 1."""
    reason: str | None = None
    """Why there is no verdict."""
    left_out: ClassVar[tuple[str, ...]] = ("own_answer", "standards")

    @field_validator("analyses")
    @classmethod
    def _in_the_order_of_standards(
        cls, said: dict[Standard, str] | None
    ) -> dict[Standard, str] | None:
        # A stored body has its keys sorted; people and exports read standards in their own order.
        return said and {name: said[name] for name in STANDARDS if name in said}


class Battle(Sparse):
    """One settled slot, with everything that decided it. Holds no clock, cost, path or call key."""

    # Absent and not null: battles of runs that have neither keep the bytes they always had.
    left_out: ClassVar[tuple[str, ...]] = ("borrowed", "language")
    schema_version: int = Field(default=SCHEMA, alias="schema", serialization_alias="schema")
    """Version of this shape."""
    id: Name
    """`VIDEO-pPERSONA-rROUND`, also the slot's; `~G` after it: played in place of a battle whose
    call failed; `+G`: a newcomer met a stored answer (G: generation of its slots)."""
    video: Name
    """First 12 hex digits of the file's sha256."""
    duration_s: float = Field(ge=0)
    """Length of the video."""
    category: Name | None
    """One of eleven, or of the list that `videos.csv` names; `unknown` if the examiner named none
    of them; null if the video was never examined."""
    persona: int
    """1 close to the content, 2 less close, 3 unrelated; of [a user that was brought](#a-user)
    without an index its place alone."""
    persona_text: str | None
    """The user in words; null if none was invented."""
    round: int
    """Number of the round, from 0."""
    origin: Origin | None
    """`first`, `evolved` or `fresh`; null without a question."""
    question: str | None
    """As put to both; null without a question."""
    aimed_at: tuple[Name, Name] | None
    """The two models whose faults an evolved question was made from."""
    difficulty: float | None
    """The overall grade of an evolved question."""
    model_a: Name | None
    """Name in the roster of the model in seat a; null if no model was drawn."""
    model_b: Name | None
    """Name of the model in seat b; null if no model was drawn."""
    answer_a: str | None
    """Answer of model a; null for a forfeit."""
    answer_b: str | None
    """Answer of model b; null for a forfeit."""
    frames_a: tuple[float, ...]
    """Times of the frames that model a was sent."""
    frames_b: tuple[float, ...]
    """Times of the frames that model b was sent."""
    verdict: Verdict
    """`a`, `b`, `tie`, `tie_good`, `tie_bad`, `split`, `void`, `forfeit_a`, `forfeit_b`;
    `forfeit_a`: a gave no answer."""
    reason: str | None
    """Why it is void or forfeit."""
    verdicts: tuple[Judging, ...]
    """Every [judging](#a-judging)."""
    evolution: tuple[Evolution, ...]
    """The [attempts](#an-evolution) that led to this question; empty for a first one, or a fresh
    one that none came before."""
    prompts: dict[str, str]
    """Role to digest of its prompt file."""
    propensity: float | None
    """Probability of this unordered pair when drawn, in whole millionths; null where pairs are
    dealt."""
    basis: int | None
    """Latest wave, from 0, whose results that used; null in the first two waves and without
    `mix`."""
    borrowed: StoredAnswer | None = None
    """Only where a newcomer met a stored answer (`arena add`): the source `battle`, and the
    answer's `seat` there and here. Question, user, `origin` and `aimed_at` are the source's;
    `propensity` is that of the rival among the answers available."""
    language: Name | None = None
    """Only where the run draws languages: the code (ISO 639-1) of the one that was asked in."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
