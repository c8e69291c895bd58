"""Commands that are killed at counted writes again and again, and what each death met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.faulty_disk import Disk
from tests.support.killed_runs import Job, Program
from tests.support.loopback import Loopback
from tests.support.serverlog import Log, arrivals
from tests.support.whole_runs import committed_keys


@dataclass
class Deaths:
    """One command that is repeated in many lives."""

    children: Program
    server: Loopback
    typed: Sequence[object]
    """What `arena` is called with."""
    says: Path
    """File that takes what the last life prints."""
    journals: Sequence[Path]
    """Where calls are kept, whichever is there."""
    in_flight: list[set[str]] = field(default_factory=list)
    """Keys that had come to the server in a life and were not kept at its end."""
    kept_after: list[int] = field(default_factory=list)
    """Calls that were kept at the end of each life."""
    paid_again: set[str] = field(default_factory=set)
    """Keys that came to the server though a life before had kept them."""

    def __post_init__(self) -> None:
        self.log = Log(self.server.log)

    @property
    def kept(self) -> set[str]:
        """Keys of the calls that were written down."""
        return set().union(*(committed_keys(file.parent, file.name) for file in self.journals))

    def live(self, disk: Disk) -> int:
        """Go on until the disk kills it, or to the end; return how that ended."""
        before = self.kept
        born = len(self.log.events)
        line = list(map(str, self.typed))
        ended = self.children.run(Job("arena", line, disk, says=str(self.says)))
        self.log.read_on()
        came = set(arrivals(self.log.events[born:]))
        kept = self.kept
        self.in_flight.append(came - kept)
        self.kept_after.append(len(kept))
        self.paid_again |= before & came
        return ended

    @property
    def said(self) -> str:
        """What the last life printed."""
        return self.says.read_text()

    def account(self) -> str:
        """Return how many deaths met how many calls in flight, as a line."""
        counts = sorted(Counter(map(len, self.in_flight[:-1])).items())
        met = ", ".join(f"{times} x {calls}" for calls, times in counts)
        again = sum(map(len, self.in_flight))
        kept = f"{(0, *self.kept_after)[-2]} of {len(self.kept)} calls kept by then"
        deaths = len(self.in_flight) - 1
        return f"{deaths} deaths, calls in flight: {met}; {kept}, {again} sent again"
