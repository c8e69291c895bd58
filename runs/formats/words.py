"""Words and numbers for people: amounts, lengths, counts, and names of models."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.formats.terminal import safe

LEAST_USD = 0.0001


def dollars(usd: float | None) -> str:
    """Return an amount, in cents and below a dollar to a hundredth of one."""
    if usd is None:
        return "unknown"
    if usd == 0 or usd >= 1:
        return f"${usd:,.2f}"
    return f"${usd:.4f}" if usd >= LEAST_USD / 2 else f"<${LEAST_USD}"


def in_series(names: Iterable[str], last: str = "and") -> str:
    """Return names as a sentence lists them: `needle, order and count`."""
    *others, end = names
    return f"{', '.join(others)} {last} {end}" if others else end


MOST_UNUSABLE = 8
"""So many that cannot be used are named, beside the first."""


def unusable_too(names: Sequence[str], unit: str = "") -> str:
    """Return the end of a refusal: which others, beside the first, cannot be used either."""
    if not names:
        return ""
    left = len(names) - MOST_UNUSABLE
    more = f" and {left:,} more" if left > 0 else ""
    return f"; {unit}{', '.join(names[:MOST_UNUSABLE])}{more} cannot be used either"


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


def spent(seconds: float) -> str:
    """Return a time in its two largest units: `3 h 20 min`, `5 min 12 s`, `8 s`."""
    whole = round(seconds)
    minutes = whole // 60
    hours = whole // 3600
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


def roughly(seconds: float) -> str:
    """Return an expected time in one unit: `40 s`, `7 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def cost_words(usd: float, *, unknown: int, calls: int) -> str:
    """Return what calls cost, of which some are of unknown cost: never nothing, if any is."""
    if not unknown:
        return dollars(usd)
    if not usd:
        return "unknown" if unknown == calls else f"unknown ({unknown:,} of {calls:,} calls)"
    return f"{dollars(usd)} and {unknown:,} call{'s' * (unknown > 1)} of unknown cost"


def composed(name: str) -> str:
    """Return a name in composed letters: some systems write an accent as a letter of its own."""
    return unicodedata.normalize("NFC", name)


def written_as(typed: str, names: Iterable[str]) -> str:
    """Return the one of `names` with the letters that were typed, composed or not; else `typed`."""
    known = list(names)
    if typed in known:
        return typed
    return next((name for name in known if composed(name) == composed(typed)), typed)


def respellings(names: Iterable[str]) -> list[str]:
    """Return once each, composed, the names that stand in composed and in decomposed letters."""
    spellings: dict[str, set[str]] = {}
    for name in names:
        spellings.setdefault(composed(name), set()).add(name)
    return [name for name, there in spellings.items() if len(there) > 1]


_HOMOGLYPHS = str.maketrans("аеорсухіјѕвкмнтαοερικνυχ", "aeopcyxijsbkmhtaoepikvux")


def outline(name: str) -> str:
    """What is left of a name for a quick eye: no case, no width, no separators, no odd letters."""
    plain = unicodedata.normalize("NFKD", name.casefold()).translate(_HOMOGLYPHS)
    kept = (c for c in plain if unicodedata.category(c) not in ("Mn", "Cf", "Zs", "Cc"))
    return re.sub(r"[\s_\-]+", "", "".join(kept))


def core(name: str) -> str:
    """Return the outline of a name without provider, owner and dots, as boards differ in them."""
    return outline(re.split(r"[:/]", name.rstrip(":/"))[-1]).replace(".", "")


def in_full(typed: str, names: Iterable[str]) -> str:
    """Return the one of `names` that was typed, whole or short; what was typed where none is.

    Short is what stands behind the provider, or behind the last slash, in whatever case. What
    has a colon is whole: a provider behind another one's name is reached by another server.
    BadInput where it is short for several.
    """
    known = list(dict.fromkeys(names))
    typed = written_as(typed, known)
    if not typed or typed in known:
        return typed
    short = composed(typed).casefold()
    fitting = []
    for name in known:
        whole = composed(name).casefold()
        behind = whole.partition(":")[2] or whole
        forms = (whole,) if ":" in typed else (whole, behind, behind.rpartition("/")[2])
        if short in forms:
            fitting.append(name)
    if len(fitting) > 1:
        raise BadInput(
            f"{safe(typed)} is short for {safe(', '.join(fitting))}; write one of them whole"
        )
    return fitting[0] if fitting else typed
