"""Merging runs over different videos into one, and telling the parts of a merged run apart."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.digests import write_body
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.connection import RunLock, lock_of, real_file, size_of, sync_folder
from videoautoarena.memory.store.merging import MergedPart, OnPage, merge_files
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.inputs.facts import merged_facts, stored_facts
from videoautoarena.runs.run.inputs.users import FILE as USERS
from videoautoarena.runs.run.inputs.users import kept_file, merged_users
from videoautoarena.runs.run.rundir.opener import brief_setting, holds_run
from videoautoarena.runs.run.rundir.reader import (
    MERGED,
    RUN_FILE,
    RunReader,
    counted,
    lock_file,
    open_run,
    run_file,
)


class Merged(NamedTuple):
    """The result of a merge."""

    runs: int
    """How many runs were merged."""
    videos: int
    """Videos of all runs."""
    slots: int
    """Slots of all runs."""
    battles: int
    """Settled ones."""
    unplayed: int
    """Slots that count and have no battle; a merged run is not played on."""
    namesakes: int
    """Paths that several videos have, so that no single folder can hold them all."""
    bytes: int
    """Size of the run's file."""


def merge_runs(
    folders: Sequence[Path], to: Path, *, on_page: OnPage = lambda _done, _total: None
) -> Merged:
    """Merge runs with the same settings over different videos into a new run, whole or not at all.

    What is rated, audited, frozen and exported of it is all of their battles. Each keeps its own
    pairs: where `mix` looked at results, it looked at those of its own run alone, and so does a
    replay. Rows are copied a few thousand at a time; no run is changed, and no model called.

    Args:
        folders: of the runs, at least two.
        to: the folder to create.
        on_page: called with how many pages of rows are copied, and of how many.

    Raises:
        BadInput: fewer than two runs, one named twice, other settings, prompts or rounds, a video
            in two of them, a model that was added later, or `to` is in use.
        StoreError: a damaged file, or too little room.
    """
    if len(folders) < 2:
        raise BadInput("one run alone is merged already; pass two or more")
    _refuse_twice(folders)
    if holds_run(to, "to"):
        raise BadInput(f"{safe(str(to))} holds a run already; pass a new {option('to')}")
    # All are held until the end, so that nothing is settled or labelled between check and copy.
    with ExitStack() as undo:
        for folder in folders:
            undo.enter_context(_held(folder))
        return _merged(folders, to, on_page)


def _merged(folders: Sequence[Path], to: Path, on_page: OnPage) -> Merged:
    with ExitStack() as opened:
        runs = [opened.enter_context(open_run(folder)) for folder in folders]
        for run in runs:
            _refuse_grown(run)
        for run in runs[1:]:
            _refuse_other(runs[0], run)
        namesakes = _namesakes(runs)
        manifest = dict(runs[0].manifest)
        texts = merged_facts([stored_facts(run.store) for run in runs])
        if users := merged_users([kept_file(run.store) for run in runs]):
            texts[USERS] = write_body(users)
            manifest["personas"] = users.sha256
        said = [_said_of(run) for run in runs]
        videos = sum(one["videos"] for one in said)
        battles = sum(len(run.settled) for run in runs)
        slots = sum(len(run.slots) for run in runs)
    # The runs are closed by now: their files are copied, and not what was read of them.
    sources = [real_file(run_file(folder)) for folder in folders]
    target = to / RUN_FILE

    def manifest_of(parts: Sequence[MergedPart]) -> dict[str, Any]:
        told = [{**part._asdict(), **one} for part, one in zip(parts, said, strict=True)]
        return {**manifest, MERGED: told}

    with _made(to):
        _refuse_full(to, sum(map(size_of, sources)))
        merge_files(sources, target, manifest_of, texts=texts, on_page=on_page)
    size = size_of(target)
    return Merged(len(folders), videos, slots, battles, slots - battles, namesakes, size)


def _said_of(run: RunReader) -> dict[str, Any]:
    """Return what a merged run says of one of its parts, besides where its slots stand."""
    stop = {"until": str(run.stop.rule)} if run.stop else {}
    return {"videos": run.store.count_videos(), **stop}


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a run so that nobody plays, tags or labels it; RunLocked if somebody does."""
    if not os.access(run_file(folder).parent, os.W_OK):
        # Nobody who is like us writes there, and no lock can be made.
        yield
        return
    lock = RunLock(lock_file(folder))
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _made(to: Path) -> Iterator[None]:
    """Make a folder in which nobody else begins a run; if the merge fails, remove what was made."""
    missing = [each for each in (to, *to.parents) if not each.exists()]
    with ExitStack() as undo:
        # The deepest is removed first.
        for folder in reversed(missing):
            undo.callback(_remove_empty, folder)
        try:
            to.mkdir(parents=True, exist_ok=True)
            for made in missing:
                # A new folder survives a power cut only once its parent is on the disk.
                sync_folder(made.parent)
        except OSError as wrong:
            reason = f"{safe(str(to))} cannot be made ({wrong.strerror}); pass another --to"
            raise BadInput(reason) from wrong
        target = real_file(to / RUN_FILE)
        lock = RunLock(lock_of(target), busy=f"{to} is being written")
        is_done = False
        try:
            yield
            is_done = True
        finally:
            lock.release(remove=not is_done)
        undo.pop_all()


def _remove_empty(folder: Path) -> None:
    """Remove a folder unless it holds something, which somebody else put there."""
    with suppress(OSError):
        folder.rmdir()


def _refuse_full(to: Path, needed_bytes: int) -> None:
    free = shutil.disk_usage(to).free
    if free < needed_bytes:
        raise StoreError(
            f"{to} has {free} bytes free, and the runs take {needed_bytes}; make room, or pass "
            f"another {option('to')}"
        )


def runs_in(slots: Slots, manifest: Mapping[str, Any]) -> list[Slots]:
    """Return the slots of each run that one was merged from, as they stood in it.

    Behind them come those that were added since. A run that was not merged is one by itself.
    Raises StoreError where the run's settings do not say where the slots of each stand.
    """
    told = manifest.get(MERGED)
    if told is None:
        return [slots]
    try:
        parts = [MergedPart(*(int(one[name]) for name in MergedPart._fields)) for one in told]
    except (KeyError, TypeError, ValueError) as wrong:
        raise StoreError(f"the run's settings cannot be read ({MERGED})") from wrong
    found = []
    ordinal = slots.columns.ordinal
    for part in parts:
        last = part.first_ordinal + part.slots
        mine = slots.where((ordinal >= part.first_ordinal) & (ordinal < last))
        # Numbered as they were: draws and waves of a part follow from its own ordinals and blocks.
        columns = mine.columns._replace(
            ordinal=mine.columns.ordinal - part.first_ordinal,
            block=mine.columns.block - part.first_block,
        )
        found.append(Slots(mine.videos, mine.kinds, columns))
    since = slots.where(ordinal >= max(part.first_ordinal + part.slots for part in parts))
    return [*found, since] if len(since) else found


def _refuse_twice(folders: Sequence[Path]) -> None:
    seen: set[Path] = set()
    for folder in folders:
        if (place := folder.resolve()) in seen:
            raise BadInput(f"{safe(str(folder))} is named twice; pass each run once")
        seen.add(place)


def _refuse_other(first: RunReader, other: RunReader) -> None:
    """Raise BadInput unless two runs differ in their videos alone."""
    here, there = (RunConfig.of_manifest(run.manifest) for run in (first, other))
    mine = here.identity()
    theirs = there.identity()
    # A run may grow in these, so they are no part of its identity; parts of one run must agree.
    mine |= {"rounds": here.rounds, "joined": here.joined}
    theirs |= {"rounds": there.rounds, "joined": there.joined}
    # The merged run has one manifest, by which all of its battles are read again.
    for name in ("prompts", "contracts", "reading", "schema"):
        mine[name], theirs[name] = first.manifest.get(name), other.manifest.get(name)
    for key, value in mine.items():
        if value != theirs.get(key):
            a = brief_setting(value)
            b = brief_setting(theirs.get(key))
            raise BadInput(
                f"{safe(str(other.folder))} is another run ({key} {b}, in "
                f"{safe(str(first.folder))} {a}); merge runs with the same settings"
            )


def _refuse_grown(run: RunReader) -> None:
    """Raise BadInput for a run with newcomers, or one that was merged itself."""
    name = safe(str(run.folder))
    if guests := RunConfig.of_manifest(run.manifest).guests:
        raise BadInput(
            f"{safe(sorted(guests)[0])} was added to {name} after play; merge runs as they were "
            "played, then arena add it to the merged one"
        )
    if run.manifest.get(MERGED):
        raise BadInput(f"{name} was merged itself; merge the runs it was made of, all at once")


def _namesakes(runs: Sequence[RunReader]) -> int:
    """Return how many paths several videos have; BadInput if a video would count twice."""
    seen: dict[str, tuple[RunReader, str]] = {}
    for run in runs:
        for video in run.store.videos():
            if video.id in seen:
                other, path = seen[video.id]
                raise BadInput(
                    f"{safe(video.path)} of {safe(str(run.folder))} is {safe(path)} of "
                    f"{safe(str(other.folder))}; play each video in one run"
                )
            seen[video.id] = (run, video.path)
    return sum(count > 1 for count in Counter(path for _, path in seen.values()).values())


def in_words(merged: Merged) -> str:
    """Return the result of a merge as one line."""
    left = f", {counted(merged.unplayed, 'slot')} never played" if merged.unplayed else ""
    same = "stands for several videos" if merged.namesakes == 1 else "stand for several videos each"
    names = f"; {counted(merged.namesakes, 'path')} {same}" if merged.namesakes else ""
    return (
        f"{counted(merged.runs, 'run')}, {counted(merged.videos, 'video')}, "
        f"{counted(merged.battles, 'battle')}{left}{names}"
    )
