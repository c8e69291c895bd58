"""What head and workers of a cluster hand to each other; all of it can be pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from videoautoarena.agents.limits.budget import Caps
from videoautoarena.agents.limits.outages import Outage
from videoautoarena.agents.limits.scheduler import Loan, Place, Wants
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.records import Battle, Video
from videoautoarena.memory.records.slots import Slots
from videoautoarena.memory.store.forwarding import Claim
from videoautoarena.memory.store.shares import Share, Unit
from videoautoarena.runs.config.run_config import RunConfig
from videoautoarena.runs.rundir.budget import NO_CAPS

LEASE_S = 15.0
"""For how long a worker may go on without hearing from the head, unless it is told otherwise."""


@dataclass(frozen=True)
class Setup:
    """What a worker is to be, whatever it plays."""

    config: RunConfig
    prompts: PromptSet
    patience_s: float
    caps: Caps = NO_CAPS
    seen: Mapping[str, float] = field(default_factory=dict)
    """`provider:model` to the most input tokens for each frame of a call so far."""
    proven: frozenset[str] = frozenset()
    """Addresses that have answered before."""
    has_rule: bool = False
    """Whether a rule may stop the run."""
    bench: Any = None
    """What plays the questions of a bench, where that is what is played."""


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
    is_lost: bool = False
    """No machine has the video: what is open about it ends void."""


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

    claim: Claim
    share: Share
    part: Part | None = None
    """None in a bench, whose items say it all."""


class Refused(NamedTuple):
    """Why a worker hands a job on."""

    node: str
    reason: str


class Report(NamedTuple):
    """What a worker says of itself when it asks for more time."""

    total: Wants
    places: Mapping[Place, Wants]
    calls: int
    """Finished so far."""
    is_broke: bool = False
    """The cap is reached."""
    lost: Outage | None = None
    """An endpoint that was waited for in vain."""
    is_drained: bool = False


class Lease(NamedTuple):
    """Leave to go on for some seconds from when it was asked for."""

    seconds: float
    loan: Loan
    boot: str
    """Which life of the lender gave it: what an earlier one lent is to be asked for anew."""


class Hand(NamedTuple):
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
    hands: tuple[Hand, ...]
    is_broke: bool
    lost: Outage | None
    drained: frozenset[str]
    """Workers that were told to send nothing more, and have nothing under way."""
