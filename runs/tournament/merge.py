"""Runs over different videos put into one; and the runs that a merged one was put together from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.connection import refuse_full_disk, size_of
from videoautoarena.memory.store.merging import MergedPart, OnPage, merge_files
from videoautoarena.runs.config.run_config import RunConfig
from videoautoarena.runs.facts.facts import facts_of_all, facts_text, stored_facts
from videoautoarena.runs.rundir.opener import brief_setting, holds_run
from videoautoarena.runs.rundir.reader import MERGED, RUN_FILE, Run, counted, open_run, run_file
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.users.keeping import kept_file, users_text


class Merged(NamedTuple):
    """What a merge came to."""

    runs: int
    videos: int
    slots: int
    battles: int
    unplayed: int
    """Slots that count and have no battle, in all of the runs; nobody plays them any more."""
    bytes: int


def merge_runs(
    folders: Sequence[Path], to: Path, *, on_page: OnPage = lambda _done, _total: None
) -> Merged:
    """Put runs with the same settings over different videos into a new run, whole or not at all.

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
    if holds_run(to):
        raise BadInput(f"{safe(str(to))} holds a run already; pass a new --to")
    with ExitStack() as opened:
        runs = [opened.enter_context(open_run(folder)) for folder in folders]
        for run in runs:
            _refuse_grown(run)
        for run in runs[1:]:
            _refuse_other(runs[0], run)
        _refuse_shared(runs)
        manifest = dict(runs[0].manifest)
        videos = [len(run.store.videos()) for run in runs]
        battles = sum(len(run.settled) for run in runs)
        slots = sum(len(run.slots) for run in runs)
        texts = _common_texts(runs)
    to.mkdir(parents=True, exist_ok=True)
    sources, target = [run_file(folder) for folder in folders], to / RUN_FILE
    refuse_full_disk(target, sum(map(size_of, sources)))

    def manifest_of(parts: Sequence[MergedPart]) -> dict[str, Any]:
        told = [
            {**part._asdict(), "videos": count} for part, count in zip(parts, videos, strict=True)
        ]
        return {**manifest, MERGED: told}

    merge_files(sources, target, manifest_of, texts=texts, on_page=on_page)
    return Merged(len(folders), sum(videos), slots, battles, slots - battles, size_of(target))


def _common_texts(runs: Sequence[Run]) -> dict[str, str]:
    """Return what stands in the merged run for texts that are of all videos of each run."""
    # Of users the bytes of the files are the same; by what name and of which videos, is not.
    texts = users_text(kept_file(runs[0].store))
    if stored_facts(runs[0].store) is not None:
        parts = ((run.known_facts, {video.id for video in run.store.videos()}) for run in runs)
        texts |= facts_text(facts_of_all(parts))
    return texts


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
    found, ordinal = [], slots.columns.ordinal
    for part in parts:
        last = part.first_ordinal + part.slots
        mine = slots.where((ordinal >= part.first_ordinal) & (ordinal < last))
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


def _refuse_other(first: Run, other: Run) -> None:
    """Refuse a run that is not the same one over other videos."""
    here, there = (RunConfig.of_manifest(run.manifest) for run in (first, other))
    mine, theirs = here.identity(), there.identity()
    mine |= {"rounds": here.rounds, "joined": here.joined}
    theirs |= {"rounds": there.rounds, "joined": there.joined}
    for name in ("prompts", "contracts", "schema"):
        mine[name], theirs[name] = first.manifest.get(name), other.manifest.get(name)
    # An examiner that chose from other ones was asked something else.
    mine["categories"], theirs["categories"] = _categories(first), _categories(other)
    for key, value in mine.items():
        if value != theirs.get(key):
            a, b = brief_setting(value), brief_setting(theirs.get(key))
            raise BadInput(
                f"{safe(str(other.folder))} is another run ({key} {b}, in "
                f"{safe(str(first.folder))} {a}); merge runs with the same settings"
            )


def _categories(run: Run) -> tuple[str, ...] | None:
    facts = stored_facts(run.store)
    return None if facts is None else facts.categories


def _refuse_grown(run: Run) -> None:
    """Refuse what stands in a run by the answers of that run alone."""
    name = safe(str(run.folder))
    if guests := RunConfig.of_manifest(run.manifest).guests:
        raise BadInput(
            f"{safe(sorted(guests)[0])} was added to {name} after play; merge runs as they were "
            "played, then arena add it to the merged one"
        )
    if run.manifest.get(MERGED):
        raise BadInput(f"{name} was merged itself; merge the runs it was made of, all at once")


def _refuse_shared(runs: Sequence[Run]) -> None:
    """Refuse a video that two runs were played on: it would count twice."""
    seen: dict[str, tuple[Run, str]] = {}
    for run in runs:
        for video in run.store.videos():
            if video.id in seen:
                other, path = seen[video.id]
                raise BadInput(
                    f"{safe(video.path)} of {safe(str(run.folder))} is {safe(path)} of "
                    f"{safe(str(other.folder))}; play each video in one run"
                )
            seen[video.id] = (run, video.path)


def in_words(merged: Merged) -> str:
    """Return what a merge came to, on one line."""
    left = f", {counted(merged.unplayed, 'slot')} never played" if merged.unplayed else ""
    return (
        f"{counted(merged.runs, 'run')}, {counted(merged.videos, 'video')}, "
        f"{counted(merged.battles, 'battle')}{left}"
    )
