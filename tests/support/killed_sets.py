"""A set that is played in many lives, each of which the disk ends, and what each death met."""

from __future__ import annotations

import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.faulty_disk import Disk
from tests.support.killed_runs import Job, Program
from tests.support.loopback import Loopback
from tests.support.serverlog import Log, arrivals
from tests.support.whole_runs import committed_keys, write_config
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.play.calls import CALLS

LATENCY_S = ("0.02", "0.12")
CONCURRENCY = 6
IMPORTED = (
    "langchain_openai",
    "videoautoarena.runs.cli.bench",
    "videoautoarena.runs.cli.bench_run",
)


@dataclass
class Deaths:
    """One set of tasks that is played in many lives, and what each death met."""

    children: Program
    place: Path
    bench: Path
    server: Loopback
    in_flight: list[set[str]] = field(default_factory=list)
    """Keys that had come to the server in a life and were not kept at its end."""
    at_death: int = 0
    """Calls that were kept when the last of them died."""
    paid_again: set[str] = field(default_factory=set)
    """Keys that came to the server though a life before had kept them."""

    def __post_init__(self) -> None:
        self.config = write_config(self.place / f"{self.bench.name}.toml", "openai", self.server)
        self.log = Log(self.server.log)

    @property
    def kept(self) -> set[str]:
        return committed_keys(self.bench / "results", CALLS)

    def live(self, disk: Disk) -> int:
        """Play on until the disk kills it, or to the end; return how that ended."""
        before, born = self.kept, len(self.log.events)
        cast = ("--model", "hawk,owl", "--config", self.config, "--concurrency", CONCURRENCY)
        typed = ("bench", "run", self.bench, "--videos", self.place / "videos", *cast, "-q")
        says = f"{self.bench}.says"
        ended = self.children.run(Job("arena", list(map(str, typed)), disk, says=says))
        self.log.read_on()
        came = set(arrivals(self.log.events[born:]))
        self.in_flight.append(came - self.kept)
        self.paid_again |= before & came
        return ended

    @property
    def said(self) -> str:
        """What the last life printed."""
        return Path(f"{self.bench}.says").read_text()

    def account(self) -> str:
        """Return how many deaths met how many calls in flight, as a line."""
        counts = sorted(Counter(map(len, self.in_flight[:-1])).items())
        met = ", ".join(f"{times} x {calls}" for calls, times in counts)
        again = sum(map(len, self.in_flight))
        kept = f"{self.at_death} of {len(self.kept)} calls kept by then"
        return (
            f"{len(self.in_flight) - 1} deaths, calls in flight: {met}; {kept}, {again} sent again"
        )

    @property
    def results(self) -> dict[str, bytes]:
        """The bytes of each model's result."""
        return {file.name: file.read_bytes() for file in (self.bench / "results").glob("*.jsonl")}

    def die(self, kills: int) -> None:
        """Be killed so often, of the first few times as a life begins, later amid its calls."""
        for number in range(kills):
            at = 20 + 6 * number if number < 6 else 54 + number % 4
            disk = Disk(kill_at=at, is_torn=number % 2 == 0)
            assert self.live(disk) == -signal.SIGKILL, self.said
        self.at_death = len(self.kept)

    def check_payments(self, *, roles: set[str], at_least: int) -> None:
        """Assert that nothing kept was paid again, and that all that came twice is listed."""
        assert not self.paid_again
        again = Counter(arrivals(self.log.events)) - Counter(self.kept)
        at_death = Counter(key for keys in self.in_flight for key in keys)
        with Store.open(self.bench / "results" / CALLS, write=False) as store:
            role_of = {row.key: row.nonce.role for row in store.journal.calls()}
            listed = Counter(intent.key for intent in store.journal.intents())
        # What came twice was in flight when its life ended, each time, and is listed for that; a
        # request may be seen to come only when whoever sent it is dead.
        assert not again - listed
        assert not at_death - again
        assert f"possibly paid: {listed.total()} attempts without a reply" in self.said
        assert sum(map(bool, self.in_flight)) >= at_least
        assert {role_of[key] for key in at_death} == roles
