"""Sentences as a page reads them: a list of words, figures, and names of models that are links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Parts = list[str | dict[str, Any]]


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return each name without provider and owner, where that leaves all of them apart."""
    distinct = list(dict.fromkeys(names))
    cut = {name: name.split(":", 1)[-1].split("/")[-1] or name for name in distinct}
    return cut if len(set(cut.values())) == len(distinct) else {name: name for name in distinct}


def as_text(parts: Parts, names: Mapping[str, str]) -> str:
    """Return a sentence without its links."""
    texts = (
        part if isinstance(part, str) else part.get("figure") or names[part["model"]]
        for part in parts
    )
    return "".join(texts).strip()
