"""How far a run is: what is settled and how, what the calls came to, what to type next."""

from __future__ import annotations

import fcntl
import os
import shlex
import struct
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from videoautoarena.agents.limits.budget import Caps
from videoautoarena.memory.records.records import (
    DECIDED,
    SCHEMA,
    TIES,
    Intent,
    Learnt,
    Lost,
    Skipped,
)
from videoautoarena.memory.store.journal import NOTHING_LOST
from videoautoarena.memory.store.store import Ending, Store
from videoautoarena.runs.console.costs import Costs, in_flight_line, possibly_paid_lines
from videoautoarena.runs.rundir.budget import NO_CAPS, describe_caps, kept_caps
from videoautoarena.runs.rundir.failures import Forfeits, Quarantined, failed_slots, quarantine
from videoautoarena.runs.rundir.reader import (
    NO_WORK,
    Work,
    counted,
    damage,
    lock_file,
    marks,
    named,
    one_line,
    open_run,
    problems,
    readable_reason,
    work_on,
)
from videoautoarena.runs.rundir.server_limits import Shortfall, kept_limits, limit_lines
from videoautoarena.runs.rundir.slots import Tally
from videoautoarena.runs.rundir.waves import NOTHING_LEFT, Outlook, look_ahead
from videoautoarena.runs.text.terminal import safe


@dataclass
class Status:
    """How far a run is."""

    folder: Path
    manifest: dict[str, Any]
    slots: int
    verdicts: Counter[str] = field(default_factory=Counter)
    void_reasons: Counter[str] = field(default_factory=Counter)
    forfeits: Forfeits = field(default_factory=Forfeits)
    costs: Costs = field(default_factory=Costs)
    caps: Caps = NO_CAPS
    lost: Lost = NOTHING_LOST
    """What tries may have cost whose process is gone, and with it their reply; in no other sum."""
    intents: list[Intent] = field(default_factory=list)
    """Those tries one by one, and the ones that are in flight now."""
    skipped: list[Skipped] = field(default_factory=list)
    quarantine: list[Quarantined] = field(default_factory=list)
    """Files that are not used and why: those skipped, and the videos that gave no frames."""
    damage: list[str] = field(default_factory=list)
    """A line for each thing that is wrong with a video or with its frames."""
    process: int | None = None
    """Id of the process that is running it now."""
    work: Work = NO_WORK
    outlook: Outlook = NOTHING_LEFT
    """What is left, and how its stopping rule was met, or how near it is."""
    learnt: tuple[Learnt, ...] = ()
    """What servers turned out to take."""
    shortfalls: list[Shortfall] = field(default_factory=list)
    """Who saw fewer frames than it was to."""
    failed: int = 0
    """Battles that ended because a call had failed, which can be played again."""

    @property
    def settled(self) -> int:
        """Return how many slots have ended, in whatever way."""
        return self.verdicts.total()

    @property
    def decided(self) -> int:
        """Return how many battles enter the ratings."""
        return sum(count for verdict, count in self.verdicts.items() if verdict in DECIDED)

    @property
    def is_stopped(self) -> bool:
        """Return whether its rule was met before all slots were played."""
        return self.outlook.is_stopped

    @property
    def next(self) -> str:
        """Return the command to type next."""
        out = shlex.quote(str(self.folder))
        if self.process is not None:
            return f"arena status {out}"
        if self.settled < self.slots and not self.is_stopped:
            return f"arena resume {out}"
        if self.failed:
            return f"arena resume {out} --retry-failed"
        return f"arena leaderboard {out}"

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena status --json`."""
        return {
            "schema": SCHEMA,
            "slots": self.slots,
            "settled": self.settled,
            "decided": self.decided,
            "verdicts": dict(sorted(self.verdicts.items())),
            "void_reasons": dict(self.void_reasons.most_common()),
            **self.forfeits.as_json(),
            **self.costs.to_json(self.settled),
            "lost": self.lost._asdict(),
            "possibly_paid": [_intent_json(intent) for intent in self._left_over],
            "in_flight": [_intent_json(intent) for intent in self._in_flight],
            "max_usd": self.caps.usd,
            "max_tokens": self.caps.tokens,
            "models": _models(self.manifest),
            "seed": self.manifest.get("seed"),
            "skipped": [one.model_dump() for one in self.skipped],
            "quarantine": [one._asdict() for one in self.quarantine],
            "damage": self.damage,
            "server_limits": [one.model_dump() for one in self.learnt],
            "frames_short": [one.as_json() for one in self.shortfalls],
            "process": self.process,
            "work": self.work.as_json(),
            "until": self.outlook.reading.as_json() if self.outlook.reading else None,
            "failed": self.failed,
            "next": self.next,
        }

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        return [
            f"{self.settled} of {self.slots} slots settled, {self.decided} decided; {self._pace()}",
            *_verdict_lines(self),
            *self._repair(),
            *([self.work.as_line()] if self.work.processes else []),
            *self.costs.as_lines(self.settled),
            *possibly_paid_lines(self.lost, self._left_over),
            *([in_flight_line(self._in_flight)] if self._in_flight else []),
            *([f"cap on the whole run: {describe_caps(self.caps)}"] if self.caps else []),
            *self._rule(),
            f"seed {safe(str(self.manifest.get('seed')))}; models: "
            + safe(", ".join(named(*pair) for pair in _models(self.manifest).items())),
            *(f"skipped {safe(one.path)}: {one_line(one.reason, 120)}" for one in self.skipped),
            *self._quarantined(),
            *self.damage,
            *limit_lines(self.learnt),
            *(one.line for one in self.shortfalls),
            *(f"note: {mark}" for mark in marks(self.manifest)),
            f"next: {safe(self.next)}",
        ]

    @property
    def _left_over(self) -> list[Intent]:
        return [intent for intent in self.intents if intent not in self._in_flight]

    @property
    def _in_flight(self) -> list[Intent]:
        if self.process is None:
            return []
        return [intent for intent in self.intents if not intent.is_left_over]

    def _repair(self) -> list[str]:
        if not self.failed:
            return []
        out = safe(shlex.quote(str(self.folder)))
        return [
            f"{counted(self.failed, 'battle')} failed because of a call; to repeat: "
            f"arena resume {out} --retry-failed"
        ]

    def _quarantined(self) -> list[str]:
        lost = [one for one in self.quarantine if one.when == "decoded"]
        lines = [f"no frames of {safe(one.path)}: {one_line(one.reason, 120)}" for one in lost]
        if not lost:
            return []
        out = safe(shlex.quote(str(self.folder)))
        return [*lines, f"  to try again: arena resume {out} --retry-failed"]

    def _rule(self) -> list[str]:
        rule, reading = self.outlook.rule, self.outlook.reading
        if rule is None:
            return []
        if reading is None:
            return [f"--until {rule} cannot be evaluated yet: no wave is settled"]
        is_met = "is met" if reading.is_met else "is not met"
        lines = [f"--until {rule} {is_met}: {reading.where}"]
        if self.is_stopped:
            out = safe(shlex.quote(str(self.folder)))
            lines += [rule.promise]
            lines += [f"to play the rest: arena resume {out} --until rounds"]
        return lines

    def _pace(self) -> str:
        if self.process is not None:
            return f"process {self.process} is running it"
        if self.is_stopped:
            return "stopped by --until"
        return "finished" if self.settled >= self.slots else "stopped; no process is running it"


def status_of(folder: Path) -> Status:
    """Return how far the run in `folder` is."""
    with open_run(folder) as run:
        tally = Tally.of(run.store)
        status = Status(folder, run.manifest, tally.slots, skipped=run.store.skipped())
        for ending in run.store.each_ending():
            if ending.id not in tally.superseded:
                _count(status, run.store, ending)
        for row in run.store.journal.each_call():
            status.costs.add(row)
        status.caps = kept_caps(run.store)
        status.outlook = look_ahead(run.store)
        status.failed = len(failed_slots(run.store))
        status.work = work_on(run.store, status.costs.total.calls - status.costs.trials.calls)
        status.damage = [*problems(run.store), *damage(run.store)]
        status.learnt, status.shortfalls = kept_limits(run.store), run.shortfalls
        status.quarantine = quarantine(run.store)
        status.process = holder(lock_file(folder))
        status.intents = run.store.journal.intents()
        is_running = status.process is not None
        status.lost = run.store.journal.lost(besides="offline:*", in_flight=not is_running)
    return status


def _intent_json(intent: Intent) -> dict[str, Any]:
    nonce = intent.nonce
    return {
        "key": intent.key,
        "scope": nonce.scope,
        "role": nonce.role,
        "model": intent.model,
        "attempt": intent.attempt,
        "usd": intent.usd,
        "tokens": intent.tokens,
    }


def _count(status: Status, store: Store, ending: Ending) -> None:
    """Count a battle, which is read whole only where it has no answers to be judged by."""
    verdict, reason = ending.verdict, None
    if verdict is None or verdict not in DECIDED:
        battle = store.battle(ending.id)
        if battle is None:
            return
        verdict, reason = battle.verdict, battle.reason
        if verdict == "void":
            status.void_reasons[readable_reason(reason or "no reason recorded")] += 1
    status.verdicts[verdict] += 1
    status.forfeits.note(ending.model_a, ending.model_b, verdict, reason=reason)


def _models(manifest: dict[str, Any]) -> dict[str, str]:
    cast = manifest.get("cast") or {}
    return {alias: cast.get(alias, {}).get("model", "?") for alias in manifest.get("models") or []}


def _verdict_lines(status: Status) -> list[str]:
    won = sum(status.verdicts[verdict] for verdict in ("a", "b"))
    ties = sum(status.verdicts[verdict] for verdict in TIES)
    void, forfeits = status.verdicts["void"], sum(status.forfeits.counts.values())
    reasons = [
        f"  void, {count}: {one_line(reason, 120)}"
        for reason, count in status.void_reasons.most_common()
    ]
    kinds = f"won {won}, ties {ties}, void {void}, forfeits {forfeits}"
    return [kinds, *reasons, *status.forfeits.as_lines()]


def holder(lock: Path) -> int | None:
    """Return the id of the process that holds the lock of a run; None when nobody does.

    Only asks: taking the lock, however shortly, could refuse a run that is just starting. Not for
    the holder itself, which would lose its lock when the file is closed here.
    """
    try:
        file = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        answer = fcntl.fcntl(file, fcntl.F_GETLK, _asked_lock())
    finally:
        os.close(file)
    return _holder_in(answer)


_MAC = sys.platform == "darwin"
_FLOCK = "qqihh" if _MAC else "hhqqi4x"
"""struct flock: start, length, pid, type, whence on macOS; else type first, pid last."""


def _asked_lock() -> bytes:
    fields = (0, 0, 0, fcntl.F_WRLCK, 0) if _MAC else (fcntl.F_WRLCK, 0, 0, 0, 0)
    return struct.pack(_FLOCK, *fields)


def _holder_in(answer: bytes) -> int | None:
    fields = struct.unpack(_FLOCK, answer)
    kind, pid = (fields[3], fields[2]) if _MAC else (fields[0], fields[4])
    return None if kind == fcntl.F_UNLCK else pid
