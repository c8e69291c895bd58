"""What a server's log tells, read while it is being written."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KINDS = ("arrived", "sent")


@dataclass
class Log:
    """A server's log, read on from where it was read last."""

    path: Path
    events: list[dict[str, object]] = field(default_factory=list)
    _read: int = 0

    def read_on(self) -> None:
        """Read what was written since."""
        with self.path.open("rb") as file:
            file.seek(self._read)
            whole = file.read().rpartition(b"\n")[0]
        self._read += len(whole) + bool(whole)
        self.events += [json.loads(line) for line in whole.splitlines()]


def arrivals(events: list[dict[str, object]]) -> list[str]:
    """Return the keys that arrived, in order."""
    return [str(row["key"]) for row in events if row["event"] == "arrived"]


def open_calls(events: list[dict[str, object]]) -> int:
    """Return how many of the calls that came in these events were not answered in them."""
    numbers = {kind: {row["number"] for row in events if row["event"] == kind} for kind in KINDS}
    return len(numbers["arrived"] - numbers["sent"])


def most_at_once(events: list[dict[str, object]]) -> int:
    """Return how many calls stood in the server at once."""
    inside = most = 0
    for row in events:
        inside += (row["event"] == "arrived") - (row["event"] == "sent")
        most = max(most, inside)
    return most


def mean_at_once(events: list[dict[str, Any]]) -> float:
    """Return how many calls stood in the server on average, from the first to the last event."""
    moved = [row for row in events if row["event"] in KINDS]
    signs = {"arrived": -1, "sent": 1}
    stayed_s = sum(signs[row["event"]] * row["at"] for row in moved)
    return stayed_s / (moved[-1]["at"] - moved[0]["at"])
