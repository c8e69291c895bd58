"""What a run has left to play, and which battles its money is spent on first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from videoautoarena.agents.limits.budget import SpendOrder
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.prices import summed
from videoautoarena.agents.models.registry import lacks_of_keys
from videoautoarena.graph.slot_ids import base_of, generation_of, is_newcomer, joining_of
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Role, Slot, Video
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.records.slots import NO_SLOTS, Ints, Longs, Mask, Slots
from videoautoarena.memory.store.journal import Journal
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.progress.events import Say
from videoautoarena.runs.console.progress.listeners import gather_usable
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS, kept_caps, merged_caps
from videoautoarena.runs.run.inputs.facts import read_facts
from videoautoarena.runs.run.inputs.users import kept_file, seats, seats_of, with_users
from videoautoarena.runs.run.rundir.budget import cap_use, priced
from videoautoarena.runs.run.rundir.failures import failed_slots, with_unsettled
from videoautoarena.runs.run.rundir.opener import (
    OpenOptions,
    added_videos,
    allowed_as_begun,
    configured,
    holds_run,
    named_in_full,
)
from videoautoarena.runs.run.rundir.reader import problems, run_file
from videoautoarena.runs.run.rundir.slots import (
    Lineup,
    lineages_of,
    new_slots,
    newcomers_among,
    next_generation,
    numbered,
    superseding_slots,
)
from videoautoarena.runs.run.rundir.spending import NOTHING_USED
from videoautoarena.runs.tournament.past_calls import PastCalls
from videoautoarena.runs.tournament.plan import SAMPLE, Plan, RemainingWork, Whole, plan_of
from videoautoarena.runs.tournament.schedule import numbers_of_visits
from videoautoarena.video.folder.find import Findings


def plan_ahead(request: RunRequest, *, say: Say) -> tuple[Plan, Findings]:
    """Return the plan of what is asked for, and the videos that it would play.

    Nothing is written and nobody called; `say` hears of files that are no use. BadInput or
    ForeignRun where such a run could not start.
    """
    out = request.out
    folder = request.videos
    if folder is None:
        raise BadInput(f"a plan needs the folder of the videos; pass {option('videos')}")
    settings = resolve(allowed_as_begun(out, named_in_full(out, request)))
    past = PastCalls.read()
    concurrency = settings.concurrency
    typed = SpendCaps(settings.max_usd, settings.max_tokens)
    # A plan needs no key, and says which ones its run would lack.
    lacking = lacks_of_keys(settings.config.model_of(alias) for alias in settings.config.cast)
    found = gather_usable(folder, say)
    for problem in problems(found.videos):
        say(problem)
    if not holds_run(out):
        read_facts(folder, found, settings.facts)
        config, users = with_users(settings, found, folder)
        config = priced(config)
        added = added_videos(config, [], found.videos)
        slots = _slots(config, added, NO_SLOTS)
        work = replace(_work(config, slots, None, ()), whole=_whole(config, slots))
        full = sum(one.is_full for _, one in seats(users, added, seed=config.seed))
        work = replace(work, peopled=full)
        plan = plan_of(config, work, past, concurrency=concurrency, sized=True)
        caps = merged_caps(NO_CAPS, typed)
        return replace(plan, lacking=lacking, caps=caps), found
    with Store.open(run_file(out), write=False) as store:
        kept = RunConfig.to_go_on(store.manifest())
        newest = next_generation(store.slots())
        config = priced(configured(out, kept, settings, generation=newest))
        at_hand = {video.id for video in found.videos}
        failed = failed_slots(store, at_hand=at_hand) if request.retry_failed else set()
        work = work_left(config, store, found, failed=failed)
        plan = plan_of(config, work, past, concurrency=concurrency, sized=True)
        caps = merged_caps(kept_caps(store), typed)
        return replace(plan, lacking=lacking, caps=caps), found


def slots_left(config: RunConfig, store: Store, found: Findings, open_options: OpenOptions) -> int:
    """Return how many slots a run has left, with new videos, and failed ones if they are due."""
    at_hand = {video.id for video in found.videos}
    failed = failed_slots(store, at_hand=at_hand) if open_options.retry_failed else ()
    return work_left(config, store, found, failed=failed).slots


def work_left(
    config: RunConfig, store: Store, found: Findings | None = None, *, failed: Collection[str] = ()
) -> RemainingWork:
    """Return the work left in a run, with new videos and rounds, and `failed` slots again."""
    videos = store.videos()
    new = added_videos(config, videos, found.videos) if found else []
    existing = store.slots()
    settled = store.settled_ids()
    failed = with_unsettled(failed, existing, settled)
    existing += superseding_slots(failed, existing=existing)
    slots = Lineup(_slots(config, [*videos, *new], existing)).slots
    left = slots.without(settled)
    of_newcomer = newcomers_among(left)
    main = left.where(~of_newcomer)
    guests = left.where(of_newcomer)
    answered = main.where(_keep_answers(main)) + guests
    scopes = _Scopes(Lineup(answered), main.videos_of())
    work = _work(config, main, store.journal, scopes, guests=_newcomers(config, guests))
    work = replace(work, whole=_whole(config, slots))
    return replace(work, peopled=_peopled(config, store, main, new)) if config.personas else work


def _whole(config: RunConfig, slots: Slots) -> Whole:
    """Return the run of these slots as it is once played; slots played again count once."""
    # Numbers, since tuples of 750,000 slots would take memory and time.
    places = lineages_of(slots) * (1 + int(slots.rounds.max(initial=0))) + slots.rounds
    joined = _joinings(slots) + 1
    places = places * (1 + int(joined.max(initial=0))) + joined
    return Whole(len(config.models), len(np.unique(places)), len(slots.videos_of()))


def _peopled(config: RunConfig, store: Store, left: Slots, new: Sequence[Video]) -> int:
    """Return for how many videos with open slots all users were brought."""
    open_videos = left.videos_of()
    seated = {video: seats_of(store, video) for video in store.video_ids()}
    # New videos get users as they will when they are added: after all that have some.
    seated |= seats(kept_file(store), new, seed=config.seed, before=[*seated.values()])
    return sum(one.is_full for video, one in seated.items() if video in open_videos)


def newcomers_left(config: RunConfig, store: Store, added: Sequence[Slot] = ()) -> RemainingWork:
    """Return the work left over stored answers, with slots of newcomers that would be added."""
    there = Lineup(store.slots()).slots
    every = there.where(newcomers_among(there)) + added
    guests = Lineup(every).slots.without(store.settled_ids())
    scopes = _Scopes(Lineup(guests), set())
    work = _work(config, NO_SLOTS, store.journal, scopes, guests=_newcomers(config, guests))
    return replace(work, newcomer_videos=len(guests.videos_of()))


def _newcomers(config: RunConfig, guests: Slots) -> Counter[str]:
    names = {generation: name for name, added in config.guests.items() for generation in added}
    found: Counter[str] = Counter()
    for generation, count in zip(*np.unique(_joinings(guests), return_counts=True), strict=True):
        found[names.get(int(generation), "")] += int(count)
    return found


def _joinings(slots: Slots) -> Ints:
    """Return for each slot the generation whose newcomer meets a stored answer there, or -1."""
    return slots.by_kind(lambda kind: joining_of(kind.suffix) if is_newcomer(kind.suffix) else -1)


def _keep_answers(left: Slots) -> Mask:
    """Return which slots keep their answers: not those whose question will be another one."""
    lineage = lineages_of(left)
    round_ = left.rounds
    # A lineage that is played again keeps the question of its first open slot alone: each later one
    # grows out of a battle that is fought anew.
    first = np.full(lineage.max(initial=-1) + 1, np.iinfo(np.int32).max, dtype=np.int32)
    np.minimum.at(first, lineage, round_)
    is_again = left.are(lambda suffix: bool(generation_of(suffix)))
    keeps: Mask = ~is_again | (round_ == first[lineage])
    return keeps


@dataclass(frozen=True)
class _Scopes(Container[str]):
    """Scopes of the calls of some places and of some videos."""

    places: Lineup
    videos: Container[str]

    def __contains__(self, scope: object) -> bool:
        is_known = isinstance(scope, str) and self.places.find(scope) is not None
        return is_known or scope in self.videos


def _slots(config: RunConfig, videos: list[Video], existing: Slots) -> Slots:
    return existing + new_slots(videos, rounds=config.rounds, block=config.block, existing=existing)


def _work(
    config: RunConfig,
    left: Slots,
    journal: Journal | None,
    scopes: Container[str],
    guests: Counter[str] | None = None,
) -> RemainingWork:
    done: Counter[tuple[str, Role]] = Counter()
    for scope, alias, role in journal.each_answered() if journal else ():
        if scope in scopes:
            done[(alias, cast("Role", role))] += 1
    first = int((left.rounds == 0).sum())
    _, in_lineage = np.unique(lineages_of(left), return_counts=True)
    return RemainingWork(
        first=first,
        later=len(left) - first,
        videos=len(left.videos_of()),
        rows=tuple(journal.latest(SAMPLE)) if journal else (),
        done=done,
        spent_usd=journal.spent().usd if journal else 0.0,
        cap_use=cap_use(config, journal) if journal else NOTHING_USED,
        guests=guests or Counter(),
        rounds=int(in_lineage.max(initial=0)),
    )


def spend_order_of(
    config: RunConfig, store: Store, *, in_waves: bool, newcomers_only: bool = False
) -> SpendOrder:
    """Return the battles that are left: video by video as a run takes them, round by round.

    In a run that waits for waves they stand wave by wave instead, so that no battle that is begun
    waits for one behind it. What comes before a video's first question is part of the first battle
    about it. Battles over stored answers come last, or alone: nothing is put by for others then.
    """
    lineup = Lineup(store.slots())
    is_left = ~lineup.slots.among(store.settled_ids())
    if newcomers_only:
        is_left &= newcomers_among(lineup.slots)
    work = (newcomers_left if newcomers_only else work_left)(config, store)
    plan = plan_of(config, work, PastCalls.read())
    tokens = sum(line.input_tokens + line.output_tokens for line in plan.lines)
    count = max(1, int(is_left.sum()))
    return SpendOrder(
        Places(lineup, is_left, in_waves=in_waves),
        summed((plan.cost_usd or 0.0) / count, round(tokens / count)),
    )


class Places(Mapping[str, int]):
    """Scope of a call to the place of its battle in the order of spending; videos included."""

    def __init__(self, lineup: Lineup, is_left: Mask, *, in_waves: bool) -> None:
        """Take the slots that count, and a mask of those that have a place."""
        rows = np.flatnonzero(is_left)
        left = lineup.slots.where(rows)
        order = _order(left, in_waves=in_waves)
        self._lineup = lineup
        # Four bytes a slot, of which a run may have 750,000.
        self._places = np.full(len(lineup.slots), -1, dtype=np.int32)
        self._places[rows[order]] = np.arange(len(left))
        films, first = np.unique(left.columns.video[order], return_index=True)
        self._videos = {left.videos[film]: int(k) for film, k in zip(films, first, strict=True)}

    def __getitem__(self, scope: str) -> int:
        if (place := self._videos.get(scope)) is not None:
            return place
        row = self._lineup.find(scope)
        if row is None or self._places[row] < 0:
            raise KeyError(scope)
        return int(self._places[row])

    def __iter__(self) -> Iterator[str]:
        yield from self._videos
        for row in np.flatnonzero(self._places >= 0):
            yield base_of(self._lineup.slots.id(int(row)))

    def __len__(self) -> int:
        return len(self._videos) + int((self._places >= 0).sum())


def _order(left: Slots, *, in_waves: bool) -> Longs:
    """Return the rows of slots in the order in which money is spent on them."""
    of_newcomer = newcomers_among(left)
    ordinal = left.columns.ordinal
    if in_waves:
        keys = [left.generations, left.columns.block, left.rounds]
    else:
        in_turn = np.lexsort((ordinal, left.columns.block, left.generations))
        visits = np.empty(len(left), dtype=np.int32)
        visits[in_turn] = numbered(numbers_of_visits(left)[in_turn])
        keys = [visits]
    keys = [np.where(of_newcomer, 0, key) for key in keys]
    # lexsort sorts by its last key first.
    return np.lexsort((ordinal, *reversed(keys), of_newcomer))
