"""The files of words and patterns that the offline models hold, and drawing from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, TypeVar


@cache
def table(room: str, name: str) -> Any:
    """Return what a JSON file of the offline models holds."""
    file = resources.files("videoautoarena.agents.offline").joinpath(room, f"{name}.json")
    return json.loads(file.read_text("utf-8"))


def wording(room: str, name: str, code: str) -> Any:
    """Return what a file of words holds in a language.

    English ones stand in the room that says them, those of another language all in its folder.
    """
    return table(room, name) if code == "en" else table(f"language/{code}", name)


T = TypeVar("T")


class Dice:
    """A run of choices drawn from sha256 of `parts`, equal in every process and release."""

    def __init__(self, *parts: str | int) -> None:
        # As JSON, since ("ab", "c") and ("a", "bc") run together would draw alike.
        self._seed = json.dumps(parts).encode()
        self._throws = 0

    def below(self, n: int) -> int:
        """Return the next whole number from 0 to n - 1."""
        self._throws += 1
        digest = hashlib.sha256(self._seed + self._throws.to_bytes(4, "big")).digest()
        # With 64 bits the remainder favours no number by more than n / 2**64.
        return int.from_bytes(digest[:8], "big") % n

    def one(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in items]
