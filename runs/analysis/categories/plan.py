"""What tagging takes before anything is sent: calls, dollars, and what leaves the machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from videoautoarena.agents.roles.classify import FRAMES
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.categories.tags import Asked
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import dollars
from videoautoarena.runs.run.config.disclosure import judges_notice
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.reader import counted
from videoautoarena.runs.run.rundir.subtitles import has_subtitles
from videoautoarena.runs.tournament.plan import SAMPLE, Line, estimated, measured


@dataclass(frozen=True)
class TagPlan:
    """What is left to be called."""

    SHOWN: ClassVar = (
        *("classifier", "questions", "known", "calls", "cost_usd", "cost_usd_at_most", "notices"),
    )
    line: Line
    questions: int
    """Those that are wanted; equal ones about one video are one."""
    known: int
    """Of these, so many have a tag."""
    notices: tuple[str, ...]
    """What leaves the machine."""

    @property
    def classifier(self) -> str:
        """Its name in the cast."""
        return self.line.alias

    @property
    def calls(self) -> int:
        """One a question."""
        return self.line.most_calls

    @property
    def cost_usd(self) -> float | None:
        """Expected; None without a price."""
        return self.line.usd

    @property
    def cost_usd_at_most(self) -> float | None:
        """Likewise."""
        return self.line.most_usd

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena categories tag --plan --json`."""
        return record_json(self)

    def as_lines(self) -> Iterator[str]:
        """Yield it as lines for a person, safe to print."""
        known = f", {self.known:,} of them tagged before" if self.known else ""
        cost = ""
        if not self.line.is_offline and self.line.most_calls:
            cost = (
                f"; expected cost {dollars(self.line.usd)}, at most {dollars(self.line.most_usd)}"
            )
        yield (
            f"{counted(self.questions, 'question')}{known}: "
            f"{counted(self.line.most_calls, 'call')} of {safe(self.line.alias)}{cost}"
        )
        yield from map(safe, self.notices)


def plan_tags(
    config: RunConfig, name: str, wanted: Sequence[Asked], *, of: int, store: Store
) -> TagPlan:
    """Return what tagging these questions takes, one call each; `of` is how many were asked for."""
    calls = len(wanted)
    line = Line(name, "classifier", float(calls), calls)
    line = estimated(config, line, measured(store.journal.latest(SAMPLE)), frames=FRAMES)
    notices = judges_notice(
        config,
        {name: calls} if calls else {},
        videos=len({one.video for one in wanted}),
        has_subtitles=has_subtitles(store),
        role="classifier",
    )
    return TagPlan(line, of, of - calls, tuple(notices))
