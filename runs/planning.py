"""What a run has before it, found out without writing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from graph.state import generation_of, is_guest, joining_of
from memory.journal import Journal
from memory.records import Role, Slot, Video
from memory.slots import NO_SLOTS, Ids, Mask, Slots
from memory.store import Store
from runs.config import Flags, RunConfig, resolve
from runs.opening import added_videos, configured, holds_run, named_in_full
from runs.plan import SAMPLE, Plan, Work, plan_of
from runs.reading import run_file
from runs.repair import failed_slots, with_unsettled
from runs.slots import (
    Lineup,
    guests_among,
    lineages_of,
    new_slots,
    next_generation,
    superseding_slots,
)
from runs.spending import priced
from video.find import Findings, find_videos


def plan_ahead(
    folder: Path, out: Path, flags: Flags, *, retry_failed: bool = False
) -> tuple[Plan, Findings]:
    """Return what `simulate` with these flags would take, and the videos that it would be about.

    Nothing is written and nobody called.

    Raises:
        BadInput: such a run could not start.
        ForeignRun: `out` holds a run with other settings.
    """
    settings, found = resolve(named_in_full(out, flags)), find_videos(folder)
    if not holds_run(out):
        config = priced(settings.config)
        return plan_of(config, _before(config, found)), found
    with Store.open(run_file(out), write=False) as store:
        kept = RunConfig.to_go_on(store.manifest())
        newest = next_generation(store.slots())
        config = priced(configured(out, kept, settings, generation=newest))
        at_hand = {video.id for video in found.videos}
        failed = failed_slots(store, at_hand=at_hand) if retry_failed else set()
        return plan_of(config, work_left(config, store, found, failed=failed)), found


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
    left = _left(_slots(config, [*videos, *new], existing), settled)
    of_guest = guests_among(left)
    main, guests = left.where(~of_guest), left.where(of_guest)
    answered = main.where(_keep_answers(main)) + guests
    scopes = _Scopes(Lineup(answered), main.videos_of())
    return _work(main, store.journal, scopes, guests=_newcomers(config, guests))


def guests_left(config: RunConfig, store: Store, added: Sequence[Slot] = ()) -> Work:
    """Return what newcomers have left over stored answers, with slots that would be added."""
    there = Lineup(store.slots()).slots
    guests = _left(there.where(guests_among(there)) + added, store.settled_ids())
    scopes = _Scopes(Lineup(guests), set())
    work = _work(NO_SLOTS, store.journal, scopes, guests=_newcomers(config, guests))
    return replace(work, guest_videos=len(guests.videos_of()))


def _left(slots: Slots, settled: Ids) -> Slots:
    return Lineup(slots).slots.without(settled)


def _newcomers(config: RunConfig, guests: Slots) -> Counter[str]:
    names = {generation: name for name, added in config.guests.items() for generation in added}
    joined = guests.by_kind(lambda kind: joining_of(kind.suffix) if is_guest(kind.suffix) else -1)
    found: Counter[str] = Counter()
    for generation, count in zip(*np.unique(joined, return_counts=True), strict=True):
        found[names.get(int(generation), "")] += int(count)
    return found


def _keep_answers(left: Slots) -> Mask:
    """Return which slots' answers still hold: not those whose question will be another."""
    lineage, round_ = lineages_of(left), left.rounds
    first = np.full(lineage.max(initial=-1) + 1, np.iinfo(np.int32).max, dtype=np.int32)
    np.minimum.at(first, lineage, round_)
    is_again = left.are(lambda suffix: bool(generation_of(suffix)))
    keeps: Mask = ~is_again | (round_ == first[lineage])
    return keeps


@dataclass(frozen=True)
class _Scopes(Container[str]):
    """Scopes of calls: of the places of some slots, and of some videos."""

    places: Lineup
    videos: Container[str]

    def __contains__(self, scope: object) -> bool:
        is_known = isinstance(scope, str) and self.places.find(scope) is not None
        return is_known or scope in self.videos


_NO_SCOPES = _Scopes(Lineup(()), ())


def _before(config: RunConfig, found: Findings) -> Work:
    return _work(_slots(config, added_videos(config, [], found.videos), NO_SLOTS), None, _NO_SCOPES)


def _slots(config: RunConfig, videos: list[Video], existing: Slots) -> Slots:
    return existing + new_slots(videos, rounds=config.rounds, block=config.block, existing=existing)


def _work(
    left: Slots,
    journal: Journal | None,
    scopes: Container[str],
    *,
    guests: Counter[str] | None = None,
) -> Work:
    done: Counter[tuple[str, Role]] = Counter()
    for scope, alias, role in journal.each_answered() if journal else ():
        if scope in scopes:
            done[(alias, cast("Role", role))] += 1
    first = int((left.rounds == 0).sum())
    return Work(
        first=first,
        later=len(left) - first,
        videos=len(left.videos_of()),
        rows=tuple(journal.latest(SAMPLE)) if journal else (),
        done=done,
        spent_usd=journal.spent().usd if journal else 0.0,
        guests=guests or Counter(),
    )
