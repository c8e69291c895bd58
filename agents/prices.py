"""What a call costs: as its provider says, else by a price, else unknown; never guessed, never $0.

A price stands in arena.toml, or in the table that comes with the genai-prices library. The table
is only as new as that library; nothing is ever fetched.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from agents.models import Model
from memory.records import Price, Usage

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

TABLE = "genai-prices"
OFFLINE = "offline"
PROVIDER = "provider"
REFUSED = "refused"
"""Nothing was sent, or the server took nothing up."""
_HOSTS = {
    "api.openai.com": "openai",
    "generativelanguage.googleapis.com": "google",
    "api.anthropic.com": "anthropic",
    "api.deepseek.com": "deepseek",
    "api.fireworks.ai": "fireworks",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.together.xyz": "together",
    "api.x.ai": "x-ai",
    "openrouter.ai": "openrouter",
}
"""Whose prices hold where. A server of one's own may charge what it likes for the same name."""
_PROVIDERS = {"anthropic": "anthropic", "mistralai": "mistral", "groq": "groq", "xai": "x-ai"}
"""Of models whose client alone knows where they are served."""
_DATED = re.compile(r"-(?:\d{3,8}|\d{4}-\d\d-\d\d|\d\d-\d{2,4}|latest|(?:preview|exp)(?:[-\d]*))+")
_FREE = Price(input_usd=0, output_usd=0, source=OFFLINE)
_MILLION = 1_000_000


class Cost(NamedTuple):
    """What a call cost."""

    usd: float | None
    """None means unknown."""
    source: str | None
    """Who says so: "provider", or the source of the price."""


def price_of(model: Model) -> Price | None:
    """Return what a model's tokens cost; None where nobody knows.

    Of a price that rises with the length of the input this is the lowest; `cost_of` and `most_usd`
    take the right one.
    """
    if model.is_offline:
        return _FREE
    if _is_own(model.price):
        return model.price
    return _flat(model) or model.price


def cost_of(model: Model, usage: Usage, reported: float | None = None) -> Cost:
    """Return what a call of these tokens cost, by what the provider said where it said so."""
    if model.is_offline:
        return Cost(0.0, OFFLINE)
    if reported is not None:
        return Cost(reported, PROVIDER)
    if usage.input_tokens is None or usage.output_tokens is None:
        return Cost(None, None)
    price = price_of(model)
    if price is None:
        return Cost(None, None)
    if not _is_own(price) and (found := _looked_up(model, usage)) is not None:
        return Cost(float(found.total_price), price.source)
    return Cost(_by(price, usage), price.source)


def most_usd(model: Model, *, input_tokens: int, output_tokens: int) -> float | None:
    """Return the most that a call of these tokens may cost; None where no price is known."""
    read, written = (
        cost_of(model, Usage(input_tokens=input_tokens, output_tokens=output_tokens, **more)).usd
        for more in ({}, {"written_tokens": input_tokens})
    )
    return None if read is None or written is None else max(read, written)


def _is_own(price: Price | None) -> bool:
    return price is not None and not price.source.startswith(TABLE)


def _by(price: Price, usage: Usage) -> float:
    """Return what a call costs at one price; cached and written tokens are part of the input."""
    total = usage.input_tokens or 0
    cached = min(usage.cached_tokens or 0, total)
    written = min(usage.written_tokens or 0, total - cached)
    cached_usd = price.input_usd if price.cached_usd is None else price.cached_usd
    written_usd = price.input_usd if price.written_usd is None else price.written_usd
    # What a model thought is part of its output already.
    sums = (total - cached - written) * price.input_usd + cached * cached_usd
    sums += written * written_usd + (usage.output_tokens or 0) * price.output_usd
    return sums / _MILLION


def _flat(model: Model) -> Price | None:
    """Return the table's price, that of the lowest tier where there are several."""
    found = _looked_up(model, Usage(input_tokens=1, output_tokens=1))
    if found is None:
        return None
    figures = {
        field: getattr(value, "base", value)
        for field, name in (
            ("input_usd", "input_mtok"),
            ("output_usd", "output_mtok"),
            ("cached_usd", "cache_read_mtok"),
            ("written_usd", "cache_write_mtok"),
        )
        for value in [getattr(found.model_price, name)]
    }
    if figures["input_usd"] is None or figures["output_usd"] is None:
        return None
    return Price(source=f"{TABLE} {version(TABLE)}", **figures)


def _looked_up(model: Model, usage: Usage) -> PriceCalculation | None:
    """Return what the table says today of a call; None where it does not know the model."""
    provider = _provider(model)
    name = _in_table(provider, model.name.removeprefix("models/")) if provider else None
    if name is None:
        return None
    total = usage.input_tokens or 0
    cached = min(usage.cached_tokens or 0, total)
    return _calculated(
        provider,
        name,
        input_tokens=total,
        cache_read_tokens=cached,
        cache_write_tokens=min(usage.written_tokens or 0, total - cached),
        output_tokens=usage.output_tokens or 0,
    )


def _provider(model: Model) -> str | None:
    """Return what the table calls who serves a model; None where that is somebody else."""
    if not model.url:
        return _PROVIDERS.get(model.provider)
    parts = urlsplit(model.url)
    return _HOSTS.get(parts.hostname or "") if parts.scheme == "https" else None


@lru_cache(maxsize=256)
def _in_table(provider: str, name: str) -> str | None:
    """Return `name` if the table means this very model by it.

    Some of its entries match all names that begin with or hold another. A name may then only be
    that of the entry with a date or a `-preview` behind it; a fine-tuned model costs otherwise.
    """
    entry = _entry(provider, name)
    if entry is None:
        return None
    is_loose = entry in (_entry(provider, f"{name}-zz"), _entry(provider, f"zz-{name}"))
    if not is_loose or name == entry:
        return name
    rest = name.removeprefix(entry)
    return name if rest != name and _DATED.fullmatch(rest) else None


def _entry(provider: str, name: str) -> str | None:
    found = _calculated(provider, name, input_tokens=1)
    return found.model.id if found else None


def _calculated(provider: str | None, name: str, **tokens: Any) -> PriceCalculation | None:
    # A quarter of a second and a megabyte of table; a run with offline models needs neither.
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return calc_price(Counted(**tokens), name, provider_id=provider)
    except (LookupError, ValueError):
        return None
