"""Putting together what makes calls for a run, a bench or trials, and the context of a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from videoautoarena.agents.calls.ask import Asker, CallEvent
from videoautoarena.agents.calls.batched import BatchAsker
from videoautoarena.agents.calls.clients import Load
from videoautoarena.agents.limits.outages import Outage
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.agents.roles.prompter import all_done as all_done
from videoautoarena.graph.context import Arena, TournamentRules
from videoautoarena.memory.records.errors import BatchRefused
from videoautoarena.memory.records.records import Video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.inputs.facts import Facts
from videoautoarena.runs.run.inputs.users import repeated_users
from videoautoarena.runs.run.rundir.budget import Budget
from videoautoarena.runs.run.rundir.slots import LineageLanguages, Lineup


class CallPacing(Protocol):
    """Settings of a process that may differ each time work goes on."""

    @property
    def concurrency(self) -> int:
        """Model calls under way at once."""

    @property
    def patience_s(self) -> float:
        """Seconds for which an endpoint is waited for that cannot be reached."""


class Endable(Protocol):
    """What makes the calls of some work, in this process or elsewhere."""

    @property
    def is_broke(self) -> bool:
        """Whether a cap is reached."""

    @property
    def lost(self) -> Outage | None:
        """The endpoint that was waited for in vain, if any."""


WhyEarly = Literal["hopeless", "cap", "unreachable", "interrupted"]
"""Why a process stopped: a model can do no more, a cap, a server that is gone, or somebody."""


@dataclass(kw_only=True)
class EarlyEnd:
    """Why a process stopped before everything was asked, if it did."""

    is_interrupted: bool = False
    is_capped: bool = False
    gone: Outage | None = None
    """An endpoint that was waited for in vain."""
    hopeless: str = ""
    """Why a model can do no more, if so; may hold a provider's words."""
    unread: dict[str, str] = field(default_factory=dict)
    """Model to why its batches were not taken or cannot be read, and what to do; likewise."""

    @property
    def why_early(self) -> WhyEarly | None:
        """Why the process stopped early; None if it did not."""
        # First: a higher cap or the same call again helps no model that can do no more.
        if self.hopeless:
            return "hopeless"
        if self.is_capped:
            return "cap"
        if self.gone is not None or self.unread:
            return "unreachable"
        return "interrupted" if self.is_interrupted else None

    @property
    def is_early(self) -> bool:
        """Whether the process stopped early."""
        return self.why_early is not None

    def note(self, event: object, why: str | None) -> bool:
        """Note why a model can do no more, if so; return whether this is the first such reason."""
        if not why or self.hopeless or not isinstance(event, CallEvent):
            return False
        self.hopeless = f"{event.alias}: {why}: {event.text}"
        return True

    def leave(self, refused: BatchRefused) -> None:
        """Note that work waits for a model's batches, which end no other work."""
        self.unread.setdefault(refused.model, str(refused))

    def end(self, asker: Endable, *, stopped: bool) -> None:
        """Note why the work was stopped early, if it was."""
        self.is_capped = stopped and asker.is_broke
        self.gone = asker.lost if stopped else None
        self.is_interrupted = stopped and not (self.is_capped or self.hopeless or self.gone)


T = TypeVar("T")


async def work_off(
    jobs: Iterable[T], work: Callable[[T], Awaitable[None]], *, workers: int
) -> None:
    """Do jobs in order, `workers` at a time; after an exception no further one begins."""
    left = iter(jobs)

    async def go_on() -> None:
        nonlocal left
        try:
            while (job := next(left, None)) is not None:
                await work(job)
        except BaseException:
            # The others end what they have begun, and find nothing more.
            left = iter(())
            raise

    await all_done(go_on() for _ in range(workers))


class Calling(NamedTuple):
    """What calls are made for: a store, its settings and its frames."""

    store: Store
    """The store with the journal and the caps."""
    config: RunConfig
    load: Load
    """Loads frames."""


async def no_frames(_video: str, _digests: list[str]) -> list[bytes]:
    """Raise RuntimeError: the loader of frames for calls that carry none."""
    raise RuntimeError("a call without frames asked for some")


def answered_before(store: Store, config: RunConfig) -> frozenset[str]:
    """Return the addresses of a run's models from which a reply has come by now."""
    endpoints = {config.model_of(alias).endpoint for alias in config.cast}
    return frozenset(filter(store.journal.has_answered, endpoints))


def asker_of(
    calling: Calling, budget: Budget, *, pace: CallPacing, hear: Callable[[CallEvent], None]
) -> Asker:
    """Return what makes the calls of a process, within its budget."""
    settings = _settings(calling, budget, pace, hear)
    return Asker(calling.store.journal, calling.load, **settings)


def _settings(
    calling: Calling, budget: Budget, pace: CallPacing, hear: Callable[[CallEvent], None]
) -> dict[str, Any]:
    return {
        "seed": calling.config.seed,
        "concurrency": pace.concurrency,
        "patience_s": pace.patience_s,
        "on_event": hear,
        "spend_cap": budget.spend_cap,
        "estimates": budget.estimates,
    }


def draining_asker(
    calling: Calling,
    ending: EarlyEnd,
    *,
    pace: CallPacing,
    hear: Callable[[CallEvent], str | None],
    is_batching: bool = False,
    gives_up: bool = False,
    say: Callable[[str], None] = lambda _line: None,
) -> Asker:
    """Return an asker that drains once a model can do no more, and notes why.

    `hear` takes an event, and returns why its model can do no more, if so. With `is_batching`
    calls go out in batches; those that wait in one by now are never sent in any other way, but
    with `gives_up`, where their provider knows of no such batch. `say` takes lines about batches.
    """

    def listen(event: CallEvent) -> None:
        if ending.note(event, hear(event)):
            # It is bound below: nothing is heard before the first call.
            asker.drain()

    budget = Budget.of(calling.store, calling.config)
    batches = calling.store.journal.batches
    asker: Asker
    if is_batching or batches.keys:
        asker = BatchAsker(
            calling.store.journal,
            calling.load,
            **_settings(calling, budget, pace, listen),
            batches=batches,
            is_batching=is_batching,
            gives_up=gives_up,
            say=say,
        )
    else:
        asker = asker_of(calling, budget, pace=pace, hear=listen)
    return asker


def assemble(
    config: RunConfig,
    asker: Asker,
    *,
    prompts: PromptSet,
    videos: Mapping[str, Video],
    lineup: Lineup,
    facts: Facts | None = None,
) -> partial[Arena]:
    """Return the arena of a run, which still needs its functions for frames, draws and battles."""
    is_past = asker.is_replay
    languages = LineageLanguages(config.languages, lineup.lineages, seed=config.seed)
    return partial(
        Arena,
        prompter=Prompter(asker, prompts, config.seed, lineup.generations, is_past),
        examiner=config.model_of(config.examiner),
        judges=tuple(config.model_of(alias) for alias in config.judges),
        cast={alias: config.model_of(alias) for alias in config.models},
        rules=TournamentRules(
            rounds=config.rounds,
            overall_only=config.rules.overall_only,
            share_analyses=config.rules.share_analyses,
            seats_count=config.swap == "all",
        ),
        videos=videos,
        prompts=prompts.digests,
        language=languages.of,
        current=lineup.current,
        alike=repeated_users if config.diverse else None,
        facts=facts.videos if facts else {},
        categories=facts.categories if facts else None,
    )
