"""What a call costs: as its provider says, else by a price, else unknown; never guessed, never $0.

A price stands in arena.toml, or in the table that comes with the genai-prices library. The table
is only as new as that library; nothing is ever fetched.
"""

from __future__ import annotations

import math
import re
import warnings
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from videoautoarena.agents.providers.catalogue import BUILT_IN
from videoautoarena.memory.records.records import Attempt, CallRow, Nonce, Price, Usage

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

    from videoautoarena.agents.models.registry import Model
    from videoautoarena.agents.prompting.layout import Request


TABLE = "genai-prices"
OFFLINE = "offline"
PROVIDER = "provider"
REFUSED = "refused"
"""Nothing was sent, or the server took nothing up."""
_HOSTS = {
    urlsplit(one.home).hostname: one.price_list for one in BUILT_IN.values() if one.price_list
}
"""Whose prices hold where. A server of one's own may charge what it likes for the same name."""
_PROVIDERS = {
    **{one.name: one.price_list for one in BUILT_IN.values() if one.price_list},
    "mistralai": "mistral",
}
"""Price lists of providers whose client alone knows where they are served; LangChain's word for one
of them is another."""
_DATED = re.compile(r"-(?:\d{3,8}|\d{4}-\d\d-\d\d|\d\d-\d{2,4}|latest|(?:preview|exp)(?:[-\d]*))+")
_PLACE = re.compile(r"^(?:us-gov|us|eu|apac|jp|au|ca|in|global|regional)\.")
_FREE = Price(input_usd=0, output_usd=0, source=OFFLINE)
_MILLION = 1_000_000


def is_providers(endpoint: str) -> bool:
    """Return whether an endpoint is that of a provider known here, and no server of one's own."""
    return endpoint in (*_HOSTS, *_PROVIDERS) or _list_at(f"https://{endpoint}") is not None


def _list_at(url: str) -> str | None:
    """Return the price list that holds at an address; None for a server of one's own."""
    parts = urlsplit(url)
    # Without TLS anybody may answer under a provider's name.
    if parts.scheme != "https":
        return None
    found = (one.price_list for one in BUILT_IN.values() if one.is_home(url))
    return _HOSTS.get(parts.hostname) or next(filter(None, found), None)


class CallCost(NamedTuple):
    """What a call cost."""

    usd: float | None
    source: str | None
    """Who says so: "provider", or the source of the price."""


def price_of(model: Model) -> Price | None:
    """Return what a model's tokens cost, at the lowest of its rates; None if nobody knows."""
    if model.is_offline:
        return _FREE
    if is_own(model.price):
        return model.price
    found = _in_table(model)
    return found.price if found else model.price


BATCH_SHARE = 0.5
"""What a call in a batch costs of its usual price, at OpenAI, Gemini and Anthropic alike."""


def cost_of(
    model: Model, usage: Usage, reported: float | None = None, *, share: float = 1.0
) -> CallCost:
    """Return what a call of these tokens cost, by what the provider said where it said so.

    Else it is a `share` of its usual price.
    """
    if model.is_offline:
        return CallCost(0.0, OFFLINE)
    if reported is not None:
        return CallCost(reported, PROVIDER)
    cost = _priced(model, price_of(model), usage)
    return cost if cost.usd is None else cost._replace(usd=cost.usd * share)


class TokenRates(NamedTuple):
    """What tokens cost, by how a call took them."""

    fresh_usd: float
    """Input that came from no cache and went into none."""
    cached_usd: float
    written_usd: float
    output_usd: float


def rates_of(model: Model, usage: Usage) -> TokenRates | None:
    """Return what each token of a call of this size costs; None if no price is known.

    Where prices rise with a call's length, all rates are so much higher than the lowest as the call
    costs more by them.
    """
    price = price_of(model)
    if price is None:
        return None
    share = model.maker.written_share
    rates = _rates_at(price, share)
    least = _by(price, usage, share)
    costs = _priced(model, price, usage).usd
    above = costs / least if costs is not None and least else 1.0
    return TokenRates(*(rate * above / _MILLION for rate in rates))


def _rates_at(price: Price, written_share: float) -> TokenRates:
    """Return a price as dollars a million tokens, those of a cache too where it says none."""
    cached_usd = price.input_usd if price.cached_usd is None else price.cached_usd
    at_most = written_share * price.input_usd
    written_usd = at_most if price.written_usd is None else price.written_usd
    return TokenRates(price.input_usd, cached_usd, written_usd, price.output_usd)


def _priced(model: Model, price: Price | None, usage: Usage) -> CallCost:
    """Return what a call of these tokens costs at a model's price."""
    if usage.input_tokens is None or usage.output_tokens is None or price is None:
        return CallCost(None, None)
    found = None if is_own(price) else _in_table(model)
    if found is not None and not found.is_flat:
        return CallCost(found.cost_usd(usage), price.source)
    return CallCost(_by(price, usage, model.maker.written_share), price.source)


def most_usd(model: Model, *, input_tokens: int, output_tokens: int) -> float | None:
    """Return the most that a call of these tokens may cost; None if no price is known."""
    price = price_of(model)
    if price is None:
        return None
    # Some charge more for input that goes into their cache: GPT-5.6 takes 1.25 times the price.
    usages = (
        Usage(input_tokens=input_tokens, output_tokens=output_tokens, **more)
        for more in ({}, {"written_tokens": input_tokens})
    )
    read, written = (_priced(model, price, usage).usd for usage in usages)
    return None if read is None or written is None else max(read, written)


def is_own(price: Price | None) -> bool:
    """Return whether a price is the user's and not the table's; arena.toml lets none look so."""
    return price is not None and not price.source.startswith(TABLE)


def _by(price: Price, usage: Usage, written_share: float) -> float:
    """Return what a call costs at one price; cached and written tokens are part of the input."""
    total = usage.input_tokens or 0
    cached = min(usage.cached_tokens or 0, total)
    # Servers may state more of either than there was input, and no cost is negative.
    written = min(usage.written_tokens or 0, total - cached)
    rates = _rates_at(price, written_share)
    # What a model thought is part of its output already.
    sums = (total - cached - written) * rates.fresh_usd + cached * rates.cached_usd
    sums += written * rates.written_usd + (usage.output_tokens or 0) * rates.output_usd
    return sums / _MILLION


class _ListedPrice(NamedTuple):
    provider: str
    name: str
    price: Price
    is_flat: bool
    """A token costs the same whatever the length of the input, thought or not."""

    def cost_usd(self, usage: Usage) -> float | None:
        """Return what a call costs by all the table knows; slow, 1 ms."""
        total = usage.input_tokens or 0
        output = usage.output_tokens or 0
        cached = min(usage.cached_tokens or 0, total)
        found = _calculated(
            self.provider,
            self.name,
            input_tokens=total,
            cache_read_tokens=cached,
            cache_write_tokens=min(usage.written_tokens or 0, total - cached),
            output_tokens=output,
            output_reasoning_tokens=min(usage.reasoning_tokens or 0, output),
        )
        return float(found.total_price) if found else None


def _in_table(model: Model) -> _ListedPrice | None:
    """Return the price in the table now; None if it does not know the model at that address."""
    provider = _list_at(model.url) if model.url else _PROVIDERS.get(model.provider)
    if provider is None:
        return None
    # Some prices hold for hours of a day only.
    hour = datetime.now(UTC).strftime("%Y-%m-%d %H")
    # Gemini's API calls its models so; the table does not.
    return _looked_up(provider, model.name.removeprefix("models/"), hour)


@lru_cache(maxsize=256)
def _looked_up(provider: str, name: str, _hour: str) -> _ListedPrice | None:
    if not _is_meant(provider, name):
        return None
    found = _calculated(provider, name, input_tokens=1)
    prices: dict[str, Any] = vars(found.model_price) if found else {}
    listed = {field: prices.get(name) for field, name in _FIELDS.items()}
    if listed["input_usd"] is None or listed["output_usd"] is None:
        return None
    # A tier's lowest price is called its base.
    lowest = {field: getattr(value, "base", value) for field, value in listed.items()}
    tiered = any(hasattr(value, "base") for value in listed.values())
    is_flat = not tiered and prices.get("output_reasoning_mtok") is None
    price = Price(source=f"{TABLE} {version(TABLE)}", **lowest)
    return _ListedPrice(provider, name, price, is_flat)


_FIELDS = {
    "input_usd": "input_mtok",
    "output_usd": "output_mtok",
    "cached_usd": "cache_read_mtok",
    "written_usd": "cache_write_mtok",
}


def _is_meant(provider: str, name: str) -> bool:
    """Return whether the table means this very model by `name`.

    Some of its entries match all names that begin with or hold another. A name may then only be
    that of the entry with a date or a `-preview` behind it; a fine-tuned model costs otherwise.
    """
    entry = _id(provider, name)
    if entry is None:
        return False
    is_loose = entry in (_id(provider, f"{name}-zz"), _id(provider, f"zz-{name}"))
    # Bedrock's names begin with where a model may run, and the table's with a word for all of that.
    bare, known = _PLACE.sub("", name), _PLACE.sub("", entry)
    if not is_loose or name == entry or (provider == "aws" and bare == known):
        return True
    rest = name.removeprefix(entry)
    return rest != name and bool(_DATED.fullmatch(rest))


def _id(provider: str, name: str) -> str | None:
    found = _calculated(provider, name, input_tokens=1)
    return found.model.id if found else None


def _calculated(provider: str, name: str, **tokens: int) -> PriceCalculation | None:
    # A quarter of a second and a megabyte of table; a run with offline models needs neither.
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return calc_price(Counted(**tokens), name, provider_id=provider)
    except (LookupError, ValueError):
        return None


# Sums of floats depend on their order, and a cap must not.
NANO = 1_000_000_000


class MoneyAndTokens(NamedTuple):
    """Money in billionths of a dollar, since those add up exactly, and tokens."""

    nano: int = 0
    tokens: int = 0

    def plus(self, other: MoneyAndTokens) -> MoneyAndTokens:
        return MoneyAndTokens(self.nano + other.nano, self.tokens + other.tokens)

    def minus(self, other: MoneyAndTokens) -> MoneyAndTokens:
        return MoneyAndTokens(self.nano - other.nano, self.tokens - other.tokens)

    def times(self, count: int) -> MoneyAndTokens:
        return MoneyAndTokens(self.nano * count, self.tokens * count)

    def most(self, other: MoneyAndTokens) -> MoneyAndTokens:
        """Return the more of either, money and tokens each for itself."""
        return MoneyAndTokens(max(self.nano, other.nano), max(self.tokens, other.tokens))

    def least(self, other: MoneyAndTokens) -> MoneyAndTokens:
        return MoneyAndTokens(min(self.nano, other.nano), min(self.tokens, other.tokens))


NOTHING = MoneyAndTokens()


def summed(usd: float | None, tokens: int) -> MoneyAndTokens:
    """Return money and tokens as a sum, rounded up; an unknown cost is left out."""
    return MoneyAndTokens(math.ceil((usd or 0.0) * NANO), tokens)


class SpendHold(Protocol):
    """Money set aside for one call under way."""


class SpendCap:
    """What may be spent, and on what first; by itself a cap that nothing reaches."""

    async def hold(self, model: Model, request: Request) -> SpendHold | None:  # noqa: ARG002
        """Wait until what a call may cost at most is set aside; None: the cap is reached."""
        return self

    async def renew(self, hold: SpendHold, attempt: Attempt) -> bool:  # noqa: ARG002
        """Count a try's cost, and wait until as much is set aside for the next; False: the cap."""
        return True

    def is_enough(self, hold: SpendHold, model: Model, request: Request) -> bool:  # noqa: ARG002
        """Return whether a call may be sent with what is set aside, as far as is known now."""
        return True

    async def enlarge(self, hold: SpendHold, model: Model, request: Request) -> bool:  # noqa: ARG002
        """Set aside what a call may cost by what is known now; waits and ends like `renew`."""
        return True

    def suspend(self, hold: SpendHold) -> None:
        """Free what is set aside while its call waits for another; `enlarge` sets it aside anew."""

    def settle(self, hold: SpendHold, row: CallRow | None) -> None:
        """Take what a call did cost and free the rest; None: it was never sent, or cut off."""

    def lose(self, hold: SpendHold) -> None:
        """Count all that a call may cost, since its reply may still be paid for."""

    def rank(self, nonce: Nonce) -> int:  # noqa: ARG002
        """Return which calls go first: those of a lower rank, and of equal ones who came first."""
        return 0
