"""What stands in a file of results, line by line, and what is made of it in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from pydantic import Field, JsonValue

from videoautoarena.memory.records.records import Seats
from videoautoarena.runs.bench.format.entries import Digest, Shape

RESULT_SCHEMA = 1
Against = Literal["selected", "rejected"]
History = Literal["golden", "own"]
"""What a player is sent of earlier rounds: the reference answers, or what it answered itself."""
REFERENCES: tuple[Against, Against] = ("selected", "rejected")
ANCHOR: Literal["anchor"] = "anchor"
MOST_USD, MOST_FRAMES = 1e12, 10**9
"""Of one answer, and of one video; more is no figure of anything that was played."""


class Vote(Shape):
    """What one judge of a panel said, of the candidate."""

    judge: str
    verdict: Literal["win", "tie", "loss", "abstain", "failed"]
    """Who abstained or failed did not vote."""


class Ruling(Shape):
    """One judging of a model's answer against a reference."""

    qid: str
    """The question's."""
    against: Against
    """`selected` or `rejected`: which of its two answers the model's was compared with."""
    verdict: Literal["win", "tie", "loss", "void"]
    """Of the model: `win`, `tie`, `loss`, or `void`."""
    seats: Seats | None = None
    """`ab` if the bench's answer was read first, `ba` if the model's was; null if nothing was
    read."""
    response: str | None = None
    """The model's answer."""
    words: str | None = None
    """What the judge said."""
    reason: str | None = None
    """Why it is void, or was lost unread."""
    votes: list[Vote] | None = None
    """Of a panel: `judge` and `verdict` of each, of the model: `win`, `tie`, `loss`, or `abstain`
    and `failed`, which do not vote; the plurality decides, two equal camps make a tie."""


class Comparison(Shape):
    """One judging of a model's answer against the anchor's."""

    qid: str
    """The question's."""
    against: Literal["anchor"] = ANCHOR
    """`anchor`."""
    verdict: Literal["much_better", "better", "same", "worse", "much_worse", "void"]
    """Of the model: `much_better`, `better`, `same`, `worse`, `much_worse`, or `void`."""
    seats: Seats | None = None
    """`ab` if the anchor's answer was read first, `ba` if the model's was; null if nothing was
    read, and the line stands for both."""
    response: str | None = None
    """The model's answer."""
    anchor_response: str | None = None
    """The anchor's answer."""
    words: str | None = None
    """What the judge said."""
    reason: str | None = None
    """Why it is void, or was lost unread."""


class ResultFacts(TypedDict, total=False):
    """How a result that was played here came to be; which of it is said, its kind decides."""

    model: str | None
    """`provider:model`."""
    anchor: str | None
    """Likewise, of results against one."""
    max_frames: int | None
    """Most frames it was sent."""
    judge: JsonValue
    """`provider:model`, of a panel a list."""
    seed: int
    """Of all draws."""
    swap: JsonValue
    """Share of questions that were also judged in swapped order, or `all`."""
    questions: int
    """Questions or tasks that were asked."""
    dialogues: int
    """Dialogues that were asked."""
    rounds: int
    """Scored rounds of these."""
    forfeits: int
    """Of questions, or scored rounds."""
    unscored: int
    """Scored rounds that could not be marked."""
    voids: int
    """Of questions, or scored rounds."""
    audited: int
    """Judged from both seats."""
    same_from_both_seats: int
    """Of these, or of the questions against an anchor."""
    prompts: dict[str, str]
    """Role to digest of its prompt."""
    contracts: int
    """Number of the [contracts](design.md#4-talking-to-models) that the judge was held to."""
    reading: int
    """Number of the [way of reading](design.md#4-talking-to-models) of replies, also when they are
    scored; 1 if absent."""
    view: str
    """Of tasks, what it was shown: `whole`, `blind`, `one` frame, `shuffled` frames, or those of an
    `other` video."""
    retrieval: dict[str, Any]
    """Only where it was sent the best clips alone: `embeddings` and `captioner` (or null),
    `frames_per_clip` and `keep`."""
    preset: str
    """Only of dialogues with `--preset`."""
    blind_referee: bool
    """Only, and true, where a judge was sent no frames."""


class Head(Shape):
    """The first line of a file of results."""

    schema_version: int = Field(default=RESULT_SCHEMA, alias="schema", serialization_alias="schema")
    """Version of this shape."""
    kind: str
    """`result`, `anchored`, `tasks` or `dialogues`; `answers` before judging."""
    bench: Digest
    """Digest of its bench; refused on another."""
    model: str = Field(min_length=1, max_length=200)
    """Whose answers."""
    judge: str | None = None
    """Who judged; of a panel all names in alphabetical order, joined by commas; null for
    answers."""
    anchor: str | None = None
    """Whose answers all were compared with; only of [results against an
    anchor](#a-result-against-an-anchor)."""
    history: History | None = None
    """What was sent of earlier rounds: `golden`, the reference answers, or `own`; only of
    [dialogues](#a-result-on-dialogues)."""
    how: Literal["run", "import"]
    """`run` or `import`."""
    facts: dict[str, JsonValue] = Field(default_factory=dict)
    """[How it came to be](#facts-of-a-result)."""


class OnBench(Shape):
    bench: Digest
    model: str
    how: Literal["run", "import"]
    facts: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def reading(self) -> int:
        """In which way its replies are read; 1 where it was begun before there was another."""
        said = self.facts.get("reading")
        if isinstance(said, int) and not isinstance(said, bool) and said >= 1:
            return said
        return 1

    @property
    def is_stand_in(self) -> bool:
        """Whether a run says that its answers are those of an offline model."""
        return str(self.facts.get("model")).startswith("offline:")

    @property
    def max_frames(self) -> int | None:
        """How many frames of a video it was sent at most; None where nothing says so."""
        said = self.facts.get("max_frames")
        return said if type(said) is int and 0 < said <= MOST_FRAMES else None

    @property
    def is_blind(self) -> bool:
        """Whether it was sent no frame of any video, as it says."""
        said = self.facts.get("max_frames")
        return type(said) is int and said == 0

    @property
    def is_judged_blind(self) -> bool:
        """Whether its judge was to look at videos and was sent no frames, as it says."""
        return self.facts.get("blind_referee") is True

    @property
    def head(self) -> dict[str, Any]:
        """What the first line of its file says whatever it holds."""
        return self.model_dump(include=set(OnBench.model_fields))


class Result(OnBench):
    """A model's rulings on one bench by one judge, against the references."""

    judge: str
    rulings: list[Ruling]


class Anchored(OnBench):
    """A model's rulings on one bench by one judge, against one anchor."""

    judge: str
    anchor: str
    rulings: list[Comparison]


View = Literal["whole", "blind", "one", "shuffled", "other"]
"""What a player is shown: all its frames, none, one, all at each other's times, another video's."""
VIEWS: Mapping[View, str] = {
    "blind": "no frames",
    "one": "one frame",
    "shuffled": "shuffled frames",
    "other": "another video",
}
"""What is said of a player that is not shown the whole."""


class TaskLine(Shape):
    """What one task came to for a model; whether a choice is right is read from `response`."""

    qid: str
    """The item's."""
    end: Literal["answered", "forfeit", "unscored", "void"]
    """`answered`; `forfeit`: no answer; `unscored`: free text that could not be marked; `void`: not
    asked, its video is lost."""
    response: str | None = None
    """The model's answer."""
    ending: str | None = None
    """How the reply ended, as its provider says; a choice that was cut off may not count."""
    usd: Annotated[float, Field(ge=0, le=MOST_USD)] | None = None
    """What the answer cost, null where nobody says."""
    scores: dict[str, Annotated[float, Field(ge=1, le=5)]] = Field(
        default_factory=dict, max_length=2
    )
    """Of free text, 1 to 5 on each scale: `accuracy` and `relevance`, or `completeness` and
    `reliability`."""
    points: list[int] = Field(default_factory=list)
    """1, 3 or 5 for each scoring point."""
    reason: str | None = None
    """Why there is no answer or no score."""


class TaskResult(OnBench):
    """A model's answers to the tasks of a set, scored where they are free text."""

    judge: str | None
    """Who scored free text; None where nothing had to be."""
    lines: list[TaskLine]


class RoundLine(Shape):
    """What one scored round of a dialogue came to for a model."""

    qid: str
    """The dialogue's."""
    round: int = Field(ge=1)
    """Its number, from 1."""
    end: Literal["answered", "forfeit", "unscored", "void"]
    """`answered`; `forfeit`: no answer, of its own history also to a round before; `unscored`:
    could not be marked; `void`: not asked, its video is lost or has no such stretch."""
    response: str | None = None
    """The model's answer."""
    ending: str | None = None
    """How the reply ended, as its provider says."""
    usd: Annotated[float, Field(ge=0, le=MOST_USD)] | None = None
    """What the answer cost, null where nobody says; with own history what rounds cost that are not
    scored stands in no line."""
    answers: list[Literal["yes", "no"]] = Field(default_factory=list)
    """`yes` or `no` to each item of the checklist, in their order; empty where nothing was
    marked."""
    reason: str | None = None
    """Why there is no answer or no score."""


class DialogueResult(OnBench):
    """A model's answers to the scored rounds of dialogues, each held against its checklist."""

    judge: str
    history: History = "golden"
    lines: list[RoundLine]


class Answers(OnBench):
    """A model's answers on one bench, not judged."""

    responses: dict[str, str]
    """By qid; those of some questions may be missing."""


AnyResult = Result | Anchored | TaskResult | DialogueResult
"""Of whatever kind of bench."""
