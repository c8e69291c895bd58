"""What a run has before it, found out without writing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from graph.state import base_of, generation_of, is_guest, joining_of
from memory.journal import Journal
from memory.records import Role, Slot, Video
from memory.store import Store
from runs.config import Flags, RunConfig, resolve
from runs.opening import added_videos, configured, holds_run
from runs.plan import SAMPLE, Plan, Work, plan_of
from runs.reading import run_file
from runs.repair import failed_slots, with_unsettled
from runs.slots import Lineup, new_slots, next_generation, superseding_slots
from runs.spending import priced
from video.find import Findings, find_videos


def plan_ahead(folder: Path, out: Path, flags: Flags, *, retry_failed: bool = False) -> Plan:
    """Return what `simulate` with these flags would take; nothing is written and nobody called.

    Raises:
        BadInput: such a run could not start.
        ForeignRun: `out` holds a run with other settings.
    """
    settings, found = resolve(flags), find_videos(folder)
    if not holds_run(out):
        config = priced(settings.config)
        return plan_of(config, _before(config, found))
    with Store.open(run_file(out), write=False) as store:
        kept = RunConfig.of_manifest(store.manifest())
        newest = next_generation(store.slots())
        config = priced(configured(out, kept, settings, generation=newest))
        at_hand = {video.id for video in found.videos}
        failed = failed_slots(store, at_hand=at_hand) if retry_failed else set()
        return plan_of(config, work_left(config, store, found, failed=failed))


def work_left(
    config: RunConfig, store: Store, found: Findings | None = None, *, failed: Collection[str] = ()
) -> Work:
    """Return what a run has left, with the videos and rounds that would be added to it.

    `failed` are the slots that would be played again.
    """
    videos = store.videos()
    new = added_videos(config, videos, found.videos) if found else []
    existing, settled = store.slots(), store.settled_ids()
    failed = with_unsettled(failed, existing, settled)
    existing += superseding_slots(failed, existing=existing)
    slots = _slots(config, [*videos, *new], existing)
    left = [slot for slot in Lineup(slots).slots if slot.id not in settled]
    guests = [slot for slot in left if is_guest(slot.id)]
    main = [slot for slot in left if not is_guest(slot.id)]
    scopes = _known_scopes(main) | {slot.video for slot in main} | {base_of(s.id) for s in guests}
    return _work(main, store.journal, scopes, guests=_newcomers(config, guests))


def guests_left(config: RunConfig, store: Store, added: Sequence[Slot] = ()) -> Work:
    """Return what newcomers have left over stored answers, with slots that would be added."""
    settled = store.settled_ids()
    there = [slot for slot in Lineup(store.slots()).slots if is_guest(slot.id)]
    guests = [slot for slot in (*there, *added) if slot.id not in settled]
    scopes = {base_of(slot.id) for slot in guests}
    work = _work([], store.journal, scopes, guests=_newcomers(config, guests))
    return replace(work, guest_videos=len({slot.video for slot in guests}))


def _newcomers(config: RunConfig, guests: Iterable[Slot]) -> Counter[str]:
    names = {generation: name for name, added in config.guests.items() for generation in added}
    return Counter(names.get(joining_of(slot.id), "") for slot in guests)


def _known_scopes(left: list[Slot]) -> set[str]:
    """Return the scopes whose answers still hold: not those whose question will be another."""
    first: dict[tuple[str, int], int] = {}
    for slot in left:
        lineage = (slot.video, slot.persona)
        first[lineage] = min(slot.round, first.get(lineage, slot.round))
    return {
        base_of(slot.id)
        for slot in left
        if not generation_of(slot.id) or slot.round == first[slot.video, slot.persona]
    }


def _before(config: RunConfig, found: Findings) -> Work:
    slots = _slots(config, added_videos(config, [], found.videos), [])
    return _work(slots, None, set())


def _slots(config: RunConfig, videos: list[Video], existing: list[Slot]) -> list[Slot]:
    added = new_slots(videos, rounds=config.rounds, block=config.block, existing=existing)
    return [*existing, *added]


def _work(
    left: list[Slot],
    journal: Journal | None,
    scopes: set[str],
    *,
    guests: Counter[str] | None = None,
) -> Work:
    done: Counter[tuple[str, Role]] = Counter()
    for scope, alias, role, count in journal.counts() if journal else []:
        if scope in scopes:
            done[(alias, cast("Role", role))] += count
    first = sum(slot.round == 0 for slot in left)
    return Work(
        first=first,
        later=len(left) - first,
        videos=len({slot.video for slot in left}),
        rows=tuple(journal.latest(SAMPLE)) if journal else (),
        done=done,
        spent_usd=journal.spent().usd if journal else 0.0,
        guests=guests or Counter(),
    )
