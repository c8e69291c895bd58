"""What the calls of a run took: by role, by role and model, and by battle."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from pydantic import Field

from videoautoarena.graph.slot_ids import base_of, generation_of
from videoautoarena.memory.records.records import (
    Intent,
    Nonce,
    PublishedRecord,
    Record,
    UnansweredTries,
)
from videoautoarena.memory.store.evidence import TRIAL_SCOPE
from videoautoarena.memory.store.journal import CallFigures
from videoautoarena.runs.run.rundir.reader import (
    RunReader,
)

TRIAL = "trial"
"""Role under which calls that decide no battle are counted: trials, and calls of a freeze."""
BESIDE = frozenset({TRIAL, "classifier", "topic_namer"})
"""Roles whose calls play no battle."""
_DIGITS = 6
"""Decimal places of seconds."""


class Waits(Record):
    """How long replies took, in seconds; between two calls the figure lies as far between them."""

    median: float
    p90: float
    """Nine of ten replies took no longer."""


class Spending(Record):
    """What the calls of one role, or of one model in it, came to."""

    role: str
    """The role played."""
    model: str | None
    """Name in the cast; null: all in this role."""
    calls: int
    """Finished calls."""
    failed: int
    """Finished calls without a reply."""
    input_tokens: int
    """Tokens in of all attempts, as far as reported."""
    output_tokens: int
    """Tokens out of all attempts, as far as reported."""
    untold_tokens: int
    """Calls whose provider reported no tokens."""
    cost_usd: float | None
    """Cost of all attempts; null if that of any call is unknown."""
    known_usd: float
    """The known part of the cost."""
    unknown_cost: int
    """Calls of unknown cost."""
    latency_s: Waits | None
    """`median` and `p90`, interpolated, of the last attempts of answered calls; null without
    one."""


class Took(Record):
    """What the calls of one model in one role came to in one battle."""

    calls: int
    """Finished calls."""
    input_tokens: int = Field(serialization_alias="in")
    """Tokens in of all attempts, as far as reported."""
    output_tokens: int = Field(serialization_alias="out")
    """Tokens out of all attempts, as far as reported."""
    cost_usd: float | None = Field(serialization_alias="usd")
    """Cost of all attempts; null if any is unknown."""
    seconds: float = Field(serialization_alias="s")
    """Seconds of the last attempts, added up."""


class RunCosts(PublishedRecord):
    """What the calls of a run took."""

    roles: tuple[Spending, ...]
    """Costs of each role, by name; trials of judges, and calls of `arena freeze`, are the role
    `trial`."""
    models: tuple[Spending, ...]
    """Costs of each model in each role, by role and name."""
    battles: dict[str, dict[str, Took]]
    """Id of each battle that counts to `ROLE:NAME` to [what it took](#what-a-battle-took): calls of
    its slot, and of those it superseded, as in `arena show`; what examining a video took is in
    none."""


class PossiblyPaid(NamedTuple):
    """One try of a call of which nobody said what it cost; caps count the most it can have."""

    key: str
    """The call's journal key."""
    nonce: Nonce
    model: str
    """`provider:model`"""
    attempt: int
    """Counted from 1."""
    fault: str | None
    """Kind of failure; None where its process ended before the reply, or the reply came."""
    usd: float | None
    """None: unknown."""
    tokens: int

    @classmethod
    def of(cls, intent: Intent) -> PossiblyPaid:
        """Return a try whose process ended before the reply."""
        usd, tokens = intent.usd, intent.tokens
        return cls(intent.key, intent.nonce, intent.model, intent.attempt, None, usd, tokens)


class CapUse(NamedTuple):
    """What counts against a run's caps: known costs of remote models, and the most of the rest."""

    usd: float
    tokens: int


NOTHING_USED = CapUse(0.0, 0)


def all_possibly_paid(
    unanswered: UnansweredTries, unbilled: Iterable[PossiblyPaid]
) -> UnansweredTries:
    """Return the sum of tries without a reply and of those that calls report without a cost."""
    tries, usd, tokens = unanswered
    for one in unbilled:
        # As far as known: only what is unknown of all is unknown.
        if one.usd is not None:
            usd = (usd or 0.0) + one.usd
        elif not tries:
            usd = None
        tries += 1
        tokens += one.tokens
    return UnansweredTries(tries, usd, tokens)


def role_of(scope: str, role: str) -> str:
    """Return the role under which a call is counted."""
    return TRIAL if scope.startswith(TRIAL_SCOPE) else role


@dataclass
class Calls:
    """Sums over some calls and all their tries, as far as reported."""

    calls: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    untold_tokens: int = 0
    """Calls whose provider did not count tokens."""
    cost_usd: float = 0.0
    """The known part, in dollars."""
    unknown_cost: int = 0
    """Calls of unknown cost; never taken as free."""

    def add(self, call: CallFigures) -> None:
        """Count one more call."""
        self.calls += 1
        self.failures += not call.is_answered
        self.untold_tokens += call.input_tokens is None or call.output_tokens is None
        self.unknown_cost += call.cost_usd is None
        for attempt in call.attempts:
            self.input_tokens += attempt.usage.input_tokens or 0
            self.output_tokens += attempt.usage.output_tokens or 0
            self.cost_usd += attempt.cost_usd or 0.0
        self.input_tokens += call.input_tokens or 0
        self.output_tokens += call.output_tokens or 0
        self.cost_usd += call.cost_usd or 0.0

    @property
    def known_cost(self) -> float | None:
        """The cost of all calls, in dollars; None if that of any is unknown."""
        return None if self.unknown_cost else self.cost_usd


@dataclass
class _Timed:
    """Sums over some calls, and how long they took."""

    sums: Calls = field(default_factory=Calls)
    # Eight bytes a call, of which a run may have millions.
    waits: array[float] = field(default_factory=lambda: array("d"))
    """Seconds of answered calls."""
    seconds: float = 0.0

    def add(self, call: CallFigures) -> None:
        self.sums.add(call)
        # How long a batch took says nothing of its model.
        if call.is_batched:
            return
        self.seconds += call.latency_s
        if call.is_answered:
            self.waits.append(call.latency_s)

    def row(self, role: str, model: str | None) -> Spending:
        return Spending(
            role=role,
            model=model,
            calls=self.sums.calls,
            failed=self.sums.failures,
            input_tokens=self.sums.input_tokens,
            output_tokens=self.sums.output_tokens,
            untold_tokens=self.sums.untold_tokens,
            cost_usd=self.sums.known_cost,
            known_usd=self.sums.cost_usd,
            unknown_cost=self.sums.unknown_cost,
            latency_s=_waits(self.waits),
        )

    def took(self) -> Took:
        return Took(
            calls=self.sums.calls,
            input_tokens=self.sums.input_tokens,
            output_tokens=self.sums.output_tokens,
            cost_usd=self.sums.known_cost,
            seconds=round(self.seconds, _DIGITS),
        )


def costs_of(run: RunReader, some: Collection[str] | None = None) -> RunCosts:
    """Return what the calls of a run took; only numbers are in memory.

    Args:
        run: whose calls.
        some: ids of those battles alone of which is said what each took; None for all.
    """
    roles: dict[str, _Timed] = {}
    models: dict[tuple[str, str], _Timed] = {}
    listed = run.settled if some is None else some
    generations = {base_of(battle): generation_of(battle) for battle in listed}
    battles: dict[str, dict[str, _Timed]] = {place: {} for place in generations}
    for call in run.store.journal.each_taken():
        role = role_of(call.scope, call.role)
        roles.setdefault(role, _Timed()).add(call)
        models.setdefault((role, call.alias), _Timed()).add(call)
        # Of a battle: the calls of its slot, and of those it superseded.
        if call.generation <= generations.get(call.scope, -1):
            battles[call.scope].setdefault(f"{call.role}:{call.alias}", _Timed()).add(call)
    return RunCosts(
        roles=tuple(roles[role].row(role, None) for role in sorted(roles)),
        models=tuple(models[key].row(*key) for key in sorted(models)),
        battles={battle: _took(battles[base_of(battle)]) for battle in listed},
    )


def _took(sums: Mapping[str, _Timed]) -> dict[str, Took]:
    return {who: one.took() for who, one in sums.items()}


def _waits(seconds: array[float]) -> Waits | None:
    if not seconds:
        return None
    median, p90 = np.percentile(np.array(seconds), (50, 90)).tolist()
    return Waits(median=round(median, _DIGITS), p90=round(p90, _DIGITS))
