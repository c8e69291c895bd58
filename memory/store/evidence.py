"""What is known of the judges of a run beside its battles: people's labels, and trials of a judge.

None of it changes a battle: a label stands beside a verdict, and a trial is a judging of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from videoautoarena.memory.records.digests import read_body, write_body
from videoautoarena.memory.records.records import Choice, Frame, Judging, Record, Sparse
from videoautoarena.memory.records.standards import Standard
from videoautoarena.memory.store.connection import Reader
from videoautoarena.memory.store.derived import TRIALS
from videoautoarena.memory.store.votes import Vote, Votes
from videoautoarena.memory.store.writer import Writes, needed

TrialKind = Literal["rejudge", "repeat", "attack", "constant", "truth"]

TRIAL_SCOPE = "trial:"
"""What the scope of every trial's calls begins with; no slot and no video has such an id."""

ASIDE = TRIALS
"""What fits the scopes of trials and of tags, and no other."""


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


def label_of(vote: Vote) -> Label | None:
    """Return what a vote says as a label; None where the person could not tell."""
    if vote.verdict is None:
        return None
    return Label(
        battle=vote.battle,
        labeller=vote.labeller,
        verdict=vote.verdict,
        standards=vote.standards,
    )


class Sample(Record):
    """A random draw of battles that people are to label; labels of them speak for the rest."""

    seed: int
    """With the battles and earlier draws it decides which are drawn."""
    of: tuple[str, ...]
    """Ids of the battles it represents."""
    chance: float = Field(gt=0, le=1)
    """Probability of each of them that no earlier draw had taken."""
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
    """Of the attack or constant answer; of known truth the task and the forms of the right and
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
    """Return the id of a trial that is held again, since a call had failed; 0 is the first one."""
    return f"{first}~{generation}" if generation else first


def generation_of(trial: str) -> tuple[str, int]:
    """Return the id of the first trial in the place of one, and which one it is."""
    first, mark, generation = trial.rpartition("~")
    return (first, int(generation)) if mark and generation.isdecimal() else (trial, 0)


def standing_trials(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that count: of those in one place the last, in the order of their ids."""
    latest: dict[str, tuple[int, Trial]] = {}
    for trial in trials:
        first, generation = generation_of(trial.id)
        if first not in latest or latest[first][0] < generation:
            latest[first] = (generation, trial)
    return [trial for _, trial in latest.values()]


class Evidence:
    """Labels, votes, draws and trials of a run, never overwritten; read only without a writer."""

    def __init__(self, reader: Reader, writer: Writes | None = None) -> None:
        self.votes = Votes(reader, writer)
        self._reader = reader
        self._writer = writer

    def labels(self) -> list[Label]:
        """Return all labels in the order in which they were added, then those that are votes.

        A vote is a label as long as it stands, unless the person could not tell.
        """
        found = self._reader.rows("SELECT body FROM labels ORDER BY place")
        voted = (label_of(vote) for vote in self.votes.standing(Vote))
        return [*(read_body(Label, body) for (body,) in found), *(of for of in voted if of)]

    def add_labels(self, labels: Iterable[Label]) -> None:
        """Append labels; one labeller's second word on a battle is passed over."""
        needed(self._writer).write_now(
            "INSERT INTO labels (battle, labeller, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            *((label.battle, label.labeller, write_body(label)) for label in labels),
        )

    def samples(self) -> list[Sample]:
        """Return all draws in the order in which they were made."""
        found = self._reader.rows("SELECT body FROM samples ORDER BY place")
        return [read_body(Sample, body) for (body,) in found]

    def add_samples(self, samples: Iterable[Sample]) -> None:
        """Append draws, all of them or none."""
        rows = ((write_body(sample),) for sample in samples)
        needed(self._writer).write_now("INSERT INTO samples (body) VALUES (?)", *rows)

    def trials(self) -> list[Trial]:
        """Return all trials by their ids."""
        found = self._reader.rows("SELECT body FROM trials ORDER BY id")
        return [read_body(Trial, body) for (body,) in found]

    async def put_trial(self, trial: Trial) -> None:
        """Keep a trial, unless there is one with its id."""
        sql = "INSERT INTO trials (id, body) VALUES (?, ?) ON CONFLICT DO NOTHING"
        await needed(self._writer).write(sql, (trial.id, write_body(trial)))
