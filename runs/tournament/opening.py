"""Beginning a run by what is asked for, or opening the one that is there, to be played."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.models.registry import check_keys
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Sampling
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.progress.events import Listeners, Say
from videoautoarena.runs.console.progress.listeners import gather_usable
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.agreement import RunTrust, agreed, remember
from videoautoarena.runs.run.config.disclosure import remote_notice
from videoautoarena.runs.run.config.run_config import (
    RunConfig,
    RunSettings,
    about_sampling,
    refuse_missing,
    resolve,
)
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.config.stopping_rule import (
    NO_CAPS,
    describe_caps,
    kept_caps,
    kept_rule,
    merged_caps,
)
from videoautoarena.runs.run.inputs.facts import Facts, read_facts, stored_facts, summary
from videoautoarena.runs.run.inputs.users import with_users
from videoautoarena.runs.run.rundir.budget import cap_use, check_caps
from videoautoarena.runs.run.rundir.call_facts import declared_lines, kept_limits, limit_lines
from videoautoarena.runs.run.rundir.opener import (
    Opened,
    OpenOptions,
    allowed_as_begun,
    begin,
    go_on,
    holds_run,
    named_in_full,
    refuse_merged,
    stored_folder,
)
from videoautoarena.runs.run.rundir.reader import (
    RunReader,
    blind_lines,
    counted,
    has_subtitles,
    problems,
    run_file,
)
from videoautoarena.runs.run.rundir.slots import Lineup
from videoautoarena.runs.tournament.forecast import slots_left, work_left
from videoautoarena.runs.tournament.past_calls import PastCalls
from videoautoarena.runs.tournament.plan import Plan, most_calls, plan_of
from videoautoarena.runs.tournament.plan_text import cap_notice, money_notice
from videoautoarena.runs.tournament.runner import (
    Engine,
    Limits,
    RunSession,
)
from videoautoarena.video.folder.find import Findings


def session_of(
    request: RunRequest,
    listeners: Listeners,
    *,
    found: Findings | None = None,
    engine: Engine | None = None,
    shares_loop: bool = False,
) -> RunSession:
    """Begin what is asked for, or go on with the run that is there; return it, open."""
    out = request.out
    flags = allowed_as_begun(out, named_in_full(out, request))
    settings = resolve(flags)
    limits = Limits(
        settings.concurrency, settings.max_void, patience_s=settings.patience_s, engine=engine
    )
    asked_caps = SpendCaps(settings.max_usd, settings.max_tokens)
    open_options = OpenOptions(
        retry_failed=request.retry_failed,
        fsync=request.fsync,
        caps=asked_caps,
        until=settings.until,
        found=found,
        facts_file=settings.facts,
        trust=RunTrust(request.config, request.trust),
    )
    videos = request.videos
    # Whoever asks for other rounds or models is answered as with the folder: not by silence.
    if videos is None and says_what_to_play(request):
        videos = _own_folder(out, open_options.trust)
    if videos is None:
        return _gone_on_with(
            request, limits, open_options, listeners=listeners, shares_loop=shares_loop
        )
    run = _open(videos, out, settings, listeners.say, open_options, engine=engine)
    return RunSession(
        run, out, limits=limits, listeners=listeners, request=request, shares_loop=shares_loop
    )


_OF_A_PROCESS = {
    *("videos", "out", "config", "max_usd", "max_tokens", "until", "max_void", "concurrency"),
    *("patience", "retry_failed", "fsync", "trust", "freeze"),
}
"""Settings of a request that a run takes whenever it is gone on with."""


def says_what_to_play(request: RunRequest) -> bool:
    """Return whether a request gives a setting that is a run's own."""
    fields = RunRequest.model_fields.items()
    given = (name for name, field in fields if getattr(request, name) != field.default)
    return any(name not in _OF_A_PROCESS for name in given)


def _own_folder(out: Path, trust: RunTrust) -> Path:
    """Return where the videos of the run in `out` are; BadInput where that is not agreed to."""
    with Store.open(run_file(out), write=False) as store:
        config = RunConfig.to_go_on(store.manifest())
        folder = _stored_or_refused(store, out)
    agreed(config, config.cast, out=out, stored=folder, trust=trust)
    _refuse_gone(folder, out)
    return folder


def _stored_or_refused(store: Store, out: Path) -> Path:
    folder = stored_folder(store)
    if folder is None:
        raise BadInput(f"{out} does not say where its videos are; pass {option('videos')}")
    return folder


def _refuse_gone(folder: Path, out: Path) -> None:
    if not folder.is_dir():
        raise BadInput(
            f"the videos of {out} were in {folder}, which is gone; pass {option('videos')}"
        )


def _open(
    videos: Path,
    out: Path,
    settings: RunSettings,
    say: Say,
    open_options: OpenOptions,
    *,
    engine: Engine | None,
) -> Opened:
    prompts = PromptSet.load(settings.prompts, paper=settings.config.preset == "paper")
    exists = holds_run(out)
    # On a cluster the workers need the keys, and not this machine.
    if engine is None:
        check_keys(settings.config.model_of(alias) for alias in settings.config.cast)
    refuse_missing(settings.config.sampling)
    with ExitStack() as undo:
        store = undo.enter_context(_reopened(out, open_options)) if exists else None
        caps = open_options.caps or NO_CAPS
        caps = merged_caps(kept_caps(store) if store else NO_CAPS, caps)
        check_caps(settings.config, caps)
        found = gather_usable(videos, say, open_options.found)
        facts = _facts(videos, found, store, asked=settings.facts, say=say)
        open_options = replace(open_options, caps=caps, facts=facts)
        # Here, where Ctrl-C works at once, and not in the event loop that plays.
        _load_graph()
        if store:
            begun = RunConfig.to_go_on(store.manifest())
            # Who met stored answers since need not be named, so that only the file knows them.
            unnamed = [name for name in begun.guests if name not in settings.config.cast]
            begun = agreed(begun, unnamed, out=out, trust=open_options.trust)
            run = RunReader(out, store)
            ready = go_on(
                run,
                begun,
                settings,
                prompts=prompts,
                found=found,
                folder=videos,
                open_options=open_options,
            )
        else:
            config, users = with_users(settings, found, videos)
            ready = begin(
                out,
                config,
                prompts=prompts,
                found=found,
                folder=videos,
                open_options=open_options,
                users=users,
            )
            undo.enter_context(ready.store)
        remember(ready.config, videos)
        introduce(ready, out, say=say, assumed_cast=settings.assumed_cast, exists=exists)
        # From here on whatever plays the run closes its file.
        undo.pop_all()
    return ready


def typed_limits(request: RunRequest, engine: Engine | None) -> Limits:
    """Return the limits of a process as they are asked for, whatever a configuration file says."""
    usual = Limits()
    return Limits(
        usual.concurrency if request.concurrency is None else request.concurrency,
        usual.max_void if request.max_void is None else request.max_void,
        patience_s=usual.patience_s if request.patience is None else 60 * request.patience,
        engine=engine,
    )


def session_again(
    request: RunRequest, listeners: Listeners, *, engine: Engine | None = None
) -> RunSession:
    """Open the run that is there to go on with its own settings; return it, open.

    No configuration file says how: of the request counts what is typed alone.
    """
    open_options = OpenOptions(
        retry_failed=request.retry_failed,
        fsync=request.fsync,
        caps=SpendCaps(request.max_usd, request.max_tokens),
        until=request.until,
        trust=RunTrust(request.config, request.trust),
    )
    limits = typed_limits(request, engine)
    return _gone_on_with(request, limits, open_options, listeners=listeners)


def _gone_on_with(
    request: RunRequest,
    limits: Limits,
    open_options: OpenOptions,
    *,
    listeners: Listeners,
    shares_loop: bool = False,
) -> RunSession:
    """Open the run that is there with its own settings; its videos may have moved."""
    out = request.out
    videos = request.videos
    with ExitStack() as undo:
        store = undo.enter_context(_reopened(out, open_options))
        refuse_merged(out, store.manifest())
        config = RunConfig.to_go_on(store.manifest())
        folder = videos or _stored_or_refused(store, out)
        stored = folder if videos is None else None
        config = agreed(config, config.cast, out=out, stored=stored, trust=open_options.trust)
        # Only now, since the name of the folder may be anybody's and nobody looks there unasked.
        if videos is None:
            _refuse_gone(folder, out)
        caps = merged_caps(kept_caps(store), open_options.caps or NO_CAPS)
        open_options = replace(open_options, caps=caps)
        refuse_missing(config.sampling)
        check_caps(config, caps)
        found = gather_usable(folder, listeners.say)
        # A run of which nothing is left calls nobody, and needs no key to say so.
        if limits.engine is None and slots_left(config, store, found, open_options):
            check_keys(config.model_of(alias) for alias in config.cast)
        _load_graph()
        run = go_on(
            RunReader(out, store),
            config,
            None,
            prompts=None,
            found=found,
            folder=folder,
            open_options=open_options,
        )
        remember(run.config, folder)
        introduce(run, out, say=listeners.say, assumed_cast=False, exists=True)
        undo.pop_all()
    return RunSession(
        run, out, limits=limits, listeners=listeners, request=request, shares_loop=shares_loop
    )


def _facts(
    folder: Path, found: Findings, store: Store | None, *, asked: str | None, say: Say
) -> Facts | None:
    """Return what a file says of the videos; None if a run goes on without new ones."""
    known = set(store.video_ids()) if store else set()
    if store and (stored_facts(store) is None or all(one.id in known for one in found.videos)):
        return None
    facts = read_facts(folder, found, asked)
    if facts.sha256 is not None and store is None:
        say(summary(facts))
    return facts


def _reopened(out: Path, open_options: OpenOptions) -> Store:
    """Open the run that is there for writing, which updates one of an older layout."""
    return Store.open(run_file(out), write=True, fsync=open_options.fsync)


def _load_graph() -> None:
    """Import LangGraph, which takes about a second."""
    import videoautoarena.graph.arena  # noqa: F401


def introduce(run: Opened, out: Path, *, say: Say, assumed_cast: bool, exists: bool) -> None:
    """Say what will be done, and what leaves the machine."""
    config = run.config
    slots = Lineup(run.store.slots()).slots
    open_slots = slots.without(run.store.settled_ids())
    if assumed_cast:
        say("no models were named: the offline cast plays, stand-ins for real models;")
        say(f"name real ones with {option('models')}, as provider:model")
    verb = "continuing" if exists else "starting"
    say(
        f"{verb} {safe(str(out))}: {counted(run.store.count_videos(), 'video')}, "
        f"{counted(config.rounds, 'round')}, {len(config.models)} models, seed {config.seed}; "
        f"{len(open_slots)} of {len(slots)} battles left"
    )
    for note in run.notes:
        say(note)
    if not open_slots:
        return
    for line in blind_lines(config.blind_referees):
        say(line)
    if config.sampling != Sampling():
        say(about_sampling(config.sampling))
    for problem in problems(run.store.problem_videos()):
        say(problem)
    if rule := kept_rule(run.store).rule:
        say(f"may stop early: {option('until', str(rule))}; it stays in force until changed")
    for line in (*declared_lines(config), *limit_lines(kept_limits(run.store))):
        say(line)
    plan = plan_of(config, work_left(config, run.store), PastCalls.read())
    for line in remote_notice(
        config,
        partial(most_calls, plan),
        videos=len(open_slots.videos_of()),
        has_subtitles=has_subtitles(run.store),
    ):
        say(safe(line))
    for line in _money_lines(run, None if config.offline else plan):
        say(line)


def _money_lines(run: Opened, plan: Plan | None) -> Iterator[str]:
    """Yield what a run says of costs and caps before its first call."""
    caps = kept_caps(run.store)
    if plan is not None:
        yield from money_notice(plan)
    if caps:
        yield f"cap on the whole run: {describe_caps(caps)}; it stays in force until changed"
    if caps and plan is not None:
        yield from cap_notice(plan, caps, cap_use(run.config, run.store.journal))
