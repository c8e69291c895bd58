"""MT-Video-Bench: its published files in as a set of dialogues, and out again; predictions out."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.bench.format.reader import LARGEST_MANIFEST, LONGEST_LINE, OpenBench
from videoautoarena.runs.bench.format.results import RoundLine, read_dialogues
from videoautoarena.runs.bench.format.schema import (
    CARD,
    DIALOGUE,
    IMPORT,
    MADE,
    MANIFEST,
    QUESTIONS,
    Ability,
    BenchVideo,
    Check,
    DialogueItem,
    Generator,
    Manifest,
    Round,
    Source,
    counts_of,
    digest_of,
    question_bytes,
)
from videoautoarena.runs.bench.format.writer import (
    CHECKSUMS,
    UNSTATED_BY_PUBLISHER,
    count_tables,
    licence_section,
    put,
    refuse_within,
    seal,
)
from videoautoarena.runs.bench.score.task_points import results_of
from videoautoarena.runs.exchange.interop.task_sets import (
    LONGEST_ID,
    StrictRecord,
    UnusableRecord,
    files_of,
    named_video,
)
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import (
    DoubledObject,
    decode,
    kind_of,
    make_folder,
    parse_json,
    read_bytes,
    refuse_existing,
    write_whole,
)
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.video.folder.find import refuse_no_folder

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
"""The mark of a round that is scored; other abilities have none, since every round is."""
DIALOGUES, CHECKLISTS = "mtqa", "checklist"
"""Folders, and keys of what is kept as it was."""
ENDING = "_CheckList"
# As many as three digits count, which is what a key of theirs is read with.
MOST_ROUNDS = 999
UNASKED = "No need for this ability to answer."
"""What their scripts write for a round that is not asked."""
_ROUND = re.compile(r"Round ([1-9][0-9]{0,2})")
Json = dict[str, Any]


def round_number(key: str) -> int | None:
    """Return the number of a round by its key; None for any other key."""
    found = _ROUND.fullmatch(key)
    return int(found[1]) if found else None


def as_dialogue(item: DialogueItem, event: object) -> Json:
    """Return a dialogue in their form; `event` is its name if it does not have one."""
    if isinstance(kept := item.extra.get(DIALOGUES), dict):
        return kept
    rounds: Json = {}
    for number, one in enumerate(item.rounds, start=1):
        tag = TAGS.get(item.ability, "") if one.is_scored else ""
        # An imported round has its tag, or none, among the keys in `extra`.
        tagged = {"Ability": tag} if item.event is None else {}
        said = {"User": one.user, "Assistant": one.reference}
        rounds[f"Round {number}"] = said | tagged | one.extra
    rest = {key: held for key, held in item.extra.items() if key != CHECKLISTS}
    return {"event_index": event, **rest, DIALOGUES: rounds} | _event_of(item)


def _event_of(item: DialogueItem) -> Json:
    """Return the name of an imported dialogue, as a number if it was one."""
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
    # `extra` is free JSON of a set that anybody may have made, and need not fit the rounds.
    if len(numbers) != len(replies):
        return list(replies)
    found = [UNASKED] * numbers[-1]
    for number, reply in zip(numbers, replies, strict=True):
        found[number - 1] = reply
    return found


def kept_beside(beside: JsonValue, name: str) -> Json:
    """Return the part of a file that belongs to no dialogue; in a forged set it may be anything."""
    found = beside.get(name) if isinstance(beside, dict) else None
    return found if isinstance(found, dict) else {}


class _PublishedFile(NamedTuple):
    """One published file that was read."""

    file: Path
    digest: str
    videos: Json


@dataclass
class AbilityFiles:
    """What is in the two files of one ability."""

    ability: Ability
    files: tuple[_PublishedFile, _PublishedFile]
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
        # A video that stood there without any checklist is kept as well.
        return {video: held for video, held in found.items() if held or not checklists[video]}

    @property
    def beside(self) -> dict[str, JsonValue]:
        """What belongs to no dialogue: videos without any, and those checklists."""
        empty = {video: held for video, held in self.files[0].videos.items() if not held}
        found: dict[str, JsonValue] = {DIALOGUES: empty, CHECKLISTS: {**self.strays}}
        return {name: held for name, held in found.items() if held}


def read_part(file: Path) -> AbilityFiles:
    """Return what a file of dialogues and that of their checklists hold; BadInput if unusable."""
    if not file.exists():
        raise BadInput(f"there is no {file}; pass the folder that holds {DIALOGUES}")
    if file.stem not in ABILITY_OF:
        abilities = ", ".join(ABILITY_OF)
        raise BadInput(f"{file} is named after none of the abilities, which are {abilities}")
    name = f"{file.stem}{ENDING}.json"
    near = file.parent.parent / CHECKLISTS / name
    beside = file.parent / name
    dialogues = _read(file)
    # Where they are published comes first, and is what an error names if they are missing.
    checklists = _read(beside if beside.is_file() and not near.is_file() else near)
    part = AbilityFiles(ABILITY_OF[file.stem], (dialogues, checklists))
    for video, held in dialogues.videos.items():
        _read_video(part, video, held)
    _read_strays(part)
    return part


def _read(file: Path) -> _PublishedFile:
    content = read_bytes(file)
    raw = parse_json(decode(content, str(file)), str(file))
    if not isinstance(raw, dict):
        raise BadInput(f"{file} holds {kind_of(raw)}; it must be an object of videos")
    if isinstance(raw, DoubledObject):
        raise BadInput(f"{file} has the video {quoted(raw.key)} twice; nothing was imported")
    return _PublishedFile(file, digest(content), raw)


def _read_video(part: AbilityFiles, video: str, held: Any) -> None:
    """Add the dialogues about one video to a part, and why others cannot be used."""
    dialogues, checklists = part.files
    where = f"{dialogues.file}, video {quoted(video)}"
    try:
        _checked_name(video, "name")
        if not isinstance(held, list):
            raise UnusableRecord(f"is {kind_of(held)}; it must be a list of dialogues")
    except UnusableRecord as why:
        part.refused.append(f"{where}: {why}")
        return
    for number, raw in enumerate(held, start=1):
        try:
            record = StrictRecord.of(raw)
            if "event_index" not in record:
                raise UnusableRecord('has no "event_index"')
            value = record["event_index"]
            if isinstance(value, bool) or not isinstance(value, int | str):
                raise UnusableRecord(
                    f'has {kind_of(value)} under "event_index"; it must be a number or a text'
                )
            # A number in the one published file is a text in the other, so both are compared as
            # texts.
            event = _checked_name(str(value), '"event_index"')
            if (video, event) in part.events:
                raise UnusableRecord(f"is the second of event {quoted(event)}")
            part.events.add((video, event))
            rounds = _rounds(record)
        except UnusableRecord as why:
            part.refused.append(f"{where}, dialogue {number}: {why}")
            continue
        listed = f"{checklists.file}, video {quoted(video)}, event {quoted(event)}"
        try:
            lists = _lists(checklists.videos.get(video, {}), event)
            checks = _checks(lists or [])
        except UnusableRecord as why:
            part.refused.append(f"{listed}: {why}")
            continue
        item = _item(part, video, event, record, rounds, checks, lists)
        if len(question_bytes([item])) >= LONGEST_LINE:
            part.refused.append(
                f"{where}, dialogue {number}: is longer than {LONGEST_LINE >> 20} MB"
            )
        part.items.append(item)


def _read_strays(part: AbilityFiles) -> None:
    """Note what is odd among checklists without a dialogue; those are kept as well."""
    file = part.files[1].file
    for video, events in part.files[1].videos.items():
        where = f"{file}, video {quoted(video)}"
        if not isinstance(events, dict):
            part.refused.append(f"{where}: is {kind_of(events)}; it must be an object of events")
            continue
        if isinstance(events, DoubledObject):
            part.refused.append(f"{where}: has the event {quoted(events.key)} twice")
        for event, held in events.items():
            if (video, event) in part.events:
                continue
            try:
                StrictRecord.of({"": held})
            except UnusableRecord as why:
                part.refused.append(f"{where}, event {quoted(event)}: {why}")


def _checked_name(text: str, what: str) -> str:
    if not (text.strip() and len(text) <= LONGEST_ID):
        raise UnusableRecord(f"needs a {what} of 1 to {LONGEST_ID} characters")
    return text


def _rounds(record: StrictRecord) -> dict[int, StrictRecord]:
    """Return the rounds of a dialogue by their numbers, in order."""
    raw = record.get(DIALOGUES)
    if not isinstance(raw, dict):
        raise UnusableRecord(
            f'has {kind_of(raw)} under "{DIALOGUES}"; it must be an object of rounds'
        )
    if not raw:
        raise UnusableRecord("has no round")
    found: dict[int, StrictRecord] = {}
    for key, one in raw.items():
        number = round_number(key)
        if number is None:
            raise UnusableRecord(
                f'has the key {quoted(key)} among rounds; they are "Round 1" to {MOST_ROUNDS}'
            )
        try:
            row = StrictRecord.of(one)
            # Only for what they raise: the texts are taken below.
            row.text("User"), row.text("Assistant"), row.optional_text("Ability")
        except UnusableRecord as why:
            raise UnusableRecord(f"{quoted(key)} {why}") from None
        found[number] = row
    return dict(sorted(found.items()))


def _lists(events: Any, event: str) -> list[Any] | None:
    """Return the checklists of a dialogue; None if the file does not name it."""
    if not isinstance(events, dict) or event not in events:
        return None
    lists = events[event]
    if not isinstance(lists, list):
        raise UnusableRecord(f"is {kind_of(lists)}; it must be a list of checklists")
    return lists


def _checks(lists: Sequence[Any]) -> dict[int, list[Check]]:
    """Return the checklist of each round; the last of several counts, as in their scorer."""
    found: dict[int, list[Check]] = {}
    for place, raw in enumerate(lists, start=1):
        try:
            row = StrictRecord.of(raw)
            number = row.get("round index")
            if isinstance(number, bool) or not isinstance(number, int):
                raise UnusableRecord(
                    f'has {kind_of(number)} under "round index"; it must be a number'
                )
            found[number] = list(_pairs(row))
        except UnusableRecord as why:
            raise UnusableRecord(f"checklist {place} {why}") from None
    return found


def _pairs(row: StrictRecord) -> Iterator[Check]:
    """Yield each question with the answer of its own number; a pair without text is none."""
    keys = [found for key in row if (found := _PAIR.fullmatch(key))]
    # By their numbers: the released scorer pairs by position, so that a key out of its order
    # answers another question.
    for number in sorted({int(key[2]) for key in keys}):
        asked = f"Q{number}"
        answer = f"A{number}"
        text = row.optional_text(asked) or ""
        expected = row.optional_text(answer) or ""
        said = expected.strip().lower()
        if not text.strip() and not said:
            continue
        if not text.strip():
            raise UnusableRecord(f"has no {quoted(asked)} to {quoted(answer)}")
        if said not in ("yes", "no"):
            raise UnusableRecord(
                f"has {quoted(expected)} under {quoted(answer)}; it must be Yes or No"
            )
        yield Check(text=text, expected="yes" if said == "yes" else "no")


def _item(
    part: AbilityFiles,
    video: str,
    event: str,
    record: StrictRecord,
    rounds: Mapping[int, StrictRecord],
    checks: Mapping[int, list[Check]],
    lists: list[Any] | None,
) -> DialogueItem:
    """Return a dialogue; a record that would not be written again as it was is kept whole."""
    said = ("User", "Assistant")
    made = [
        Round(
            user=row["User"],
            reference=row["Assistant"],
            checklist=checks.get(number, [])
            # Any of the four tags, whatever the file's own ability, as in the released scripts.
            if part.ability not in TAGS or row.get("Ability") in _TAGGED
            else [],
            extra={key: row[key] for key in row if key not in said},
        )
        for number, row in rounds.items()
    ]
    rest: dict[str, JsonValue] = {
        key: record[key]
        for key in record
        # A text is the item's `event` as it stands; of a number that it was one is kept.
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
        # The record that is kept whole holds the other keys, too.
        item = item.model_copy(update={"extra": {}})
        kept[DIALOGUES] = dict(record)
    if not _equal(as_checklists(item) or None, lists):
        kept[CHECKLISTS] = lists or []
    return item.model_copy(update={"extra": {**item.extra, **kept}}) if kept else item


def _equal(one: Any, other: Any) -> bool:
    # As JSON: in Python 1, 1.0 and true are equal, and would come out as one another.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def source_of(parts: Sequence[AbilityFiles]) -> Source:
    """Return what a set was made from, with the parts of the files that belong to no dialogue."""
    read = [one for part in parts for one in part.files]
    files: list[JsonValue] = [{"name": one.file.name, "sha256": one.digest} for one in read]
    layout: dict[str, JsonValue] = {"files": files}
    for part in parts:
        if beside := part.beside:
            layout[STEMS[part.ability]] = beside
    whole = digest_of({one.file.name: one.digest for one in read})
    return Source(kind=IMPORT, format=MT_VIDEO_BENCH, digest=whole, layout=layout)


# What may lie beside videos under their names, and is none.
_NO_VIDEOS = (".srt", ".vtt", ".json")


def import_mt_video_bench(
    place: Path, to: Path, *, videos: Path | None = None, licence: str | None = None
) -> DialogueSetImport:
    """Make a set of dialogues of the published files, whole or not at all.

    `place` is the folder that holds `mtqa` and `checklist`, or one file of dialogues. In a folder
    of videos, a file named by the video and the event is taken for what a dialogue is about.

    Raises BadInput: a file cannot be read or has no checklists beside it, a record in it cannot be
    used (it is named by its place), or `to` holds something else.
    """
    parts = [read_part(file) for file in _files(place)]
    for part in parts:
        part.check()
    items = [item for part in parts for item in part.items]
    known: dict[str, BenchVideo] = {}
    if videos is not None:
        items, known = _with_clips(items, videos)
    known |= {
        item.video_id: named_video(item.video_id) for item in items if item.video_id not in known
    }
    used = dict.fromkeys(item.video_id for item in items)
    draft = Manifest(
        kind=DIALOGUE,
        generator=Generator(name="videoautoarena", version=version("videoautoarena")),
        source=source_of(parts),
        selection={"how": "every dialogue of the files"},
        licence=licence,
        counts=counts_of(items),
        files={},
        videos={id_: known[id_] for id_ in used},
        count=len(items),
    )
    card = _card(draft, items).encode("utf-8", "backslashreplace")
    bench = seal(draft, {QUESTIONS: question_bytes(items), CARD: card})
    if len(bench.files[MANIFEST]) > LARGEST_MANIFEST:
        raise BadInput(f"{parts[0].files[0].file} has too many videos for one set; split it")
    rounds = [one for item in items for one in item.rounds]
    checks = [check for one in rounds for check in one.checklist]
    return DialogueSetImport(
        was_there=put(bench.files, to),
        folder=to,
        bench=bench.manifest["bench"],
        kind=DIALOGUE,
        dialogues=len(items),
        rounds=len(rounds),
        scored=sum(one.is_scored for one in rounds),
        checks=len(checks),
        checks_yes=sum(check.expected == "yes" for check in checks),
        videos=len(used),
        clips=sum("video" in item.made for item in items),
        abilities=dict(Counter(item.ability for item in items)),
        kept=sum(not {DIALOGUES, CHECKLISTS}.isdisjoint(item.extra) for item in items),
        strays=sum(len(events) for part in parts for events in part.strays.values()),
    )


def _files(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    inner = place / DIALOGUES
    found = files_of(inner if inner.is_dir() else place, "*.json")
    # Checklists may lie beside the dialogues, in one folder.
    found = [file for file in found if not file.stem.endswith(ENDING)]
    order = {stem: place for place, stem in enumerate(ABILITY_OF)}
    # Files of any other name come last, where reading them says what is wrong.
    return sorted(found, key=lambda file: order.get(file.stem, len(order)))


def _with_clips(
    items: Sequence[DialogueItem], folder: Path
) -> tuple[list[DialogueItem], dict[str, BenchVideo]]:
    """Return dialogues, each about the file of its event if there is just one, and those files."""
    refuse_no_folder(folder)
    names = [name for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    films = [name for name in names if not name.lower().endswith(_NO_VIDEOS)]
    stems = Counter(os.path.splitext(name)[0] for name in films)
    # A name that two files have may be either's, so it is taken for neither.
    files = {stem: name for name in films if stems[stem := os.path.splitext(name)[0]] == 1}
    whole = {item.video_id for item in items}
    # Two dialogues may lead to one name: event 2 of `a_1`, and event `1_2` of `a`.
    events = Counter(f"{video}_{event}" for video, event in {(x.video_id, x.event) for x in items})
    found = list[DialogueItem]()
    known = dict[str, BenchVideo]()
    for item in items:
        clip = f"{item.video_id}_{item.event}"
        if clip in files and clip not in whole and events[clip] == 1:
            known[clip] = BenchVideo(path=files[clip])
            # The whole video stays what clusters it: clips of one are one piece of evidence.
            made = {**item.made, "video": item.video_id}
            item = item.model_copy(update={"video_id": clip, "made": made})
        found.append(item)
    return found, known


@dataclass(frozen=True)
class DialogueSetImport:
    """A set of dialogues that was imported, or was already there."""

    folder: Path
    """Where it lies."""
    bench: str
    """Its digest."""
    kind: str
    """`dialogue`."""
    dialogues: int
    """Dialogues in it."""
    rounds: int
    """Rounds of all dialogues."""
    scored: int
    """Rounds with a checklist; the others are context."""
    checks: int
    """Items of their checklists."""
    checks_yes: int
    """Items among them that are expected to be yes."""
    videos: int
    """Videos that they are about."""
    clips: int
    """Dialogues with a file of their own event."""
    abilities: dict[str, int]
    """Ability to number of dialogues."""
    kept: int
    """Dialogues that were written in another way than usual, whose records are kept whole."""
    strays: int
    """Checklists without a dialogue, kept in the manifest's `source`."""
    was_there: bool
    """The folder held this set already."""

    def as_json(self) -> Json:
        """Return it in the shape of `arena import mt-video-bench --json`."""
        return {"schema": SCHEMA, **asdict(self), "folder": str(self.folder)}

    def notes(self) -> list[str]:
        """Return what to know of the files, safe to print."""
        strays = f"{counted(self.strays, 'checklist')} of dialogues that are not there, kept"
        unscored = f"{counted(self.rounds - self.scored, 'round')} without a checklist of its own"
        return [
            *([strays] if self.strays else []),
            *([f"{unscored}: context"] if self.rounds > self.scored else []),
        ]

    def as_line(self) -> str:
        """Return it as a line for a person."""
        made = "already holds this set" if self.was_there else "imported"
        parts = ", ".join(f"{ability} {number}" for ability, number in self.abilities.items())
        clips = f", {self.clips:,} of them about a clip of their event" if self.clips else ""
        yes = f", {100 * self.checks_yes / self.checks:.0f} % of them Yes" if self.checks else ""
        return (
            f"{safe(str(self.folder))} {made}: {counted(self.dialogues, 'dialogue')} ({parts}) "
            f"about {counted(self.videos, 'video')}{clips}; {self.scored:,} of "
            f"{counted(self.rounds, 'round')} scored by {counted(self.checks, 'item')}{yes}; "
            f"bench {self.bench[:12]}"
        )


def _card(manifest: Manifest, items: Sequence[DialogueItem]) -> str:
    """Return card.md of imported dialogues; equal input gives equal text."""
    source = manifest.source
    ours = manifest.generator
    rounds = [one for item in items for one in item.rounds]
    checks = [check for one in rounds for check in one.checklist]
    yes = sum(check.expected == "yes" for check in checks)
    return f"""# Set of {counted(len(items), "dialogue")}

## What it is

Imported from {source.format} files, sha256 `{source.digest}`, by {ours.name} {ours.version}.
Each line of `questions.jsonl` is a dialogue about a video. Of {counted(len(rounds), "round")}
{sum(one.is_scored for one in rounds):,} are scored, by {counted(len(checks), "question")} about the
answer whose own answers are yes ({yes:,}) or no ({len(checks) - yes:,}); the others are context.
All of it was said by whoever published the files. Nothing was corrected, and nothing left out.

{licence_section(manifest.licence, unstated=UNSTATED_BY_PUBLISHER)}
## Counts

{chr(10).join(count_tables(manifest.counts, of="dialogues"))}
Videos are known by the names in the files alone: there are no
digests to check them by.

{CHECKSUMS}
"""


class _Named(NamedTuple):
    """A dialogue, and how it is found in the files."""

    item: DialogueItem
    video: str
    event: object


def _named(bench: OpenBench[DialogueItem], ability: str) -> list[_Named]:
    """Return the dialogues of an ability; those made here are numbered, video by video."""
    found = list[_Named]()
    numbers = dict[str, int]()
    names = _video_names(bench)
    for item in bench.items:
        if item.ability == ability:
            is_named = item.event is not None and "video" in item.made
            video = str(item.made["video"]) if is_named else names[item.video_id]
            numbers[video] = numbers.get(video, 0) + 1
            found.append(_Named(item, video, item.event or numbers[video]))
    return found


def _video_names(bench: OpenBench[Any]) -> dict[str, str]:
    """Return the name of each video; in a set made here that of its file, without the ending."""
    videos = bench.manifest.videos
    if bench.manifest.source.kind != MADE:
        return {id_: id_ for id_ in videos}
    found = {id_: os.path.splitext(one.path or id_)[0] for id_, one in videos.items()}
    names = list(found.values())
    return {id_: name if names.count(name) == 1 else id_ for id_, name in found.items()}


class DialogueExport(NamedTuple):
    """What was written."""

    folder: Path
    dialogues: int
    left_out: int
    """Refusal twins, which their files do not know."""
    files: tuple[str, ...]
    parts: int
    """Dialogues about parts of a video, which their files do not say."""

    def as_json(self) -> Json:
        """Return it as JSON-ready values."""
        return {**self._asdict(), "folder": str(self.folder), "files": list(self.files)}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person, safe to print."""
        of = f"{counted(self.dialogues, 'dialogue')} in {counted(len(self.files), 'file')}"
        twins = f"{counted(self.left_out, 'refusal twin')} left out, which the format does not know"
        parts = f"{counted(self.parts, 'dialogue')} about parts of a video, which it does not say"
        left = [twins] * bool(self.left_out) + [parts] * bool(self.parts)
        return [f"{safe(str(self.folder))}: {of}", *left]


def export_mt_video_bench(
    bench: OpenBench[DialogueItem], to: Path, *, force: bool = False
) -> DialogueExport:
    """Write dialogues and checklists, a file an ability, into two folders below `to`.

    Raises BadInput: a file is there and not `force`, or cannot be written.
    """
    files: dict[Path, Json] = {}
    dialogues = 0
    for ability, stem in STEMS.items():
        named = _named(bench, ability)
        beside = (bench.manifest.source.layout or {}).get(stem)
        if not named and beside is None:
            continue
        dialogues += len(named)
        found: dict[str, list[Json]] = {}
        for item, video, event in named:
            found.setdefault(video, []).append(as_dialogue(item, event))
        files[Path(DIALOGUES, f"{stem}.json")] = {**found, **kept_beside(beside, DIALOGUES)}
        files[Path(CHECKLISTS, f"{stem}{ENDING}.json")] = _checklists(named, beside)
    return _written(bench, to, files, dialogues, force=force)


def _checklists(named: Sequence[_Named], beside: JsonValue) -> Json:
    found: dict[str, Json] = {}
    for item, video, event in named:
        checklists = as_checklists(item)
        # A list that was published empty goes out empty; one that was never there does not.
        if checklists or CHECKLISTS in item.extra:
            found.setdefault(video, {})[str(event)] = checklists
    for video, events in kept_beside(beside, CHECKLISTS).items():
        found[video] = {**found.get(video, {}), **kept_beside({"": events}, "")}
    return found


def replies_of(bench: OpenBench[DialogueItem], model: str) -> list[RoundLine]:
    """Return the lines of a model, whoever marked them; BadInput if it has no result."""
    mine = results_of(bench, read_dialogues(bench), model)
    return [line for one in mine for line in one.lines]


def export_predictions(
    bench: OpenBench[DialogueItem], to: Path, said: Iterable[RoundLine], *, force: bool = False
) -> DialogueExport:
    """Write one model's replies, a file an ability, into the folder `to`.

    A round that was not asked holds the sentence that their scripts write there, one without an
    answer an empty text. A dialogue whose video is lost is left out, as in their files.
    Raises BadInput as `export_mt_video_bench`.
    """
    lines = {(line.qid, line.round): line for line in said}
    files: dict[Path, Json] = {}
    dialogues = 0
    for ability, stem in STEMS.items():
        replies: dict[str, Json] = {}
        for item, video, event in _named(bench, ability):
            asked = [lines.get((item.qid, place)) for place in range(1, len(item.rounds) + 1)]
            if any(line is not None and line.end != "void" for line in asked):
                texts = [UNASKED if one is None else one.response or "" for one in asked]
                replies.setdefault(video, {})[str(event)] = placed(item, texts)
                dialogues += 1
        if replies:
            files[Path(f"{stem}.json")] = replies
    return _written(bench, to, files, dialogues, force=force)


def _written(
    bench: OpenBench[DialogueItem],
    to: Path,
    files: Mapping[Path, Json],
    dialogues: int,
    *,
    force: bool,
) -> DialogueExport:
    if not files:
        raise BadInput(f"{bench.folder} holds nothing of the six abilities to write")
    refuse_within(bench.folder, to)
    # All are looked at before any is written, so that a refusal leaves no half of a folder.
    for path in files:
        refuse_existing(to / path, force=force)
    for path, content in files.items():
        make_folder((to / path).parent)
        write_whole(to / path, (json.dumps(content, indent=4) + "\n").encode("ascii"))
    twins = sum(item.ability not in STEMS for item in bench.items)
    parts = sum(item.ability in STEMS and bool(item.spans) for item in bench.items)
    return DialogueExport(to, dialogues, twins, tuple(path.as_posix() for path in files), parts)
