"""What writing a watched set takes: calls, dollars, and what leaves the machine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from videoautoarena.agents.roles.write_tasks import CHECKERS, WRITERS
from videoautoarena.memory.records.records import CallRow, Role
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import dollars
from videoautoarena.runs.making.tasks.watching import ASKS, Cell
from videoautoarena.runs.run.config.disclosure import REPAIR, judges_notice
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.subtitles import has_subtitles
from videoautoarena.runs.tournament.plan import (
    REPAIRED,
    SAMPLE,
    Line,
    estimated,
    known_sum,
    measured,
)
from videoautoarena.runs.tournament.plan_text import takes_words

FALLEN = 0.1
"""Share of the items that is expected to fall and to be written anew."""


@dataclass(frozen=True)
class WatchPlan:
    """What is left to be called."""

    lines: tuple[Line, ...]
    known: int
    """Parts of which nothing is left."""
    notices: tuple[str, ...]
    """What leaves the machine."""
    at_once: int = 1
    """Calls."""

    @property
    def calls(self) -> float:
        """Expected, transport retries aside."""
        return sum(line.calls for line in self.lines)

    @property
    def calls_at_most(self) -> int:
        """Transport retries aside."""
        return sum(line.most_calls for line in self.lines)

    @property
    def usd(self) -> float | None:
        """What it is expected to cost; None where nobody knows the price."""
        return known_sum(line.usd for line in self.lines)

    @property
    def most_usd(self) -> float | None:
        """The most that it can cost."""
        return known_sum(line.most_usd for line in self.lines)

    @property
    def duration_s(self) -> float | None:
        """How long it is expected to take; None where a stand-in is called, or nobody."""
        lines = [line for line in self.lines if not line.is_offline]
        return sum(line.seconds for line in lines) / self.at_once if lines else None

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `plan` in `arena tasks make --json`."""
        return {
            "lines": [line.to_json() for line in self.lines],
            "calls": round(self.calls, 1),
            "calls_at_most": self.calls_at_most,
            "cost_usd": self.usd,
            "cost_usd_at_most": self.most_usd,
            "duration_s": None if self.duration_s is None else round(self.duration_s),
            "known": self.known,
            "notices": list(self.notices),
        }

    def as_lines(self) -> Iterator[str]:
        """Yield it as lines for a person, safe to print."""
        if not self.lines:
            yield "nothing is left to be called"
            return
        cost = ""
        if not all(line.is_offline for line in self.lines):
            cost = f"; expected cost {dollars(self.usd)}, at most {dollars(self.most_usd)}"
        yield (
            f"about {self.calls:,.0f} calls of {safe(self.lines[0].alias)}, at most "
            f"{self.calls_at_most:,}{cost}"
        )
        if self.duration_s is not None:
            yield takes_words(self.duration_s, self.at_once)
        yield from map(safe, self.notices)


def plan_watching(
    config: RunConfig, cells: Sequence[Cell], *, known: int, store: Store | None, concurrency: int
) -> WatchPlan:
    """Return what `cells`, the parts that are open, will take beyond what the journal has."""
    expected = defaultdict[Role, float](float)
    most = Counter[Role]()
    for cell in cells:
        writer = WRITERS[cell.kind]
        checker = CHECKERS[cell.kind]
        again = 1 - (1 - FALLEN) ** cell.wanted
        expected[writer] += (1 + again) * (1 + REPAIRED)
        expected[checker] += cell.wanted * (1 + FALLEN) * (1 + REPAIRED)
        most.update({writer: ASKS * REPAIR, checker: ASKS * REPAIR * cell.wanted})
    made = _made(cells, store)
    seen = measured(_rows(store))
    lines = [
        estimated(
            config,
            Line(
                config.examiner,
                role,
                max(expected[role] - made[role], 0.0),
                max(most[role] - made[role], 0),
            ),
            seen,
        )
        for role in most
    ]
    calls = {config.examiner: sum(line.most_calls for line in lines)}
    notices = judges_notice(
        config,
        calls if lines else {},
        videos=len({cell.video.id for cell in cells}),
        has_subtitles=store is not None and has_subtitles(store),
    )
    # A part is written, then checked.
    at_once = max(1, min(concurrency, len(cells)))
    return WatchPlan(tuple(lines), known, tuple(notices), at_once)


def _made(cells: Iterable[Cell], store: Store | None) -> Counter[str]:
    """Return the calls of open parts that the journal has, by role."""
    scopes = {cell.scope for cell in cells}
    found = Counter[str]()
    for scope, _, role in store.journal.each_answered() if store else ():
        if scope.partition(":")[0] in scopes:
            found[role] += 1
    return found


def _rows(store: Store | None) -> list[CallRow]:
    return store.journal.latest(SAMPLE) if store else []
