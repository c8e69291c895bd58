"""Questions that say nearly the same as another one about the same video."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

LENGTH = 5
"""Characters of a piece: short enough for every script, long enough to tell words apart."""
NEAR = 0.7
"""Two questions that share this much of their pieces are nearly the same."""


def near_duplicates(questions: Sequence[str], videos: Sequence[str]) -> set[int]:
    """Return the places of questions that an earlier kept one about the same video nearly repeats.

    Cost: within each video every question against every one that is kept.

    Args:
        questions: in the order of preference.
        videos: what each is about.
    """
    kept: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    repeated: set[int] = set()
    for place, (question, video) in enumerate(zip(questions, videos, strict=True)):
        pieces = pieces_of(question)
        if any(overlap(pieces, other) >= NEAR for other in kept[video]):
            repeated.add(place)
        else:
            kept[video].append(pieces)
    return repeated


def pieces_of(question: str) -> frozenset[str]:
    """Return all runs of LENGTH characters, whatever the case, signs and spaces."""
    text = " ".join("".join(c if c.isalnum() else " " for c in question.casefold()).split())
    return frozenset(text[k : k + LENGTH] for k in range(max(1, len(text) - LENGTH + 1)))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of pieces that two questions have in common, of all that either has."""
    if NEAR * max(len(one), len(other)) > min(len(one), len(other)):
        return 0.0  # cannot come near
    return len(one & other) / len(one | other)
