"""How far a run is: what is settled and how, what calls cost, what to type next."""

from __future__ import annotations

import fcntl
import os
import shlex
import struct
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.memory.records import records
from videoautoarena.memory.records.batches import OpenBatch
from videoautoarena.memory.records.records import DECIDED, TIES, Intent
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.progress.costs import (
    CallCosts,
    batch_line,
    cap_words,
    in_flight_line,
    possibly_paid_lines,
)
from videoautoarena.runs.console.progress.local_state import (
    KeptMachines,
    Waiting,
    kept_machines,
    machine_lines,
    past_line,
    waiting_now,
)
from videoautoarena.runs.formats.record_json import SPREAD, fields_json, record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.stopping_rule import RuleReading, flags_past_caps, kept_caps
from videoautoarena.runs.run.inputs.users import Users, users_of
from videoautoarena.runs.run.rundir import reader
from videoautoarena.runs.run.rundir.call_facts import (
    CallFact,
    Shortfall,
    fact_lines,
    kept_limits,
    limit_lines,
)
from videoautoarena.runs.run.rundir.failures import Forfeits, Quarantined, failed_slots, quarantine
from videoautoarena.runs.run.rundir.reader import counted, one_line, shortened
from videoautoarena.runs.run.rundir.slots import Tally
from videoautoarena.runs.run.rundir.spending import CapUse, PossiblyPaid, all_possibly_paid
from videoautoarena.runs.run.rundir.waves import Outlook, look_ahead

_MAC = sys.platform == "darwin"
_FLOCK = "qqihh" if _MAC else "hhqqi4x"
"""Layout of struct flock: start, length, pid, type, whence on macOS; else type first, pid last."""


@dataclass(frozen=True)
class EndingCounts:
    """How the battles that count ended."""

    SHOWN: ClassVar = ("verdicts", "void_reasons", "forfeits", "forfeit_reasons")
    verdicts: Counter[str]
    """Verdict to number."""
    void_reasons: Counter[str]
    """Reason to number, the most frequent first."""
    of_models: Forfeits

    @property
    def forfeits(self) -> dict[str, int]:
        """Model to its number of forfeits."""
        return self.of_models.counts

    @property
    def forfeit_reasons(self) -> dict[str, dict[str, int]]:
        """Model to the reasons of its forfeits with their numbers, the most frequent first."""
        return self.of_models.most_frequent

    @classmethod
    def of(cls, store: Store, tally: Tally) -> EndingCounts:
        """Count the endings of a run; only undecided battles are read in full."""
        verdicts = Counter[str]()
        void_reasons = Counter[str]()
        forfeits = Forfeits()
        for ending in store.each_ending():
            if ending.id in tally.superseded:
                continue
            verdict = ending.verdict
            reason = None
            if verdict is None or verdict not in DECIDED:
                battle = store.battle(ending.id)
                if battle is None:
                    continue
                verdict = battle.verdict
                reason = battle.reason
                if verdict == "void":
                    void_reasons[reader.readable_reason(reason or "no reason recorded")] += 1
            verdicts[verdict] += 1
            forfeits.note(ending.model_a, ending.model_b, verdict, reason=reason)
        by_name = Counter(dict(sorted(verdicts.items())))
        return cls(by_name, Counter(dict(void_reasons.most_common())), forfeits)

    def as_lines(self) -> list[str]:
        """Return lines for a person."""
        won, ties = (sum(self.verdicts[v] for v in kinds) for kinds in (("a", "b"), TIES))
        void = self.verdicts["void"]
        forfeits = sum(self.forfeits.values())
        reasons = [
            f"  void, {count}: {shortened(reason, 120)}"
            for reason, count in self.void_reasons.most_common()
        ]
        kinds = f"won {won}, ties {ties}, void {void}, forfeits {forfeits}"
        return [kinds, *reasons, *self.of_models.as_lines()]


@dataclass(frozen=True)
class RunStatus:
    """How far a run is."""

    SHOWN: ClassVar = (
        *("slots", "settled", "decided", "endings", "costs", "lost", "possibly_paid", "in_flight"),
        "batches",
        *("max_usd", "max_tokens", "cap_use", "models", "seed", "skipped", "quarantine", "damage"),
        *("server_limits", "frames_short", "facts", "waiting", "users", "process", "cluster"),
        *("work", "until", "failed", "next"),
    )
    folder: Path
    manifest: dict[str, Any]
    slots: int
    """Places for a battle."""
    skipped: list[records.SkippedFile]
    """Files not used: `path` and `reason`."""
    endings: EndingCounts = field(metadata=SPREAD)
    costs: CallCosts = field(metadata=SPREAD)
    caps: SpendCaps
    outlook: Outlook
    """What is left, and how its stopping rule was met, or how near it is."""
    failed: int
    """Void or forfeit battles whose call failed, which `--retry-failed` plays again."""
    work: reader.WorkTime
    """Over all processes, to their last commits: `seconds`, number of `processes`, and
    `calls_per_minute` or None."""
    damage: list[str]
    """A sentence for each video with damaged frames, or anything else that is wrong with it."""
    server_limits: tuple[records.LearntLimits, ...]
    """Limits that servers turned out to have: `model`, `endpoint`, most `images` a request, fewest
    `refused_images`, the `stated_images` of `limits` at that time, `token_limit_field`, what it is
    asked for in place of the `structured` output that it refused (`json_object` or `off`), and the
    `output_limit` not kept to with the most `output_tokens` of such a reply; None: nothing learnt;
    and only where it is so, `system_role` `user`: it takes no message of the system, and
    `is_streaming` true: it answers in pieces alone."""
    frames_short: list[Shortfall]
    """Models that saw fewer frames than wanted due to their server: `model`, `role` (`contestant`,
    `judge`, or `examiner` with all its roles), `least` and `most` frames of those calls, how many
    were `wanted`, how many `calls`, `of` how many answered."""
    quarantine: list[Quarantined]
    """Files that are not used, and videos that gave no frames: `path`, `video` (its id in the run,
    or None), `when` refused (`found` or `decoded`) and `reason`."""
    users: Users
    """Where its users come from: `file` of those that were brought (None: none were), how many are
    `in_file` and how many of them `not_drawn` for any video, how many places of videos are
    `brought` and `invented`, and with `--diverse` the videos `asked_again` and those `still_alike`
    then (None without it)."""
    waiting: list[Waiting]
    """Servers that refuse calls of the running process for now: `address`, `since_s` (since 1970),
    `fault` and `reason`."""
    facts: list[CallFact]
    """[What is so of the calls](#facts-of-calls) of its models."""
    process: int | None
    """Id of the process running it, or None."""
    intents: list[Intent]
    """Attempts without a reply: those that a process left behind, and those in flight now."""
    unbilled: list[PossiblyPaid]
    """Attempts of finished calls of which nobody said what they cost."""
    lost: records.UnansweredTries
    """Possibly paid, in no other sum: `tries` whose process ended before the reply or was stopped
    for too long, whose connection broke, or whose reply did not say what it took, and at most how
    much, in `usd` (None: no price) and `tokens`; caps count it."""
    cap_use: CapUse | None
    """What its caps count by now, in `usd` and `tokens`: known costs of remote models and the most
    of `lost`, `in_flight` and `batches`; None without a cap."""
    past_caps: str
    """Flags with which it goes on, if its caps stopped it; else empty."""
    batches: list[OpenBatch]
    """Batches of calls without a reply so far: `id`, `protocol` (`openai`, `gemini`, `anthropic`),
    `model`, `endpoint`, `began_at_s` (since 1970), `calls` in all, `state` (`intended`: nobody
    knows yet whether it was taken, `posted`, `ended`), `server_id` or None, how many were last
    `answered`, how many are `open`, and the most these cost, in `usd` (None: no price) and
    `tokens`; no part of `lost`."""
    nodes: KeptMachines | None = None
    """The machines of the cluster that played it last, if any."""

    @property
    def settled(self) -> int:
        """Slots whose battle has ended in any way."""
        return self.endings.verdicts.total()

    @property
    def decided(self) -> int:
        """Battles that ratings count."""
        return sum(n for verdict, n in self.endings.verdicts.items() if verdict in DECIDED)

    @property
    def is_stopped(self) -> bool:
        """Whether its rule was met before all slots were played."""
        return self.outlook.is_stopped

    @property
    def is_merged(self) -> bool:
        """Whether it was merged from other runs, so that it is not played on."""
        return bool(self.manifest.get(reader.MERGED))

    @property
    def next(self) -> str:
        """The command to type next."""
        out = self._out
        if self.process is not None:
            return f"arena status {out}"
        if self.is_merged:
            # It is not played on, whatever is left of it.
            return f"arena leaderboard {out}"
        if self.settled < self.slots and not self.is_stopped:
            return f"arena resume {out} {self.past_caps}".rstrip()
        if self.failed:
            return f"arena resume {out} --retry-failed"
        return f"arena leaderboard {out}"

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena status --json`."""
        return record_json(self)

    def as_lines(self) -> list[str]:
        """Return lines for a person."""
        settled = f"{self.settled} of {self.slots} slots settled"
        return [
            f"{settled}, {self.decided} decided; {self._state()}",
            *self._machine_lines(),
            *(one.line() for one in self.waiting),
            *self.endings.as_lines(),
            *self._repair(),
            *([self.work.as_line()] if self.work.processes else []),
            *self.costs.as_lines(),
            *possibly_paid_lines(self.lost, self._possibly_paid),
            *([in_flight_line(self._in_flight)] if self._in_flight else []),
            *(batch_line(batch, time.time()) for batch in self.batches),
            *self._cap(),
            *self._rule(),
            f"seed {self.seed}; models: "
            + safe(", ".join(reader.named(*pair) for pair in self.models.items())),
            *self.users.as_lines(),
            *(f"skipped {safe(one.path)}: {one_line(one.reason, 120)}" for one in self.skipped),
            *self._quarantined(),
            *self.damage,
            *limit_lines(self.server_limits),
            *(one.line for one in self.frames_short),
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
        # An intent that a process left behind is nobody's call any more.
        return [intent for intent in self.intents if not intent.is_left_over]

    @property
    def _possibly_paid(self) -> list[PossiblyPaid]:
        return [*map(PossiblyPaid.of, self._left_over), *self.unbilled]

    @property
    def possibly_paid(self) -> list[dict[str, Any]]:
        """Each of these attempts: `key`, `scope`, `role`, `model`, `attempt`, `usd`, `tokens`.

        And its `fault`, a kind of failure, or None.
        """
        return [_try_json(one) for one in self._possibly_paid]

    @property
    def in_flight(self) -> list[dict[str, Any]]:
        """Attempts the running process waits for, likewise; not part of `lost`."""
        return [_try_json(PossiblyPaid.of(intent)) for intent in self._in_flight]

    @property
    def max_usd(self) -> float | None:
        """Cap on the cost of the whole run, or None."""
        return self.caps.usd

    @property
    def max_tokens(self) -> float | None:
        """Cap on its tokens, or None."""
        return self.caps.tokens

    @property
    def models(self) -> dict[str, str]:
        """Name to `provider:model`."""
        cast = self.manifest.get("cast") or {}
        names = self.manifest.get("models") or []
        return {name: cast.get(name, {}).get("model", "?") for name in names}

    @property
    def seed(self) -> int | None:
        """Seed of the run."""
        return self.manifest.get("seed")

    @property
    def until(self) -> RuleReading | None:
        """Latest reading of [the stopping rule](#a-stopping-rule), or None."""
        return self.outlook.reading

    @property
    def _is_on_cluster(self) -> bool:
        return self.nodes is not None and self.nodes.process == self.process

    @property
    def cluster(self) -> dict[str, Any] | None:
        """The machines of the Ray cluster that played it last; None: none has.

        Whether it `is_playing` it now, how many workers its process lost (`losses`), and of the
        `machines` each `node` (its name), `workers`, calls `under_way`, `calls` finished and
        workers `lost`.
        """
        if self.nodes is None:
            return None
        return {"is_playing": self._is_on_cluster, **fields_json(self.nodes.machines)}

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

    def _cap(self) -> list[str]:
        if self.cap_use is None:
            return []
        return [f"cap on the whole run: {cap_words(self.caps, self.cap_use)} counted"]

    def _rule(self) -> list[str]:
        rule = self.outlook.rule
        reading = self.outlook.reading
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
        if self.settled >= self.slots:
            return "finished"
        return f"stopped{' at its cap' if self.past_caps else ''}; no process is running it"


def status_of(folder: Path) -> RunStatus:
    """Return the status of the run in `folder`."""
    with reader.open_run(folder) as run:
        store = run.store
        journal = run.store.journal
        tally = Tally.of(store)
        endings = EndingCounts.of(store, tally)
        costs = CallCosts(settled=endings.verdicts.total())
        for call in journal.each_taken():
            costs.add(call)
        process = holder(reader.lock_file(folder))
        # Without a process nobody waits for replies any more: what was in flight is lost, too.
        unanswered = journal.lost(besides="offline:*", in_flight=process is None, in_batches=False)
        unbilled = _unbilled(run)
        return RunStatus(
            folder=folder,
            manifest=run.manifest,
            slots=tally.slots,
            skipped=store.skipped(),
            endings=endings,
            costs=costs,
            caps=kept_caps(store),
            outlook=look_ahead(store),
            failed=len(failed_slots(store)),
            # Trials and tags are no work on battles, and would raise the pace.
            work=reader.work_on(store, costs.total.calls - sum(one.calls for one in costs.beside)),
            damage=[*reader.problems(store.problem_videos()), *reader.damage(store)],
            server_limits=kept_limits(store),
            frames_short=run.shortfalls,
            quarantine=quarantine(store),
            waiting=waiting_now(store, process),
            facts=[one for one in run.call_facts if "status" in one.fact.surfaces],
            users=users_of(store, looks=run.manifest.get("diverse") is True),
            process=process,
            intents=journal.intents(),
            unbilled=unbilled,
            lost=all_possibly_paid(unanswered, unbilled),
            cap_use=_cap_use(run),
            past_caps=flags_past_caps(store),
            batches=journal.batches.open(),
            nodes=kept_machines(store),
        )


def _unbilled(run: reader.RunReader) -> list[PossiblyPaid]:
    """Return the attempts of finished calls whose cost nobody said."""
    # Models are no business of most readers: their code is read only if some call needs a price.
    if next(run.store.journal.each_loose(besides="offline:*"), None) is None:
        return []
    from videoautoarena.runs.run.config.run_config import RunConfig
    from videoautoarena.runs.run.rundir.budget import unbilled_tries

    return unbilled_tries(RunConfig.of_manifest(run.manifest), run.store.journal)


def _cap_use(run: reader.RunReader) -> CapUse | None:
    if not kept_caps(run.store):
        return None
    from videoautoarena.runs.run.config.run_config import RunConfig
    from videoautoarena.runs.run.rundir.budget import cap_use

    return cap_use(RunConfig.of_manifest(run.manifest), run.store.journal)


def _try_json(one: PossiblyPaid) -> dict[str, Any]:
    return {
        "key": one.key,
        "scope": one.nonce.scope,
        "role": one.nonce.role,
        "model": one.model,
        "attempt": one.attempt,
        "usd": one.usd,
        "tokens": one.tokens,
        "fault": one.fault,
    }


def holder(lock: Path) -> int | None:
    """Return the id of the process that holds the lock of a run, or None.

    Only asks: taking the lock, however shortly, could refuse a run that is just starting. Not for
    the holder itself, which would lose its lock when the file is closed here.
    """
    try:
        file = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # Start and length 0 mean the whole file, however long it is.
        fields = (0, 0, 0, fcntl.F_WRLCK, 0) if _MAC else (fcntl.F_WRLCK, 0, 0, 0, 0)
        # The kernel gives the lock that is in the way, or F_UNLCK where there is none.
        answer = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(_FLOCK, *fields))
    finally:
        os.close(file)
    found = struct.unpack(_FLOCK, answer)
    kind, pid = (found[3], found[2]) if _MAC else (found[0], found[4])
    return None if kind == fcntl.F_UNLCK else pid
