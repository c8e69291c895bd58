"""What head and workers of a cluster hand to each other; all of it can be pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.limits.budget import SpendCaps
from videoautoarena.agents.limits.estimates import SEEN_FRAMES
from videoautoarena.agents.limits.outages import Outage
from videoautoarena.agents.limits.scheduler import EndpointKey, LimitLoan, PlaceDemand
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.records import Battle, Video
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.shares import Share, Unit, UnitClaim
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.budget import NO_CAPS, kept_caps
from videoautoarena.runs.run.rundir.frames import RunFrames

LEASE_S = 15.0
"""For how long a worker may go on without hearing from the head, unless it is told otherwise."""


class Questions(Protocol):
    """Plays the questions of a bench on a worker; it can be pickled."""

    @property
    def preset(self) -> str | None:
        """How videos are looked at, where that is not the usual way."""

    @property
    def videos(self) -> Mapping[str, Video]:
        """All videos by their own ids."""

    @property
    def files(self) -> Mapping[str, Path]:
        """Where each of them lies, on whatever machine has it."""

    async def play(self, job: Job, store: Store, asker: Asker, frames: RunFrames) -> None:
        """Play the questions of a job to their ends."""


@dataclass(frozen=True)
class WorkerSetup:
    """What a worker is to be, whatever it plays."""

    config: RunConfig
    prompts: PromptSet
    patience_s: float
    caps: SpendCaps = NO_CAPS
    seen: Mapping[str, float] = field(default_factory=dict)
    """`provider:model` to the most input tokens for each frame of a call so far."""
    endpoints: Mapping[str, str] = field(default_factory=dict)
    """Name of a model to where it is called, as the command that plays has it."""
    proven: frozenset[str] = frozenset()
    """Addresses that have answered before."""
    has_rule: bool = False
    """Whether a rule may stop the run."""
    bench: Questions | None = None
    """What plays the questions of a bench, where that is what is played."""
    called: frozenset[str] | None = None
    """Names of the models that may be called; None: the whole cast."""


def setup_from(
    store: Store, config: RunConfig, prompts: PromptSet, *, patience_s: float
) -> WorkerSetup:
    """Return what every worker is told of what a file holds: its caps, and what calls taught."""
    endpoints = {alias: config.model_of(alias).endpoint for alias in config.cast}
    return WorkerSetup(
        config,
        prompts,
        patience_s,
        caps=kept_caps(store),
        seen=store.journal.frame_tokens(SEEN_FRAMES),
        endpoints=endpoints,
        proven=frozenset(filter(store.journal.has_answered, set(endpoints.values()))),
    )


@dataclass(frozen=True)
class Job:
    """What a worker is asked to play: one video, or a part of it."""

    unit: Unit
    path: str
    """Where the video lies, on whatever machine has it; empty where nothing is to be decoded."""
    size_bytes: int
    generation: int = 0
    """Slots up to this one are played."""
    newcomers: bool = False
    """Slots of newcomers are played, and no others."""
    questions: tuple[tuple[str, str], ...] = ()
    """Of a bench: player and qid."""
    lost: frozenset[str] = frozenset()
    """Ids of videos that no machine has: what is open about them ends void."""


class Part(NamedTuple):
    """What a run says of one video, to whoever plays it."""

    video: Video
    slots: Slots
    """All that are about it."""
    wanted: frozenset[str]
    """Ids of those that are to be played."""
    languages: Mapping[int, str | None]
    """Persona to the language that was drawn for it."""
    sources: Mapping[str, Battle]
    """Slot of a newcomer to the battle whose stored answer it meets."""


class Claimed(NamedTuple):
    """The right to play a unit, and what is known of it."""

    claim: UnitClaim
    share: Share
    part: Part | None = None
    """None in a bench, whose items say it all."""


class Refused(NamedTuple):
    """Why a worker hands a job on."""

    node: str
    reason: str
    video: str
    """Id of the one that its machine does not have."""


class WorkerReport(NamedTuple):
    """What a worker says of itself when it asks for more time."""

    total: PlaceDemand
    places: Mapping[EndpointKey, PlaceDemand]
    calls: int
    """Finished so far."""
    is_broke: bool = False
    """The cap is reached."""
    lost: Outage | None = None
    """An endpoint that was waited for in vain."""
    is_drained: bool = False
    boot: str = ""
    """The life of the lender by whose leave alone it sends; earlier tries stand in the file."""


class Lease(NamedTuple):
    """Leave to go on for some seconds from when it was asked for."""

    seconds: float
    loan: LimitLoan
    boot: str
    """Which life of the lender gave it: what an earlier one lent is to be asked for anew."""


class Grant(NamedTuple):
    """What is set aside for a call."""

    place: int
    """Of the battle that it is made for; calls of the first ones go first."""
    boot: str
    """Which life of the lender has set it aside."""


class WorkerStatus(NamedTuple):
    """A worker, as the lender knows it."""

    worker: str
    node: str
    is_gone: bool
    silent_s: float
    """Since it was heard of last."""
    under_way: int
    waiting: int
    calls: int


class Roll(NamedTuple):
    """All workers, and what ends the run early if anything does."""

    boot: str
    hands: tuple[WorkerStatus, ...]
    is_broke: bool
    lost: Outage | None
    drained: frozenset[str]
    """Workers that were told to send nothing more, and have nothing under way."""
