"""What the cards of all sets have in common: counts, licence, checksums, and harmless names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from videoautoarena.runs.bench.format.schema import SLICES
from videoautoarena.runs.formats.publishing import BEFORE_PASSING_ON
from videoautoarena.runs.formats.terminal import safe

UNSTATED = "Not stated. Whoever passes this on should state one."
UNSTATED_BY_PUBLISHER = "not stated; ask whoever published it before passing it on"
CHECKSUMS = """## Checksums

`manifest.json` holds the size and sha256 of every other file and of every video that is known, and
a digest of itself. `arena bench verify` computes all of them again. They show that nothing was
changed by accident; they are no signature."""


def plain(value: Any) -> str:
    """Return `value` as text that Markdown takes literally."""
    text = safe(str(value))
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#" else char for char in text)


def count_table(title: str, counts: Mapping[str, Any], *, of: str = "questions") -> str:
    """Return how many there are of each kind."""
    rows = "\n".join(f"| {plain(name)} | {count} |" for name, count in counts.items())
    return f"| {title} | {of} |\n| --- | ---: |\n{rows or '| none | 0 |'}\n"


def count_tables(counts: Mapping[str, Mapping[str, int]], *, of: str = "items") -> Iterator[str]:
    """Yield a table for each way of counting the items of a set."""
    for name, parts in counts.items():
        yield count_table(SLICES[name], parts, of=of)


def licence_section(licence: str | None, *further: str, unstated: str = UNSTATED) -> str:
    """Return under which licence a set is given, and what to look at before it is passed on."""
    paragraphs = (plain(licence) if licence else unstated, *further, BEFORE_PASSING_ON)
    return "\n\n".join(["## Licence", *paragraphs]) + "\n"
