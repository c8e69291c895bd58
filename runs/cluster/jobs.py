"""What the head and the workers of a cluster exchange; all of it can be pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import SEEN_FRAMES
from videoautoarena.agents.limits.outages import Outage
from videoautoarena.agents.limits.scheduler import EndpointKey, LimitLoan, PlaceDemand
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.records import Battle, Video
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.shares import Share, Unit, UnitClaim
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS, kept_caps
from videoautoarena.runs.run.rundir.context import answered_before
from videoautoarena.runs.run.rundir.frames import RunFrames

LEASE_S = 15.0
"""Seconds that a worker may go on without word from the head, where nothing else is said."""


class Questions(Protocol):
    """Plays the questions of a bench on a worker; it can be pickled."""

    @property
    def preset(self) -> str | None:
        """The preset that videos are sampled with; None: the usual way."""

    @property
    def videos(self) -> Mapping[str, Video]:
        """All videos by their own ids."""

    @property
    def files(self) -> Mapping[str, Path]:
        """Id of a video to the path of its file, the same on all machines."""

    async def play(self, job: Job, store: Store, asker: Asker, frames: RunFrames) -> None:
        """Play the questions of a job to their ends."""


@dataclass(frozen=True)
class WorkerSetup:
    """What a worker is set up with, whatever it plays."""

    config: RunConfig
    prompts: PromptSet
    patience_s: float
    caps: SpendCaps = NO_CAPS
    seen: Mapping[str, float] = field(default_factory=dict)
    """`provider:model` to the most input tokens for each frame of a call so far."""
    endpoints: Mapping[str, str] = field(default_factory=dict)
    """Name of a model to the address at which the command would call it."""
    proven: frozenset[str] = frozenset()
    """Addresses that have answered in this run before."""
    has_rule: bool = False
    """Whether a rule may stop the run."""
    bench: Questions | None = None
    """What plays the questions of a bench; None where a run is played."""
    called: frozenset[str] | None = None
    """Names of the models that may be called; None: the whole cast."""


def setup_from(
    store: Store, config: RunConfig, prompts: PromptSet, *, patience_s: float
) -> WorkerSetup:
    """Return what every worker is told from a file: its caps, and what earlier calls taught."""
    endpoints = {alias: config.model_of(alias).endpoint for alias in config.cast}
    return WorkerSetup(
        config,
        prompts,
        patience_s,
        caps=kept_caps(store),
        seen=store.journal.frame_tokens(SEEN_FRAMES),
        endpoints=endpoints,
        proven=answered_before(store, config),
    )


@dataclass(frozen=True)
class Job:
    """What a worker is asked to play: one video, or a part of it."""

    unit: Unit
    path: str
    """Path of the video, the same on all machines; empty if nothing is to be decoded."""
    size_bytes: int
    generation: int = 0
    """Slots of this generation and of earlier ones are played."""
    newcomers: bool = False
    """Only slots of newcomers are played."""
    questions: tuple[tuple[str, str], ...] = ()
    """Questions of a bench, as player and qid."""
    lost: frozenset[str] = frozenset()
    """Ids of videos that no machine has: what is open about them ends void."""


class Part(NamedTuple):
    """What a run says of one video to the worker that plays it."""

    video: Video
    slots: Slots
    """All slots about it."""
    wanted: frozenset[str]
    """Ids of the slots that are to be played."""
    languages: Mapping[int, str | None]
    """Persona to the language that was drawn for it."""
    sources: Mapping[str, Battle]
    """Slot of a newcomer to the battle whose stored answer it meets."""


class Claimed(NamedTuple):
    """The right to play a unit, and what the file holds of it."""

    claim: UnitClaim
    share: Share
    part: Part | None = None
    """What a run says of the video; None in a bench, whose items hold everything."""


class Refused(NamedTuple):
    """Why a worker hands a job on."""

    node: str
    reason: str
    video: str
    """Id of the video that its machine does not have."""


class WorkerReport(NamedTuple):
    """What a worker says of itself when it asks for more time."""

    total: PlaceDemand
    places: Mapping[EndpointKey, PlaceDemand]
    calls: int
    """Calls finished so far."""
    is_broke: bool = False
    """The cap is reached."""
    lost: Outage | None = None
    """The endpoint that was waited for in vain, if any."""
    is_drained: bool = False
    boot: str = ""
    """The life of the lender whose loans it uses; tries by earlier loans stand in the file."""


class Lease(NamedTuple):
    """Permission to go on for some seconds from the moment at which it was requested."""

    seconds: float
    loan: LimitLoan
    boot: str
    """The life of the lender that gave it; loans of an earlier one have to be requested anew."""


class Grant(NamedTuple):
    """What is set aside for a call."""

    place: int
    """Place of its battle in the order of spending; lower ones go first."""
    boot: str
    """The life of the lender that has set it aside."""


class WorkerStatus(NamedTuple):
    """A worker, as the lender knows it."""

    worker: str
    node: str
    is_gone: bool
    silent_s: float
    """Seconds since it was heard of last."""
    under_way: int
    waiting: int
    calls: int


class Roll(NamedTuple):
    """All workers, and what ends the run early, if anything."""

    boot: str
    hands: tuple[WorkerStatus, ...]
    is_broke: bool
    lost: Outage | None
    drained: frozenset[str]
    """Workers that were told to send nothing more, and have nothing under way."""
