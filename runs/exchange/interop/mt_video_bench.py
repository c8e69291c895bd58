"""MT-Video-Bench: its published files in as a set of dialogues, and out again; predictions out."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.bench.format.card import (
    CHECKSUMS,
    UNSTATED_BY_PUBLISHER,
    count_tables,
    licence_section,
)
from videoautoarena.runs.bench.format.reader import LARGEST_MANIFEST, OpenBench
from videoautoarena.runs.bench.format.results import RoundLine, read_dialogues
from videoautoarena.runs.bench.format.schema import (
    CARD,
    DIALOGUE,
    MADE,
    MANIFEST,
    QUESTIONS,
    BenchVideo,
    DialogueItem,
    Generator,
    Manifest,
    counts_of,
    question_bytes,
)
from videoautoarena.runs.bench.format.writer import put, refuse_within, seal
from videoautoarena.runs.exchange.interop.mt_video_bench_files import (
    ABILITY_OF,
    CHECKLISTS,
    DIALOGUES,
    ENDING,
    STEMS,
    UNASKED,
    Json,
    as_checklists,
    as_dialogue,
    kept_beside,
    placed,
    read_part,
    source_of,
)
from videoautoarena.runs.exchange.interop.task_sets import files_of, named_video
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import make_folder, refuse_existing, write_whole
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import in_full
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.video.folder.find import refuse_no_folder

_NO_VIDEOS = (".srt", ".vtt", ".json")


def import_mt_video_bench(
    place: Path, to: Path, *, videos: Path | None = None, licence: str | None = None
) -> TakenDialogues:
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
    return TakenDialogues(
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
    found = [file for file in found if not file.stem.endswith(ENDING)]
    order = {stem: place for place, stem in enumerate(ABILITY_OF)}
    return sorted(found, key=lambda file: order.get(file.stem, len(order)))


def _with_clips(
    items: Sequence[DialogueItem], folder: Path
) -> tuple[list[DialogueItem], dict[str, BenchVideo]]:
    """Return dialogues, each about the file of its own event where there is just one, and those."""
    refuse_no_folder(folder)
    names = [name for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    films = [name for name in names if not name.lower().endswith(_NO_VIDEOS)]
    stems = Counter(os.path.splitext(name)[0] for name in films)
    files = {stem: name for name in films if stems[stem := os.path.splitext(name)[0]] == 1}
    whole = {item.video_id for item in items}
    events = Counter(f"{video}_{event}" for video, event in {(x.video_id, x.event) for x in items})
    found = list[DialogueItem]()
    known = dict[str, BenchVideo]()
    for item in items:
        clip = f"{item.video_id}_{item.event}"
        if clip in files and clip not in whole and events[clip] == 1:
            known[clip] = BenchVideo(path=files[clip])
            made = {**item.made, "video": item.video_id}
            item = item.model_copy(update={"video_id": clip, "made": made})
        found.append(item)
    return found, known


@dataclass(frozen=True)
class TakenDialogues:
    """A set of dialogues that was imported, or was already there."""

    folder: Path
    """Where it lies."""
    bench: str
    """Its digest."""
    kind: str
    """`dialogue`."""
    dialogues: int
    """In it."""
    rounds: int
    """Of all dialogues."""
    scored: int
    """Rounds with a checklist; the others are context."""
    checks: int
    """Items of their checklists."""
    checks_yes: int
    """Of those, expected yes."""
    videos: int
    """That they are about."""
    clips: int
    """Dialogues with a file of their own event."""
    abilities: dict[str, int]
    """Ability to number of dialogues."""
    kept: int
    """Dialogues that were written in another way than usual, whose records are kept whole."""
    strays: int
    """Checklists of no dialogue, kept in the manifest's `source`."""
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
    """Return what each video is called: of a set made here its file, without what ends the name."""
    videos = bench.manifest.videos
    if bench.manifest.source.kind != MADE:
        return {id_: id_ for id_ in videos}
    found = {id_: os.path.splitext(one.path or id_)[0] for id_, one in videos.items()}
    names = list(found.values())
    return {id_: name if names.count(name) == 1 else id_ for id_, name in found.items()}


class Exported(NamedTuple):
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
) -> Exported:
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
        if checklists or CHECKLISTS in item.extra:
            found.setdefault(video, {})[str(event)] = checklists
    for video, events in kept_beside(beside, CHECKLISTS).items():
        found[video] = {**found.get(video, {}), **kept_beside({"": events}, "")}
    return found


def replies_of(bench: OpenBench[DialogueItem], model: str) -> list[RoundLine]:
    """Return what a model came to, whoever marked it; BadInput where it has no result."""
    results = read_dialogues(bench)
    model = in_full(model, (one.model for one in results))
    mine = [one for one in results if one.model == model]
    if not mine:
        there = ", ".join(map(quoted, dict.fromkeys(one.model for one in results))) or "none"
        raise BadInput(f"{quoted(model)} has no result on {bench.folder}; there is {there}")
    return [line for one in mine for line in one.lines]


def export_predictions(
    bench: OpenBench[DialogueItem], to: Path, said: Iterable[RoundLine], *, force: bool = False
) -> Exported:
    """Write one model's replies, a file an ability, into the folder `to`.

    A round that was not asked holds the sentence that their scripts write there, one without an
    answer nothing. A dialogue whose video is lost is left out, as theirs is.
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
) -> Exported:
    if not files:
        raise BadInput(f"{bench.folder} holds nothing of the six abilities to write")
    refuse_within(bench.folder, to)
    for path in files:
        refuse_existing(to / path, force=force)
    for path, content in files.items():
        make_folder((to / path).parent)
        write_whole(to / path, (json.dumps(content, indent=4) + "\n").encode("ascii"))
    twins = sum(item.ability not in STEMS for item in bench.items)
    parts = sum(item.ability in STEMS and bool(item.spans) for item in bench.items)
    return Exported(to, dialogues, twins, tuple(path.as_posix() for path in files), parts)
