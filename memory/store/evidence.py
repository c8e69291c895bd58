"""What is kept beside a run's battles: labels of people, trials of judges, tags of questions.

None of it changes a battle: a label stands beside a verdict, a trial is a judging of its own. None
of it is overwritten either: a vote that was taken back stays as superseded, and of one thing and
one labeller at most one vote stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar

from pydantic import Field

from videoautoarena.memory.records.digests import canonical_json, digest, read_body, write_body
from videoautoarena.memory.records.records import (
    Choice,
    Decision,
    Frame,
    Judging,
    QuestionCategory,
    Record,
    Sparse,
)
from videoautoarena.memory.records.standards import Standard
from videoautoarena.memory.store.connection import StoreReader
from videoautoarena.memory.store.migrations import TRIALS
from videoautoarena.memory.store.writer import RunTables, Writes, needed

Task = Literal["battle", "ranking"]
AnswerSeat = Literal["a", "b"]
"""One of a battle's two answers, by its seat in the run."""


class BattleVote(Record):
    """What one person said of a battle without seeing its models' names, as model_a or model_b."""

    task: ClassVar[Task] = "battle"

    battle: str
    """Id of the battle."""
    labeller: str
    """The person's name as given."""
    verdict: Choice | None
    """`a`, `b`, `tie_good` or `tie_bad`, in terms of its model_a and model_b; null: cannot tell."""
    standards: dict[Standard, Choice] = Field(default_factory=dict)
    """The same by the standards that were voted on."""
    note: str = ""
    """What the person wrote."""
    first: AnswerSeat
    """`a` or `b`: whose answer was shown as Answer A."""
    named: tuple[AnswerSeat, ...] = ()
    """Answers, `a` or `b`, whose text names one of the run's models or a well-known maker; the page
    says so, and the text is shown as it is."""

    @property
    def subject(self) -> str:
        """Id of the battle that it is about."""
        return self.battle


class RankedQuestion(Record):
    """A question on a video, and where it comes from."""

    source: str
    text: str


class RankingVote(Record):
    """How one person ranked questions on one video whose sources were hidden."""

    task: ClassVar[Task] = "ranking"

    video: str
    """Id of the video."""
    labeller: str
    """The person's name as given."""
    questions: tuple[RankedQuestion, ...]
    """`source` and `text` of each, in the order in which they were shown."""
    ranks: tuple[int, ...] | None
    """The rank of each, 1 for the one a real user would most likely ask; null: cannot tell."""
    note: str = ""
    """What the person wrote."""

    @property
    def subject(self) -> str:
        """Digest of the video and its questions, the same in whatever order these were shown."""
        questions = sorted([one.source, one.text] for one in self.questions)
        return digest(canonical_json([self.video, questions]))


V = TypeVar("V", BattleVote, RankingVote)


class CastVote(NamedTuple, Generic[V]):
    """A vote, and whether it was taken back."""

    vote: V
    is_superseded: bool


class VoteLog(RunTables):
    """The votes of a run, in the order in which they were cast."""

    def cast(self, kind: type[V]) -> list[CastVote[V]]:
        """Return all votes of a kind, those that were taken back among them."""
        found = self._reader.rows(
            "SELECT body, is_superseded FROM votes WHERE task = ? ORDER BY place", kind.task
        )
        return [CastVote(read_body(kind, body), bool(gone)) for body, gone in found]

    def standing(self, kind: type[V]) -> list[V]:
        """Return the votes of a kind that nobody took back."""
        return [cast.vote for cast in self.cast(kind) if not cast.is_superseded]

    async def put(self, vote: BattleVote | RankingVote) -> None:
        """Keep a vote; StoreError where this labeller has one of the same that stands."""
        row = (vote.task, vote.subject, vote.labeller, write_body(vote))
        sql = "INSERT INTO votes (task, subject, labeller, body) VALUES (?, ?, ?, ?)"
        await needed(self._writer).write(sql, row)

    async def withdraw(self, vote: BattleVote | RankingVote) -> None:
        """Mark the standing vote of this labeller on the same as superseded."""
        await needed(self._writer).write(
            "UPDATE votes SET is_superseded = 1 "
            "WHERE task = ? AND subject = ? AND labeller = ? AND is_superseded = 0",
            (vote.task, vote.subject, vote.labeller),
        )


TrialKind = Literal["rejudge", "repeat", "attack", "constant", "truth"]

TRIAL_SCOPE = "trial:"
"""Beginning of the scopes of all trials' calls; no slot and no video has such an id."""

ASIDE = TRIALS
"""Pattern of the scopes of trials and tags, which no other scope matches."""


class Label(Record):
    """What one person says of one battle, in terms of its model_a and model_b."""

    battle: str
    """Id of the battle."""
    labeller: str
    """The person's name as given."""
    verdict: Choice
    """`a`, `b`, `tie`, `tie_good` or `tie_bad`, in terms of its model_a and model_b."""
    standards: dict[Standard, Choice] = Field(default_factory=dict)
    """The same by standards such as `accuracy`, those asked for."""


class LabelSample(Record):
    """A random draw of battles that people are to label; labels of them speak for the rest."""

    seed: int
    """Together with the battles and earlier draws it decides which are drawn."""
    of: tuple[str, ...]
    """Ids of the battles it represents."""
    chance: float = Field(gt=0, le=1)
    """Probability with which each battle was drawn that no earlier draw had taken."""
    drawn: tuple[str, ...]
    """Ids in drawn order."""


class Trial(Sparse):
    """One judging that decides no battle: a case put to a judge to learn about the judge.

    "a" and "b" mean the answers of the case; of a case that was made from a battle, its model_a
    and model_b.
    """

    id: str
    """Kind, case, judge and seating, and a digest of all the judge was given."""
    kind: TrialKind
    """`rejudge`: another judge's word; `repeat`: the same judge's second one; `attack`, `constant`:
    an answer that attacks, or says nothing to the point; `truth`: a case whose right answer is
    known."""
    name: str = ""
    """Name of the attack or constant answer; of known truth the task and the forms of the right and
    wrong answer, such as `needle-short-long`; else empty."""
    battle: str | None = None
    """Id of the battle the case was made from; null of `truth`."""
    video: str
    """Id of the run's video."""
    model: str
    """`provider:model` of the judge."""
    right: Literal["a", "b"] | None = None
    """The answer right by construction; of `attack` and `constant` the one that does not deserve to
    win."""
    texts: dict[str, str] = Field(default_factory=dict)
    """Persona, question and both answers, if not the battle's own."""
    frames: tuple[Frame, ...] = ()
    """Times and digests, if not the run's frames of the video."""
    contracts: int = 1
    """Number of the [contracts](design.md#4-talking-to-models) it was judged by; 1 if absent."""
    judging: Judging
    """[what the judge said](#a-judging)."""
    language: str | None = None
    """Only where the run draws languages: the code of the one the case is in."""
    left_out: ClassVar[tuple[str, ...]] = ("language",)


def trial_id(first: str, generation: int) -> str:
    """Return the id of a trial's generation: 0 the first, later ones after a failed call."""
    return f"{first}~{generation}" if generation else first


def generation_of(trial: str) -> tuple[str, int]:
    """Return the id of a trial's first generation, and the number of its own."""
    first, mark, generation = trial.rpartition("~")
    return (first, int(generation)) if mark and generation.isdecimal() else (trial, 0)


def standing_trials(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that count, the latest generation of each, in order of first appearance."""
    latest: dict[str, tuple[int, Trial]] = {}
    for trial in trials:
        first, generation = generation_of(trial.id)
        if first not in latest or latest[first][0] < generation:
            latest[first] = (generation, trial)
    return [trial for _, trial in latest.values()]


TAG_SCOPE = "tag:"
"""Beginning of the scopes of all classifiers' calls; no slot and no video has such an id."""


class QuestionTag(Record):
    """What one classifier says of one question about one video."""

    id: str
    """Made of question, classifier and all that was put to it."""
    question: str
    """First 16 hex digits of the digest of video and text: equal questions about one video have
    one."""
    video: str
    """Its id."""
    text: str
    """The question, verbatim."""
    classifier: str
    """Its name in the cast."""
    model: str
    """`provider:model`."""
    categories: dict[QuestionCategory, Decision] = Field(default_factory=dict)
    """Each of the twelve categories to `yes`, `no` or `unknown`; what could not be read is unknown,
    never no."""
    reason: str | None = None
    """Why nothing could be read; null if something was."""
    is_failed: bool = False
    """The call itself failed."""


class Evidence(RunTables):
    """Labels, votes, draws, trials and tags of a run, never overwritten."""

    def __init__(self, reader: StoreReader, writer: Writes | None = None) -> None:
        super().__init__(reader, writer)
        self.votes = VoteLog(reader, writer)

    def labels(self) -> list[Label]:
        """Return all labels in the order in which they were added, then those that are votes.

        A vote is a label as long as it stands, unless the person could not tell.
        """
        labels = self._all(Label, "SELECT body FROM labels ORDER BY place")
        for vote in self.votes.standing(BattleVote):
            if vote.verdict is not None:
                labels.append(
                    Label(
                        battle=vote.battle,
                        labeller=vote.labeller,
                        verdict=vote.verdict,
                        standards=vote.standards,
                    )
                )
        return labels

    def add_labels(self, labels: Iterable[Label]) -> None:
        """Append labels; a second label of the same person on the same battle is passed over."""
        needed(self._writer).write_now(
            "INSERT INTO labels (battle, labeller, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            *((label.battle, label.labeller, write_body(label)) for label in labels),
        )

    def samples(self) -> list[LabelSample]:
        """Return all draws in the order in which they were made."""
        return self._all(LabelSample, "SELECT body FROM samples ORDER BY place")

    def add_samples(self, samples: Iterable[LabelSample]) -> None:
        """Append draws, all of them or none."""
        rows = ((write_body(sample),) for sample in samples)
        needed(self._writer).write_now("INSERT INTO samples (body) VALUES (?)", *rows)

    def trials(self) -> list[Trial]:
        """Return all trials by their ids."""
        return self._all(Trial, "SELECT body FROM trials ORDER BY id")

    async def put_trial(self, trial: Trial) -> None:
        """Keep a trial, unless there is one with its id."""
        await self._put("trials", trial)

    def tags(self) -> list[QuestionTag]:
        """Return all tags in the order in which they were kept."""
        return self._all(QuestionTag, "SELECT body FROM tags ORDER BY place")

    async def put_tag(self, tag: QuestionTag) -> None:
        """Keep a tag, unless there is one with its id."""
        await self._put("tags", tag)

    async def _put(self, table: str, record: Trial | QuestionTag) -> None:
        sql = f"INSERT INTO {table} (id, body) VALUES (?, ?) ON CONFLICT DO NOTHING"
        await needed(self._writer).write(sql, (record.id, write_body(record)))
