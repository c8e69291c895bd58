"""The form of MT-Video-Bench's files: a dialogue with its checklists, read strictly and written.

`mtqa/<ability>.json` holds {video: [{event_index, mtqa: {"Round k": {User, Assistant, Ability}}}]},
`checklist/<ability>_CheckList.json` {video: {event: [{"round index", Q1, A1 .. Q5, A5}]}}. Both are
somebody else's text: none of it is ever a path, and nothing is corrected. Of a dialogue that would
be written in another way than it was, the records as they were stand in its `extra`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.entries import Ability, Check, Round
from videoautoarena.runs.bench.format.reader import LONGEST_LINE
from videoautoarena.runs.bench.format.schema import (
    IMPORT,
    DialogueItem,
    Source,
    digest_of,
    question_bytes,
)
from videoautoarena.runs.exchange.interop.task_sets import LONGEST_ID, Row, Wrong
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import Twice, decode, kind_of, parse_json, read_bytes

MT_VIDEO_BENCH = "mt-video-bench"
STEMS = {
    "object_reference": "object_reference",
    "memory_recall": "memory_recall",
    "content_summary": "summary",
    "answer_refusal": "answer_refusal",
    "topic_shifting": "topic_shifting",
    "proactive_interaction": "proactive_interaction",
}
"""What the files of an ability are called; refusal twins have none."""
TAGS = {
    "object_reference": "Object Reference",
    "memory_recall": "Memory Recall",
    "content_summary": "Summary",
    "answer_refusal": "Answer Refusal",
}
"""What marks a round that is scored; of the other abilities every round is."""
DIALOGUES, CHECKLISTS = "mtqa", "checklist"
"""Folders, and keys of what is kept as it was."""
ENDING = "_CheckList"
MOST_ROUNDS = 999
UNASKED = "No need for this ability to answer."
"""What their scripts write for a round that is not asked."""
_ROUND = re.compile(r"Round ([1-9][0-9]{0,2})")
Json = dict[str, Any]


def round_number(key: str) -> int | None:
    """Return the number of a round by its key; None of a key that is none."""
    found = _ROUND.fullmatch(key)
    return int(found[1]) if found else None


def as_dialogue(item: DialogueItem, event: object) -> Json:
    """Return a dialogue in their form; `event` is what it is called where it does not say."""
    if isinstance(kept := item.extra.get(DIALOGUES), dict):
        return kept
    rounds: Json = {}
    for number, one in enumerate(item.rounds, start=1):
        tag = TAGS.get(item.ability, "") if one.is_scored else ""
        tagged = {"Ability": tag} if item.event is None else {}
        said = {"User": one.user, "Assistant": one.reference}
        rounds[f"Round {number}"] = said | tagged | one.extra
    rest = {key: held for key, held in item.extra.items() if key != CHECKLISTS}
    return {"event_index": event, **rest, DIALOGUES: rounds} | _event_of(item)


def _event_of(item: DialogueItem) -> Json:
    """Return what an imported dialogue is called, a number where it was one."""
    if item.event is None:
        return {}
    return {"event_index": item.extra.get("event_index", item.event)}


def as_checklists(item: DialogueItem) -> list[Json]:
    """Return the checklists of a dialogue in their form, one a scored round."""
    if isinstance(kept := item.extra.get(CHECKLISTS), list):
        return list[Any](kept)
    found = list[Json]()
    for number, one in enumerate(item.rounds, start=1):
        pairs = enumerate(one.checklist, start=1)
        checks: Json = {
            f"{of}{k}": text
            for k, check in pairs
            for of, text in (("Q", check.text), ("A", check.expected.capitalize()))
        }
        if checks:
            found.append({"round index": number, **checks})
    return found


ABILITY_OF: Mapping[str, Ability] = {stem: ability for ability, stem in STEMS.items()}  # type: ignore[misc]
_TAGGED = frozenset(TAGS.values())
_PAIR = re.compile(r"([QA])([1-9][0-9]?)")


def placed(item: DialogueItem, replies: Sequence[str]) -> list[str]:
    """Return replies by the number of their round, as their scorer looks them up."""
    kept = item.extra.get(DIALOGUES)
    rounds = kept.get(DIALOGUES) if isinstance(kept, dict) else None
    known = [round_number(key) for key in rounds] if isinstance(rounds, dict) else []
    numbers = sorted(number for number in known if number is not None)
    if len(numbers) != len(replies):
        return list(replies)
    found = [UNASKED] * numbers[-1]
    for number, reply in zip(numbers, replies, strict=True):
        found[number - 1] = reply
    return found


def kept_beside(beside: JsonValue, name: str) -> Json:
    """Return what of a file belonged to no dialogue; whoever forged a set may have put anything."""
    found = beside.get(name) if isinstance(beside, dict) else None
    return found if isinstance(found, dict) else {}


class _Found(NamedTuple):
    """One published file that was read."""

    file: Path
    digest: str
    videos: Json


@dataclass
class Part:
    """What is in the two files of one ability."""

    ability: Ability
    files: tuple[_Found, _Found]
    items: list[DialogueItem] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Each place with why it cannot be used."""
    events: set[tuple[str, str]] = field(default_factory=set)

    def check(self) -> None:
        """Raise BadInput, naming the first place, where anything cannot be used."""
        if self.refused:
            others = len(self.refused) - 1
            more = f"; {others:,} more cannot be used either" if others else ""
            raise BadInput(f"{self.refused[0]}{more}; nothing was imported")
        if not self.items:
            raise BadInput(f"{self.files[0].file} holds no dialogue")

    @property
    def strays(self) -> dict[str, dict[str, JsonValue]]:
        """Checklists of dialogues that are not there, by video and event."""
        checklists = self.files[1].videos
        found: dict[str, dict[str, JsonValue]] = {
            video: {name: held for name, held in events.items() if (video, name) not in self.events}
            for video, events in checklists.items()
        }
        return {video: held for video, held in found.items() if held or not checklists[video]}

    @property
    def beside(self) -> dict[str, JsonValue]:
        """What belongs to no dialogue: videos without any, and those checklists."""
        empty = {video: held for video, held in self.files[0].videos.items() if not held}
        found: dict[str, JsonValue] = {DIALOGUES: empty, CHECKLISTS: {**self.strays}}
        return {name: held for name, held in found.items() if held}


def read_part(file: Path) -> Part:
    """Return what a file of dialogues holds, and that of their checklists; BadInput of no such."""
    if not file.exists():
        raise BadInput(f"there is no {file}; pass the folder that holds {DIALOGUES}")
    if file.stem not in ABILITY_OF:
        abilities = ", ".join(ABILITY_OF)
        raise BadInput(f"{file} is named after none of the abilities, which are {abilities}")
    name = f"{file.stem}{ENDING}.json"
    near = file.parent.parent / CHECKLISTS / name
    beside = file.parent / name
    dialogues = _read(file)
    checklists = _read(beside if beside.is_file() and not near.is_file() else near)
    part = Part(ABILITY_OF[file.stem], (dialogues, checklists))
    for video, held in dialogues.videos.items():
        _read_video(part, video, held)
    _read_strays(part)
    return part


def _read(file: Path) -> _Found:
    content = read_bytes(file)
    raw = parse_json(decode(content, str(file)), str(file))
    if not isinstance(raw, dict):
        raise BadInput(f"{file} holds {kind_of(raw)}; it must be an object of videos")
    if isinstance(raw, Twice):
        raise BadInput(f"{file} has the video {quoted(raw.key)} twice; nothing was imported")
    return _Found(file, digest(content), raw)


def _read_video(part: Part, video: str, held: Any) -> None:
    """Add the dialogues about one video to a part, and why others are none."""
    dialogues, checklists = part.files
    where = f"{dialogues.file}, video {quoted(video)}"
    try:
        _named(video, "name")
        if not isinstance(held, list):
            raise Wrong(f"is {kind_of(held)}; it must be a list of dialogues")
    except Wrong as why:
        part.refused.append(f"{where}: {why}")
        return
    for number, raw in enumerate(held, start=1):
        try:
            record = Row.of(raw)
            if "event_index" not in record:
                raise Wrong('has no "event_index"')
            value = record["event_index"]
            if isinstance(value, bool) or not isinstance(value, int | str):
                raise Wrong(
                    f'has {kind_of(value)} under "event_index"; it must be a number or a text'
                )
            event = _named(str(value), '"event_index"')
            if (video, event) in part.events:
                raise Wrong(f"is the second of event {quoted(event)}")
            part.events.add((video, event))
            rounds = _rounds(record)
        except Wrong as why:
            part.refused.append(f"{where}, dialogue {number}: {why}")
            continue
        listed = f"{checklists.file}, video {quoted(video)}, event {quoted(event)}"
        try:
            lists = _lists(checklists.videos.get(video, {}), event)
            checks = _checks(lists or [])
        except Wrong as why:
            part.refused.append(f"{listed}: {why}")
            continue
        item = _item(part, video, event, record, rounds, checks, lists)
        if len(question_bytes([item])) >= LONGEST_LINE:
            part.refused.append(
                f"{where}, dialogue {number}: is longer than {LONGEST_LINE >> 20} MB"
            )
        part.items.append(item)


def _read_strays(part: Part) -> None:
    """Note what is odd among checklists of dialogues that are not there; those are kept as well."""
    file = part.files[1].file
    for video, events in part.files[1].videos.items():
        where = f"{file}, video {quoted(video)}"
        if not isinstance(events, dict):
            part.refused.append(f"{where}: is {kind_of(events)}; it must be an object of events")
            continue
        if isinstance(events, Twice):
            part.refused.append(f"{where}: has the event {quoted(events.key)} twice")
        for event, held in events.items():
            if (video, event) in part.events:
                continue
            try:
                Row.of({"": held})
            except Wrong as why:
                part.refused.append(f"{where}, event {quoted(event)}: {why}")


def _named(text: str, what: str) -> str:
    if not (text.strip() and len(text) <= LONGEST_ID):
        raise Wrong(f"needs a {what} of 1 to {LONGEST_ID} characters")
    return text


def _rounds(record: Row) -> dict[int, Row]:
    """Return the rounds of a dialogue by their numbers, in order."""
    raw = record.get(DIALOGUES)
    if not isinstance(raw, dict):
        raise Wrong(f'has {kind_of(raw)} under "{DIALOGUES}"; it must be an object of rounds')
    if not raw:
        raise Wrong("has no round")
    found: dict[int, Row] = {}
    for key, one in raw.items():
        number = round_number(key)
        if number is None:
            raise Wrong(
                f'has the key {quoted(key)} among rounds; they are "Round 1" to {MOST_ROUNDS}'
            )
        try:
            row = Row.of(one)
            row.text("User"), row.text("Assistant"), row.optional_text("Ability")
        except Wrong as why:
            raise Wrong(f"{quoted(key)} {why}") from None
        found[number] = row
    return dict(sorted(found.items()))


def _lists(events: Any, event: str) -> list[Any] | None:
    """Return the checklists of a dialogue; None where the file does not name it."""
    if not isinstance(events, dict) or event not in events:
        return None
    lists = events[event]
    if not isinstance(lists, list):
        raise Wrong(f"is {kind_of(lists)}; it must be a list of checklists")
    return lists


def _checks(lists: Sequence[Any]) -> dict[int, list[Check]]:
    """Return the checklist of each round; the last of several counts, as in their scorer."""
    found: dict[int, list[Check]] = {}
    for place, raw in enumerate(lists, start=1):
        try:
            row = Row.of(raw)
            number = row.get("round index")
            if isinstance(number, bool) or not isinstance(number, int):
                raise Wrong(f'has {kind_of(number)} under "round index"; it must be a number')
            found[number] = list(_pairs(row))
        except Wrong as why:
            raise Wrong(f"checklist {place} {why}") from None
    return found


def _pairs(row: Row) -> Iterator[Check]:
    """Yield each question with the answer of its own number; a pair without text is none."""
    keys = [found for key in row if (found := _PAIR.fullmatch(key))]
    for number in sorted({int(key[2]) for key in keys}):
        asked = f"Q{number}"
        answer = f"A{number}"
        text = row.optional_text(asked) or ""
        expected = row.optional_text(answer) or ""
        said = expected.strip().lower()
        if not text.strip() and not said:
            continue
        if not text.strip():
            raise Wrong(f"has no {quoted(asked)} to {quoted(answer)}")
        if said not in ("yes", "no"):
            raise Wrong(f"has {quoted(expected)} under {quoted(answer)}; it must be Yes or No")
        yield Check(text=text, expected="yes" if said == "yes" else "no")


def _item(
    part: Part,
    video: str,
    event: str,
    record: Row,
    rounds: Mapping[int, Row],
    checks: Mapping[int, list[Check]],
    lists: list[Any] | None,
) -> DialogueItem:
    """Return a dialogue; what it would not be written again as is kept as it was."""
    said = ("User", "Assistant")
    made = [
        Round(
            user=row["User"],
            reference=row["Assistant"],
            checklist=checks.get(number, [])
            if part.ability not in TAGS or row.get("Ability") in _TAGGED
            else [],
            extra={key: row[key] for key in row if key not in said},
        )
        for number, row in rounds.items()
    ]
    rest: dict[str, JsonValue] = {
        key: record[key]
        for key in record
        if key != DIALOGUES and not (key == "event_index" and isinstance(record[key], str))
    }
    item = DialogueItem(
        qid=f"{STEMS[part.ability]}_{len(part.items)}",
        video_id=video,
        ability=part.ability,
        event=event,
        rounds=made,
        extra={key: held for key, held in rest.items() if key != CHECKLISTS},
    )
    kept: dict[str, JsonValue] = {}
    if not _equal(as_dialogue(item, event), record):
        item = item.model_copy(update={"extra": {}})
        kept[DIALOGUES] = dict(record)
    if not _equal(as_checklists(item) or None, lists):
        kept[CHECKLISTS] = lists or []
    return item.model_copy(update={"extra": {**item.extra, **kept}}) if kept else item


def _equal(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def source_of(parts: Sequence[Part]) -> Source:
    """Return what a set was made from, with what of the files belongs to no dialogue."""
    read = [one for part in parts for one in part.files]
    files: list[JsonValue] = [{"name": one.file.name, "sha256": one.digest} for one in read]
    layout: dict[str, JsonValue] = {"files": files}
    for part in parts:
        if beside := part.beside:
            layout[STEMS[part.ability]] = beside
    whole = digest_of({one.file.name: one.digest for one in read})
    return Source(kind=IMPORT, format=MT_VIDEO_BENCH, digest=whole, layout=layout)
