"""How much of what was sent a provider could have read from its cache, and how much it did.

The calls of one model that show it the same frames of a video begin with the same tokens: the
system text and the frames. All but the first of them could have been spared reading those.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from memory.records import CallRow

CHARACTERS = 4
"""Of role text, which stands behind what is shared, go to a token."""
Group = tuple[str, str, int]
"""Model, video and number of frames: what a shared beginning has in common."""


class CacheShare(NamedTuple):
    """Input tokens of a run's remote calls."""

    could: int = 0
    """That stood at the beginning of an earlier call, too: an estimate."""
    read: int | None = None
    """That were read from a cache; None where no provider said."""
    unknown: int = 0
    """Calls of which nobody said, left out of both."""

    @property
    def share(self) -> float | None:
        """Return the part of what could be read that was, 0 to 1; None where that is unknown."""
        return None if self.read is None or not self.could else min(self.read / self.could, 1.0)

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `cache` in `arena status --json`."""
        share = None if self.share is None else round(self.share, 4)
        return {
            "could_read_tokens": self.could,
            "read_tokens": self.read,
            "share": share,
            "unknown_calls": self.unknown,
        }

    def as_line(self) -> str:
        """Return it as a line for a person; empty where no call could have read anything."""
        if self.share is None:
            told = "unknown: no provider said" if self.unknown else ""
            return f"read from providers' caches: {told}" if told else ""
        unknown = f"; {self.unknown:,} calls did not say" if self.unknown else ""
        if self.read is not None and self.read > self.could:
            return f"read from providers' caches: {self.read:,} tokens, all that could be{unknown}"
        return (
            f"read from providers' caches: {self.read:,} of about {self.could:,} tokens that could "
            f"be ({self.share:.0%}){unknown}"
        )


class CacheCount:
    """Adds calls up, in the order in which they were recorded."""

    def __init__(self) -> None:
        self._seen: set[Group] = set()
        self._could = self._read = self._told = self._unknown = 0

    def add(self, row: CallRow) -> None:
        """Count one more call."""
        if row.model.startswith("offline:") or not row.frames or row.reply is None:
            return
        usage = row.usage
        if usage.input_tokens is None or usage.cached_tokens is None:
            self._unknown += 1
            return
        group = (row.model, row.nonce.scope.partition("-")[0], row.frames)
        if group in self._seen:
            self._could += max(usage.input_tokens - row.text_chars // CHARACTERS, 0)
        self._seen.add(group)
        self._read += usage.cached_tokens
        self._told += 1

    def total(self) -> CacheShare:
        """Return what all of them came to."""
        return CacheShare(self._could, self._read if self._told else None, self._unknown)
