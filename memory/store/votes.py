"""What people say one after another in a labelling session: of battles, and of questions.

Nothing is overwritten: a vote that was taken back stays as superseded. Of one thing and one
labeller at most one vote stands.
"""

from __future__ import annotations

from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar

from pydantic import Field

from videoautoarena.memory.records.digests import canonical_json, digest, read_body, write_body
from videoautoarena.memory.records.records import Choice, Record
from videoautoarena.memory.records.standards import Standard
from videoautoarena.memory.store.connection import Reader
from videoautoarena.memory.store.writer import Writes, needed

Task = Literal["battle", "ranking"]
Answered = Literal["a", "b"]
"""One of a battle's two answers, by its seat in the run."""


class Vote(Record):
    """What one person said of one battle whose makers were hidden, in terms of model_a, model_b."""

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
    first: Answered
    """`a` or `b`: whose answer was shown as Answer A."""
    named: tuple[Answered, ...] = ()
    """Those of the answers, `a` or `b`, whose text has a name of the run's models or of a
    well-known maker; the page says so, and the text is shown as it is."""

    @property
    def subject(self) -> str:
        """What it is of."""
        return self.battle


class Posed(Record):
    """A question on a video, and where it comes from."""

    source: str
    text: str


class Ranking(Record):
    """How one person ranked questions on one video whose sources were hidden."""

    task: ClassVar[Task] = "ranking"

    video: str
    """Id of the video."""
    labeller: str
    """The person's name as given."""
    questions: tuple[Posed, ...]
    """`source` and `text` of each, in the order in which they were shown."""
    ranks: tuple[int, ...] | None
    """The rank of each, 1 for the one a real user would most likely ask; null: cannot tell."""
    note: str = ""
    """What the person wrote."""

    @property
    def subject(self) -> str:
        """What it is of: the same questions on the same video, in whatever order."""
        questions = sorted([one.source, one.text] for one in self.questions)
        return digest(canonical_json([self.video, questions]))


V = TypeVar("V", Vote, Ranking)


class Cast(NamedTuple, Generic[V]):
    """A vote, and whether it was taken back."""

    vote: V
    is_superseded: bool


class Votes:
    """The votes of a run, in the order in which they were cast; read only without a writer."""

    def __init__(self, reader: Reader, writer: Writes | None = None) -> None:
        self._reader = reader
        self._writer = writer

    def cast(self, kind: type[V]) -> list[Cast[V]]:
        """Return all votes of a kind, those that were taken back among them."""
        found = self._reader.rows(
            "SELECT body, is_superseded FROM votes WHERE task = ? ORDER BY place", kind.task
        )
        return [Cast(read_body(kind, body), bool(gone)) for body, gone in found]

    def standing(self, kind: type[V]) -> list[V]:
        """Return the votes of a kind that nobody took back."""
        return [cast.vote for cast in self.cast(kind) if not cast.is_superseded]

    async def put(self, vote: Vote | Ranking) -> None:
        """Keep a vote; StoreError where this labeller has one of the same that stands."""
        row = (vote.task, vote.subject, vote.labeller, write_body(vote))
        sql = "INSERT INTO votes (task, subject, labeller, body) VALUES (?, ?, ?, ?)"
        await needed(self._writer).write(sql, row)

    async def withdraw(self, vote: Vote | Ranking) -> None:
        """Mark the standing vote of this labeller on the same as superseded."""
        await needed(self._writer).write(
            "UPDATE votes SET is_superseded = 1 "
            "WHERE task = ? AND subject = ? AND labeller = ? AND is_superseded = 0",
            (vote.task, vote.subject, vote.labeller),
        )
