"""How far a run is: what is settled and how, what the calls came to, what to type next."""

from __future__ import annotations

import fcntl
import os
import shlex
import struct
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.agents.limits.budget import Caps
from videoautoarena.memory.records import records
from videoautoarena.memory.records.records import DECIDED, SCHEMA, TIES, Intent
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.costs import Costs, in_flight_line, possibly_paid_lines
from videoautoarena.runs.console.machines import (
    Kept,
    kept_machines,
    machine_lines,
    machines_json,
    past_line,
)
from videoautoarena.runs.console.waiting import Waiting, waiting_now
from videoautoarena.runs.rundir import reader
from videoautoarena.runs.rundir.budget import describe_caps, kept_caps
from videoautoarena.runs.rundir.call_facts import CallFact, fact_lines
from videoautoarena.runs.rundir.failures import Forfeits, Quarantined, failed_slots, quarantine
from videoautoarena.runs.rundir.reader import counted, one_line, shortened
from videoautoarena.runs.rundir.server_limits import Shortfall, kept_limits, limit_lines
from videoautoarena.runs.rundir.slots import Tally
from videoautoarena.runs.rundir.waves import Outlook, look_ahead
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.users.summary import Users, users_of

_MAC = sys.platform == "darwin"
_FLOCK = "qqihh" if _MAC else "hhqqi4x"
"""struct flock: start, length, pid, type, whence on macOS; else type first, pid last."""


class Endings(NamedTuple):
    """How the battles that count ended."""

    verdicts: Counter[str]
    void_reasons: Counter[str]
    forfeits: Forfeits

    @classmethod
    def of(cls, store: Store, tally: Tally) -> Endings:
        """Count a run's; a battle is read whole only where it has no answers to be judged by."""
        verdicts, void_reasons, forfeits = Counter[str](), Counter[str](), Forfeits()
        for ending in store.each_ending():
            if ending.id in tally.superseded:
                continue
            verdict, reason = ending.verdict, None
            if verdict is None or verdict not in DECIDED:
                battle = store.battle(ending.id)
                if battle is None:
                    continue
                verdict, reason = battle.verdict, battle.reason
                if verdict == "void":
                    void_reasons[reader.readable_reason(reason or "no reason recorded")] += 1
            verdicts[verdict] += 1
            forfeits.note(ending.model_a, ending.model_b, verdict, reason=reason)
        return cls(verdicts, void_reasons, forfeits)

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        won, ties = (sum(self.verdicts[v] for v in kinds) for kinds in (("a", "b"), TIES))
        void, forfeits = self.verdicts["void"], sum(self.forfeits.counts.values())
        reasons = [
            f"  void, {count}: {shortened(reason, 120)}"
            for reason, count in self.void_reasons.most_common()
        ]
        kinds = f"won {won}, ties {ties}, void {void}, forfeits {forfeits}"
        return [kinds, *reasons, *self.forfeits.as_lines()]


@dataclass(frozen=True)
class Status:
    """How far a run is."""

    folder: Path
    manifest: dict[str, Any]
    slots: int
    skipped: list[records.Skipped]
    endings: Endings
    costs: Costs
    caps: Caps
    outlook: Outlook
    """What is left, and how its stopping rule was met, or how near it is."""
    failed: int
    """Battles that ended because a call had failed, which can be played again."""
    work: reader.Work
    damage: list[str]
    """A line for each thing that is wrong with a video or with its frames."""
    learnt: tuple[records.Learnt, ...]
    """What servers turned out to take."""
    shortfalls: list[Shortfall]
    """Who saw fewer frames than it was to."""
    quarantine: list[Quarantined]
    """Files that are not used and why: those skipped, and the videos that gave no frames."""
    users: Users
    """Where the users come from."""
    waiting: list[Waiting]
    """The servers at which its process waits now."""
    facts: list[CallFact]
    """What is so of the calls of its models."""
    process: int | None
    """Id of the process that is running it now."""
    intents: list[Intent]
    """Attempts without a reply: those that a process left behind, and those in flight now."""
    lost: records.Lost
    """What the former may have cost; in no other sum."""
    nodes: Kept | None = None
    """The machines of the cluster that played it last."""

    @property
    def settled(self) -> int:
        """Return how many slots have ended, in whatever way."""
        return self.endings.verdicts.total()

    @property
    def decided(self) -> int:
        """Return how many battles enter the ratings."""
        return sum(n for verdict, n in self.endings.verdicts.items() if verdict in DECIDED)

    @property
    def is_stopped(self) -> bool:
        """Return whether its rule was met before all slots were played."""
        return self.outlook.is_stopped

    @property
    def is_merged(self) -> bool:
        """Return whether it was put together from other runs, and ends with them."""
        return bool(self.manifest.get(reader.MERGED))

    @property
    def next(self) -> str:
        """Return the command to type next."""
        out = self._out
        if self.process is not None:
            return f"arena status {out}"
        if self.is_merged:
            # It is not played on, whatever is left of it.
            return f"arena leaderboard {out}"
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
            "verdicts": dict(sorted(self.endings.verdicts.items())),
            "void_reasons": dict(self.endings.void_reasons.most_common()),
            **self.endings.forfeits.as_json(),
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
            "facts": [one.to_json() for one in self.facts],
            "waiting": [one.to_json() for one in self.waiting],
            "users": self.users.to_json(),
            "process": self.process,
            "cluster": self._cluster_json(),
            "work": self.work.as_json(),
            "until": self.outlook.reading.as_json() if self.outlook.reading else None,
            "failed": self.failed,
            "next": self.next,
        }

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        settled = f"{self.settled} of {self.slots} slots settled"
        return [
            f"{settled}, {self.decided} decided; {self._state()}",
            *self._machine_lines(),
            *(one.line() for one in self.waiting),
            *self.endings.as_lines(),
            *self._repair(),
            *([self.work.as_line()] if self.work.processes else []),
            *self.costs.as_lines(self.settled),
            *possibly_paid_lines(self.lost, self._left_over),
            *([in_flight_line(self._in_flight)] if self._in_flight else []),
            *([f"cap on the whole run: {describe_caps(self.caps)}"] if self.caps else []),
            *self._rule(),
            f"seed {safe(str(self.manifest.get('seed')))}; models: "
            + safe(", ".join(reader.named(*pair) for pair in _models(self.manifest).items())),
            *self.users.as_lines(),
            *(f"skipped {safe(one.path)}: {one_line(one.reason, 120)}" for one in self.skipped),
            *self._quarantined(),
            *self.damage,
            *limit_lines(self.learnt),
            *(one.line for one in self.shortfalls),
            *fact_lines(self.facts),
            *(f"note: {mark}" for mark in reader.marks(self.manifest)),
            f"next: {safe(self.next)}",
        ]

    @property
    def _out(self) -> str:
        return shlex.quote(str(self.folder))

    @property
    def _left_over(self) -> list[Intent]:
        return [intent for intent in self.intents if intent not in self._in_flight]

    @property
    def _in_flight(self) -> list[Intent]:
        if self.process is None:
            return []
        return [intent for intent in self.intents if not intent.is_left_over]

    @property
    def _is_on_cluster(self) -> bool:
        return self.nodes is not None and self.nodes.process == self.process

    def _cluster_json(self) -> dict[str, Any] | None:
        if self.nodes is None:
            return None
        return {"is_playing": self._is_on_cluster, **machines_json(self.nodes.machines)}

    def _machine_lines(self) -> list[str]:
        # What a cluster did before is of no matter while this machine alone plays it.
        if self.nodes is None or not self.nodes.machines.machines:
            return []
        if self._is_on_cluster:
            return machine_lines(self.nodes.machines)
        return [past_line(self.nodes.machines)] if self.process is None else []

    def _repair(self) -> list[str]:
        if not self.failed:
            return []
        failed = f"{counted(self.failed, 'battle')} failed because of a call"
        if self.is_merged:
            return [failed]
        return [f"{failed}; to repeat: arena resume {safe(self._out)} --retry-failed"]

    def _quarantined(self) -> list[str]:
        lost = [one for one in self.quarantine if one.when == "decoded"]
        lines = [f"no frames of {safe(one.path)}: {one_line(one.reason, 120)}" for one in lost]
        again = f"  to try again: arena resume {safe(self._out)} --retry-failed"
        return [*lines, again] if lost and not self.is_merged else lines

    def _rule(self) -> list[str]:
        rule, reading = self.outlook.rule, self.outlook.reading
        if rule is None:
            return []
        if reading is None:
            return [f"--until {rule} cannot be evaluated yet: no wave is settled"]
        is_met = "is met" if reading.is_met else "is not met"
        lines = [f"--until {rule} {is_met}: {reading.where}"]
        if self.is_stopped:
            again = f"to play the rest: arena resume {safe(self._out)} --until rounds"
            lines += [rule.promise, again]
        return lines

    def _state(self) -> str:
        if self.process is not None:
            return f"process {self.process} is running it"
        if self.is_stopped:
            return "stopped by --until"
        if self.is_merged:
            return f"merged from {len(self.manifest[reader.MERGED])} runs"
        return "finished" if self.settled >= self.slots else "stopped; no process is running it"


def status_of(folder: Path) -> Status:
    """Return how far the run in `folder` is."""
    with reader.open_run(folder) as run:
        store, journal, costs = run.store, run.store.journal, Costs()
        tally = Tally.of(store)
        endings = Endings.of(store, tally)
        for call in journal.each_taken():
            costs.add(call)
        process = holder(reader.lock_file(folder))
        return Status(
            folder=folder,
            manifest=run.manifest,
            slots=tally.slots,
            skipped=store.skipped(),
            endings=endings,
            costs=costs,
            caps=kept_caps(store),
            outlook=look_ahead(store),
            failed=len(failed_slots(store)),
            work=reader.work_on(store, costs.total.calls - sum(one.calls for one in costs.beside)),
            damage=[*reader.problems(store.videos()), *reader.damage(store)],
            learnt=kept_limits(store),
            shortfalls=run.shortfalls,
            quarantine=quarantine(store),
            waiting=waiting_now(store, process),
            facts=[one for one in run.call_facts if "status" in one.fact.surfaces],
            users=users_of(store, looks=run.manifest.get("diverse") is True),
            process=process,
            intents=journal.intents(),
            lost=journal.lost(besides="offline:*", in_flight=process is None),
            nodes=kept_machines(store),
        )


def _intent_json(intent: Intent) -> dict[str, Any]:
    return {
        "key": intent.key,
        "scope": intent.nonce.scope,
        "role": intent.nonce.role,
        "model": intent.model,
        "attempt": intent.attempt,
        "usd": intent.usd,
        "tokens": intent.tokens,
    }


def _models(manifest: dict[str, Any]) -> dict[str, str]:
    cast = manifest.get("cast") or {}
    return {alias: cast.get(alias, {}).get("model", "?") for alias in manifest.get("models") or []}


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
        fields = (0, 0, 0, fcntl.F_WRLCK, 0) if _MAC else (fcntl.F_WRLCK, 0, 0, 0, 0)
        answer = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(_FLOCK, *fields))
    finally:
        os.close(file)
    found = struct.unpack(_FLOCK, answer)
    kind, pid = (found[3], found[2]) if _MAC else (found[0], found[4])
    return None if kind == fcntl.F_UNLCK else pid
