"""What a run may spend: its caps, and what all its processes have spent of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from videoautoarena.agents.limits.budget import CappedBudget, SpendOrder
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.estimates import (
    SEEN_FRAMES,
    Estimates,
    extra_body,
    frame_tokens,
    may_be_charged,
    output_limit,
    stands_apart,
)
from videoautoarena.agents.limits.prices import (
    NANO,
    REFUSED,
    MoneyAndTokens,
    SpendCap,
    cost_of,
    is_own,
    most_usd,
    price_of,
    summed,
)
from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Attempt, CallRow, UnansweredTries
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.journal import Journal
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.stopping_rule import NO_CAPS, kept_caps
from videoautoarena.runs.run.rundir.call_facts import limits_of
from videoautoarena.runs.run.rundir.spending import CapUse, PossiblyPaid, all_possibly_paid


def priced(config: RunConfig) -> RunConfig:
    """Return a run's settings with today's prices; BadInput if a provider is missing."""
    cast = {}
    for alias, entry in config.cast.items():
        known = None if entry.is_offline else price_of(config.model_of(alias))
        cast[alias] = entry if known is None else entry.model_copy(update={"price": known})
    return config.model_copy(update={"cast": cast})


def unpriced(config: RunConfig) -> list[str]:
    """Return the names in a cast of models without a known price."""
    return [alias for alias in config.cast if price_of(config.model_of(alias)) is None]


def check_caps(config: RunConfig, caps: SpendCaps) -> None:
    """Raise BadInput for a cap in dollars where a model or its service tier has no price."""
    if caps.usd is None:
        return
    if unknown := unpriced(config):
        raise BadInput(
            f"{option('max_usd')} cannot be kept, since no price is known for "
            f"{', '.join(unknown)}; "
            f"write it under [models.{_quoted(unknown[0])}] in arena.toml, in dollars a million "
            "tokens: price = { input_usd = 1.0, output_usd = 4.0 }; or cap with "
            f"{option('max_tokens')}"
        )
    models = {alias: config.model_of(alias) for alias in config.cast}
    tiered = [
        alias
        for alias, model in models.items()
        # The price table knows the usual tier alone, and a cap must not be kept by a lower price.
        if "service_tier" in extra_body(model.parameters) and not is_own(model.price)
    ]
    if tiered:
        raise BadInput(
            f"{option('max_usd')} cannot be kept, since the service_tier of {', '.join(tiered)} "
            "has its own "
            f"price; write it as price under [models.{_quoted(tiered[0])}] in arena.toml"
        )


@dataclass(frozen=True)
class Budget:
    """What a process may spend, and what it estimates by."""

    caps: SpendCaps = NO_CAPS
    spend_cap: SpendCap = field(default_factory=SpendCap)
    estimates: Estimates = field(default_factory=Estimates)

    @classmethod
    def of(
        cls, store: Store, config: RunConfig, *, spend_order: Callable[[], SpendOrder] | None = None
    ) -> Budget:
        """Return the budget of a run as its file has it, with what all its processes have spent.

        `spend_order` is called only under a cap: which battles come first.
        """
        caps = kept_caps(store)
        seen = store.journal.frame_tokens(SEEN_FRAMES)
        estimates = Estimates(seen, limits=limits_of(store))
        # Without a cap nothing is summed up, which would read every call whose cost is not known.
        if not caps:
            return cls(caps, estimates=estimates)
        spent = spent_so_far(config, store.journal)
        order = spend_order() if spend_order else None
        return cls(caps, CappedBudget(caps, estimates, spent=spent, spend_order=order), estimates)


def spent_so_far(config: RunConfig, journal: Journal) -> MoneyAndTokens:
    """Return what counts against a cap: what calls cost, or at most may have cost."""
    # Nobody bills stand-ins, so their tokens count against no cap.
    known = journal.spent(besides=_STAND_INS)
    total = summed(known.usd, known.input_tokens + known.output_tokens)
    # Tries without a reply may be on the bill.
    total = total.plus(summed(known.lost.usd, known.lost.tokens))
    for one in unbilled_tries(config, journal):
        total = total.plus(summed(one.usd, one.tokens))
    return total


def cap_use(config: RunConfig, journal: Journal) -> CapUse:
    """Return the same for people."""
    total = spent_so_far(config, journal)
    return CapUse(total.nano / NANO, total.tokens)


def possibly_paid(
    config: RunConfig | None, journal: Journal, *, in_flight: bool = True
) -> UnansweredTries:
    """Return what tries may have cost that no figure covers; open batches are none of them.

    Without a configuration, as of a set, it goes by what each try noted then. `in_flight` counts
    calls without a reply so far, too.
    """
    unanswered = journal.lost(besides=_STAND_INS, in_flight=in_flight, in_batches=False)
    return all_possibly_paid(unanswered, unbilled_tries(config, journal))


def unbilled_tries(config: RunConfig | None, journal: Journal) -> list[PossiblyPaid]:
    """Return the tries of finished calls that count beyond the dollars and tokens they report.

    A connection that broke after the request was sent, say, or a reply without a count of tokens.
    """
    cast = {} if config is None else config.cast
    models = {} if config is None else {alias: _known_model(config, alias) for alias in cast}
    unpriced = [
        alias
        for alias, model in models.items()
        if model is None or (model.price is None and price_of(model) is None)
    ]
    found: list[PossiblyPaid] = []
    for row in journal.each_loose(besides=_STAND_INS, unpriced=unpriced):
        entry = cast.get(row.alias)
        same = entry is not None and entry.model == row.model
        # The name may stand for another model by now, with another price.
        found += _unbilled_of(row, models[row.alias] if same else None)
    return found


_STAND_INS = "offline:*"


def _known_model(config: RunConfig, alias: str) -> Model | None:
    """Return a model of a run; None if it is one of a provider that is unknown on this machine."""
    try:
        return config.model_of(alias)
    except BadInput:
        return None


def _unbilled_of(row: CallRow, model: Model | None) -> Iterator[PossiblyPaid]:
    """Yield what the tries of one call may have cost beyond what they report."""
    most = _most(row, model)
    for number, one in enumerate(row.tries, 1):
        fault = one.kind if isinstance(one, Attempt) else one.failure_kind
        if isinstance(one, CallRow):
            # Where nothing was sent or taken up, the last try cost nothing.
            if one.cost_from == REFUSED:
                continue
        # A try that a stop cut off counts by its intent, and must not count twice.
        elif not may_be_charged(one.kind) or stands_apart(one.kind):
            continue
        usd, tokens = _unreported_of(one, model, most)
        # The unknown cost of what came back and was counted is said with its call already.
        is_lost = usd is None and fault is not None and one.usage.total is None
        if usd or tokens or is_lost:
            yield PossiblyPaid(row.key, row.nonce, row.model, number, fault, usd, tokens)


def _unreported_of(one: CallRow | Attempt, model: Model | None, most: _Most) -> _Most:
    """Return what one try may have cost beyond the dollars and tokens that it reports."""
    # There is no total either where tokens were counted on one side alone.
    tokens = most.tokens if one.usage.total is None else 0
    if one.cost_usd is not None:
        return _Most(0.0, tokens)
    # Without tokens there is no price to look up, for which a table would be read.
    counted = cost_of(model, one.usage).usd if model is not None and not tokens else None
    # The best known first: tokens at today's price, the most as it was noted then, an estimate.
    known = (usd for usd in (counted, one.may_have_cost_usd, most.usd) if usd is not None)
    return _Most(next(known, None), tokens)


class _Most(NamedTuple):
    """The most that one try may have cost."""

    usd: float | None
    tokens: int


def _most(row: CallRow, model: Model | None) -> _Most:
    """Return an estimate of the most that one try of a call may have cost."""
    if model is None:
        return _Most(None, 0)
    # A token for each character, several times what text usually takes: this is a most.
    tokens = row.text_chars + (row.frames or 0) * frame_tokens(model).most
    output = output_limit(model, row.nonce.role)
    usd = most_usd(model, input_tokens=tokens, output_tokens=output)
    return _Most(usd, tokens + output)


def _quoted(alias: str) -> str:
    return alias if alias.replace("-", "").replace("_", "").isalnum() else f'"{alias}"'
