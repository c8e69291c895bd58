"""The events of a run under way, who listens to them, and what is said of them at once.

A call is an `agents.calls.ask.Event`; everything else has a record below. Listeners are called in
the event loop, at once and in order, and must be quick.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.outages import Outage, ServerWait
from videoautoarena.agents.transport.redaction import redacted
from videoautoarena.memory.records.records import Battle, CallEnds, Draw, Slot
from videoautoarena.memory.records.remedies import step
from videoautoarena.memory.store.journal import NO_CALLS, CallTotals
from videoautoarena.runs.console.progress.local_state import Machines
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS, RuleReading
from videoautoarena.runs.run.rundir.call_facts import FactCount
from videoautoarena.runs.run.rundir.failures import Forfeits

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RunBegun:
    """A run is open and about to be played."""

    out: Path
    seed: int
    rounds: int
    models: tuple[str, ...]
    examiner: str
    judges: tuple[str, ...]
    videos: Mapping[str, str]
    """Id of a video to its file's name, which may hold any characters."""
    slots: Sequence[Slot]
    """Slots that count, in stored order."""
    battles: Collection[Battle]
    """Battles that were settled before; to be read while this is heard, and not to be kept."""
    played_s: float = 0.0
    """Seconds for which its process has been playing; above 0 only for a follower."""
    caps: SpendCaps = NO_CAPS
    spent: CallTotals = NO_CALLS
    """What its calls cost before, in all its processes."""
    facts: FactCount | None = None
    """Facts of its calls and answers before, to be copied; None: earlier counts stand."""


@dataclass(frozen=True, slots=True)
class VideoWatched:
    """A video's frames are requested, and decoded if they are new."""

    video: str


@dataclass(frozen=True, slots=True)
class PairDrawn:
    """The pair of a slot is drawn and written down."""

    draw: Draw


@dataclass(frozen=True, slots=True)
class BattleSettled:
    """A battle is safe on disk."""

    battle: Battle


@dataclass(frozen=True, slots=True)
class RuleRead:
    """The stopping rule was read for a wave."""

    reading: RuleReading


@dataclass(frozen=True, slots=True)
class WarningLogged:
    """A worker's process has logged a warning, or worse; for a trace alone."""

    node: str
    level: str
    logger: str
    text: str
    """The message on one line, without keys."""


@dataclass(frozen=True, slots=True)
class CallsDraining:
    """Calls under way are being finished, and nothing more is sent."""

    calls: int
    is_capped: bool = False
    """Whether a cap is reached; else somebody interrupted, or an endpoint is gone."""
    gone: str = ""
    """The address of the endpoint that was waited for in vain, if any."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """Nothing more will happen in this process."""

    interrupted: bool
    """Whether slots are left."""
    is_capped: bool = False
    """Whether it ended because a cap was reached."""
    spent: CallTotals | None = None
    """What its calls cost by the run's file; None if nobody read it."""
    gone: str = ""
    """The address of the endpoint that was waited for in vain, if any."""


RunEvent = (
    CallEvent
    | Outage
    | ServerWait
    | RunBegun
    | VideoWatched
    | PairDrawn
    | BattleSettled
    | RuleRead
    | Machines
    | WarningLogged
    | CallsDraining
    | RunEnded
)
Hear = Callable[[RunEvent], None]


@dataclass(frozen=True)
class Listeners:
    """Who listens to a run: `say` takes lines for a person, `hear` every event."""

    say: Say
    hear: Hear
    unwritten: list[str] = field(default_factory=list)
    """Lines on what could not be written to a trace."""


def all_of(*listeners: Hear) -> Hear:
    """Return a listener that passes an event on to each of these, in order."""

    def hear(event: RunEvent) -> None:
        for listener in listeners:
            listener(event)

    return hear


def nobody(_event: RunEvent) -> None:
    """Ignore an event."""


def end_of(event: CallEvent) -> CallEnds:
    """Return the ending of a finished call, for counting facts."""
    return CallEnds(
        event.alias,
        event.nonce.role,
        event.fault is None,
        (event.ending or "").lower(),
        event.fault or "",
        any(attempt.kind == TIMED_OUT for attempt in event.attempts),
        is_blind=False,
    )


TIMED_OUT = "timeout"
"""Kind of a try that took too long."""
HOPELESS = {
    "quota": "its provider's quota or credit is used up",
    "http-401": "its API key is refused",
    "http-403": "its API key is refused, or may not do this",
}
"""Faults that every later call will meet as well, to their meaning."""
KEY_REFUSED = (HOPELESS["http-401"], HOPELESS["http-403"])
_BAD_KEY = "API key not valid"
"""How Gemini says with a 400 that a key is wrong."""


class FailureAlarm:
    """Says one line the first time that a model fails for good, and whatever a server teaches.

    `count_forfeits` counts the forfeits of the whole run, and is called at the first one that is
    heard of; `accepted` is their accepted share; `key_of` returns where a model's key is from.
    """

    def __init__(
        self,
        out: Path,
        say: Say,
        count_forfeits: Callable[[], Forfeits],
        *,
        accepted: float,
        key_of: Callable[[str], str],
    ) -> None:
        self._out = str(out)
        self._say = say
        self._count_forfeits = count_forfeits
        self._accepted = accepted
        self._key_of = key_of
        self._forfeits: Forfeits | None = None
        self._named: set[str] = set()

    def count(self) -> None:
        """Count the forfeits so far, from the file: in a thread, before anything is heard."""
        self._forfeits = self._count_forfeits()

    def hear(self, event: RunEvent) -> None:
        """Say what failed, what becomes of the run and what to do, or what was learnt."""
        if isinstance(event, BattleSettled):
            self._settle(event.battle)
        if line := _what_was_learnt(event):
            self._say(line)
        if not isinstance(event, CallEvent) or event.alias in self._named:
            return
        if why := why_hopeless(event):
            self._named.add(event.alias)
            if why in KEY_REFUSED:
                why = f"{why}, {self._key_of(event.alias)}"
            line = (
                f"{event.alias} ({event.nonce.role}) fails: {why}: {event.text} - the run "
                "continues, and battles that need it end void or forfeit; Ctrl-C stops; later, "
                f"{step('resume', self._out, retry_failed=True)} repeats them and "
                "reuses paid calls"
            )
            self._say(safe(line))

    def _settle(self, battle: Battle) -> None:
        is_forfeit = battle.verdict in ("forfeit_a", "forfeit_b")
        if self._forfeits is not None:
            a = battle.model_a
            b = battle.model_b
            self._forfeits.note(a, b, battle.verdict, reason=battle.reason)
        elif is_forfeit:
            # It is written down by now, and counted with those before.
            self._forfeits = self._count_forfeits()
        if not is_forfeit or self._forfeits is None:
            return
        for faulty in self._forfeits.faulty(self._accepted):
            if faulty.model not in self._named:
                self._named.add(faulty.model)
                self._say(
                    f"{faulty.sentence(self._accepted)} - the run continues; later, "
                    f"{safe(step('resume', self._out, retry_failed=True))} repeats them"
                )


def why_hopeless(event: RunEvent) -> str | None:
    """Return why every later call of a model will fail, too, or None."""
    if not isinstance(event, CallEvent) or event.kind != "finished":
        return None
    fault = "http-401" if event.fault and _BAD_KEY in event.text else event.fault
    return HOPELESS.get(fault or "")


def pass_on(event: RunEvent, listeners: Listeners) -> str | None:
    """Pass an event on, and say what was learnt; return why its model can do no more, if so."""
    listeners.hear(event)
    if line := _what_was_learnt(event):
        listeners.say(line)
    return why_hopeless(event)


def _what_was_learnt(event: RunEvent) -> str | None:
    return safe(event.text) if isinstance(event, CallEvent) and event.kind == "learnt" else None


LEVEL = logging.WARNING
SAME_AT_MOST = 20
"""The most records from one place in the code: a library may warn at every call."""


class LogEvents(logging.Handler):
    """Passes on what a process logs from warnings up, on one line and without keys."""

    def __init__(self, node: str, hear: Hear) -> None:
        super().__init__(LEVEL)
        self._node = node
        self._hear = hear
        self._heard: dict[tuple[str, int], int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a record on, unless there were many from its place in the code."""
        place = record.pathname, record.lineno
        count = self._heard[place] = self._heard.get(place, 0) + 1
        if count > SAME_AT_MOST:
            return
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            # Message and arguments do not fit; logging itself says so elsewhere.
            text = str(record.msg)
        if record.exc_info and (error := record.exc_info[1]) is not None:
            text += f" ({type(error).__name__}: {error})"
        more = " (more of these are left out)" if count == SAME_AT_MOST else ""
        name = redacted(record.name)
        level = record.levelname.lower()
        self._hear(WarningLogged(self._node, level, name, redacted(text) + more))


def hear_logs(node: str, hear: Hear) -> LogEvents:
    """Pass on what this process logs from now on; return the handler, which can be removed."""
    handler = LogEvents(node, hear)
    logging.getLogger().addHandler(handler)
    return handler
