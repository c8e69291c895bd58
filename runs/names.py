"""Names of models that a quick eye takes for one."""

from __future__ import annotations

import re
import unicodedata

_HOMOGLYPHS = str.maketrans("аеорсухіјѕвкмнтαοερικνυχ", "aeopcyxijsbkmhtaoepikvux")


def outline(name: str) -> str:
    """What is left of a name for a quick eye: no case, no width, no separators, no odd letters."""
    plain = unicodedata.normalize("NFKD", name.casefold()).translate(_HOMOGLYPHS)
    kept = (c for c in plain if unicodedata.category(c) not in ("Mn", "Cf", "Zs", "Cc"))
    return re.sub(r"[\s_\-]+", "", "".join(kept))


def core(name: str) -> str:
    """Return the outline of a name without provider, owner and dots, as boards differ in them."""
    return outline(re.split(r"[:/]", name.rstrip(":/"))[-1]).replace(".", "")
