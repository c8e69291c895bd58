"""Amounts of money, tokens and time, as a person reads them."""

from __future__ import annotations

LEAST_USD = 0.0001


def dollars(usd: float | None) -> str:
    """Return an amount, in cents and below a dollar to a hundredth of one."""
    if usd is None:
        return "unknown"
    if usd == 0 or usd >= 1:
        return f"${usd:,.2f}"
    return f"${usd:.4f}" if usd >= LEAST_USD / 2 else f"<${LEAST_USD}"


def short(number: float) -> str:
    """Return a number of tokens in at most six characters."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 0.9995 * size:
            return f"{number / size:.3g}{letter}" if number < 999.5 * size else f"{number:.0e}"
    return f"{number:.0f}"


def length(seconds: float) -> str:
    """Return a length as short as a table wants it: `9.8 s`, `3:20`, `1:02:03`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def cost_words(usd: float, *, unknown: int, calls: int) -> str:
    """Return what calls cost, of which some are of unknown cost: never nothing, if any is."""
    if not unknown:
        return dollars(usd)
    if not usd:
        return "unknown" if unknown == calls else f"unknown ({unknown:,} of {calls:,} calls)"
    return f"{dollars(usd)} and {unknown:,} call{'s' * (unknown > 1)} of unknown cost"
