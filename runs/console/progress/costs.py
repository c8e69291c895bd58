"""What the calls of a run cost: in all, by role and by model.

The calls of one model that show it the same frames of a video begin with the same tokens: the
system text and the frames. All but the first of them could have been spared reading those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.memory.records.batches import OpenBatch
from videoautoarena.memory.records.records import CHARACTERS, Intent, UnansweredTries
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.journal import CallFigures
from videoautoarena.runs.formats.record_json import keyed
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import cost_words, dollars, spent
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.run.rundir.spending import BESIDE, Calls, CapUse, PossiblyPaid, role_of

Group = tuple[str, str, int]
"""Model, video and number of frames, which calls with a common beginning share."""


@dataclass(frozen=True)
class CacheShare:
    """Input tokens of a run's remote calls that a prompt cache read, or could have read."""

    SHOWN: ClassVar = ("could", "read", "share", "unknown")
    could: int = field(default=0, metadata=keyed("could_read_tokens"))
    """Tokens that began an earlier call, too: an estimate."""
    read: int | None = field(default=None, metadata=keyed("read_tokens"))
    """Tokens that were read from a cache; None if no provider says."""
    unknown: int = field(default=0, metadata=keyed("unknown_calls"))
    """Calls whose provider does not say, left out of both."""

    @property
    def share(self) -> float | None:
        """Share of the reusable tokens that were read, 0 to 1; None if unknown."""
        if self.read is None or not self.could:
            return None
        # What could be read is an estimate, and more may have been.
        return round(min(self.read / self.could, 1.0), 4)

    def as_line(self) -> str:
        """Return a line for a person; empty if no call could have read anything."""
        if self.share is None:
            return "prompt cache: unknown (no provider reports it)" if self.unknown else ""
        unknown = f"; {self.unknown:,} calls do not report it" if self.unknown else ""
        if self.read is not None and self.read > self.could:
            return f"prompt cache: {self.read:,} input tokens read, all that were reusable{unknown}"
        return (
            f"prompt cache: {self.read:,} of about {self.could:,} reusable input tokens read "
            f"({self.share:.0%}){unknown}"
        )


class CacheCount:
    """Sums calls up, in the order in which they were recorded."""

    def __init__(self) -> None:
        self._seen: set[Group] = set()
        self._could = self._read = self._reported = self._unknown = 0

    def add(self, call: CallFigures) -> None:
        """Count one more call."""
        if call.model.startswith("offline:") or not call.frames or not call.is_answered:
            return
        if call.input_tokens is None or call.cached_tokens is None:
            self._unknown += 1
            return
        # A scope of a run begins with the id of its video, whatever slot follows.
        group = (call.model, call.scope.partition("-")[0], call.frames)
        if group in self._seen:
            # The role's text stands behind what is shared.
            self._could += max(call.input_tokens - call.text_chars // CHARACTERS, 0)
        self._seen.add(group)
        self._read += call.cached_tokens
        self._reported += 1

    def total(self) -> CacheShare:
        """Return the sums over all calls."""
        return CacheShare(self._could, self._read if self._reported else None, self._unknown)


NAMED_TRIES = 5
"""The most tries of unknown cost that are listed for a person."""


@dataclass
class CallCosts:
    """What all calls of a run cost."""

    SHOWN: ClassVar = (
        *("calls", "calls_by_model", "cost_usd", "unknown_cost", "cost_usd_a_battle", "cache"),
    )
    settled: int
    """Battles that have ended."""
    total: Calls = field(default_factory=Calls)
    by_role: dict[str, Calls] = field(default_factory=dict)
    by_model: dict[str, Calls] = field(default_factory=dict)
    cached: CacheCount = field(default_factory=CacheCount)

    def add(self, call: CallFigures) -> None:
        """Count one more call, in the order in which they were recorded."""
        role = role_of(call.scope, call.role)
        self.total.add(call)
        self.by_role.setdefault(role, Calls()).add(call)
        self.by_model.setdefault(call.alias, Calls()).add(call)
        self.cached.add(call)

    @property
    def beside(self) -> list[Calls]:
        """Costs of trials of judges and tags of questions, which are no part of any battle."""
        return [calls for role, calls in self.by_role.items() if role in BESIDE]

    @property
    def calls(self) -> dict[str, Calls]:
        """Role to the costs of its calls; trials and calls of `arena freeze` are trial.

        `calls`, `failures`, `input_tokens`, `output_tokens`, `untold_tokens`, `cost_usd` and
        `unknown_cost`: tokens and cost of all attempts, as far as known.
        """
        return dict(sorted(self.by_role.items()))

    @property
    def calls_by_model(self) -> dict[str, Calls]:
        """Name in the cast to the costs of its calls, likewise."""
        return dict(sorted(self.by_model.items()))

    @property
    def cost_usd(self) -> float:
        """Known cost of all calls and attempts, over all processes."""
        return self.total.cost_usd

    @property
    def unknown_cost(self) -> int:
        """Calls whose last attempt has an unknown cost, left out of it."""
        return self.total.unknown_cost

    @property
    def cost_usd_a_battle(self) -> float | None:
        """Mean over settled battles with examining, without trials; None if any is unknown."""
        unknown = sum(calls.unknown_cost for calls in self.beside)
        # Calls beside the battles may well be unknown: the mean leaves them out.
        if not self.settled or self.total.unknown_cost > unknown:
            return None
        beside = sum(calls.cost_usd for calls in self.beside)
        return round((self.total.cost_usd - beside) / self.settled, 6)

    @property
    def cache(self) -> CacheShare:
        """Input tokens of remote calls.

        `could_read_tokens` began an earlier call, too (an estimate); `read_tokens` came from a
        provider's cache, or None; their `share`, or None; and `unknown_calls` that did not say.
        """
        return self.cached.total()

    def as_lines(self) -> list[str]:
        """Return lines for a person."""
        if not self.total.calls:
            return []
        each = self.cost_usd_a_battle
        mean = f"; {dollars(each)} per battle" if each else ""
        cached = self.cache.as_line()
        return [
            *(_calls_line(role, calls) for role, calls in sorted(self.by_role.items())),
            *(_calls_line(f"model {name}", calls) for name, calls in sorted(self.by_model.items())),
            _calls_line("all", self.total) + mean,
            *([cached] if cached else []),
        ]


def _calls_line(name: str, calls: Calls) -> str:
    tokens = f"{calls.input_tokens:,} tokens in, {calls.output_tokens:,} out"
    if calls.untold_tokens:
        tokens += f" ({counted(calls.untold_tokens, 'call')} not counted)"
    cost = cost_words(calls.cost_usd, unknown=calls.unknown_cost, calls=calls.calls)
    made = counted(calls.calls, "call")
    return f"{safe(name)}: {made}, {calls.failures:,} failed; {tokens}; cost {cost}"


def possibly_paid_lines(lost: UnansweredTries, tries: Sequence[PossiblyPaid]) -> list[str]:
    """Return lines on what tries of unknown cost may have cost, the first few by name."""
    if not lost.tries:
        return []
    named = [
        f"  {one.nonce.role} of {safe(one.nonce.scope)}, {safe(one.model)}: "
        f"{_at_most(one.usd)}{f' ({safe(one.fault)})' if one.fault else ''}"
        for one in tries[:NAMED_TRIES]
    ]
    more = len(tries) - len(named)
    rest = [f"  and {more:,} more: arena status --json"] if more else []
    return [f"possibly paid: {possibly_paid_words(lost)}; caps count them", *named, *rest]


def possibly_paid_words(lost: UnansweredTries) -> str:
    """Return how many tries are of unknown cost, and the most they can have cost if it is known."""
    tries = f"{counted(lost.tries, 'attempt')} of unknown cost"
    return tries if lost.usd is None else f"{tries}, {_at_most(lost.usd)}"


def cap_words(caps: SpendCaps, used: CapUse) -> str:
    """Return how much of each cap is used: `$0.96 of $1.00 and 3,000 of 5,000 tokens`."""
    usd = [f"{dollars(used.usd)} of ${caps.usd:,.2f}"] if caps.usd is not None else []
    tokens = f"{used.tokens:,} of {caps.tokens:,.0f} tokens" if caps.tokens is not None else ""
    return " and ".join([*usd, *([tokens] if tokens else [])])


def in_flight_line(intents: Sequence[Intent]) -> str:
    """Return a line on the calls under way."""
    usd = [intent.usd for intent in intents if intent.usd is not None]
    most = _at_most(sum(usd) if len(usd) == len(intents) else None)
    return f"in flight: {counted(len(intents), 'call')}, {most}"


def batch_line(batch: OpenBatch, now_s: float) -> str:
    """Return a line on a batch of which replies may still come; `now_s` counts since 1970."""
    how = f"{batch.answered:,} of {batch.calls:,} answered"
    if batch.state == "intended":
        how = f"{batch.calls:,} calls, perhaps not taken"
    age = spent(max(now_s - batch.began_at_s, 0.0))
    return (
        f"in a batch of {safe(batch.model)} for {age}: {how}, {batch.open:,} not read yet, "
        f"{_at_most(batch.usd)}; repeat its command with {option('batch', True)}"
    )


def _at_most(usd: float | None) -> str:
    return "unknown cost" if usd is None else f"up to {dollars(usd)}"
