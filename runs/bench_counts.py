"""How many questions of a bench are in each part of each slice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runs.buckets import BUCKET_NAMES, bucket
from runs.sealing import UNKNOWN, Item

SLICES = {
    "round": "by round",
    "duration": "by duration",
    "category": "by category",
    "topic": "by topic of the question",
    "origin": "by origin of the question",
    "chosen_by": "by who selected the answer",
    "selected_model": "selected answers by model",
    "rejected_model": "rejected answers by model",
}
"""Names, and what they are called for people."""


def part_of(item: Item, name: str) -> str:
    """Return the part of a slice that an item is in; UNKNOWN where it does not say."""
    if name == "duration":
        return UNKNOWN if item.duration_s is None else bucket(item.duration_s)
    value = getattr(item, name)
    return UNKNOWN if value is None else str(value)


def counts_of(items: Sequence[Item]) -> dict[str, dict[str, int]]:
    """Return the number of items in each part, by slice, where anything is known of it."""
    counted = {}
    for name in SLICES:
        counts = Counter(part_of(item, name) for item in items)
        if set(counts) - {UNKNOWN}:
            order = BUCKET_NAMES if name == "duration" else sorted(counts, key=_by_number)
            named = [*(part for part in order if part != UNKNOWN), UNKNOWN]
            counted[name] = {part: counts[part] for part in named if counts[part]}
    return counted


def _by_number(part: str) -> tuple[int, str]:
    return (int(part), "") if part.isdecimal() and len(part) < 9 else (2**53, part)
