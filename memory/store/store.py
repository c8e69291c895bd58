"""One run, one SQLite file: what was found, who met, what was said, how it was judged."""

from __future__ import annotations

import json
import re
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar, get_args

import numpy as np
from pydantic import TypeAdapter, ValidationError

from videoautoarena.memory.records.digests import (
    canonical_json,
    digest,
    read_body,
    read_json,
    write_body,
)
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.outlines import LENGTHS, NO_ANSWER, Outlines
from videoautoarena.memory.records.records import (
    LONGEST_NAME,
    Battle,
    Draw,
    Record,
    SkippedFile,
    Slot,
    Verdict,
    Video,
    VideoFrames,
)
from videoautoarena.memory.records.slots import NO_SLOTS, Ids, Ints, Kind, Slots
from videoautoarena.memory.store.connection import (
    RunLock,
    StoreReader,
    lay_out,
    lock_of,
    make_folder,
    open_writing,
    real_file,
    refuse_stranger,
)
from videoautoarena.memory.store.evidence import Evidence
from videoautoarena.memory.store.journal import Journal
from videoautoarena.memory.store.shares import Shares
from videoautoarena.memory.store.writer import RunTables, Writer, Writes, needed

_SLOTS = "SELECT ordinal, video, kind, block FROM places WHERE ordinal > ? ORDER BY ordinal LIMIT ?"
_SETTLED = "SELECT ordinal FROM outlines WHERE ordinal > ? ORDER BY ordinal LIMIT ?"
_OUTLINES = (
    f"SELECT ordinal, told, {', '.join(f'ifnull({name}, {NO_ANSWER})' for name in LENGTHS)} "
    "FROM outlines "
    "WHERE ordinal > ? ORDER BY ordinal LIMIT ?"
)
_BATTLES_AT_ONCE = 256
"""Battles that are read in one go."""
_ROWS_AT_ONCE = 4096
"""Rows that are read in one go where they are short."""


class BattleEnding(NamedTuple):
    """How a battle ended, without its texts; None where the file does not say."""

    id: str
    model_a: str | None
    model_b: str | None
    verdict: str | None


@dataclass(frozen=True)
class HeldVideo:
    """What the run's file holds of one video, in memory for as long as the video is played."""

    battles: dict[str, str | None]
    """Settled battles as they are written; None of those that nobody reads until it is released."""
    draws: dict[str, Draw]
    frames: dict[str, VideoFrames]
    """By id of the video; empty where they were not chosen yet."""
    files: Sequence[str]
    """Names of the texts about it."""
    scopes: Mapping[str, str]
    """Open slot to the scope of its calls."""


class AnswerFrames(NamedTuple):
    """The frames that a contestant's answers about a video were made from."""

    model: str
    times: tuple[float, ...]
    """Times of the frames it was sent, in seconds."""


def _kind_of(text: str | None) -> Kind:
    """Return the kind behind a text of suffix and numbers; ValueError for any other."""
    if text is None:
        raise ValueError("its id does not begin with its video")
    suffix, _, numbers = text.rpartition("[")
    generation, persona, round_ = json.loads(f"[{numbers}")
    return Kind(suffix, generation, persona, round_)


_BEGIN = "INSERT INTO sessions (place, began_at_s, worked_s) VALUES (?, ?, 0)"
_SESSIONS = (
    # A file may hold any number; 1e10 seconds after 1970 is the year 2286.
    "SELECT began_at_s, worked_s FROM sessions WHERE began_at_s BETWEEN 0 AND 1e10 "
    "AND worked_s BETWEEN 0 AND 1e10 ORDER BY place"
)
_BEAT = "UPDATE sessions SET worked_s = ? WHERE place = ?"


class WorkSession(NamedTuple):
    """One process's work on a run."""

    began_at_s: float
    """Seconds since 1970."""
    worked_s: float
    """From its beginning to its last commit."""


class WorkSessions(RunTables):
    """The stretches in which processes worked on one run."""

    def begin(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Count the time from now on; each commit writes it along, so a kill loses little."""
        writer = needed(self._writer, "nobody can work on it")
        place = len(self.all()) + 1
        began_s = clock()
        writer.write_now(_BEGIN, (place, time.time()))
        writer.write_with_each(_BEAT, lambda: (round(clock() - began_s, 3), place))

    def all(self) -> list[WorkSession]:
        """Return all sessions in the order in which they began."""
        found = self._reader.rows(_SESSIONS)
        return [WorkSession(float(began_at_s), float(worked_s)) for began_at_s, worked_s in found]


R = TypeVar("R", bound=Record)
T = TypeVar("T")


_NAME = re.compile(r"[\w-]+", re.ASCII)
_VIDEOS_AT_ONCE = 1000
"""Rows of videos that are read in one go."""


def _refuse_stray(video: Video) -> None:
    """Raise StoreError for a video whose names would lead out of the folders that they stand in."""
    # As PurePath takes it apart, which costs ten times as much: a run may have 250,000 videos.
    parts = [part for part in video.path.split("/") if part not in ("", ".")]
    is_below = parts and not video.path.startswith("/") and ".." not in parts
    if not is_below or "\0" in video.path:
        outside = f"the run's video {video.path[:80]!a} is outside of its folder"
        raise StoreError(f"{outside}; use another copy")
    if not (_NAME.fullmatch(video.id) and _NAME.fullmatch(video.sha256)):
        raise StoreError("the run holds a video whose id or digest is none; use another copy")


def _behind(beginning: str) -> str:
    """Return the first name that stands behind all that begin so, as SQLite sorts them."""
    return beginning[:-1] + chr(ord(beginning[-1]) + 1)


class _KeptVideos(NamedTuple):
    """Videos of a run as far as they were read."""

    videos: list[Video]
    last: int
    """The place of the last of them in the file; 0 where there is none."""


class StoredFile(NamedTuple):
    """A text that was copied into the run, such as a prompt."""

    name: str
    digest: str
    text: str


class Store(RunTables):
    """A run that is open; make it with `create` or `open`, and close it.

    Every write is committed when it returns, and what is there is never overwritten: to write a
    thing again changes nothing. Reads go to the file each time, so that memory holds no more than
    what is asked for; slots and videos alone are kept, once for all who ask. Reads of a
    damaged file raise StoreError, and so do writes that failed and every write to a run that was
    opened for reading.
    """

    def __init__(
        self,
        reader: StoreReader,
        writer: Writes | None,
        lock: RunLock | None,
        *,
        is_alone: bool = True,
    ) -> None:
        super().__init__(reader, writer)
        self.journal = Journal(reader, writer, is_alone=is_alone)
        self.shares = Shares(reader, writer)
        self.sessions = WorkSessions(reader, writer)
        self.evidence = Evidence(reader, writer)
        self._lock = lock
        self._slots = NO_SLOTS
        """The slots read so far; they are kept, since slots are only ever added."""
        self._videos = _KeptVideos([], 0)
        """The videos read so far; they are only ever added, too."""
        self._handed_in: dict[str, Video] = {}
        """Those added since: they are kept, and not read back as others like them."""
        self._held: dict[str, HeldVideo] = {}
        self._held_files: dict[str, StoredFile | None] = {}
        """Texts about held videos by name; None of a name that the run has no text of."""

    @classmethod
    def create(
        cls,
        path: Path,
        manifest: dict[str, Any],
        *,
        texts: Mapping[str, str] | None = None,
        fsync: bool = False,
    ) -> Self:
        """Begin a run, whole from the first moment, with `texts` by name; StoreError, RunLocked."""
        path = real_file(path)
        make_folder(path.parent, fsync=fsync)
        said = canonical_json(_of_short_names(manifest))
        return cls._writing(path, fsync=fsync, begin_with=(said, texts or {}))

    @classmethod
    def open(cls, path: Path, *, write: bool, fsync: bool = False, is_alone: bool = True) -> Self:
        """Open the run at `path`; for reading it takes no lock, changes nothing, leaves no file.

        Not `is_alone` where calls may be under way that others write down through this process.
        Raises StoreError, StoreTooNew, or RunLocked where another process is writing it.
        """
        if not path.is_file():
            raise StoreError(f"{path} does not exist; pass the folder of a run")
        path = real_file(path)
        # A reader takes no lock: a run may be looked at while it is played.
        if not write:
            return cls(StoreReader(path), None, None)
        refuse_stranger(path)
        return cls._writing(path, fsync=fsync, is_alone=is_alone)

    @classmethod
    def _writing(
        cls,
        path: Path,
        *,
        fsync: bool,
        begin_with: tuple[str, Mapping[str, str]] | None = None,
        is_alone: bool = True,
    ) -> Self:
        with ExitStack() as undo:
            # First of all: of two processes that begin the same run, one must fail before it makes
            # a file.
            lock = RunLock(lock_of(path))
            undo.callback(lock.release)
            if begin_with is not None:
                lay_out(path, *begin_with, fsync=fsync)
            connection = undo.enter_context(closing(open_writing(path, fsync=fsync)))
            reader = StoreReader(path, live=True)
            writer = Writer(connection)
            store = cls(reader, writer, lock, is_alone=is_alone)
            undo.pop_all()
        return store

    def hold(self, video: str, scopes: Mapping[str, str], files: Sequence[str] = ()) -> None:
        """Keep in memory what is read of a video while it is played, so that this asks no disk.

        That are its battles, draws, frames, the texts of these names, and the calls of the video
        and of its slots that are not settled; what is written meanwhile is known, too, until
        `release`. Whoever shares an event loop calls this in a thread.

        Args:
            video: its id.
            scopes: each of its slots that counts, to the scope of the slot's calls.
            files: names of texts that are read.
        """
        # `~` sorts after what else follows a video in the id of a slot.
        about = "id >= ? AND id < ? || '~'"
        bodies = self._reader.rows(f"SELECT id, body FROM battles WHERE {about}", video, video)
        named = about.replace("id", "slot")
        draws = self._all(Draw, f"SELECT body FROM draws WHERE {named}", video, video)
        frames = self.frames(video)
        battles: dict[str, str | None] = {}
        battles.update((id_, body) for id_, body in bodies)
        still_open = {slot: scope for slot, scope in scopes.items() if slot not in battles}
        self.journal.hold({video, *still_open.values()})
        for name in files:
            self._held_files[name] = self.file(name)
        self._held[video] = HeldVideo(
            battles,
            {draw.slot: draw for draw in draws},
            {video: frames} if frames else {},
            tuple(files),
            still_open,
        )

    def release(self, video: str) -> None:
        """Let go of what was held of a video."""
        held = self._held.pop(video, None)
        if held is None:
            return
        for name in held.files:
            self._held_files.pop(name, None)
        self.journal.release({video, *held.scopes.values()})

    def close(self) -> None:
        """Write what is under way, then let go of file and lock; again is harmless."""
        self._reader.close()
        if self._writer:
            self._writer.close()
        if self._lock:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def manifest(self) -> dict[str, Any]:
        """Return what the run was begun with, or was last changed to."""
        row = self._reader.row("SELECT body FROM manifest")
        if row is None:
            raise StoreError("the run file has no manifest; pass the folder of a run")
        return _of_short_names(read_json(row[0]))

    def put_manifest(self, manifest: dict[str, Any]) -> None:
        """Replace the manifest, the one record that may change, since rounds are added to a run."""
        said = canonical_json(_of_short_names(manifest))
        needed(self._writer).write_now("UPDATE manifest SET body = ?", (said,))

    def add_videos(self, videos: Iterable[Video]) -> None:
        """Append the videos that are not there yet; raises StoreError where two share an id."""
        known = {video.id: video.sha256 for video in self.videos()}
        new = dict[str, Video]()
        for video in videos:
            if video.id not in known:
                known[video.id] = video.sha256
                new[video.id] = video
            elif known[video.id] != video.sha256:
                raise StoreError(f"two different videos have the id {video.id}; leave one out")
        sql = "INSERT INTO videos (id, sha256, body) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"
        rows = ((video.id, video.sha256, write_body(video)) for video in new.values())
        needed(self._writer).write_each_now(sql, rows)
        self._handed_in |= new

    def videos(self) -> Sequence[Video]:
        """Return the videos in the order in which they were added; all who ask share them.

        Raises StoreError where one has a path that leads out of the folder of videos, or a name
        that would lead out of those of this program.
        """
        sql = "SELECT place, id, body FROM videos WHERE place > ? ORDER BY place LIMIT ?"
        # Two threads may come here at once: each goes on from one moment and to one.
        known, last = self._videos
        handed_in = self._handed_in
        new = list[Video]()
        for page in self._reader.pages(sql, last, _VIDEOS_AT_ONCE):
            for _, id_, body in page:
                video = handed_in.get(id_) or read_body(Video, body)
                _refuse_stray(video)
                new.append(video)
            last = page[-1][0]
        if not new:
            return known
        # Another list, since somebody may be going through the one before.
        self._videos = _KeptVideos([*known, *new], last)
        self._handed_in = {}
        return self._videos.videos

    def count_videos(self) -> int:
        """Return how many videos there are, without reading any."""
        return self._number("SELECT count(*) FROM videos")

    def video_ids(self) -> list[str]:
        """Return the ids of the videos in the order in which they were added."""
        return [id_ for (id_,) in self._reader.rows("SELECT id FROM videos ORDER BY place")]

    def problem_videos(self) -> list[Video]:
        """Return the videos of whose files something is wrong, in the order of `videos`."""
        # A record without any ends so, and inside a text of it every quotation mark has a backslash
        # before it.
        sql = "SELECT body FROM videos WHERE instr(body, '\"problems\":[]') = 0 ORDER BY place"
        found = self._all(Video, sql)
        for video in found:
            _refuse_stray(video)
        return [video for video in found if video.problems]

    def add_skipped(self, skipped: Iterable[SkippedFile]) -> None:
        """Append the files that were not used and are not there yet."""
        sql = "INSERT INTO skipped (body) VALUES (?) ON CONFLICT (body) DO NOTHING"
        needed(self._writer).write_now(sql, *((write_body(one),) for one in skipped))

    def skipped(self) -> list[SkippedFile]:
        """Return the files that were not used, in the order in which they were added."""
        return self._all(SkippedFile, "SELECT body FROM skipped ORDER BY place")

    def add_slots(self, slots: Iterable[Slot]) -> None:
        """Append the slots that are not there yet, all or none; they are gone through once."""
        needed(self._writer).write_each_now(
            "INSERT INTO slots (id, ordinal, video, body) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (id) DO NOTHING",
            ((slot.id, slot.ordinal, slot.video, write_body(slot)) for slot in slots),
        )

    def slots(self) -> Slots:
        """Return all slots in the order of their ordinals; only those added since are read."""
        # New slots always have higher ordinals than all before them.
        last = int(self._slots.columns.ordinal[-1]) if self._slots else -1
        self._slots += Slots.read(self._reader.pages(_SLOTS, last, _ROWS_AT_ONCE), kind_of=_kind_of)
        return self._slots

    def count_slots(self) -> int:
        """Return how many slots there are, without reading any."""
        return self._number("SELECT count(*) FROM slots")

    def count_settled(self) -> int:
        """Return how many slots have a battle, without reading any."""
        return self._number("SELECT count(*) FROM outlines")

    def _number(self, sql: str) -> int:
        return int((self._reader.row(sql) or (0,))[0] or 0)

    def superseding(self) -> list[str]:
        """Return the ids of the slots that are played in place of others."""
        return [id_ for (id_,) in self._reader.rows("SELECT id FROM slots WHERE instr(id, '~')")]

    def has_battle(self, battle: str) -> bool:
        """Return whether there is a battle with this id."""
        return self._reader.row("SELECT 1 FROM battles WHERE id = ?", battle) is not None

    def settled(self) -> Slots:
        """Return the slots that have a battle, by their ordinals."""
        # Battles first: the slot of each is then surely among the slots read after it.
        ordinals = self._settled_ordinals()
        slots = self.slots()
        # In a file that somebody changed, a battle may have no slot.
        return slots.where(np.isin(slots.columns.ordinal, ordinals))

    def _settled_ordinals(self) -> Ints:
        pages = self._reader.pages(_SETTLED, -1, _ROWS_AT_ONCE)
        try:
            found = array("i", (ordinal for page in pages for (ordinal,) in page))
        except OverflowError as error:
            raise StoreError(
                "the run holds a slot beyond the last that can be; use another copy"
            ) from error
        return np.array(found, dtype=np.int32)

    def put_file(self, name: str, text: str, *, replace: bool = False) -> None:
        """Copy a text into the run, unless it has one of that name that is not to be replaced."""
        self.put_files({name: text}, replace=replace)

    def put_files(self, texts: Mapping[str, str], *, replace: bool = False) -> None:
        """Copy texts into the run by their names, all in one transaction; see `put_file`."""
        newer = "UPDATE SET digest = excluded.digest, text = excluded.text"
        sql = "INSERT INTO files (name, digest, text) VALUES (?, ?, ?) ON CONFLICT (name) DO "
        rows = [(name, digest(text), text) for name, text in texts.items()]
        needed(self._writer).write_now(sql + (newer if replace else "NOTHING"), *rows)
        for row in map(StoredFile._make, rows):
            # One that was there and is not to be replaced stays as it is.
            if row.name in self._held_files and (replace or self._held_files[row.name] is None):
                self._held_files[row.name] = row

    def file(self, name: str) -> StoredFile | None:
        """Return the text of that name as it was copied into the run."""
        if name in self._held_files:
            return self._held_files[name]
        row = self._reader.row("SELECT name, digest, text FROM files WHERE name = ?", name)
        return StoredFile(*row) if row else None

    def files_under(self, beginning: str) -> dict[str, str]:
        """Return the texts whose names begin so, by what stands behind it in their names."""
        sql = "SELECT name, text FROM files WHERE name >= ? AND name < ? ORDER BY name"
        rows = self._reader.rows(sql, beginning, _behind(beginning))
        return {name.removeprefix(beginning): text for name, text in rows}

    def has_file_under(self, beginning: str) -> bool:
        """Return whether the name of any text begins so; no text is read."""
        sql = "SELECT 1 FROM files WHERE name >= ? AND name < ? LIMIT 1"
        return self._reader.row(sql, beginning, _behind(beginning)) is not None

    def file_as(self, shape: TypeAdapter[T], name: str) -> T | None:
        """Return the JSON that a text of that name holds; StoreError where it has another shape."""
        file = self.file(name)
        try:
            return None if file is None else shape.validate_json(file.text)
        except ValidationError:
            raise StoreError(f"what the run's file holds as {name} cannot be read") from None

    def files(self) -> list[StoredFile]:
        """Return all texts that were copied into the run, by name."""
        rows = self._reader.rows("SELECT name, digest, text FROM files ORDER BY name")
        return [StoredFile(*row) for row in rows]

    async def put_frames(self, frames: VideoFrames) -> None:
        """Keep times and digests of a video's frames; the video must be there."""
        await self._put("INSERT INTO frames (video, body)", frames.video, frames)
        if (held := self._held.get(frames.video)) is not None:
            held.frames.setdefault(frames.video, frames)

    def frames(self, video: str) -> VideoFrames | None:
        """Return the frames of the video with this id."""
        if (held := self._held.get(video)) is not None:
            return held.frames.get(video)
        return self._one(VideoFrames, "SELECT body FROM frames WHERE video = ?", video)

    def damaged(self) -> dict[str, int]:
        """Return how many frames of each video are damaged; videos with none are left out."""
        return self._frames_counted("damaged")

    def approximate(self) -> dict[str, int]:
        """Return how many frames of each video may not be those asked for, where there are any."""
        return self._frames_counted("approximate")

    def _frames_counted(self, what: Literal["damaged", "approximate"]) -> dict[str, int]:
        count = f"CAST(json_extract(body, '$.{what}') AS INTEGER)"
        found = self._reader.rows(f"SELECT video, {count} FROM frames WHERE {count} > 0")
        return {video: int(frames) for video, frames in found}

    async def put_draw(self, draw: Draw) -> None:
        """Keep who meets in a slot; the slot must be there."""
        await self._put("INSERT INTO draws (slot, body)", draw.slot, draw)
        if (held := self._held.get(_video_of(draw.slot))) is not None:
            held.draws.setdefault(draw.slot, draw)
            # A lineage that goes on has read what came before.
            lineage = draw.slot.rpartition("-r")[0]
            for battle in held.battles:
                if battle.startswith(f"{lineage}-r"):
                    held.battles[battle] = None

    def draw(self, slot: str) -> Draw | None:
        """Return who meets in the slot with this id."""
        if (held := self._held.get(_video_of(slot))) is not None:
            return held.draws.get(slot)
        return self._one(Draw, "SELECT body FROM draws WHERE slot = ?", slot)

    async def put_battle(self, battle: Battle) -> None:
        """Keep a settled slot; the slot must be there."""
        await self._put("INSERT INTO battles (id, body)", battle.id, battle)
        if (held := self._held.get(_video_of(battle.id))) is not None:
            held.battles.setdefault(battle.id, None)
            # What a settled slot has asked nobody asks again while its video is played.
            if battle.id in held.scopes:
                self.journal.release([held.scopes[battle.id]])

    def battle(self, battle: str) -> Battle | None:
        """Return the battle with this id."""
        held = self._held.get(_video_of(battle))
        if held is not None and (body := held.battles.get(battle)) is not None:
            return read_body(Battle, body)
        if held is not None and battle not in held.battles:
            return None
        return self._one(Battle, "SELECT body FROM battles WHERE id = ?", battle)

    def battle_bytes(self, battle: str) -> bytes | None:
        """Return the battle's canonical JSON, which equal runs share byte for byte, or None."""
        row = self._reader.row("SELECT body FROM battles WHERE id = ?", battle)
        # A file may hold a blob or a number here; it equals no battle's JSON.
        return None if row is None else row[0].encode() if isinstance(row[0], str) else b""

    def battles(self) -> list[Battle]:
        """Return all battles by the ordinals of their slots."""
        return list(self.each_battle())

    def each_battle(self, ordinals: Ints | None = None) -> Iterator[Battle]:
        """Yield all battles in the order of their slots, with a few in memory at a time.

        With `ordinals`, ascending, only the battles of these slots.
        """
        ordinals = self._settled_ordinals() if ordinals is None else ordinals
        return (read_body(Battle, body) for body in self._each_settled("b.body", ordinals))

    def _each_settled(self, what: str, ordinals: Ints) -> Iterator[Any]:
        """Yield an SQL expression over the battle `b` of each of some slots, in their order."""
        # A list of ordinals and not a range: where few of many are asked for, no others are read.
        sql = (
            f"SELECT {what} FROM json_each(?) e JOIN slots s ON s.ordinal = e.value "
            "JOIN battles b ON b.id = s.id ORDER BY e.key"
        )
        for first in range(0, len(ordinals), _BATTLES_AT_ONCE):
            part = ordinals[first : first + _BATTLES_AT_ONCE].tolist()
            yield from (row[0] for row in self._reader.rows(sql, json.dumps(part)))

    def each_marked(self) -> Iterator[Battle]:
        """Yield the battles whose texts may hold a mark of thought, a few in memory at a time."""
        found = self._reader.rows("SELECT ordinal FROM marked_battles ORDER BY ordinal")
        return self.each_battle(np.array([ordinal for (ordinal,) in found], dtype=np.int32))

    def each_fields(self, ordinals: Ints, names: Sequence[str]) -> Iterator[list[Any]]:
        """Yield the named fields of the battles of some slots, whose ordinals ascend."""
        # As JSON, the only form that holds every text a model may have said. With a single path
        # SQLite gives no list, hence the id.
        paths = ", ".join(f"'$.{name}'" for name in ("id", *names))
        bodies = self._each_settled(f"json_extract(b.body, {paths})", ordinals)
        return (json.loads(body)[1:] for body in bodies)

    def outlines(self) -> Outlines:
        """Return all battles without their texts, by the ordinals of their slots.

        Raises StoreError where one of them cannot be read.
        """
        found = self._outlines()
        for row in np.flatnonzero(~found.texts["verdict"].among(get_args(Verdict))):
            # An impossible verdict stands for a body that is no battle; reading it whole says what
            # is wrong.
            self.battle(found[int(row)].id)
        return found

    def _outlines(self) -> Outlines:
        return Outlines.read(self._reader.pages(_OUTLINES, -1, _ROWS_AT_ONCE), self.slots)

    def each_ending(self) -> Iterator[BattleEnding]:
        """Yield how each battle ended, in the order of the slots; None where unreadable."""
        found = self._outlines()
        said = (found.texts[name].each() for name in ("model_a", "model_b", "verdict"))
        return map(BattleEnding, found.ids(), *said)

    def each_verdict(self) -> Iterator[tuple[str, str | None]]:
        """Yield id and verdict of every battle, in the order of the slots."""
        return ((ending.id, ending.verdict) for ending in self.each_ending())

    def verdicts(self) -> dict[str, str]:
        """Return the verdict of every battle by its id, without reading the battles into memory."""
        return {id_: verdict for id_, verdict in self.each_verdict() if verdict is not None}

    def answered_from(self, video: str) -> list[AnswerFrames]:
        """Return each set of a video's frames that a contestant answered from, once a model."""
        seats = " UNION ".join(
            f"SELECT {_field(f'model_{seat}')}, {_field(f'frames_{seat}')} {_ABOUT} "
            f"AND {_field(f'answer_{seat}')} IS NOT NULL"
            for seat in "ab"
        )
        found = self._reader.rows(seats, *([video] * 6))
        return [AnswerFrames(model, tuple(json.loads(times))) for model, times in found]

    def category(self, video: str) -> str | None:
        """Return the category of a video by its battles; None where it was not examined."""
        sql = f"SELECT {_field('category')} AS of {_ABOUT} AND of IS NOT NULL LIMIT 1"
        row = self._reader.row(sql, video, video, video)
        return row[0] if row else None

    def settled_ids(self) -> Ids:
        """Return the ids of all battles."""
        return self.settled().ids

    def astray(self) -> list[str]:
        """Return the ids of battles without a slot, which only a changed file has."""
        sql = "SELECT id FROM battles WHERE id NOT IN (SELECT id FROM slots) ORDER BY id"
        return [id_ for (id_,) in self._reader.rows(sql)]

    def of_one_moment(self) -> AbstractContextManager[None]:
        """Let reads within the block see the file of one moment, whoever writes meanwhile."""
        return self._reader.of_one_moment()

    def last_settled(self) -> int:
        """Return the place of the battle that was settled last, 0 without a battle."""
        return self._number("SELECT max(rowid) FROM battles")

    def settled_after(self, place: int) -> tuple[int, list[str]]:
        """Return the place of the last battle settled after a place, from 0 on, and the ids."""
        sql = "SELECT rowid, id FROM battles WHERE rowid > ? ORDER BY rowid"
        found = self._reader.rows(sql, place)
        return int(found[-1][0]) if found else place, [id_ for _, id_ in found]

    async def _put(self, insert: str, key: str, record: Record) -> None:
        sql = f"{insert} VALUES (?, ?) ON CONFLICT DO NOTHING"
        await needed(self._writer).write(sql, (key, write_body(record)))

    def _one(self, kind: type[R], sql: str, key: str) -> R | None:
        row = self._reader.row(sql, key)
        return read_body(kind, row[0]) if row else None


# Ids of slots begin with that of their video, and `~` sorts after what follows it there: the range
# makes SQLite use the index, and the last condition decides.
_ABOUT = (
    "FROM battles b JOIN slots s ON s.id = b.id WHERE b.id >= ? AND b.id < ? || '~' AND s.video = ?"
)


def _video_of(slot: str) -> str:
    """Return the video that the id of a slot begins with."""
    return slot.partition("-")[0]


def _of_short_names(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest; StoreError where a key or a text in it is too long to be shown."""
    left: list[Any] = [manifest]
    while left:
        one = left.pop()
        # Most are texts, and a mapping is known to be one only after a search.
        if isinstance(one, str):
            if len(one) > LONGEST_NAME:
                raise StoreError(
                    f"the run's settings name {one[:80]!a}, which goes on for {len(one):,} "
                    f"characters; shorten it to {LONGEST_NAME:,}"
                )
        elif isinstance(one, list | tuple):
            left += one
        elif isinstance(one, Mapping):
            left += [*one.keys(), *one.values()]
    return manifest


def _field(name: str) -> str:
    return f"json_extract(b.body, '$.{name}')"
