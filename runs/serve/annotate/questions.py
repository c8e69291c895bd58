"""The second task: which of several questions on one video a real user would most likely ask.

Source: VideoAutoArena, appendix D.1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import DECIDED, Video
from videoautoarena.memory.store.evidence import RankedQuestion, RankingVote
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.battle_table import is_gap, quoted, read_sheet
from videoautoarena.runs.run.rundir.reader import RunReader, reading_of
from videoautoarena.runs.serve.annotate.battles import LONGEST_NOTE
from videoautoarena.runs.serve.annotate.films import Films
from videoautoarena.runs.serve.annotate.queue import VoteQueue

OWN = "this run"
"""The source of questions that the run itself put."""
MOST = 4
COLUMNS = ("video", "question", "source")


class QuestionSet(NamedTuple):
    """Questions on one video, each from another source."""

    video: str
    questions: tuple[RankedQuestion, ...]

    @property
    def subject(self) -> str:
        """The subject under which a ranking of it is kept."""
        return self.ranked("", None).subject

    def ranked(self, labeller: str, ranks: tuple[int, ...] | None, note: str = "") -> RankingVote:
        """Return a ranking of it in the order in which its questions stand."""
        return RankingVote(
            video=self.video,
            labeller=labeller,
            questions=self.questions,
            ranks=ranks,
            note=note,
        )


class GivenQuestions(NamedTuple):
    """Questions of others on videos of a run."""

    questions: Mapping[str, Sequence[RankedQuestion]]
    """Questions by the id of their video."""
    strange: int
    """Number of rows on videos that the run does not have."""


def read_questions(files: Iterable[Path], videos: Sequence[Video]) -> GivenQuestions:
    """Return the questions in files with the columns video, question and source.

    A video may be written as its id, as its path in the run, or as the name of its file.

    Raises:
        BadInput: a file, a column or a row that cannot be used, or no row is of the run's videos.
    """
    known: defaultdict[str, set[str]] = defaultdict(set)
    for video in videos:
        for name in _names(video):
            known[name].add(video.id)
    found: dict[str, list[RankedQuestion]] = {}
    strange = 0
    for file in files:
        is_useful = False
        for name, posed in _rows(file):
            match sorted(known.get(name, ())):
                case []:
                    strange += 1
                case [one]:
                    found.setdefault(one, []).append(posed)
                    is_useful = True
                case several:
                    raise BadInput(
                        f"{file} asks about {quoted(name)}, the name of {len(several)} videos of "
                        "this run; write the path of one"
                    )
        if not is_useful:
            raise BadInput(f"{file} has no question on a video of this run")
    return GivenQuestions(found, strange)


def _names(video: Video) -> tuple[str, ...]:
    path = Path(video.path)
    return (path.stem, path.name, video.path, video.id)


def _rows(file: Path) -> Iterable[tuple[str, RankedQuestion]]:
    sheet = read_sheet(file, lambda name: name in COLUMNS)
    for name in COLUMNS:
        if name not in sheet.names:
            there = ", ".join(quoted(found) for found in sheet.names[:8])
            raise BadInput(f"{sheet.file} has no column {name}; it has {there}")
    columns = [sheet.columns[name] for name in COLUMNS]
    for k in range(len(columns[0].codes)):
        cells = [column.values[column.codes[k]] for column in columns]
        for name, cell in zip(COLUMNS, cells, strict=True):
            if is_gap(cell):
                raise sheet.refuse(k, f"{name} is missing")
        video, question, source = (str(cell).strip() for cell in cells)
        if source.casefold() == OWN:
            raise sheet.refuse(k, f'source cannot be "{OWN}", which is what the run put itself')
        yield video, RankedQuestion(source=source, text=question)


def question_sets(
    run: RunReader, given: Mapping[str, Sequence[RankedQuestion]], seed: int
) -> list[QuestionSet]:
    """Return one set for each video with questions from two sources or more, in drawn order.

    Each source has one question in it, drawn by the seed; of more than four sources the run and
    three others are drawn.
    """
    if not given:
        return []
    own: dict[str, dict[str, RankedQuestion]] = {}
    for battle in run.battles:
        if battle.verdict in DECIDED and battle.question and battle.video in given:
            posed = RankedQuestion(source=OWN, text=battle.question)
            own.setdefault(battle.video, {})[battle.question] = posed
    sets = [
        QuestionSet(video, _draw([*own.get(video, {}).values(), *posed], video, seed))
        for video, posed in given.items()
    ]
    sets.sort(key=lambda one: derive(seed, "questions", one.video))
    return [one for one in sets if len(one.questions) > 1]


def _draw(posed: Iterable[RankedQuestion], video: str, seed: int) -> tuple[RankedQuestion, ...]:
    drawn: dict[str, RankedQuestion] = {}
    for one in sorted(posed, key=lambda one: derive(seed, "question", video, one.text)):
        drawn.setdefault(one.source, one)
    sources = sorted(drawn, key=lambda of: (of != OWN, derive(seed, "source", video, of)))
    return tuple(drawn[source] for source in sources[:MOST])


class QuestionVote(BaseModel):
    """What a page sends of the questions that it shows, in the order in which it shows them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ticket: str
    ranks: list[int] | None = Field(max_length=MOST)
    note: str = Field(default="", max_length=LONGEST_NOTE)


class NoRanking(Exception):
    """Ranks that are not 1, 2 and so on, each once."""


class RankingTask:
    """The questions of one labeller."""

    def __init__(
        self,
        store: Store,
        labeller: str,
        sets: Sequence[QuestionSet],
        *,
        films: Films,
        seed: int,
    ) -> None:
        votes = store.evidence.votes
        mine = [vote for vote in votes.standing(RankingVote) if vote.labeller == labeller]
        self._sets = {one.subject: one for one in sets}
        self.queue: VoteQueue[RankingVote] = VoteQueue(votes, list(self._sets), mine)
        self._store = store
        self._labeller = labeller
        self._films = films
        self._seed = seed

    def shown(self) -> dict[str, Any] | None:
        """Return the questions that are out, with the examiner's account; no source is in it."""
        if self.queue.subject is None:
            return None
        out = self._in_order(self.queue.subject)
        return {
            "account": account_of(self._store, out.video),
            "questions": [posed.text for posed in out.questions],
            "video": self._films.about(out.video),
        }

    def video_of(self, ticket: str) -> str | None:
        """Return the id of the video of what is out under a ticket."""
        held = self.queue.holder(ticket)
        return self._sets[held].video if held else None

    async def vote(self, said: QuestionVote) -> None:
        """Keep a ranking; raises NoRanking, StaleVote or StoreError."""

        def ranked(subject: str) -> RankingVote:
            out = self._in_order(subject)
            ranks = None if said.ranks is None else tuple(said.ranks)
            if ranks is not None and sorted(ranks) != list(range(1, len(out.questions) + 1)):
                raise NoRanking
            return out.ranked(self._labeller, ranks, said.note.strip())

        await self.queue.vote(said.ticket, ranked)

    def _in_order(self, subject: str) -> QuestionSet:
        """Return a set as this labeller sees it, always in the same order."""
        out = self._sets[subject]
        order = sorted(
            out.questions,
            key=lambda one: derive(self._seed, "ranking", self._labeller, subject, one.source),
        )
        return out._replace(questions=tuple(order))


def account_of(store: Store, video: str) -> str | None:
    """Return the examiner's account of a video; None if the run has no readable one."""
    # Roles bring all that calls models with them, which labelling battles never needs.
    from videoautoarena.agents.calls.replies import BadReply, read_reply
    from videoautoarena.agents.prompting.contracts import ExaminerReply

    reading = reading_of(store.manifest())
    for row in reversed(store.journal.calls(video)):
        if row.nonce.role == "examiner" and row.reply is not None:
            try:
                return read_reply(
                    row.reply, ExaminerReply, ending=row.ending, reading=reading
                ).account
            except BadReply:
                continue
    return None
