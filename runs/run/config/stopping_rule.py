"""What may end a run before its rounds are played: a rule, and caps on what it spends.

Neither is part of a run, and both may change. `runs/run/rundir/waves.py` looks after the rule,
`runs/run/rundir/budget.py` after the caps.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe

UNTIL_FILE = "local/until"
"""File in the run with the rule that was given last, and how it was met; no part of the run."""
LIFTED = "rounds"
"""The word for no rule: the run ends with its rounds."""
FORMS = "separated, ci=POINTS, battles=N or rounds"
# Figures of `make bench-pairing`, in docs/benchmarks.md.
_PROMISES = {
    "separated": (
        "at most 5 % of runs that stop so have a wrong order (asymptotic in the number of videos, "
        "for videos like these and this judge)"
    ),
    "ci": (
        "no order is guaranteed; that these narrow intervals keep their coverage is measured in "
        "simulations, not proven"
    ),
    "battles": "a fixed number of battles guarantees no order and adds no bias",
}
_INTERVALS = {
    "separated": "in simulations, intervals keep their coverage and gaps are 2 to 6 % too large",
    "ci": "gaps and intervals keep their usual meaning",
    "battles": "gaps and intervals keep their usual meaning",
}


class StoppingRule(NamedTuple):
    """A rule by which a run stops early."""

    kind: Literal["separated", "ci", "battles"]
    size: float = 0.0
    """Mean width of the 95 % intervals in points for `ci`, decided battles for `battles`."""

    def __str__(self) -> str:
        return self.kind if self.kind == "separated" else f"{self.kind}={self.size:g}"

    @property
    def promise(self) -> str:
        """What stopping by it promises, and what not."""
        return _PROMISES[self.kind]

    @property
    def on_intervals(self) -> str:
        """What stopping by it means for the intervals of a leaderboard."""
        return _INTERVALS[self.kind]


class RuleReading(NamedTuple):
    """The state of a rule by the battles up to a wave."""

    rule: StoppingRule
    """As given: `separated`, `ci=POINTS` or `battles=N`."""
    wave: int
    """Latest wave it looked at, from 0; the first that met it, if any did."""
    battles: int
    """Decided up to there."""
    is_met: bool
    """Whether it is met."""
    ratio: float | None = None
    """Of the two models least apart: gap over its error; None if some cannot be compared."""
    bound: float | None = None
    """What it must exceed; likewise."""
    pair: tuple[str, str] | None = None
    """Those two, the higher rated first; likewise."""
    width: float | None = None
    """Mean width of the 95 % intervals in points; None if one is unknown."""

    @property
    def where(self) -> str:
        """How near the rule is to being met, and after which wave."""
        return f"{self.how_near}, after wave {self.wave}"

    @property
    def how_near(self) -> str:
        """How near the rule is to being met, in words."""
        if self.rule.kind == "battles":
            return f"{self.battles} battles decided, {self.rule.size:g} required"
        if self.rule.kind == "ci":
            is_known = self.width is not None
            width = f"{self.width:.1f} points wide" if is_known else "not yet known for all"
            return f"intervals {width}, {self.rule.size:g} required"
        if self.pair is None or self.ratio is None or self.bound is None:
            return "smallest gap not yet known, because some models cannot be compared"
        pair = " and ".join(map(safe, self.pair))
        return f"smallest gap {self.ratio:.1f} of {self.bound:.1f}, {pair}"

    @property
    def promise(self) -> str:
        """What stopping by this rule promises, as a sentence."""
        return self.rule.promise

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena status --json`."""
        return {**self._asdict(), "rule": str(self.rule), "promise": self.promise}


def parse_rule(text: str) -> StoppingRule | None:
    """Return the rule that a text names, None if it lifts one; BadInput if it names none."""
    kind, _, figure = text.strip().partition("=")
    if not figure and kind in (LIFTED, "separated"):
        return StoppingRule("separated") if kind == "separated" else None
    try:
        size = float(figure)
    except ValueError:
        # No comparison holds of it, so that it falls through to the refusal.
        size = math.nan
    if kind == "ci" and 0 < size < math.inf:
        return StoppingRule("ci", size)
    if kind == "battles" and size >= 1 and size == size // 1 < math.inf:
        return StoppingRule("battles", size)
    raise BadInput(f"{option('until')} {text!a} is not a rule; give {FORMS}")


class _StoredRule(TypedDict):
    rule: str
    met: dict[str, Any] | None


_WRITTEN = TypeAdapter(_StoredRule)
_READING = TypeAdapter(RuleReading)


class KeptRule(NamedTuple):
    """The rule of a run, as its file has it."""

    rule: StoppingRule | None = None
    met: RuleReading | None = None
    """The reading that met it when the run was last played."""


def keep_rule(store: Store, text: str | None) -> None:
    """Write down which rule holds from now on; None changes nothing."""
    if text is None:
        return
    rule = parse_rule(text)
    # The same rule once more must not forget how it was met.
    if rule != kept_rule(store).rule:
        _put(store, KeptRule(rule))


def keep_met(store: Store, met: RuleReading | None) -> None:
    """Write down how a run's rule was met; None if it was not."""
    kept = kept_rule(store)
    if kept.met != met:
        _put(store, kept._replace(met=met))


def kept_rule(store: Store) -> KeptRule:
    """Return the rule of a run; StoreError if it is damaged."""
    said = store.file_as(_WRITTEN, UNTIL_FILE)
    if said is None:
        return KeptRule()
    try:
        rule = parse_rule(said["rule"])
        if rule is None or said["met"] is None:
            return KeptRule(rule)
        return KeptRule(rule, _READING.validate_python({**said["met"], "rule": rule}))
    except (BadInput, ValidationError):
        raise StoreError(f"what the run's file holds as {UNTIL_FILE} cannot be read") from None


def _put(store: Store, kept: KeptRule) -> None:
    met = None if kept.met is None else kept.met._asdict()
    if met is not None:
        del met["rule"]
    said = {"rule": str(kept.rule) if kept.rule else LIFTED, "met": met}
    store.put_file(UNTIL_FILE, json.dumps(said), replace=True)


CAPS_FILE = "local/caps"
"""File in the run with the caps that were given last; no part of the run."""
NO_CAPS = SpendCaps()
_Cap = Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
_CAPS = TypeAdapter(dict[Literal["usd", "tokens"], _Cap])


def kept_caps(store: Store) -> SpendCaps:
    """Return the caps that were given last, which hold until others are given."""
    return SpendCaps(**(store.file_as(_CAPS, CAPS_FILE) or {}))


def merged_caps(kept: SpendCaps, asked: SpendCaps) -> SpendCaps:
    """Return the caps that hold from now on; an infinite one lifts what was kept."""
    both = (old if new is None else new for old, new in zip(kept, asked, strict=True))
    return SpendCaps(*(None if cap is None or math.isinf(cap) else cap for cap in both))


def describe_caps(caps: SpendCaps) -> str:
    """Return caps in words: `$2.00 and 5,000 tokens`."""
    usd = [f"${caps.usd:,.2f}"] if caps.usd is not None else []
    tokens = [f"{caps.tokens:,.0f} tokens"] if caps.tokens is not None else []
    return " and ".join(usd + tokens)


def keep_caps(store: Store, caps: SpendCaps) -> None:
    """Write down which caps hold from now on."""
    if caps != kept_caps(store):
        store.put_file(CAPS_FILE, json.dumps(caps._asdict()), replace=True)


CAPPED_FILE = "local/capped"
"""File in the run with the caps that stopped it last, and the least that it needs to go on."""
_CAPPED = TypeAdapter(dict[Literal["caps", "needed"], dict[Literal["usd", "tokens"], _Cap]])


def keep_capped(store: Store, needed: SpendCaps | None) -> None:
    """Write down that a run's caps stopped it and what the next call needs; None: they did not."""
    said: dict[str, Any] = {}
    if needed is not None:
        said = {"caps": kept_caps(store)._asdict(), "needed": needed._asdict()}
    # Most runs meet no cap, and get no file.
    if said != (store.file_as(_CAPPED, CAPPED_FILE) or {}):
        store.put_file(CAPPED_FILE, json.dumps(said), replace=True)


def flags_past_caps(store: Store) -> str:
    """Return the flags with which a run goes on that its caps stopped; empty if none did."""
    said = store.file_as(_CAPPED, CAPPED_FILE) or {}
    caps = kept_caps(store)
    # Under other caps nobody knows yet where it stops.
    if not said or SpendCaps(**said["caps"]) != caps:
        return ""
    return higher_caps(caps, SpendCaps(**said["needed"]))


def higher_caps(caps: SpendCaps, needed: SpendCaps) -> str:
    """Return flags with which a run can go on: twice its caps, or twice what it needs now."""
    # Twelve digits, since the six of plain `g` would round a large cap.
    usd = f"--max-usd {_doubled(caps.usd, needed.usd or 0.0):.12g}" if caps.usd else ""
    tokens = (
        f"--max-tokens {_doubled(caps.tokens, needed.tokens or 0.0):.0f}" if caps.tokens else ""
    )
    return f"{usd} {tokens}".strip()


def _doubled(cap: float, needed: float) -> float:
    """Return twice a cap, or twice what is needed, rounded up to two digits, if that is more."""
    if 2 * cap > needed:
        return 2 * cap
    digit = 10.0 ** (math.floor(math.log10(2 * needed)) - 1)
    return math.ceil(2 * needed / digit) * digit
