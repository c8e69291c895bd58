"""Names of models: what a short one stands for, and which a quick eye takes for one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from memory.errors import BadInput
from runs.console import safe

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

    Short is what stands behind the provider, or behind the last slash, in whatever case. What has
    a colon is whole: a provider behind another one's name is reached by another server.

    Raises:
        BadInput: it is short for several; the message names them.
    """
    known = list(dict.fromkeys(names))
    if not typed or typed in known:
        return typed
    short = typed.casefold()
    fitting = [name for name in known if short in _forms(name.casefold(), is_whole=":" in typed)]
    if len(fitting) > 1:
        raise BadInput(
            f"{safe(typed)} is short for {safe(', '.join(fitting))}; write one of them whole"
        )
    return fitting[0] if fitting else typed


def _forms(name: str, *, is_whole: bool) -> tuple[str, ...]:
    if is_whole:
        return (name,)
    behind = name.partition(":")[2] or name
    return name, behind, behind.rpartition("/")[2]
