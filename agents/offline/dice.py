"""Choices that follow from content alone: the same words in, the same choice out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A run of choices drawn from sha256 of `parts`, equal in every process and release."""

    def __init__(self, *parts: str | int) -> None:
        self._seed = json.dumps(parts).encode()
        self._throws = 0

    def below(self, n: int) -> int:
        """Return the next whole number from 0 to n - 1."""
        self._throws += 1
        digest = hashlib.sha256(self._seed + self._throws.to_bytes(4, "big")).digest()
        return int.from_bytes(digest[:8], "big") % n

    def one(self, options: Sequence[T]) -> T:
        """Return one of `options`, each as likely as the next."""
        return options[self.below(len(options))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in a new order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in items]
