"""Files of results on a bench: judged against both references or one anchor, or not judged.

A file is JSON lines. Its first says whose result it is and on which bench; each other is a ruling,
one judging of one answer in terms of the candidate: against one of a question's two references, or
in five degrees against the answer of one model, the anchor. A file of answers, which were handed in
and not judged, has the same first line but for its kind. File names are made of digests: what a
model is called is never a path.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, TypedDict, TypeVar

from pydantic import Field, JsonValue

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Seats
from videoautoarena.runs.bench.format.reader import OpenBench, is_folder
from videoautoarena.runs.bench.format.schema import Digest, Shape, digest_of
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import refuse_existing, write_whole

RESULT_SCHEMA = 1
Against = Literal["selected", "rejected"]
History = Literal["golden", "own"]
"""What a player is sent of earlier rounds: the reference answers, or what it answered itself."""
REFERENCES: tuple[Against, Against] = ("selected", "rejected")
ANCHOR: Literal["anchor"] = "anchor"
MOST_USD, MOST_FRAMES = 1e12, 10**9
"""Bounds on the cost of an answer and the frames of a video; nothing beyond was ever played."""


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
    """Verdict for the model: `win`, `tie`, `loss`, or `void`."""
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
    """What each of a panel said: `judge` and `verdict` for the model, `win`, `tie`, `loss`, or
    `abstain` and `failed`, which do not vote; the plurality decides, two equal camps make a tie."""


class Comparison(Shape):
    """One judging of a model's answer against the anchor's."""

    qid: str
    """The question's."""
    against: Literal["anchor"] = ANCHOR
    """`anchor`."""
    verdict: Literal["much_better", "better", "same", "worse", "much_worse", "void"]
    """Verdict for the model: `much_better`, `better`, `same`, `worse`, `much_worse`, or `void`."""
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
    """Seed of all draws."""
    swap: JsonValue
    """Share of questions that were also judged in swapped order, or `all`."""
    questions: int
    """Questions or tasks that were asked."""
    dialogues: int
    """Dialogues that were asked."""
    rounds: int
    """Scored rounds of these."""
    forfeits: int
    """Questions, or scored rounds, without an answer."""
    unscored: int
    """Scored rounds that could not be marked."""
    voids: int
    """Questions, or scored rounds, that are void."""
    audited: int
    """Questions that were judged from both seats."""
    same_from_both_seats: int
    """How many of these, or of the questions against an anchor, ended alike from both."""
    prompts: dict[str, str]
    """Role to digest of its prompt."""
    contracts: int
    """Number of the [contracts](design.md#4-talking-to-models) that the judge was held to."""
    reading: int
    """Number of the [way of reading](design.md#4-talking-to-models) of replies, also when they are
    scored; 1 if absent."""
    view: str
    """What it was shown of tasks: `whole`, `blind`, `one` frame, `shuffled` frames, or those of an
    `other` video."""
    retrieval: dict[str, Any]
    """Only where it was sent the best clips alone: `embeddings` and `captioner` (or null),
    `frames_per_clip` and `keep`."""
    preset: str
    """Only of dialogues with `--preset`."""
    blind_referee: bool
    """Only, and true, where a judge was sent no frames."""


class ResultHeader(Shape):
    """The first line of a file of results."""

    schema_version: int = Field(default=RESULT_SCHEMA, alias="schema", serialization_alias="schema")
    """Version of this shape."""
    kind: str
    """`result`, `anchored`, `tasks` or `dialogues`; `answers` before judging."""
    bench: Digest
    """Digest of its bench; refused on another."""
    model: str = Field(min_length=1, max_length=200)
    """Name of the model that gave the answers."""
    judge: str | None = None
    """Who judged; of a panel all names in alphabetical order, joined by commas; null for
    answers."""
    anchor: str | None = None
    """Name of the model whose answers all were compared with; only in [results against an
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
        """The number of the way its replies are read; 1 for those from before there were others."""
        # Facts are free JSON of a file that anybody may have written; `true` would pass for 1.
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
        """The most frames of a video that it was sent; None if it does not say."""
        said = self.facts.get("max_frames")
        # Not isinstance: `true` is an int in Python, and facts are free JSON.
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
        """What the first line of a file of any kind says."""
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
    """How one task ended for a model; whether a choice is right is read from `response`."""

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
    """What the answer cost; null if unknown."""
    scores: dict[str, Annotated[float, Field(ge=1, le=5)]] = Field(
        default_factory=dict, max_length=2
    )
    """Scores of free text, 1 to 5 on each scale: `accuracy` and `relevance`, or `completeness` and
    `reliability`."""
    points: list[int] = Field(default_factory=list)
    """1, 3 or 5 for each scoring point."""
    reason: str | None = None
    """Why there is no answer or no score."""


class TaskResult(OnBench):
    """A model's answers to the tasks of a set, scored where they are free text."""

    judge: str | None
    """Who scored free text; None if the set has none."""
    lines: list[TaskLine]


class RoundLine(Shape):
    """How one scored round of a dialogue ended for a model."""

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
    """What the answer cost; null if unknown. With own history the cost of rounds that are not
    scored stands in no line."""
    answers: list[Literal["yes", "no"]] = Field(default_factory=list)
    """`yes` or `no` to each item of the checklist, in their order; empty if nothing was
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
    """Answers by qid; those to some questions may be missing."""


AnyResult = Result | Anchored | TaskResult | DialogueResult
"""A result on a bench of whatever kind."""


RESULT = "result"
ANSWERS = "answers"
ANCHORED = "anchored"
TASKS = "tasks"
DIALOGUES = "dialogues"
UNKNOWN = "unknown"
"""The judge of a result that names none."""
LARGEST_FILE = 2**30
"""Bytes; 10,000 questions with long answers, judged four times, make a tenth of it."""
Line = TypeVar("Line", bound=Shape)
AnyOf = TypeVar("AnyOf", bound=AnyResult)


class _Response(Shape):
    qid: str
    response: str


def read_results(bench: OpenBench) -> list[Result]:
    """Return every result against the references, by model and judge; or BadInput."""
    return sorted(_of_kind(bench, RESULT, Result), key=lambda one: (one.model, one.judge))


def read_anchored(bench: OpenBench) -> list[Anchored]:
    """Return all that was held against anchors, by judge, anchor and model; or BadInput."""
    found = _of_kind(bench, ANCHORED, Anchored)
    return sorted(found, key=lambda one: (one.judge, one.anchor, one.model))


def read_tasks(bench: OpenBench[Any]) -> list[TaskResult]:
    """Return what models answered to tasks, by model and judge; or BadInput."""
    found = _of_kind(bench, TASKS, TaskResult)
    results = sorted(found, key=lambda one: (one.model, one.judge or ""))
    _refuse_twins(bench, results)
    return results


def read_dialogues(bench: OpenBench[Any]) -> list[DialogueResult]:
    """Return what models answered in dialogues, by model and judge; or BadInput."""
    found = _of_kind(bench, DIALOGUES, DialogueResult)
    results = sorted(found, key=lambda one: (one.model, one.judge))
    _refuse_twins(bench, results)
    return results


def _of_kind(bench: OpenBench[Any], kind: str, made: type[AnyOf]) -> Iterator[AnyOf]:
    # By heads first: a damaged file of another kind stops nobody from reading these.
    for file in result_files(bench):
        if read_head(file, bench).kind == kind:
            result = read_result(file, bench)
            if isinstance(result, made):
                yield result


def _refuse_twins(bench: OpenBench[Any], results: Sequence[TaskResult | DialogueResult]) -> None:
    # One result has one file, whose name follows from model and judge; a second one was copied in,
    # and counting both would weigh the model twice.
    for one, other in pairwise(results):
        if (one.model, one.judge) == (other.model, other.judge):
            by = f" by {quoted(one.judge)}" if one.judge else ""
            raise BadInput(
                f"{bench.results} has two files with the result of {quoted(one.model)}{by}; "
                "move one away"
            )


def read_result(file: Path, bench: OpenBench[Any]) -> AnyResult:
    """Return the result that a file holds; BadInput as `read_results`."""
    head = read_head(file, bench)
    judge = head.judge or UNKNOWN
    made = head.model_dump(include=set(OnBench.model_fields))
    if head.kind == TASKS:
        lines = list(read_lines(file, TaskLine))
        _check_qids(file, bench, (one.qid for one in lines))
        if len({one.qid for one in lines}) < len(lines):
            raise BadInput(f"{file} has two results for one question")
        return TaskResult(**made, judge=head.judge, lines=lines)
    if head.kind == DIALOGUES:
        rounds = list(read_lines(file, RoundLine))
        _check_rounds(file, bench, rounds)
        return DialogueResult(**made, judge=judge, history=head.history or "golden", lines=rounds)
    if head.kind != ANCHORED:
        rulings = list(read_lines(file, Ruling))
        _check_rulings(file, bench, rulings)
        return Result(**made, judge=judge, rulings=rulings)
    if head.anchor is None:
        raise BadInput(f"{file}, line 1: names no anchor; move the file away")
    comparisons = list(read_lines(file, Comparison))
    _check_rulings(file, bench, comparisons)
    return Anchored(**made, judge=judge, anchor=head.anchor, rulings=comparisons)


def read_answers(bench: OpenBench[Any], model: str) -> Answers | None:
    """Return the answers of `model` that were handed in, if any; BadInput as `read_results`."""
    file = file_of(bench, ANSWERS, model)
    if not file.is_file():
        return None
    head = read_head(file, bench)
    lines = read_lines(file, _Response)
    responses = {line.qid: line.response for line in lines}
    _check_qids(file, bench, responses)
    return Answers(**head.model_dump(include=set(OnBench.model_fields)), responses=responses)


def write_result(bench: OpenBench[Any], result: AnyResult, *, force: bool = False) -> Path:
    """Write a result whole, and return its file; BadInput if one is there, without `force`."""
    if isinstance(result, TaskResult):
        head = ResultHeader(kind=TASKS, judge=result.judge, **result.head)
        return _write(bench, head, result.lines, force=force)
    if isinstance(result, DialogueResult):
        head = ResultHeader(
            kind=DIALOGUES, judge=result.judge, history=result.history, **result.head
        )
        return _write(bench, head, result.lines, force=force)
    anchor = result.anchor if isinstance(result, Anchored) else None
    kind = RESULT if anchor is None else ANCHORED
    head = ResultHeader(kind=kind, judge=result.judge, anchor=anchor, **result.head)
    return _write(bench, head, result.rulings, force=force)


def write_answers(bench: OpenBench, answers: Answers, *, force: bool = False) -> Path:
    """Write answers whole, and return their file; BadInput if some are there and not `force`."""
    lines = [_Response(qid=qid, response=text) for qid, text in answers.responses.items()]
    return _write(bench, ResultHeader(kind=ANSWERS, **answers.head), lines, force=force)


def _write(
    bench: OpenBench[Any], head: ResultHeader, lines: Sequence[Shape], *, force: bool
) -> Path:
    file = file_of(bench, head.kind, head.model, head.judge, head.anchor)
    # A link in place of the folder came with the bench and would lead the file anywhere.
    if bench.results.exists() and not is_folder(bench.results):
        raise BadInput(f"{bench.results} is no folder; move it away")
    if file.exists() and not force:
        judged = f" by {quoted(head.judge)}" if head.judge else ""
        judged += f" against {quoted(head.anchor)}" if head.anchor else ""
        raise BadInput(
            f"{bench.folder} has {'a result' if head.judge else 'answers'} of "
            f"{quoted(head.model)}{judged} already; pass --force to replace it"
        )
    refuse_existing(file, force=force)
    content = []
    for line in (head, *lines):
        # Not written as null, so that files of before anchors, panels and dialogues stay the same.
        known = line.model_dump(by_alias=True).items()
        kept = {k: v for k, v in known if v is not None or k not in ("anchor", "votes", "history")}
        content.append(json.dumps(kept, allow_nan=False) + "\n")
    try:
        bench.results.mkdir(exist_ok=True)
    except OSError as wrong:
        raise BadInput(f"{bench.results} cannot be made: {wrong.strerror}") from wrong
    write_whole(file, "".join(content).encode("ascii"))
    return file


def place_of(bench: OpenBench[Any], result: AnyResult) -> Path:
    """Return the file that a result has or would have."""
    if isinstance(result, TaskResult):
        return file_of(bench, TASKS, result.model, result.judge)
    if isinstance(result, DialogueResult):
        return file_of(bench, DIALOGUES, result.model, result.judge)
    if isinstance(result, Anchored):
        return file_of(bench, ANCHORED, result.model, result.judge, result.anchor)
    return file_of(bench, RESULT, result.model, result.judge)


def file_of(
    bench: OpenBench[Any],
    kind: str,
    model: str,
    judge: str | None = None,
    anchor: str | None = None,
) -> Path:
    """Return a file; its name is something to recognise, and a digest."""
    shown = re.sub(r"[^a-z0-9]+", "-", model.casefold())[:40].strip("-")
    # Without an anchor the digest is that of before there were any, so older files keep their
    # names.
    key = [kind, model, judge] if anchor is None else [kind, model, judge, anchor]
    return bench.results / f"{shown or 'model'}-{digest_of(key)[:12]}.jsonl"


def result_files(bench: OpenBench[Any]) -> list[Path]:
    """Return all files of results and answers, by name.

    BadInput for a link: it came with the bench and may lead anywhere.
    """
    if not is_folder(bench.results):
        return []
    # What begins with a dot is a result that is still being written.
    found = [file for file in bench.results.glob("*.jsonl") if not file.name.startswith(".")]
    if link := next((file for file in sorted(found) if file.is_symlink()), None):
        raise BadInput(f"{link} is a link; put the file itself there")
    return sorted(filter(Path.is_file, found))


def read_head(file: Path, bench: OpenBench[Any]) -> ResultHeader:
    """Return the first line of a file; BadInput if it is none of a result on this bench."""
    try:
        with file.open("rb") as stream:
            # The folder may hold any file: a first line is short, and more of it is never read.
            raw = json.loads(stream.readline(2**20).decode("ascii"), parse_constant=_refuse)
        head = ResultHeader.model_validate(raw)
    except OSError as wrong:
        raise BadInput(f"{file} cannot be read: {wrong.strerror}") from wrong
    except (ValueError, RecursionError):
        raise BadInput(f"{file}, line 1: no head of a result; move the file away") from None
    if head.schema_version > RESULT_SCHEMA:
        raise BadInput(f"{file} has a newer schema than {RESULT_SCHEMA}; update videoautoarena")
    if head.bench != bench.bench:
        raise BadInput(
            f"{file} is a result on another bench, {head.bench[:12]}; this is {bench.bench[:12]}"
        )
    return head


def _check_rulings(file: Path, bench: OpenBench, rulings: Sequence[Ruling | Comparison]) -> None:
    """Refuse a question that the bench does not ask, and one that is judged twice from a seating.

    A ruling on an anchor that names no seating stands for both, so nothing may stand beside it.
    """
    _check_qids(file, bench, (one.qid for one in rulings))
    seen = defaultdict[tuple[str, str], set[Seats | None]](set)
    for one in rulings:
        there = seen[one.qid, one.against]
        is_of_both = one.against == ANCHOR and there and None in (one.seats, *there)
        if one.seats in there or is_of_both:
            raise BadInput(f"{file} rules twice on {quoted(one.qid)}, {one.against}")
        there.add(one.seats)


def _check_rounds(file: Path, bench: OpenBench[Any], lines: Sequence[RoundLine]) -> None:
    """Refuse lines on rounds that no dialogue scores, twice on one, or beside its checklist."""
    _check_qids(file, bench, (one.qid for one in lines))
    seen = set[tuple[str, int]]()
    for line in lines:
        where = f"{file} has a result for round {line.round} of {quoted(line.qid)}"
        # A forged head may call a result on a bench of any kind one on dialogues.
        rounds = getattr(bench.by_qid[line.qid], "rounds", ())
        if line.round > len(rounds) or not rounds[line.round - 1].is_scored:
            raise BadInput(f"{where}, which is not scored")
        if (line.qid, line.round) in seen:
            raise BadInput(f"{where} twice")
        seen.add((line.qid, line.round))
        # Marks have no names: they belong to the items of the checklist by their places.
        wanted = len(rounds[line.round - 1].checklist) if line.end == "answered" else 0
        if len(line.answers) != wanted:
            raise BadInput(f"{where} that is marked by {len(line.answers)} of {wanted} items")


def _check_qids(file: Path, bench: OpenBench[Any], qids: Iterable[str]) -> None:
    for qid in qids:
        if qid not in bench.by_qid:
            raise BadInput(f"{file} has a result for {quoted(qid)}, which is not in the bench")


def read_lines(file: Path, shape: type[Line]) -> Iterator[Line]:
    """Yield all lines of a file but the first; BadInput if one has another shape."""
    if file.stat().st_size > LARGEST_FILE:
        raise BadInput(f"{file} is larger than {LARGEST_FILE >> 20} MB")
    with file.open("rb") as stream:
        for place, line in enumerate(stream, start=1):
            if place == 1:
                continue
            try:
                raw = json.loads(line.decode("ascii"), parse_constant=_refuse)
                yield shape.model_validate(raw)
            except (ValueError, RecursionError):
                raise BadInput(f"{file}, line {place}: not a valid line of a result") from None


# Python's parser takes NaN and Infinity, which are no JSON and would pass through every mean.
def _refuse(_: str) -> NoReturn:
    raise ValueError
