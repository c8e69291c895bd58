"""Parts of the pages in docs/, as tests read them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docs.generate import DOCS

BLOCK = re.DOTALL | re.MULTILINE
OF_THE_READER = {
    "LongVideoBench",
    "MLVU",
    "MT-Video-Bench",
    "aria.json",
    "battle.history.json",
    "data",
    "events",
    "judged",
    "night-1",
    "night-2",
    "published.csv",
    "questions.jsonl",
    "real-run",
}
"""What examples on commands name that no line before them makes."""


def section(page: str, heading: str) -> str:
    text = (DOCS / page).read_text()
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"{page} has no section {heading!r}"
    return found[1]


def first_column(text: str) -> list[str]:
    """Return what the rows of tables are about; one row may be about several fields."""
    cells = re.findall(r"^\| (`[^|]*?) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def by_hand(page: Path) -> str:
    """Return what a page says but for what is taken from the code."""
    generated = re.compile(r"^<!-- (?:generated|fields): .*?<!-- end -->$", BLOCK)
    return generated.sub("", page.read_text(encoding="utf-8"))


def sentences(page: Path) -> Iterator[str]:
    """Yield what a page says by hand, in words alone: no generated part, no code, no mark-up.

    Rows of tables are left out: a field that two shapes share is described in both.
    """
    text = re.sub(r"^```.*?^```$", "", by_hand(page), flags=BLOCK)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    # Items and headings are sentences of their own, wherever lines break.
    text = re.sub(r"^ *(?:[-*#]+|\d+\.) ", "\n\n", text, flags=re.MULTILINE)
    for part in re.split(r"\n{2,}|(?<=[.!?])[*_)]*\s+", text):
        unlinked = re.sub(r"\]\([^)]*\)", "", part)
        if words := re.findall(r"[\w'%-]+", unlinked.lower()):
            yield " ".join(words)
