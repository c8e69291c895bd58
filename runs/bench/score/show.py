"""The items of a set as a list, and one in full: what is asked, its key, and the replies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from videoautoarena.agents.prompting.fences import LETTERS
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import PublishedRecord, Record
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    Anchored,
    Comparison,
    Result,
    RoundLine,
    Ruling,
    TaskLine,
    read_anchored,
    read_dialogues,
    read_results,
    read_tasks,
)
from videoautoarena.runs.bench.format.schema import (
    DIALOGUE,
    PREFERENCE,
    DialogueItem,
    Entry,
    Item,
    Round,
    TaskItem,
    spoken,
)
from videoautoarena.runs.bench.score.task_points import ended
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted, one_line

NAMED = 3
"""Items that a message names, of those that may be meant."""
LONGEST_VIDEO, SHORTEST_QUESTION = 24, 30
"""Characters of a line of the list."""
_READ_FIRST = {"ab": ", read second", "ba": ", read first", None: ""}
"""Where the judge read the model's answer."""


class ListedItem(Record):
    """One item of a list."""

    qid: str
    """Its id."""
    kind: str
    """What it is called by: `question`, or its task or ability."""
    video: str
    """Path of its video where the set knows it, else the video's id."""
    question: str
    """What is asked; for a dialogue, what the user says first."""


class ItemList(PublishedRecord):
    """The items of a set, in its order."""

    bench: str
    items: tuple[ListedItem, ...]

    def as_lines(self, columns: int) -> list[str]:
        """Return a line an item, safe to print and as wide as a terminal of so many columns."""
        rows = [
            (one_line(one.qid, 40), one_line(one.kind, 20), one_line(one.video, LONGEST_VIDEO))
            for one in self.items
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for row, one in zip(rows, self.items, strict=True):
            head = "  ".join(text.ljust(wide) for text, wide in zip(row, widths, strict=True))
            # On a narrow terminal lines wrap, rather than lose the question.
            rest = max(SHORTEST_QUESTION, columns - len(head) - 2)
            lines.append(f"{head}  {one_line(one.question, rest)}")
        return lines


class ReplyTo(Record):
    """How one item ended for one model, by one judge."""

    model: str
    judge: str | None
    anchor: str | None = None
    """Name of the anchor; None for any other result."""
    reading: int = 1
    """Number of the way in which its replies are read."""
    lines: tuple[TaskLine | Ruling | Comparison, ...]


class ShownItem(PublishedRecord):
    """A question or a task, and what models replied."""

    bench: str
    item: TaskItem | Item
    results: tuple[ReplyTo, ...]

    def as_lines(self) -> list[str]:
        """Return it as lines for a person, safe to print."""
        item = self.item
        lines = list(_task_lines(item) if isinstance(item, TaskItem) else _preference_lines(item))
        if not self.results:
            lines += ["", "no model has a result on it; make some with arena bench run"]
        for one in self.results:
            lines += ["", *_reply_lines(item, one)]
        return lines


class DialogueReplies(Record):
    """What one model replied in a dialogue, by one judge."""

    model: str
    judge: str
    history: str
    lines: tuple[RoundLine, ...]
    """One a scored round that it was asked."""


class ShownDialogue(PublishedRecord):
    """A dialogue and the replies to it."""

    bench: str
    """Digest of the bench."""
    dialogue: DialogueItem
    """[Its line](#a-dialogue)."""
    results: tuple[DialogueReplies, ...]
    """One a model and judge: `model`, `judge`, `history`, and those of its
    [`lines`](#a-result-on-dialogues) that are about the dialogue."""

    def as_lines(self) -> list[str]:
        """Return it as lines for a person, safe to print."""
        item = self.dialogue
        spans = "".join(f", {start:.1f}-{end:.1f} s" for start, end in item.spans)
        lines = [safe(f"{item.qid}: {spoken(item.ability)}, of {item.cluster}{spans}")]
        several = len({said.judge for said in self.results}) > 1
        for number, one in enumerate(item.rounds, 1):
            lines += ["", *_asked(one, number)]
            for said in self.results:
                name = f"{said.model} by {said.judge}" if several else said.model
                for line in said.lines:
                    lines += _replied(name, line, one) if line.round == number else ()
        return lines


def list_items(bench: OpenBench[Any]) -> ItemList:
    """Return what a set asks, an item a line."""
    return ItemList(bench=bench.bench, items=tuple(_listed(bench, item) for item in bench.items))


def _listed(bench: OpenBench[Any], item: Entry) -> ListedItem:
    kind = "question"
    question = ""
    if isinstance(item, DialogueItem):
        kind = spoken(item.ability)
        question = next((one.user for one in item.rounds), "")
    elif isinstance(item, TaskItem):
        kind = item.task
        question = item.question
    elif isinstance(item, Item):
        question = item.question
    video = bench.manifest.videos[item.video_id].path or item.video_id
    return ListedItem(qid=item.qid, kind=kind, video=video, question=question)


def show_item(bench: OpenBench[Any], qid: str) -> ShownItem | ShownDialogue:
    """Return the item whose id begins so, with every reply; BadInput unless there is just one."""
    # A whole qid is meant as it stands, though others may begin with it.
    item = bench.by_qid.get(qid) or _only(bench, qid)
    if bench.manifest.kind == DIALOGUE:
        return ShownDialogue(
            bench=bench.bench,
            dialogue=item,
            results=tuple(
                DialogueReplies(
                    model=one.model,
                    judge=one.judge,
                    history=one.history,
                    lines=tuple(line for line in one.lines if line.qid == item.qid),
                )
                for one in read_dialogues(bench)
            ),
        )
    found: list[ReplyTo] = []
    judged: Sequence[Result | Anchored]
    if bench.manifest.kind == PREFERENCE:
        judged = [*read_results(bench), *read_anchored(bench)]
        for one in judged:
            found.append(
                ReplyTo(
                    model=one.model,
                    judge=one.judge,
                    anchor=one.anchor if isinstance(one, Anchored) else None,
                    lines=tuple(line for line in one.rulings if line.qid == item.qid),
                )
            )
    else:
        for task in read_tasks(bench):
            lines = tuple(line for line in task.lines if line.qid == item.qid)
            found.append(
                ReplyTo(model=task.model, judge=task.judge, reading=task.reading, lines=lines)
            )
    replies = tuple(one for one in found if one.lines)
    return ShownItem(bench=bench.bench, item=item, results=replies)


def _only(bench: OpenBench[Any], qid: str) -> Any:
    unit = "dialogue" if bench.manifest.kind == DIALOGUE else "question"
    found = [item for item in bench.items if item.qid.startswith(qid)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(safe(item.qid) for item in (found or bench.items)[:NAMED])
    if found:
        raise BadInput(f"{quoted(qid)} matches {counted(len(found), unit)}, such as {names}")
    raise BadInput(
        f"{bench.folder} has no {unit} {quoted(qid)}; there are {names} and others: arena bench "
        f"show {bench.folder}"
    )


def _task_lines(item: TaskItem) -> Iterator[str]:
    """Yield a task with its options and key."""
    part = f", {item.split}" if item.split else ""
    yield safe(f"{item.qid}: {item.task}{part}, of {item.video_id}")
    yield from _text("question: ", item.question)
    for place, option in enumerate(item.options):
        letter = LETTERS[place] if place < len(LETTERS) else str(place + 1)
        right = " [right]" if place in item.keys else ""
        yield f"  ({letter}) {safe(' '.join(option.split()))}{right}"
    if item.answer is None:
        yield "  no answer is known"
    elif not item.keys:
        yield from _text("key, none of the options: " if item.options else "answer: ", item.answer)
    for place, point in enumerate(item.points, 1):
        yield f"  {place}. {safe(' '.join(point.split()))}"


def _preference_lines(item: Item) -> Iterator[str]:
    """Yield a question with its two answers."""
    topic = f", topic {item.topic}" if item.topic else ""
    yield safe(f"{item.qid}: of {item.video_id}{topic}, selected by {item.chosen_by}")
    yield from _text("persona: ", item.persona)
    yield from _text("question: ", item.question)
    answers = (
        ("selected", item.selected_model, item.selected_answer),
        ("rejected", item.rejected_model, item.rejected_answer),
    )
    for name, model, answer in answers:
        by = f" ({model})" if model else ""
        yield from _text(f"{name}{by}: ", answer)
    if votes := item.votes:
        yield f"  people: {votes.selected} selected, {votes.rejected} rejected, {votes.tie} tied"


def _reply_lines(item: TaskItem | Item, one: ReplyTo) -> Iterator[str]:
    """Yield what one model replied, and how it ended."""
    # Choices are read by rules: whoever marked the free text of the set had no part in them.
    is_read = isinstance(item, TaskItem) and item.is_choice
    by = f", judged by {one.judge}" if one.judge and not is_read else ""
    name = safe(one.model + by)
    # All judgings of a question are of one answer, so the first line tells it.
    first = one.lines[0]
    if isinstance(first, TaskLine) and isinstance(item, TaskItem):
        yield f"{name}: {_task_end(item, first, one.reading)}"
        yield from _text("", first.response or "-")
        return
    yield f"{name}:"
    for line in one.lines:
        if not isinstance(line, TaskLine):
            verdict = line.verdict.replace("_", " ")
            why = safe(f" ({' '.join(line.reason.split())})") if line.reason else ""
            against = safe(one.anchor or line.against)
            yield f"  against {against}{_READ_FIRST[line.seats]}: {verdict}{why}"
    yield from _text("", first.response or "-")


def _task_end(item: TaskItem, line: TaskLine, reading: int) -> str:
    """Return how a task ended for a model."""
    found = ended(item, line, reading=reading)
    said = [str(found.end)]
    if found.place is not None and found.place < len(LETTERS):
        said.append(f"chose ({LETTERS[found.place]})")
    if line.scores:
        said += [f"{name} {score:g}" for name, score in line.scores.items()]
    if line.points:
        said.append(f"points {', '.join(map(str, line.points))}")
    if found.reason:
        said.append(" ".join(found.reason.split()))
    return safe(", ".join(said))


def _asked(one: Round, number: int) -> Iterator[str]:
    """Yield what is said in a round, and what its answer is held against."""
    back = "" if one.refers_to is None else f", goes back to round {one.refers_to}"
    yield f"round {number}{'' if one.is_scored else ', not scored'}{back}"
    yield from _text("user: ", one.user)
    yield from _text("reference: ", one.reference)
    for place, item in enumerate(one.checklist, 1):
        yield f"  {place}. {safe(' '.join(item.text.split()))} [{item.expected}]"


def _replied(name: str, line: RoundLine, one: Round) -> Iterator[str]:
    """Yield what a model replied to a scored round, and which items it missed."""
    came_to: str = line.end
    if line.answers:
        pairs = zip(line.answers, one.checklist, strict=True)
        met = {place: said == item.expected for place, (said, item) in enumerate(pairs, 1)}
        missed = ", ".join(str(place) for place, is_met in met.items() if not is_met)
        came_to = f"{sum(met.values())} of {len(met)}{f', missed {missed}' if missed else ''}"
    why = f" ({line.reason})" if line.reason else ""
    yield from _text(f"{name}, {came_to}{why}: ", line.response or "-")


def _text(head: str, text: str) -> Iterator[str]:
    first, *others = text.splitlines() or [""]
    yield f"  {safe(head + first)}"
    yield from (f"    {safe(other)}" for other in others)
