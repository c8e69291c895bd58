"""Adding a model to a run: it answers past questions and meets the answers stored there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.models.registry import check_keys
from videoautoarena.graph.slot_ids import joining_of, place_of
from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import Slot
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.simulate import Play, play_run
from videoautoarena.runs.console.progress.events import Hear, Listeners, Say
from videoautoarena.runs.console.progress.listeners import gather
from videoautoarena.runs.console.progress.live import plain_lines
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import in_full, written_as
from videoautoarena.runs.run.config.agreement import RunTrust, agreed, remember
from videoautoarena.runs.run.config.arena_file import arena_file
from videoautoarena.runs.run.config.cast import (
    OFFLINE_EXAMINER,
    OFFLINE_JUDGE,
    CastEntry,
    as_in_paper,
    contestant_of,
    scouts,
)
from videoautoarena.runs.run.config.disclosure import REPAIR, judges_notice
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.config.stopping_rule import (
    describe_caps,
    keep_caps,
    kept_caps,
    merged_caps,
)
from videoautoarena.runs.run.rundir.budget import check_caps, priced
from videoautoarena.runs.run.rundir.opener import Opened, keep_config, stored_folder, stored_prompts
from videoautoarena.runs.run.rundir.reader import counted, has_subtitles, run_file
from videoautoarena.runs.run.rundir.slots import Lineup, newcomers_among, next_generation
from videoautoarena.runs.tournament.draws import newcomer_slots, past_battles
from videoautoarena.runs.tournament.forecast import newcomers_left
from videoautoarena.runs.tournament.opening import says_what_to_play, typed_limits
from videoautoarena.runs.tournament.past_calls import PastCalls
from videoautoarena.runs.tournament.plan import Plan, plan_of
from videoautoarena.runs.tournament.runner import Engine, RunSession

BATTLES = 1500
"""How many battles a newcomer gets against stored answers by default."""


class AddRequest(RunRequest):
    """A model to add to the run in `out`, or to go on adding.

    Only those settings of a request count that are no run's own.
    """

    model: str = Field(description="New model: provider:model, or a name of the file or the run.")
    battles: int = Field(
        BATTLES,
        ge=1,
        description="Number of stored answers to meet, earlier ones included; at most as many as "
        "there are.",
    )


@dataclass(frozen=True)
class Addition:
    """What adding a model to a run would change."""

    config: RunConfig
    """Settings of the run with the newcomer."""
    slots: list[Slot]
    """The new slots."""
    had: int
    """How many slots the newcomer has from earlier additions."""
    is_short: bool
    """Whether there are fewer past battles than were requested."""

    def as_lines(self, request: AddRequest) -> Iterator[str]:
        """Yield the lines that a person is told about it."""
        who = safe(request.model)
        total = self.had + len(self.slots)
        if self.is_short:
            yield (
                f"{who}: {counted(request.battles, 'stored answer')} requested; the run "
                f"has only {counted(total, 'battle')} to draw from, each used once"
            )
        if self.had:
            more = f", {len(self.slots)} more are added" if self.slots else ""
            yield f"{who} already has {counted(self.had, 'stored answer')} to meet{more}"
        else:
            yield f"{who} meets stored answers in {counted(len(self.slots), 'battle')}"


def add(
    request: AddRequest, *, say: Say, hear: Hear | None = None, engine: Engine | None = None
) -> Play:
    """Add a model to a run, or battles that it still lacks; return what plays them, or BadInput."""
    listeners = Listeners(say, hear or plain_lines(say))
    return play_run(added(request, listeners, engine=engine))


def added(request: AddRequest, listeners: Listeners, *, engine: Engine | None = None) -> RunSession:
    """Add a model to a run, or battles that it still lacks; return it, open, or BadInput."""
    if says_what_to_play(request) or request.until is not None or request.retry_failed:
        raise WrongArgument(
            "a model is added by the settings of its run; leave out those that say how to play"
        )
    opened = _open(request, listeners.say, has_engine=engine is not None)
    limits = typed_limits(request, engine)
    return RunSession(opened, request.out, limits=limits, listeners=listeners, newcomers_only=True)


def plan_addition(request: AddRequest) -> tuple[Plan, list[str]]:
    """Return the plan for adding a model, and lines about it; nothing is written."""
    with Store.open(run_file(request.out), write=False) as store:
        request = _named_in_full(store, request)
        found = _addition(store, request)
        caps = merged_caps(kept_caps(store), _caps(request))
        check_caps(found.config, caps)
        config = priced(found.config)
        plan = plan_of(config, newcomers_left(config, store, found.slots), PastCalls.read())
        plan = replace(plan, caps=caps)
        return plan, list(found.as_lines(request))


def plan_as_json(plan: Plan, notes: list[str]) -> dict[str, Any]:
    """Return a plan in the shape of `simulate --plan --json`, with the lines about it."""
    return {**plan.to_json(), "told": notes}


def _caps(request: AddRequest) -> SpendCaps:
    return SpendCaps(request.max_usd, request.max_tokens)


def _open(request: AddRequest, say: Say, *, has_engine: bool) -> Opened:
    out = request.out
    # Opened for writing, which brings a run of an older layout up to date.
    store = Store.open(run_file(out), write=True, fsync=request.fsync)
    try:
        folder = request.videos or stored_folder(store)
        request = _named_in_full(store, request)
        found = _addition(store, request)
        stored = folder if request.videos is None else None
        # Here the newcomer and the judges alone are called; elsewhere every model of the run is set
        # up, whether it is called or not.
        judging = (request.model, *found.config.judges)
        called = tuple(found.config.cast) if has_engine else judging
        trust = RunTrust(request.config, request.trust)
        allowed = agreed(found.config, called, out=out, stored=stored, trust=trust)
        if folder is None or not folder.is_dir():
            where = "does not say where its videos are" if folder is None else "has lost its videos"
            raise BadInput(f"{safe(str(out))} {where}; pass {option('videos')}")
        caps = merged_caps(kept_caps(store), _caps(request))
        check_caps(allowed, caps)
        config = priced(allowed)
        # On a cluster the workers need the keys, and not this machine.
        if not has_engine:
            check_keys(config.model_of(alias) for alias in called)
        files = {video.id: folder / video.path for video in gather(folder, say).videos}
        keep_caps(store, caps)
        # The newcomer, then its slots: a kill between leaves nothing to be played.
        keep_config(store, config)
        store.add_slots(found.slots)
        remember(config, folder, called)
        _introduce(store, config, found, request, say=say)
        return Opened(store, config, stored_prompts(store), (), files)
    except BaseException:
        store.close()
        raise


def _addition(store: Store, request: AddRequest) -> Addition:
    kept = RunConfig.to_go_on(store.manifest())
    existing = store.slots()
    config = _with_newcomer(kept, request, generation=next_generation(existing))
    # The same request again adds only what is missing: slots from before count, and no stored
    # answer is met twice.
    added = set(config.guests[request.model])
    standing = Lineup(existing).slots
    guests = standing.where(newcomers_among(standing)).ids
    mine = [slot for slot in guests if joining_of(slot) in added]
    known = {place_of(slot) for slot in mine}
    past = past_battles(store)
    open_to = (one for one in past if place_of(one.slot.id) not in known)
    missing = max(request.battles - len(mine), 0)
    slots = newcomer_slots(
        request.model, missing, seed=config.seed, past=open_to, existing=existing
    )
    if not mine and not slots:
        raise BadInput(
            "the run has no decided battle with stored answers to meet; play it first: "
            f"{step('resume')}"
        )
    # Without new slots no new generation is written down: the run stays as it was.
    if not slots:
        config = kept
    return Addition(config, slots, len(mine), is_short=len(slots) < missing)


def _with_newcomer(kept: RunConfig, request: AddRequest, *, generation: int) -> RunConfig:
    """Return the run's settings with the newcomer; BadInput if it plays already, or may not."""
    name = request.model
    if name in kept.models and name not in kept.guests:
        raise BadInput(
            f"{safe(name)} is already a contestant of this run; more battles: go on with it and "
            f"more {option('rounds')}"
        )
    known = kept.cast.get(name) if name in kept.guests else None
    file = arena_file(request.config)
    found = contestant_of(name, file)
    # A newcomer that was added before keeps the settings it was added with.
    entry = known or (as_in_paper(found) if kept.preset == "paper" else found)
    _refuse(kept, name, entry)
    helpers = scouts({name: entry}, file) if name not in kept.guests else {}
    for alias, helper in helpers.items():
        if kept.cast.get(alias, helper).model != helper.model:
            raise BadInput(
                f"{safe(alias)} is {safe(kept.cast[alias].model)} in this run; give "
                f"{safe(helper.model)} another name"
            )
    return kept.model_copy(
        update={
            "models": kept.models if name in kept.models else (*kept.models, name),
            "joined": {**kept.joined, name: kept.joined.get(name, generation)},
            "guests": {**kept.guests, name: (*kept.guests.get(name, ()), generation)},
            # What the run has stays: of a helper of the same name only the model was compared.
            "cast": {**helpers, **kept.cast, name: entry},
            "offline": kept.offline and all(one.is_offline for one in (entry, *helpers.values())),
        }
    )


def _refuse(kept: RunConfig, name: str, entry: CastEntry) -> None:
    officials = (kept.examiner, *kept.judges)
    same = [alias for alias in officials if kept.cast[alias].model == entry.model]
    if entry.model in (OFFLINE_EXAMINER, OFFLINE_JUDGE) or same or name in officials:
        raise BadInput(f"{safe(name)} examines or judges and cannot compete; add another model")
    offline = [alias for alias in kept.judges if kept.cast[alias].is_offline]
    if offline and not entry.is_offline and not kept.offline_judge_on_real:
        raise BadInput(
            f"{safe(offline[0])} judges this run and understands offline contestants alone, not "
            f"{safe(name)}; start a run with a real {option('judge')}"
        )


def _named_in_full(store: Store, request: AddRequest) -> AddRequest:
    """Return the request with a short name of a model of the file or the run written in full."""
    cast = list(RunConfig.of_manifest(store.manifest()).cast)
    whole = in_full(request.model, [*arena_file(request.config).models, *cast])
    return request.model_copy(update={"model": written_as(whole, cast)})


def _introduce(
    store: Store, config: RunConfig, found: Addition, request: AddRequest, *, say: Say
) -> None:
    for line in found.as_lines(request):
        say(line)
    work = newcomers_left(config, store)
    if not work.slots:
        say("nothing is left to play")
        return
    # Any battle may be drawn for the audit by swapped seats, so the most is two judgings of each.
    seatings = 1 if config.swap == 0 else 2
    most = {**dict.fromkeys(config.judges, REPAIR * seatings * work.slots), **work.guests}
    notice = judges_notice(
        config,
        {name: count for name, count in most.items() if count},
        videos=work.newcomer_videos,
        has_subtitles=has_subtitles(store),
        answering=(request.model,),
    )
    for line in notice:
        say(safe(line))
    if caps := kept_caps(store):
        say(f"cap on the whole run: {describe_caps(caps)}; it stays in force until changed")
