"""What a run tells while it goes on, and who hears it: the live console, plain lines, traces.

Calls are told by `agents.ask.Event`, everything else by the records below. Whoever listens is
called in the event loop, at once and in order, and must be quick.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents.ask import Event
from agents.outages import Outage
from agents.purse import Caps
from memory.journal import NOTHING_SPENT, Spent
from memory.records import Battle, Draw, Slot
from runs.spending import NO_CAPS
from runs.until import Reading

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Begun:
    """A run is open and about to be played."""

    out: Path
    seed: int
    rounds: int
    models: tuple[str, ...]
    examiner: str
    judges: tuple[str, ...]
    videos: Mapping[str, str]
    """Video id to the file's name, which may hold anything."""
    slots: Sequence[Slot]
    """Those that count, in stored order."""
    battles: Collection[Battle]
    """Those that were settled before; to be counted or gone through when this is told, not kept."""
    played_s: float = 0.0
    """How long its process has been at it when this is told; none but a follower comes late."""
    caps: Caps = NO_CAPS
    spent: Spent = NOTHING_SPENT
    """What its calls came to before, in all its processes."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A video's frames are being looked for, and decoded where they are new."""

    video: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """It is decided and written down who meets in a slot."""

    draw: Draw


@dataclass(frozen=True, slots=True)
class Settled:
    """A battle is safe on disk."""

    battle: Battle


@dataclass(frozen=True, slots=True)
class Looked:
    """A rule that may stop the run has looked at a wave."""

    reading: Reading


@dataclass(frozen=True, slots=True)
class Draining:
    """Calls under way are being finished, nothing more is sent."""

    calls: int
    is_capped: bool = False
    """A cap is reached; else somebody interrupted, or an endpoint is gone."""
    gone: str = ""
    """The address of an endpoint that was waited for in vain."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more will happen in this process."""

    interrupted: bool
    """There are slots left."""
    is_capped: bool = False
    """Since a cap was reached."""
    spent: Spent | None = None
    """What the run's file tells that its calls came to; None where nobody asked it."""
    gone: str = ""
    """The address of an endpoint that was waited for in vain."""


Happening = Event | Outage | Begun | Watched | Drawn | Settled | Looked | Draining | Ended
Hear = Callable[[Happening], None]


@dataclass(frozen=True)
class Audience:
    """Who is told of a run: `say` takes lines for a person, `hear` every event."""

    say: Say
    hear: Hear
    unwritten: list[str] = field(default_factory=list)
    """What of it could not be written down, as it was said."""


def all_of(*listeners: Hear) -> Hear:
    """Return what passes an event on to each listener, in order."""

    def hear(event: Happening) -> None:
        for listener in listeners:
            listener(event)

    return hear


def nobody(_event: Happening) -> None:
    """Let an event pass."""
