"""Answers to a bench that are handed in as one file, to be judged later.

The one format so far is VideoAutoBench's file: a JSON object whose keys are question ids and whose
values hold `video_id`, `persona`, `question`, `selected answer` and `rejected answer`. All of it is
text that somebody else wrote: none of it is ever a path, and nothing is corrected.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.bench.format.reader import LARGEST_MANIFEST, LONGEST_LINE, OpenBench
from videoautoarena.runs.bench.format.results import Answers, write_answers
from videoautoarena.runs.bench.format.schema import (
    CARD,
    IMPORT,
    MANIFEST,
    QUESTIONS,
    BenchVideo,
    Generator,
    Item,
    Manifest,
    Source,
    counts_of,
    question_bytes,
)
from videoautoarena.runs.bench.format.writer import (
    CHECKSUMS,
    UNSTATED_BY_PUBLISHER,
    SealedBench,
    count_table,
    licence_section,
    put,
    seal,
)
from videoautoarena.runs.exchange.interop.judgments import check_texts, named, read_object
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import (
    DoubledObject,
    decode,
    kind_of,
    oddity,
    parse_json,
    read_bytes,
    read_json,
    refuse_existing,
    write_whole,
)
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import unusable_too
from videoautoarena.runs.run.rundir.reader import counted


def import_card(items: list[Item], source: Source, *, licence: str | None, version: str) -> str:
    """Return card.md of an imported bench; equal input gives equal text."""
    total = len(items)
    longer = sum(len(item.selected_answer) > len(item.rejected_answer) for item in items)
    videos = Counter(item.video_id for item in items)
    counts = {
        "questions": total,
        "videos": len(videos),
        "videos with several questions": sum(number > 1 for number in videos.values()),
        "questions whose selected answer is the longer one": longer,
        "keys kept that mean nothing here": len({key for item in items for key in item.extra}),
    }
    return f"""# Bench of {counted(total, "question")}

## What it is

Imported from a {source.format} file, sha256 `{source.digest}`, by videoautoarena {version}.
Each line of `questions.jsonl` is a question about a video with two answers, the selected one and
the rejected one. Who selected, and how, is known to whoever published the file. Nothing in it was
corrected; `arena bench export` writes it as it was.

{licence_section(licence, unstated=UNSTATED_BY_PUBLISHER)}
## Counts

{count_table("what", counts, of="number")}
Videos are known by their ids in the file alone: there are no digests to check them by, and neither
durations nor categories to slice them by.

## Known biases

- The selected answer is the longer one in {longer} of {total} questions. A scorer that only prefers
  length gets those right.
- Questions about the same video are not independent; intervals take it into account.

{CHECKSUMS}
"""


VIDEOAUTOBENCH = "videoautobench"
KEYS = {
    "video_id": "video_id",
    "persona": "persona",
    "question": "question",
    "selected answer": "selected_answer",
    "rejected answer": "rejected_answer",
}
"""Key in the published file to the field of an item."""
_INDENT = 4
"""Blanks a level, as in the published file."""


def export_videoautobench(bench: OpenBench, to: Path, *, force: bool = False) -> int:
    """Write a bench as VideoAutoBench's file, and return how many questions it holds.

    From a run only the five keys of that file are written; an import has all that it had.

    Raises:
        BadInput: `to` is there and not `force`, or cannot be written.
    """
    refuse_existing(to, force=force)
    layout = bench.manifest.source.layout or {}
    value = as_videoautobench(bench)
    usual: dict[str, JsonValue] = {"indent": _INDENT, "ascii": True, "end": "\n"}
    write_whole(
        to, _dumped(value, {**usual, **{key: layout[key] for key in usual if key in layout}})
    )
    return len(bench.items)


def as_videoautobench(bench: OpenBench) -> dict[str, dict[str, JsonValue]]:
    """Return a bench as VideoAutoBench's file holds it: items by qid, keys in their order."""
    layout = bench.manifest.source.layout or {}
    usual = _keys(layout.get("keys"))
    others = layout.get("others")
    own = others if isinstance(others, dict) else {}
    return {item.qid: _entry(item, _keys(own.get(item.qid)) or usual) for item in bench.items}


def _keys(value: Any) -> list[str]:
    return [str(key) for key in value] if isinstance(value, list) else []


def _entry(item: Item, order: list[str]) -> dict[str, JsonValue]:
    known = {theirs: getattr(item, ours) for theirs, ours in KEYS.items()}
    entry = {**known, **item.extra}
    # An order in a forged manifest may lack keys of the item, or name others.
    return {key: entry[key] for key in dict.fromkeys((*order, *entry)) if key in entry}


def layout_of(raw: Mapping[str, Mapping[str, Any]], content: bytes) -> dict[str, JsonValue]:
    """Return how a published file was written, as far as its items do not say it.

    `keys` is the usual order of keys, `others` that of items which have another. If the file is as
    one of the usual writers leaves it, `indent`, `ascii` and `end` say how, and it comes out again
    byte for byte.
    """
    orders = {qid: tuple(entry) for qid, entry in raw.items()}
    # An order for each of the items would make the manifest as long as the set.
    usual = Counter(orders.values()).most_common(1)[0][0]
    layout: dict[str, JsonValue] = {"keys": list(usual)}
    if others := {qid: list(order) for qid, order in orders.items() if order != usual}:
        layout["others"] = {qid: [*order] for qid, order in others.items()}
    for form in _forms():
        # Tried, not guessed: a form is kept only if it gives the same bytes.
        if _dumped(raw, form) == content:
            return {**layout, **form}
    return layout


def _forms() -> Iterator[dict[str, JsonValue]]:
    for indent in (_INDENT, 2, None):
        for is_ascii in (True, False):
            for end in ("", "\n"):
                yield {"indent": indent, "ascii": is_ascii, "end": end}


def _dumped(value: Any, form: Mapping[str, JsonValue]) -> bytes:
    indent = form["indent"] if isinstance(form["indent"], int) else None
    text = json.dumps(value, indent=indent, ensure_ascii=bool(form["ascii"]), allow_nan=False)
    # A lone surrogate, which only an escape can have written, has no UTF-8.
    return (text + ("\n" if form["end"] else "")).encode("utf-8", "surrogatepass")


LONGEST_ID = 1000


@dataclass(frozen=True)
class BenchImport:
    """A bench that was imported, or was already there."""

    folder: Path
    bench: str
    questions: int
    videos: int
    extra: int
    """Questions with keys that mean nothing here; they are kept."""
    was_there: bool

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena import videoautobench --json`."""
        return {"schema": SCHEMA, **asdict(self), "folder": str(self.folder)}

    def as_line(self) -> str:
        """Return it as a line for a person."""
        made = "already holds this bench" if self.was_there else "imported"
        return (
            f"{safe(str(self.folder))} {made}: {counted(self.questions, 'question')} about "
            f"{counted(self.videos, 'video')}, bench {self.bench[:12]}"
        )


class _UnusableItem(Exception):
    """Why one item cannot be used."""


def import_videoautobench(file: Path, to: Path, *, licence: str | None = None) -> BenchImport:
    """Make a bench folder of a published file, whole or not at all.

    Raises:
        BadInput: the file cannot be read, an item in it cannot be used (it is named by its qid), or
            `to` holds something else.
    """
    content = read_bytes(file)
    raw = parse_json(decode(content, str(file)), str(file))
    if not isinstance(raw, dict):
        raise BadInput(
            f"{file} holds {kind_of(raw)}; it must be an object of questions by their qid"
        )
    if not raw:
        raise BadInput(f"{file} holds no question")
    # Python's own parser would keep the last of the two, and say nothing.
    if isinstance(raw, DoubledObject):
        raise BadInput(f"{file} has the qid {quoted(raw.key)} twice")
    items = []
    refused = {}
    for qid, entry in raw.items():
        try:
            items.append(_item(qid, entry))
        except _UnusableItem as why:
            refused[qid] = str(why)
    if refused:
        first, *others = refused
        nor = unusable_too([quoted(qid) for qid in others])
        raise BadInput(f"{file}, {quoted(first)}: {refused[first]}{nor}; nothing was imported")
    source = Source(
        kind=IMPORT, format=VIDEOAUTOBENCH, digest=digest(content), layout=layout_of(raw, content)
    )
    bench = _bench(items, source, licence=licence)
    if len(bench.files[MANIFEST]) > LARGEST_MANIFEST:
        raise BadInput(f"{file} has too many videos for one bench; split it")
    was_there = put(bench.files, to)
    return BenchImport(
        folder=to,
        bench=bench.manifest["bench"],
        questions=len(items),
        videos=len(bench.manifest["videos"]),
        extra=sum(bool(item.extra) for item in items),
        was_there=was_there,
    )


def _item(qid: str, entry: Any) -> Item:
    if not qid.strip() or len(qid) > LONGEST_ID:
        raise _UnusableItem(f"a qid must have 1 to {LONGEST_ID} characters")
    if not isinstance(entry, dict):
        raise _UnusableItem(f"is {kind_of(entry)}, no object")
    if wrong := oddity(entry):
        raise _UnusableItem(wrong)
    for key in KEYS:
        if key not in entry:
            raise _UnusableItem(f"has no {quoted(key)}")
        if not isinstance(entry[key], str):
            raise _UnusableItem(f"has {kind_of(entry[key])} under {quoted(key)}; it must be a text")
    if not entry["video_id"] or len(entry["video_id"]) > LONGEST_ID:
        raise _UnusableItem(f'needs a "video_id" of 1 to {LONGEST_ID} characters')
    extra = {key: value for key, value in entry.items() if key not in KEYS}
    known = {ours: entry[theirs] for theirs, ours in KEYS.items()}
    made = Item(qid=qid, chosen_by="source", extra=extra, **known)
    if len(question_bytes([made])) >= LONGEST_LINE:
        raise _UnusableItem(f"is longer than {LONGEST_LINE >> 20} MB")
    return made


def _bench(items: list[Item], source: Source, *, licence: str | None) -> SealedBench:
    ours = version("videoautoarena")
    card = import_card(items, source, licence=licence, version=ours)
    files = {QUESTIONS: question_bytes(items), CARD: card.encode("utf-8", "backslashreplace")}
    draft = Manifest(
        generator=Generator(name="videoautoarena", version=ours),
        source=source,
        selection={"how": "every question of the file"},
        licence=licence,
        counts=counts_of(items),
        files={},
        # The file says nothing of a video but its id.
        videos={item.video_id: BenchVideo() for item in items},
        count=len(items),
    )
    return seal(draft, files)


@dataclass(frozen=True)
class SubmissionImport:
    """Answers that were taken in."""

    model: str
    questions: int
    answers: int
    empty: int
    missing: int

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena import videoautobench-submission --json`."""
        return {"schema": SCHEMA, **asdict(self)}

    def as_line(self) -> str:
        """Return it as a line for a person."""
        odd = {"empty": self.empty, "missing": self.missing}
        rest = "".join(f", {number} {what}" for what, number in odd.items() if number)
        return f"{self.answers} of {counted(self.questions, 'question')} answered{rest}"


def import_submission(
    file: Path, bench: OpenBench, model: str, *, allow_differing: bool = False, force: bool = False
) -> SubmissionImport:
    """Take in a model's answers, an object of them by qid, to be judged later.

    Raises:
        BadInput: the file cannot be read, an answer is of another question than the bench's, or
            answers of this model are there and not `force`.
    """
    raw = read_json(file)
    if not isinstance(raw, dict) or not raw:
        raise BadInput(f"{file} holds {kind_of(raw)}; it must be an object of answers by their qid")
    if isinstance(raw, DoubledObject):
        raise BadInput(f"{file} has the qid {quoted(raw.key)} twice")
    items = {item.qid: item for item in bench.items}
    responses = {}
    for qid, entry in raw.items():
        where = f"{file}, {quoted(qid)}"
        if qid not in items:
            raise BadInput(f"{where}: this question is not in the bench; nothing was imported")
        answer = read_object(entry, where)
        check_texts(answer, items[qid], where, allow_differing=allow_differing)
        if answer.get("qid", qid) != qid:
            raise BadInput(f"{where} says it has the qid {quoted(answer['qid'])}")
        response = answer.get("response")
        if not isinstance(response, str):
            told = (
                f'{kind_of(response)} under "response"' if "response" in answer else 'no "response"'
            )
            raise BadInput(f"{where} has {told}; it must be a text; nothing was imported")
        responses[qid] = response
    answers = Answers(
        bench=bench.bench,
        model=named("model", model),
        how="import",
        responses=responses,
        facts={"format": "videoautobench-submission"},
    )
    write_answers(bench, answers, force=force)
    empty = sum(not text.strip() for text in responses.values())
    missing = len(items) - len(responses)
    return SubmissionImport(answers.model, len(items), len(responses) - empty, empty, missing)
