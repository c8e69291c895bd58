"""Processes that write runs onto a disk that fails, and what is found when they are gone.

A program that has imported everything forks a child for each line on its standard input, a job in
JSON, and prints how the child ended. `script` writes a fixed run through store and journal alone,
or goes on with it; `read` prints how many calls a run holds; `simulate` and `arena` are those
commands themselves, with the arguments of the job.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import videoautoarena.memory.store.connection
from tests.support.clips import draw_folder
from tests.support.faulty_disk import Disk, Op, recorded
from tests.support.runfiles import battle, call, draw, frames, intent, slot, video
from tests.support.whole_runs import battles, environment
from videoautoarena.memory.records.records import Battle, CallRow, Draw
from videoautoarena.memory.store.store import Store

ROOT = Path(__file__).parents[2]
STORE_ALONE = "store-alone"
"""Given to `program` in the place of modules, it imports no more than `script` and `read` take."""
LIVES, CALLS = 2, 12
"""How often the script opens its run, and how many calls it makes each time."""
SLOTS = LIVES * CALLS // 3
CHECKPOINT_PAGES = 30
"""So small is the log of a whole run that it is put into the file several times."""


@dataclass
class Job:
    """What a child does, and on what disk."""

    work: str
    """`script`, `read`, `simulate` or `arena`."""
    arguments: list[str]
    disk: Disk = field(default_factory=Disk)
    checkpoint_pages: int = 1000
    """Pages in the log from which they are put into the file; SQLite's own number."""
    says: str = os.devnull
    """File that takes what it prints."""


class Program:
    """The program whose children write; it imports what all of them would beforehand."""

    def __init__(self, *modules: str) -> None:
        line = [sys.executable, "-m", "tests.support.killed_runs", *modules]
        pipe = subprocess.PIPE
        ways = {"stdin": pipe, "stdout": pipe, "env": environment()}
        self._process = subprocess.Popen(line, cwd=ROOT, text=True, **ways)

    def run(self, job: Job) -> int:
        """Return how the child of a job ended: its exit code, or a signal's number below 0."""
        told = vars(job) | {"disk": _settings(job.disk)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End the program."""
        self._process.communicate()


@contextmanager
def program(*modules: str) -> Iterator[Program]:
    """Give a program, and end it."""
    with closing(Program(*modules)) as running:
        yield running


def _settings(disk: Disk) -> dict[str, Any]:
    return {name: getattr(disk, name) for name, of in Disk.__dataclass_fields__.items() if of.init}


def main() -> None:
    """Fork one child for each line that comes in."""
    _import_all()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _work(json.loads(line))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _import_all() -> None:
    if sys.argv[1:] == [STORE_ALONE]:
        import_module("sqlite_utils")
        return
    for name in (
        "videoautoarena.agents.offline.players.model",
        "videoautoarena.graph.tournament",
        "videoautoarena.runs.cli.playing.simulate",
        "videoautoarena.scoring.design.pairing",
        *sys.argv[1:],
    ):
        import_module(name)


def _work(told: dict[str, Any]) -> None:
    """Do a job and end."""
    code = 70
    try:
        said = os.open(told["says"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(said, 1)
        os.dup2(said, 2)
        job = Job(**told | {"disk": Disk(**told["disk"])})
        job.disk.insert()
        _checkpoint_at(job.checkpoint_pages)
        _hear_promises(job.disk)
        code = _WORK[job.work](job)
    except BaseException:  # noqa: BLE001 - nothing may come back to the program that forked it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _checkpoint_at(pages: int) -> None:
    """Let every connection put its log into the file so often."""
    connect = videoautoarena.memory.store.connection.connect

    def connecting(path: Path, query: str) -> sqlite3.Connection:
        connection = connect(path, query)
        connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
        return connection

    videoautoarena.memory.store.connection.connect = connecting


def _hear_promises(disk: Disk) -> None:
    """Note what was told to be kept, at the moment at which it was."""
    from videoautoarena.memory.store.journal import Journal

    record = Journal.record
    put_battle = Store.put_battle
    put_draw = Store.put_draw

    async def recorded_(self: Journal, row: CallRow) -> None:
        await record(self, row)
        disk.promise(row.key)

    async def settled(self: Store, of: Battle) -> None:
        await put_battle(self, of)
        disk.promise(of.id)

    async def drawn(self: Store, of: Draw) -> None:
        await put_draw(self, of)
        disk.promise(f"draw {of.slot}")

    # type: ignore[method-assign]
    Journal.record = recorded_
    Store.put_battle = settled
    Store.put_draw = drawn


def _command(job: Job) -> int:
    from videoautoarena.runs.cli.program.main import arena_main, simulate_main

    sys.argv = [job.work, *job.arguments]
    try:
        {"simulate": simulate_main, "arena": arena_main}[job.work]()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _script(job: Job) -> int:
    path = Path(job.arguments[0])
    fsync = job.arguments[1:] == ["fsync"]
    for life in range(LIVES):
        with _opened(path, fsync=fsync) as store:
            store.add_videos([video()])
            store.add_slots(slot(number) for number in range(SLOTS))
            store.put_file("prompts/judge", "Judge." * 400)
            store.put_manifest({"life": life})
            asyncio.run(_write_on(store, range(life * CALLS, (life + 1) * CALLS)))
    return 0


def _read(job: Job) -> int:
    with Store.open(Path(job.arguments[0]), write=False) as store:
        os.write(1, f"{len(store.journal.calls())}\n".encode())
    return 0


_WORK = {"script": _script, "read": _read, "simulate": _command, "arena": _command}


def _opened(path: Path, *, fsync: bool) -> Store:
    if path.exists():
        return Store.open(path, write=True, fsync=fsync)
    return Store.create(path, {"life": 0}, fsync=fsync)


async def _write_on(store: Store, numbers: Sequence[int]) -> None:
    """Make three calls at a time, and settle a battle after each three."""
    await store.put_frames(frames())
    for first in range(0, len(numbers), 3):
        slot_id = slot(numbers[first] // 3).id
        await store.put_draw(draw(slot_id))
        await asyncio.gather(*(_ask(store, n) for n in numbers[first : first + 3]))
        await store.put_battle(battle(slot_id))


async def _ask(store: Store, number: int) -> None:
    row = call(str(number), reply="an answer of some length, as they are. " * 60)
    if store.journal.find(row.key) is None:
        await store.journal.intend(intent(str(number)))
        await store.journal.record(row)


def kept(path: Path) -> set[str]:
    """Return everything a run has that it may have promised; its file must be sound."""
    with Store.open(path, write=True) as store:
        found = {row.key for row in store.journal.calls()} | store.settled_ids()
        found |= {f"draw {s.id}" for s in store.slots() if store.draw(s.id) is not None}
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return found


def counted(ops: Iterable[Op]) -> list[str]:
    """Return the kinds of the operations that a disk counts, in their order."""
    return [op.kind for op in ops if op.kind not in ("open", "promise")]


@dataclass
class Ground:
    """A run of six battles that nothing happened to, and others that something does."""

    children: Program
    folder: Path
    battles: dict[str, str]
    """Each battle's bytes by its id."""
    kinds: list[str]
    """Of everything that was done to the run's file, in order."""
    most_bytes: int
    """What its files take at most where the log is as long as SQLite lets it grow."""

    @classmethod
    def prepared(cls, children: Program, folder: Path) -> Self:
        """Play the run once for its frames, and once more to see what it does."""
        draw_folder(folder / "videos", 1, seconds=4)
        ground = cls(children, folder, {}, [], 0)
        for name, room in (("warm", 10**9), ("calm", None)):
            disk = Disk(record=str(folder / f"{name}.ops"), room=room)
            assert ground.simulate(folder / name, disk) == 0, ground.said(folder / name)
        ends: dict[str, int] = {}
        for op in recorded(folder / "warm.ops"):
            ends[op.file] = max(ends.get(op.file, 0), op.offset + len(op.data))
        ground.most_bytes = sum(size for name, size in ends.items() if not name.endswith(".new"))
        ground.battles = battles(folder / "calm")
        ground.kinds = counted(recorded(folder / "calm.ops"))
        assert len(ground.battles) == 6
        return ground

    def arguments(self, out: Path) -> list[str]:
        """Return what `simulate` is told."""
        return ["--videos", f"{self.folder / 'videos'}", "--rounds", "2", "--out", f"{out}", "-q"]

    def simulate(self, out: Path, disk: Disk, *more: str) -> int:
        """Play a run on a disk, or go on with it, and return how that ended."""
        arguments = [*self.arguments(out), *more]
        says = f"{out}.says"
        pages = CHECKPOINT_PAGES if disk.room is None else 1000
        return self.children.run(Job("simulate", arguments, disk, pages, says))

    def said(self, out: Path) -> str:
        """Return what the last process of a run printed."""
        return Path(f"{out}.says").read_text()

    def goes_on(self, disk: Disk, name: str) -> int:
        """Hold that a run which meets this disk goes on from it; return how it had ended."""
        out, before, after = (self.folder / f"{name}{end}" for end in ("", ".before", ".after"))
        ended = self.simulate(out, replace(disk, record=str(before)))
        assert ended in (0, 1, -9), self.said(out)
        self.goes_on_from(out, after)
        assert not promised(before) & promised(after), "what was promised was done again"
        shutil.rmtree(out)
        return ended

    def goes_on_from(self, out: Path, record: Path, *more: str) -> None:
        """Hold that what is left of a run comes to the same end."""
        assert self.simulate(out, Disk(record=str(record)), *more) == 0, self.said(out)
        assert battles(out) == self.battles


def promised(record: Path) -> set[str]:
    """Return what a process that recorded was told to be kept."""
    return {op.file for op in recorded(record) if op.kind == "promise"}


def cut_power(ops: Sequence[Op], folder: Path, *, seed: int | None) -> set[str]:
    """Write what is left in `folder` when the power goes after these operations.

    What was not synced is gone; with a seed some of it, chosen by chance, has reached the disk all
    the same, as disks may do in any order. Returns what had been promised by then.
    """
    chance = random.Random(seed)
    synced: dict[str, bytearray] = {}
    waiting: dict[str, list[Op]] = {}
    promises = set()
    for op in ops:
        if op.kind == "promise":
            promises.add(op.file)
        elif op.kind == "open" and op.file not in synced:
            # A run is laid out under another name first; that it has been renamed is known.
            synced[op.file] = synced.pop(f"{op.file}.new", bytearray())
            waiting[op.file] = waiting.pop(f"{op.file}.new", [])
        elif op.kind == "sync":
            _apply(waiting.pop(op.file, []), synced[op.file])
        elif op.kind == "delete":
            synced.pop(op.file, None)
            waiting.pop(op.file, None)
        elif op.kind not in ("open", "close"):
            waiting.setdefault(op.file, []).append(op)
    for name, content in synced.items():
        late = waiting.get(name, []) if seed is not None else []
        _apply([op for op in late if chance.random() < 0.5], content)
        if content:
            (folder / name).write_bytes(content)
    return promises


def _apply(ops: Sequence[Op], content: bytearray) -> None:
    for op in ops:
        if op.kind == "truncate":
            del content[op.offset :]
            continue
        content.extend(bytes(max(0, op.offset - len(content))))
        content[op.offset : op.offset + len(op.data)] = op.data


if __name__ == "__main__":
    main()
